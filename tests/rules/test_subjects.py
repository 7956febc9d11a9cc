"""What rules can be about: two kinds are registered, and a third needs a module of its own only."""

from __future__ import annotations

import pickle

import duckdb
import pytest

from advisor.database.facts_table import FactsTable
from advisor.documents import load
from advisor.errors import RuleError
from advisor.facts import Vocabulary
from advisor.rules import EvaluationSettings, Outcome, Rule, compile_rules, run_examples
from advisor.rules.engine.evaluate import evaluate_table
from advisor.rules.language.load import make_scopes
from advisor.rules.language.parse import parse_rule
from advisor.rules.language.subjects import SUBJECTS
from tests.support.toy_subject import DEVICE, RULE

WITH_DEVICES = {**SUBJECTS, DEVICE.name: DEVICE}
# Two kernels on one device, 3 ms together; one on another.
KERNELS = """
    CREATE TABLE kernels AS SELECT * FROM (VALUES
        ('r1', 'v1', 'd1', 1e-3), ('r1', 'v2', 'd1', 2e-3), ('r1', 'v3', 'd2', 4e-3)
    ) AS rows (run_id, variant_id, device_id, duration)
"""


@pytest.fixture
def rule(vocabulary: Vocabulary, settings: EvaluationSettings) -> Rule:
    scopes = make_scopes(vocabulary, settings, WITH_DEVICES)
    return parse_rule(load(RULE), scopes, text_hash="x", overrides={})


def test_judges_a_third_subject_by_its_entry_alone(
    rule: Rule, vocabulary: Vocabulary, settings: EvaluationSettings
) -> None:
    compiled = compile_rules(
        [rule], vocabulary=vocabulary, settings=settings, subjects=WITH_DEVICES
    )
    compiled = pickle.loads(pickle.dumps(compiled))
    with duckdb.connect(":memory:") as connection:
        connection.execute(KERNELS)
        (found,) = evaluate_table(
            connection, compiled, FactsTable(engine=connection, name="kernels")
        )
    assert (found.run_id, found.variant_id, found.outcome) == ("r1", "d1", Outcome.FIRES)
    assert found.evidence.replace("\N{NO-BREAK SPACE}", " ") == "2 kernels in 3.00 ms"
    assert found.gain is not None
    assert found.gain.likely == pytest.approx(1.5e-3)


def test_runs_the_tests_of_rules_about_it(
    rule: Rule, vocabulary: Vocabulary, settings: EvaluationSettings
) -> None:
    results = run_examples([rule], vocabulary=vocabulary, settings=settings, subjects=WITH_DEVICES)
    assert [result.problems for result in results] == [(), (), ()]


def test_names_the_subjects_there_are(vocabulary: Vocabulary, settings: EvaluationSettings) -> None:
    scopes = make_scopes(vocabulary, settings)
    with pytest.raises(
        RuleError, match="expected 'kernel' or 'run' or 'change', found the text 'device'"
    ):
        parse_rule(load(RULE), scopes, text_hash="x", overrides={})
