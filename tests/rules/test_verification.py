"""What must move after advice was followed: typed like conditions, compared by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from advisor.documents import load
from advisor.errors import RuleError
from advisor.expression import Kind, Symbol
from advisor.facts import Vocabulary
from advisor.rules import EvaluationSettings
from advisor.rules.language.load import rule_paths
from advisor.rules.language.verification import (
    Direction,
    Measured,
    Movement,
    Verify,
    compare,
    measure_sql,
    measured,
    moved,
)
from advisor.rules.language.verify_files import read_verify
from advisor.rules.language.verify_words import Shown, display_name, general_lines, sentence
from advisor.units import DIMENSIONLESS

LINES = """\
verify:
  - {expression: load_efficiency, moves: up, target: 1 - wasted}
  - {expression: dram_bytes, moves: not up, tolerance: 0.1}
  - {expression: 2 * l2_bytes, called: L2 traffic both ways, moves: down}
  - {note: results stay the same}
"""
YES, STAYED, WRONG, UNKNOWN = (
    Movement.AS_EXPECTED,
    Movement.NOT_MOVED,
    Movement.WRONG_WAY,
    Movement.UNKNOWN,
)


@pytest.fixture
def verify(vocabulary: Vocabulary, settings: EvaluationSettings) -> Verify:
    names = {**vocabulary.symbols, "wasted": Symbol(Kind.NUMBER, DIMENSIONLESS)}
    return read_verify(load(LINES, name="rule.yaml")["verify"], names, settings.verify_tolerance)


@pytest.mark.parametrize(
    ("moves", "before", "after", "expected"),
    [
        # 2 % of 100 is 2: 102 has not moved, 103 has.
        ("up", 100.0, 103.0, YES),
        ("up", 100.0, 102.0, STAYED),
        ("up", 100.0, 97.0, WRONG),
        ("down", 100.0, 97.0, YES),
        ("down", 100.0, 98.0, STAYED),
        ("down", 100.0, 103.0, WRONG),
        ("not up", 100.0, 102.0, YES),
        ("not up", 100.0, 50.0, YES),
        ("not up", 100.0, 103.0, WRONG),
        ("not down", 100.0, 98.0, YES),
        ("not down", 100.0, 150.0, YES),
        ("not down", 100.0, 97.0, WRONG),
        # From nothing, any change is one; below 0 the share is of the size.
        ("up", 0.0, 1e-9, YES),
        ("not up", 0.0, 1e-9, WRONG),
        ("down", 0.0, 0.0, STAYED),
        ("down", -100.0, -101.0, STAYED),
        ("down", -100.0, -103.0, YES),
        ("up", None, 1.0, UNKNOWN),
        ("up", 1.0, None, UNKNOWN),
        ("not up", 1.0, float("nan"), UNKNOWN),
    ],
)
def test_tells_what_moved(
    moves: str, before: float | None, after: float | None, expected: Movement, verify: Verify
) -> None:
    check = replace(verify.checks[0], moves=Direction(moves), tolerance=0.02)
    assert moved(check, before, after) is expected


def test_compares_line_by_line_with_each_its_tolerance(verify: Verify) -> None:
    # 10 % more DRAM traffic is within the tolerance of its line, and 11 % is not.
    assert compare(verify, [0.5, 100.0, 8.0], [0.9, 110.0, None]) == (YES, YES, UNKNOWN)
    assert compare(verify, [0.5, 100.0, 8.0], [0.5, 111.0, 4.0]) == (STAYED, WRONG, YES)
    with pytest.raises(ValueError, match="zip"):
        compare(verify, [0.5], [0.9])


def test_has_the_tolerance_of_all_rules_unless_a_line_names_one(
    verify: Verify, settings: EvaluationSettings
) -> None:
    assert [check.tolerance for check in verify.checks] == [
        settings.verify_tolerance,
        0.1,
        settings.verify_tolerance,
    ]
    assert verify.notes == ("results stay the same",)
    assert verify.names == {"load_efficiency", "wasted", "dram_bytes", "l2_bytes"}


def test_is_measured_in_the_database(verify: Verify) -> None:
    select = measure_sql(verify, {"wasted": 0.2}, "facts", "id")
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "CREATE TABLE facts AS SELECT 'a' AS id, 0.25::DOUBLE AS load_efficiency,"
            " NULL::DOUBLE AS dram_bytes, 3.0::DOUBLE AS l2_bytes"
        )
        (row,) = connection.execute(select).fetchall()
    assert row[0] == "a"
    efficiency, dram, l2 = measured(row[1:])
    assert (efficiency.value, efficiency.target) == (0.25, pytest.approx(0.8))
    assert dram == Measured(value=None, target=None)
    assert l2 == Measured(value=6.0, target=None)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{expression: load_eficiency, moves: up}", "load_eficiency"),
        ("{expression: limiter, moves: up}", "expected a number"),
        ("{expression: dram_bytes > l2_bytes, moves: up}", "expected a number"),
        ("{expression: duration, moves: sideways}", "expected 'up' or 'down' or 'not up'"),
        ("{expression: duration}", "the key 'moves' is missing"),
        ("{moves: up}", "the key 'expression' is missing"),
        ("{expression: duration, moves: up, target: dram_bytes}", "declared in s"),
        ("{expression: duration, moves: up, target: 2}", "declared in s"),
        ("{expression: duration, moves: not up, target: duration}", "has no target"),
        ("{expression: duration, moves: up, tolerance: 2}", "a share of the value"),
        ("{expression: 2 * duration, moves: up}", "needs a name for readers"),
        ("{expression: duration, moves: up, called: time}", "has a name already"),
        ("{note: so it is, moves: up}", "unknown key 'moves'"),
        ("", "there is nothing to verify"),
    ],
)
def test_refuses_what_cannot_be_checked(line: str, problem: str, vocabulary: Vocabulary) -> None:
    node = load(f"verify:\n  [{line}]", name="rule.yaml")["verify"]
    with pytest.raises(RuleError, match=re.escape(problem)) as caught:
        read_verify(node, vocabulary.symbols, 0.02)
    assert caught.value.at is not None
    assert (caught.value.at.name, caught.value.at.line) == ("rule.yaml", 2)


def test_speaks_in_sentences_with_a_target(verify: Verify) -> None:
    efficiency, dram, l2 = verify.checks
    assert sentence(efficiency, Shown(now="25 %", target="80 %")) == (
        "Load efficiency rises to at least 80 % (now 25 %)"
    )
    assert sentence(dram, Shown(now="3.73 GB", bound="4.10 GB")) == (
        "Dram bytes stay at or below 4.10 GB (now 3.73 GB)"
    )
    assert sentence(dram, Shown(now="3.73 GB", remark="sum of 2 launches")) == (
        "Dram bytes stay at or below 3.73 GB (sum of 2 launches)"
    )
    assert sentence(dram, Shown()) == "Dram bytes do not go up"
    assert sentence(l2, Shown(now="6 B")) == "L2 traffic both ways goes down (now 6 B)"
    assert list(general_lines(verify)) == [
        "Load efficiency rises to at least 1 - wasted",
        "Dram bytes stay at or below 110\N{NO-BREAK SPACE}% of the value now",
        "L2 traffic both ways goes down",
        "Results stay the same",
    ]


@pytest.mark.parametrize(
    ("fact", "is_plural"),
    [("dram_bytes", True), ("registers_per_thread", True), ("duration", False), ("class", False)],
)
def test_knows_the_plural(fact: str, is_plural: bool) -> None:
    assert display_name(fact).is_plural is is_plural


def test_every_shipped_rule_gives_each_line_its_own_line() -> None:
    rules = Path(__file__).parents[2] / "rules"
    paths = list(rule_paths(rules))
    assert len(paths) > 100
    for path in paths:
        block = re.search(r"^verify:\n((?:  .*\n)+)", path.read_text(), re.MULTILINE)
        assert block is not None, path
        for line in block[1].splitlines():
            assert re.fullmatch(r"  - \{(expression|note): .*\}", line), (path, line)
