from __future__ import annotations

from collections.abc import Callable

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.documents import load
from advisor.errors import ExpressionError, Location
from advisor.expression import Expression, Kind, Symbol, compile_expression
from advisor.units import parse_unit

AT = Location(name="rule.yaml", line=3, column=7)


def number(unit: str) -> Symbol:
    return Symbol(Kind.NUMBER, parse_unit(unit))


SYMBOLS = {
    "duration": number("s"),
    "brief": number("s"),
    "dram_bytes": number("B"),
    "flops": number("FLOP"),
    "cycles": number("cycle"),
    "share": number("1"),
    "wasted": number("1"),
    "limiter": Symbol(Kind.TEXT),
    "valid": Symbol(Kind.BOOLEAN),
    "dram__bytes.sum.per_second": number("Gbyte/second"),
    "gpu__time_duration.sum": number("ns"),
    "l2__hit_rate.pct": number("%"),
    'odd"name': number("1"),
    "select": number("1"),
    "time": number("s"),
}


def compiled(text: str, unit: str | None = None, kind: Kind | None = None) -> Expression:
    wanted = parse_unit(unit) if unit else None
    return compile_expression(text, SYMBOLS, at=AT, kind=kind, unit=wanted)


def value_of(text: str, **row: object) -> object:
    """Return what DuckDB makes of ``text`` with names replaced by the literals of ``row``."""
    literals = {
        name: "cast(NULL as double)" if value is None else repr(value)
        for name, value in row.items()
    }
    found = duckdb.execute(f"select {compiled(text).sql(literals)}").fetchone()
    assert found is not None
    return found[0]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("flops / dram_bytes", "FLOP/B"),
        ("flops / duration", "FLOP/s"),
        ("cycles / duration", "Hz"),
        ("duration + brief", "s"),
        ("0.5 * duration", "s"),
        ("duration - 0", "s"),
        ("max(duration, brief, 0)", "s"),
        ("coalesce(duration, brief)", "s"),
        ("case when share > 0.5 then duration else null end", "s"),
        ("case when valid then 0 else duration end", "s"),
        ("sqrt(dram_bytes * dram_bytes)", "B"),
        ("power(duration, 2)", "s^2"),
        ("power(duration, -1)", "1/s"),
        ("round_up(dram_bytes, dram_bytes)", "B"),
        ("ln(duration / brief)", "1"),
        ('"dram__bytes.sum.per_second" * "gpu__time_duration.sum"', "B"),
        ("- duration", "s"),
        ("arg_max('a', duration, 'b', brief)", None),
    ],
)
def test_infers_units(text: str, unit: str | None) -> None:
    found = compiled(text).unit
    assert (str(found) if found else None) == unit


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        # 2 Gbyte/second for 500 ns is 1000 bytes.
        (
            '"dram__bytes.sum.per_second" * "gpu__time_duration.sum"',
            {"dram__bytes.sum.per_second": 2.0, "gpu__time_duration.sum": 500.0},
            pytest.approx(1000.0, rel=1e-15),
        ),
        ('"l2__hit_rate.pct"', {"l2__hit_rate.pct": 12.5}, 0.125),
        ("flops / dram_bytes", {"flops": 6.0, "dram_bytes": 4.0}, 1.5),
        ("flops / dram_bytes", {"flops": 6.0, "dram_bytes": 0.0}, None),
        ("1 / (share / wasted)", {"share": 1.0, "wasted": 0.0}, None),
        ("share / wasted > 1", {"share": 1.0, "wasted": 0.0}, None),
        ("1 / 4", {}, 0.25),
        ("share * 10 > 1", {"share": 1.7e308}, None),
        ("max(share, wasted)", {"share": 1.0, "wasted": None}, None),
        ("min(share, wasted)", {"share": 1.0, "wasted": None}, None),
        ("max_known(share, wasted)", {"share": 1.0, "wasted": None}, 1.0),
        ("min_known(share, wasted)", {"share": None, "wasted": None}, None),
        ("sum_known(share, wasted, 2)", {"share": 1.0, "wasted": None}, 3.0),
        ("sum_known(share, wasted)", {"share": None, "wasted": None}, None),
        ("ln(share)", {"share": 0.0}, None),
        ("log2(share)", {"share": 8.0}, 3.0),
        ("sqrt(share)", {"share": -1.0}, None),
        ("exp(share)", {"share": 1000.0}, None),
        ("power(share, 0.5)", {"share": -1.0}, None),
        ("power(share, -1)", {"share": 0.0}, None),
        ("round_up(share, 4)", {"share": 9.0}, 12.0),
        ("round_up(share, 4)", {"share": 8.0}, 8.0),
        ("round_up(share, 0)", {"share": 8.0}, None),
        ("arg_max('a', share, 'b', wasted)", {"share": 1.0, "wasted": 1.0}, "a"),
        ("arg_max('a', share, 'b', wasted)", {"share": None, "wasted": -1.0}, "b"),
        ("arg_max('a', share, 'b', wasted)", {"share": None, "wasted": None}, None),
        ("limiter in ('memory', 'it''s')", {"limiter": "memory"}, True),
        ("starts_with(limiter, 'mem')", {"limiter": "memory"}, True),
        ("known(share / 0)", {"share": 1.0}, False),
        ("share is not null and wasted is null", {"share": 1.0, "wasted": None}, True),
        ("valid or share > 1", {"valid": True, "share": None}, True),
        ("not valid", {"valid": False}, True),
        ("null", {}, None),
        ("1 + 2 * 3 - 4 / 2", {}, 5.0),
        ("(1 + 2) * 3", {}, 9.0),
        ("7 - 2 - 1", {}, 4.0),
        ("8 / 4 / 2", {}, 1.0),
        ("true or false and false", {}, True),
    ],
)
def test_computes_by_hand(text: str, row: dict[str, object], expected: object) -> None:
    assert value_of(text, **row) == expected


