"""What the compiler writes for other engines: each construct in Spark's spelling, read back."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import sqlglot

from advisor.database.dialects import spelled
from advisor.database.relations import STORED, Relations
from advisor.errors import Location
from advisor.expression import Kind, Symbol, compile_expression
from advisor.expression.functions import FUNCTIONS
from advisor.facts import kernels_select
from advisor.units import DIMENSIONLESS
from tests.support.facts import FROM_LAUNCHES, vocabulary_once
from tests.support.knowledge import rules_once

SYMBOLS = {
    **{name: Symbol(Kind.NUMBER, DIMENSIONLESS) for name in "abc"},
    "word": Symbol(Kind.TEXT),
    "flag": Symbol(Kind.BOOLEAN),
}
WHOLE = "(CASE WHEN ABS({1}) < 9007199254740992e0 THEN CAST({0}({1}) AS DOUBLE) ELSE {1} END)"
FINITE = "(CASE WHEN ABS({0}) <= 1.7976931348623157e308 THEN {0} END)"
SUM = "(COALESCE(`a`, 0.0e0) + COALESCE(`b`, 0.0e0))"
# What is written, and what Spark is told. A quotient has no zero below: Spark may stop there. What
# Spark rounds to an integer is a DOUBLE again, and is left alone where it is too large for one.
CONSTRUCTS = {
    "a + b - c * 2": FINITE.format("((`a` + `b`) - (`c` * 2.0e0))"),
    "a / b": FINITE.format("(`a` / NULLIF(`b`, 0.0e0))"),
    "- a": "(-`a`)",
    "a < 0.5": "(`a` < 0.5e0)",
    "a = b or not flag": "((`a` = `b`) OR (NOT `flag`))",
    "word in ('it''s', 'b')": r"(`word` IN ('it\'s', 'b'))",
    "a between 1 and 2": "(`a` BETWEEN 1.0e0 AND 2.0e0)",
    "a is null and b is not null": "((`a` IS NULL) AND (NOT (`b` IS NULL)))",
    "case when flag then a else b end": "(CASE WHEN `flag` THEN `a` ELSE `b` END)",
    "abs(a)": "ABS(`a`)",
    "arg_max('x', a, 'y', b)": "(CASE GREATEST(`a`, `b`) WHEN `a` THEN 'x' WHEN `b` THEN 'y' END)",
    "ceil(a)": WHOLE.format("CEIL", "`a`"),
    "coalesce(a, b)": "COALESCE(`a`, `b`)",
    "exp(a)": FINITE.format("EXP(`a`)"),
    "floor(a)": WHOLE.format("FLOOR", "`a`"),
    "known(a)": "(NOT `a` IS NULL)",
    "ln(a)": "(CASE WHEN `a` > 0.0e0 THEN LN(`a`) END)",
    "log2(a)": "(CASE WHEN `a` > 0.0e0 THEN LOG(2, `a`) END)",
    "max(a, b)": "(CASE WHEN NOT `a` IS NULL AND NOT `b` IS NULL THEN GREATEST(`a`, `b`) END)",
    "max_known(a, b)": "GREATEST(`a`, `b`)",
    "min(a, b)": "(CASE WHEN NOT `a` IS NULL AND NOT `b` IS NULL THEN LEAST(`a`, `b`) END)",
    "min_known(a, b)": "LEAST(`a`, `b`)",
    "power(a, 2)": FINITE.format("POWER(`a`, 2.0e0)"),
    "round(a)": "ROUND(`a`)",
    "round_up(a, b)": FINITE.format(
        f"({WHOLE.format('CEIL', '(`a` / NULLIF(`b`, 0.0e0))')} * `b`)"
    ),
    "sqrt(a)": "(CASE WHEN `a` >= 0.0e0 THEN SQRT(`a`) END)",
    "starts_with(word, 'x')": "STARTSWITH(`word`, 'x')",
    "sum_known(a, b)": (
        "(CASE WHEN NOT COALESCE(`a`, `b`) IS NULL"
        f" AND ABS({SUM}) <= 1.7976931348623157e308 THEN {SUM} END)"
    ),
}


def normal(sql: str) -> str:
    """Return SQL without what two spellings of the same may differ in."""
    return sqlglot.parse_one(sql, read="spark").sql(dialect="spark").upper().replace("+308", "308")


@pytest.mark.parametrize("text", CONSTRUCTS)
def test_spark_is_told_the_same(text: str) -> None:
    expression = compile_expression(text, SYMBOLS, at=Location(name="rule.yaml"))
    written = spelled(expression.sql(None, "portable"), "spark")
    assert normal(written) == normal(CONSTRUCTS[text])


def test_every_function_has_its_construct() -> None:
    said = " ".join(CONSTRUCTS)
    assert [name for name in FUNCTIONS if f"{name}(" not in said] == []


@pytest.mark.parametrize("relations", [STORED, FROM_LAUNCHES], ids=["variants", "launches"])
def test_spark_can_say_every_fact(relations: Relations) -> None:
    vocabulary = vocabulary_once()
    names = ["run_id", "variant_id", "kernel_name", *vocabulary.facts, *STATISTICS]
    names.remove("launch_valid")
    query = kernels_select(vocabulary, names, replace(relations, dialect="spark"))
    statement = sqlglot.parse_one(query, read="spark")
    assert [column.alias_or_name for column in statement.selects] == names
    without_text = re.sub("'[^']*'", "''", query)
    for word in ("UNION BY NAME", "EXCLUDE", "arg_min(", "::"):
        assert word not in without_text
    assert "MIN_BY(" in query or relations is STORED


STATISTICS = (
    "launch_count", "launches_excluded", "duration_min", "duration_median", "duration_mean",
    "duration_max", "duration_first", "duration_stddev", "run_duration", "run_sm_clock",
)  # fmt: skip


def test_spark_can_say_what_every_rule_asks() -> None:
    for rule in rules_once():
        guards = [guard.when for guard in rule.unless]
        bounds = [] if rule.gain is None else [rule.gain.low, rule.gain.likely, rule.gain.high]
        for each in filter(None, (rule.applies_to, rule.when, *guards, *bounds)):
            written = spelled(each.sql(None, "portable"), "spark")
            assert sqlglot.parse_one(written, read="spark")


def test_the_open_file_keeps_its_own_spelling() -> None:
    assert spelled('SELECT "a" / 0', "duckdb") == 'SELECT "a" / 0'


def test_what_another_engine_cannot_say_is_an_error() -> None:
    with pytest.raises(sqlglot.errors.UnsupportedError):
        spelled("SELECT a FROM t QUALIFY approx_quantile(a, [0.1]) IS NULL FOR UPDATE", "spark")
