"""What rules say about real kernels: whole sentences, also where counters are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.database.connect import open_for_reading
from advisor.facts.view import create_views
from advisor.rules import Evaluation, Outcome
from advisor.rules.engine.evaluate import evaluate_runs
from advisor.wording import UNKNOWN
from tests.support.facts import vocabulary_once
from tests.support.knowledge import compiled_once


@pytest.mark.real
@pytest.mark.slow
def test_never_says_unknown_in_a_sentence(real_database: Path) -> None:
    compiled = compiled_once()
    with open_for_reading(real_database) as connection:
        create_views(connection, vocabulary_once())
        runs = [run for (run,) in connection.execute("select run_id from runs").fetchall()]
        found = evaluate_runs(connection, compiled, runs)
    spoke = [e for each in found.values() for e in each if e.outcome is not Outcome.UNKNOWN]
    said = {(e.rule.id, text) for e in spoke for text in _sentences(e)}
    assert len(said) > 2000
    assert {rule for rule, text in said if UNKNOWN in text} == set()


def _sentences(evaluation: Evaluation) -> tuple[str, ...]:
    """Return what is shown of a rule that fired, or was ruled out."""
    if evaluation.because is not None:
        return (evaluation.because,)
    return (evaluation.evidence, *evaluation.recommendation)