@pytest.mark.parametrize(
    ("text", "place", "problem", "hint"),
    [
        (
            "duration > 0.5",
            "3:18",
            "s and 1 do not go together",
            "use a named threshold with a unit",
        ),
        (
            "0.5 < duration",
            "3:13",
            "1 and s do not go together",
            "use a named threshold with a unit",
        ),
        ("duration + dram_bytes", "3:18", "s and B do not go together", None),
        ("duration in (brief, 1)", "3:27", "s and 1 do not go together", "use a named threshold"),
        ("duration between 0 and 1", "3:30", "s and 1 do not go together", "use a named"),
        ("max(duration, share)", "3:21", "s and 1 do not go together", None),
        ("duration > wasted", "3:18", "s and 1 do not go together", None),
        ("ln(duration)", "3:10", "expected a pure number, not s", None),
        ("sqrt(duration)", "3:12", "s has no square root", None),
        ("power(duration, 0.5)", "3:23", "can only be raised to a whole number", None),
        ("durtion > 1", "3:7", "there is no 'durtion'", "did you mean 'duration'?"),
        ("share > maxx(1, 2)", "3:15", "there is no function 'maxx'", "did you mean 'max'?"),
        ("max(share)", "3:7", "max takes 2 or more arguments, not 1", None),
        ("abs(1, 2)", "3:7", "abs takes 1 arguments, not 2", None),
        ("share and valid", "3:7", "expected a condition here, not a number", None),
        ("limiter > 'a'", "3:7", "only numbers can be put in order", None),
        ("share = 'a'", "3:15", "expected a number here, not a text", None),
        ("share = null", "3:7", "null is not a value to work with", "use 'is null'"),
        ("case when valid then null end", "3:17", "every branch of this case is null", None),
        ("arg_max(limiter, share)", "3:15", "expected a label such as 'dram'", None),
        ("arg_max('a', share, 'b')", "3:7", "pairs of a label and a number", None),
        ("share +", "3:13", "cannot be understood", None),
        ("", "3:7", "the expression is empty", None),
        ("'open", "3:7", "a quote is not closed", None),
        ("1e999", "3:7", "too large for a number", None),
        ("share > 0E", "3:15", "0E is no number", None),
        ("sha\x00re", "3:10", "control characters are not allowed", None),
    ],
)
def test_names_the_place_of_a_mistake(
    text: str, place: str, problem: str, hint: str | None
) -> None:
    with pytest.raises(ExpressionError) as caught:
        compiled(text)
    assert str(caught.value).startswith(f"rule.yaml:{place}: ")
    assert problem in str(caught.value)
    assert (hint or "") in (caught.value.hint or "")


def test_places_a_mistake_in_the_file_where_the_text_is_folded() -> None:
    document = load("when: >-\n  share > wasted\n  and durtion > 0\n", name="rule.yaml")
    with pytest.raises(ExpressionError, match=r"^rule\.yaml:3:7: there is no 'durtion'"):
        compile_expression(document.text("when"), SYMBOLS, at=document["when"].at)


def test_holds_the_result_against_what_was_declared() -> None:
    with pytest.raises(ExpressionError, match="declared in FLOP/s, but this is in FLOP/B"):
        compiled("flops / dram_bytes", unit="FLOP/s")
    with pytest.raises(ExpressionError, match="expected a condition, but this is a number"):
        compiled("share", kind=Kind.BOOLEAN)
    with pytest.raises(ExpressionError, match="is not an SI unit"):
        compiled("duration", unit="ns")
    assert compiled("0", unit="s").unit == parse_unit("s")
    assert compiled("duration", unit="s").names == {"duration"}


