"""A rule to bend: tests change single keys of a small valid rule and load it from a directory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from advisor.database.facts_table import FactsTable
from advisor.database.few import FewRows, FewTable, rows_of
from advisor.database.planning import plan_for
from advisor.facts import Vocabulary
from advisor.quoting import quoted
from advisor.rules import Evaluation, EvaluationSettings, Rule, load_rules
from advisor.rules.engine.evaluate import run_program
from advisor.rules.engine.program import compile_program
from advisor.rules.language.load import load_directories
from advisor.rules.language.rule import Value
from tests.support.sample_rule import RULE, Judge, Load, Write


@pytest.fixture
def write_rule(tmp_path: Path) -> Write:
    """Write a rule file below a directory of its own, which is returned."""

    def write(text: str = RULE, rule_id: str = "sample/slow") -> Path:
        path = tmp_path / "pack" / f"{rule_id}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return tmp_path / "pack"

    return write


@pytest.fixture
def load_rule(write_rule: Write, vocabulary: Vocabulary, settings: EvaluationSettings) -> Load:
    """Load one rule from its text, alone unless it extends another; its id is sample/slow."""

    def load(text: str = RULE) -> Rule:
        read = load_rules if "extends:" in text else load_alone
        rules = read(vocabulary, [write_rule(text)], settings=settings)
        return next(rule for rule in rules if rule.id == "sample/slow")

    return load


def load_alone(
    vocabulary: Vocabulary, packs: Sequence[Path], *, settings: EvaluationSettings
) -> tuple[Rule, ...]:
    return load_directories(packs, vocabulary, settings=settings)


@pytest.fixture
def judge(vocabulary: Vocabulary, settings: EvaluationSettings) -> Judge:
    """Evaluate rules over one kernel whose facts are given, by both engines; others are NULL."""

    def evaluate(*rules: Rule, **facts: Value) -> list[Evaluation]:
        program = compile_program(rules, settings, vocabulary)
        columns = [name for name in program.columns if name in vocabulary.symbols]
        parts = [
            f"CAST(${name} AS {vocabulary.symbols[name].kind.column_type}) AS {quoted(name)}"
            for name in columns
        ]
        with duckdb.connect(":memory:") as connection:
            plan_for(connection, 1)
            connection.execute(
                f"CREATE TABLE facts AS SELECT 'v1' AS variant_id, {', '.join(parts)}",
                {name: facts.get(name) for name in columns},
            )
            table = FactsTable(engine=connection, name="facts")
            found = run_program(table, program, key="variant_id", run_id="r1")
            few = FewRows({name: vocabulary.symbols[name].kind.column_type for name in columns})
            few.take("facts", rows_of(connection, "FROM facts"))
            by_few = FewTable(engine=few, name="facts")
            assert run_program(by_few, program, key="variant_id", run_id="r1") == found
            return found

    return evaluate