HOSTILE = [
    "read_csv('/etc/passwd')",
    "(select 1)",
    "share in (select 1)",
    "exists (select 1)",
    "share; drop table t",
    "share -- rest",
    "/* x */ share",
    "cast(share as int)",
    "share::int",
    "sum(share) over ()",
    "count(*)",
    "*",
    "duration.x",
    "{'a': 1}",
    "[1, 2]",
    "share[1]",
    "x -> x + 1",
    "$1",
    "?",
    ":name",
    "@share",
    "getenv('HOME')",
    "current_setting('x')",
    "current_date",
    "interval 1 day",
    "date '2020-01-01'",
    "share collate nocase",
    "share as y",
    "share share",
    "max(distinct share, wasted)",
    "max(share order by wasted)",
    "max(share, wasted) filter (valid)",
    "max(share, wasted) ignore nulls",
    "main.max(share, wasted)",
    '"max"(share, wasted)',
    "share is distinct from wasted",
    "share between symmetric 0 and 1",
    "case share when 1 then 2 end",
    "limiter like 'a'",
    "limiter || 'a'",
    "share % 2",
    "share ^ 2",
    "x'41'",
    "e'\\n'",
    "(share, wasted)",
    "valid is true",
    "share at time zone 'x'",
    "max(share := 1, wasted)",
    "if(valid, 1, 2)",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_refuses_everything_outside_the_closed_list(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compiled(text)
    assert caught.value.at is not None
    assert caught.value.at.line == 3


@pytest.mark.parametrize(
    "text",
    [
        "share + " * 10**6 + "share",
        "share+" * 1200 + "share",
        "(" * 4000,
        "(" * 50 + "share" + ")" * 50,
        "abs(" * 50 + "share" + ")" * 50,
        "not " * 1000 + "valid",
        "- " * 3000 + "share",
        "case when valid then " * 30 + "1" + " end" * 30,
        "coalesce(share/" * 16 + "share" + ",1)" * 16,
    ],
    ids=lambda text: text[:8],
)
def test_refuses_what_is_too_large_or_too_deep(text: str) -> None:
    with pytest.raises(ExpressionError):
        compiled(text)


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ('"odd""name"', '"odd""name"'),
        ("select", '"select"'),
        ("time", '"time"'),
        ("limiter = 'x''); drop table t; --'", "(\"limiter\" = 'x''); drop table t; --')"),
    ],
)
def test_quotes_names_and_texts_itself(text: str, sql: str) -> None:
    assert compiled(text).sql() == sql


def test_asks_the_caller_for_the_sql_of_a_name() -> None:
    shout: Callable[[str], str] = str.upper
    assert compiled("share > wasted").sql(shout) == "(SHARE > WASTED)"
    assert compiled("share > 1").sql({"share": "k.share"}) == "(k.share > 1.0e0)"


def test_writes_typed_numbers_for_postgres() -> None:
    assert compiled("share > 0.5").sql(dialect="postgres") == (
        '("share" > CAST(0.5e0 AS DOUBLE PRECISION))'
    )


WORDS = (
    "share wasted duration limiter valid 0 1 2.5 'a' ( ) , + - * / = <> < >= and or not in is null "
    "between case when then else end max( abs( arg_max( ; . :: -- /* select over cast [ ] { ' \""
)
tokens = st.sampled_from(WORDS.split())


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.lists(tokens, max_size=12).map(" ".join), st.text(max_size=30)))
def test_compiles_any_text_or_refuses_it_with_a_place(text: str) -> None:
    try:
        compiled(text)
    except ExpressionError as error:
        caught = error
    else:
        return
    assert caught.at is not None
    assert (caught.at.line or 0) >= 3
    assert caught.at.column is not None


def test_says_an_operand_of_an_extreme_twice_however_it_came_about() -> None:
    part = 'floor(("share" / "wasted"))'
    assert compiled("max(0, floor(share / wasted))").sql() == (
        f"(CASE WHEN isfinite({part}) THEN greatest(0.0e0, {part}) END)"
    )


@pytest.mark.parametrize(
    "text",
    [
        "share/(" * 16 + "share" + ")" * 16,
        "max(" * 16 + "share" + ",1)" * 16,
        "round_up(" * 16 + "share" + ",2)" * 16,
    ],
    ids=lambda text: text[:8],
)
def test_what_is_nested_is_not_said_twice_at_every_depth(text: str) -> None:
    assert len(compiled(text).sql()) < 50 * len(text)


def test_conditions_of_operands_stand_beside_that_of_the_whole() -> None:
    quotient, total = (
        '("share" / "wasted")',
        '(coalesce("share", 0.0e0) + coalesce("wasted", 0.0e0))',
    )
    whole = f"({total} / {quotient})"
    conditions = f'coalesce("share", "wasted") IS NOT NULL AND isfinite({quotient})'
    assert compiled("sum_known(share, wasted) / (share / wasted)").sql() == (
        f"(CASE WHEN {conditions} AND isfinite({whole}) THEN {whole} END)"
    )


def test_the_values_of_a_case_are_checked_without_its_conditions() -> None:
    assert compiled("case when valid then share / wasted else 1 end").sql() == (
        '(CASE WHEN "valid" THEN (CASE WHEN isfinite(("share" / "wasted"))'
        ' THEN ("share" / "wasted") END) ELSE 1.0e0 END)'
    )


def test_what_fails_out_of_its_range_is_in_no_condition_beside_the_one_that_keeps_it_out() -> None:
    root = '(CASE WHEN "share" > 0.0e0 THEN ln("share") END)'
    whole = f'("wasted" / {root})'
    assert compiled("wasted / ln(share)").sql() == (
        f"(CASE WHEN isfinite({whole}) THEN {whole} END)"
    )
