"""DuckDB, SQLite, the calculator and a reference interpreter agree on every expression and row."""

from __future__ import annotations

import math
import re
import sys

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from advisor.database.few import FewRows, RowsOfTable
from advisor.errors import Location
from advisor.expression import Kind, Symbol, compile_expression
from advisor.units import DIMENSIONLESS, parse_unit
from tests.support.interpreter import Value, interpret

NUMBERS = ("a", "b", "c")
SYMBOLS = {
    **{name: Symbol(Kind.NUMBER, DIMENSIONLESS) for name in NUMBERS},
    "share%": Symbol(Kind.NUMBER, parse_unit("%")),
    "word": Symbol(Kind.TEXT),
    "other": Symbol(Kind.TEXT),
    "flag": Symbol(Kind.BOOLEAN),
}
AT = Location(name="rule.yaml", line=1, column=1)

LARGEST = sys.float_info.max
values = st.one_of(
    st.none(),
    st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, -2.5, 1e300, -1e300, LARGEST, 1e-300, 5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(min_value=-100, max_value=100),
)
words = st.one_of(st.none(), st.sampled_from(["", "memory", "mem", "it's", "µ\\", '"']))
rows = st.fixed_dictionaries(
    {
        **dict.fromkeys((*NUMBERS, "share%"), values),
        "word": words,
        "other": words,
        "flag": st.sampled_from([None, True, False]),
    }
)

LARGEST = 1e308
NUMBER_LEAVES = (*NUMBERS, '"share%"', "0", "1", "2.5", "0.1", "1e-3", "1e308", "3")
TEXT_LEAVES = ("word", "other", "'memory'", "'it''s'", "''", "'m'")
NUMBER_FORMS = (
    "({n} + {n})",
    "({n} - {n})",
    "({n} * {n})",
    "({n} / {n})",
    "- {n}",
    *(f"{name}({{n}})" for name in ("abs", "ceil", "exp", "floor", "ln", "log2", "round", "sqrt")),
    "power({n}, {n})",
    "round_up({n}, {n})",
    *(f"{name}({{n}}, {{n}})" for name in ("coalesce", "max", "min", "max_known", "min_known")),
    "max({n}, {n}, {n})",
    "sum_known({n}, {n}, {n})",
    "case when {c} then {n} else {n} end",
    "case when {c} then null when {c} then {n} end",
)
CONDITION_LEAVES = ("flag", "true", "false")
CONDITION_FORMS = (
    *(f"({{n}} {order} {{n}})" for order in ("=", "<>", "!=", "<", "<=", ">", ">=")),
    "({n} between {n} and {n})",
    "({n} not between {n} and {n})",
    "({n} in ({n}, {n}))",
    "({t} not in ({t}, {t}))",
    "({t} = {t})",
    "({n} is null)",
    "({n} is not null)",
    "known({n})",
    "starts_with({t}, {t})",
    "({c} and {c})",
    "({c} or {c})",
    "(not {c})",
    "(flag = {c})",
)
TEXT_FORMS = (
    "arg_max('x', {n}, 'y', {n}, 'z', {n})",
    "coalesce({t}, {t})",
    "case when {c} then {t} else {t} end",
)
FORMS = {
    "n": (NUMBER_LEAVES, NUMBER_FORMS),
    "c": (CONDITION_LEAVES, CONDITION_FORMS),
    "t": (TEXT_LEAVES, TEXT_FORMS),
}


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """Draw an expression of any kind, up to four levels deep."""

    def write(kind: str, depth: int) -> str:
        leaves, forms = FORMS[kind]
        form = draw(
            st.sampled_from(forms if depth == 4 or (depth and draw(st.booleans())) else leaves)
        )
        return re.sub(r"\{(.)\}", lambda match: write(match[1], depth - 1), form)

    return write(draw(st.sampled_from("nct")), 4)


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1, "enable_external_access": False})
    connection.execute(
        'create table t (a double, b double, c double, "share%" double,'
        " word varchar, other varchar, flag boolean)"
    )
    return connection


@pytest.fixture(scope="module")
def few() -> FewRows:
    few = FewRows({})
    few.take("t", RowsOfTable(types=dict.fromkeys(SYMBOLS, ""), rows=()))
    return few


def _same(ours: Value, reference: Value, text: str = "") -> bool:
    """Return whether values are alike; a difference of the largest numbers has no digits left."""
    least = 1e-12 * LARGEST if str(LARGEST).replace("+", "") in text else 1e-307
    if isinstance(ours, float) and isinstance(reference, float):
        return math.isclose(ours, reference, rel_tol=1e-12, abs_tol=least)
    return ours == reference and type(ours) is type(reference)


ROW = {"a": 1.0, "b": 0.0, "c": -8.0, "share%": 50.0, "word": "memory", "other": None, "flag": None}


@example("ln(0)", ROW)
@example("a / b > 1", ROW)
@example("1 / (a / b)", ROW)
@example("power(c, 0.5)", ROW)
@example("round_up(a, 0.4)", ROW)
@example("sqrt(b)", ROW)
@example("exp(1e308)", ROW)
@example("1e308 * 10 > 1", ROW)
@example("round(a / 2 + b)", ROW)
@example("round(0.49999999999999994)", ROW)
@example("ceil(1e300) + floor(exp(1e308))", ROW)
@example('round_up(1e308, "share%") - 1e308', ROW | {"share%": 3825690099591655.0})
@settings(
    max_examples=600, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=expressions(), row=rows)
def test_gives_what_the_interpreter_gives(
    connection: duckdb.DuckDBPyConnection, few: FewRows, text: str, row: dict[str, Value]
) -> None:
    compiled = compile_expression(text, SYMBOLS, at=AT)
    expected = interpret(compiled, row)
    for engine in (connection, few):
        engine.execute("delete from t")
        engine.execute(
            "insert into t values (?, ?, ?, ?, ?, ?, ?)", [row[name] for name in SYMBOLS]
        )
        ((found,),) = engine.execute(f"select {compiled.sql()} from t").fetchall()
        if engine is few and compiled.kind is Kind.BOOLEAN and found is not None:
            found = bool(found)  # it has no truth values
        assert _same(found, expected, text), (engine, compiled.sql(), found, expected)
    calculated = compiled.calculation()(row.__getitem__)
    assert _same(calculated, expected, text), (text, calculated, expected)


@example("a between b and c", ROW | {"a": 3.0, "c": None})  # false by one bound alone
@example("a = 1 and b > c", ROW | {"a": 2.0, "c": None})
@example("a in (b, c)", ROW | {"a": 0.0, "c": None})
@example("arg_max('x', a, 'y', c)", ROW | {"c": None})
@example("case when flag then a else b end", ROW | {"a": None})
@settings(max_examples=600, deadline=None)
@given(text=expressions(), row=rows)
def test_has_no_value_without_what_it_requires(text: str, row: dict[str, Value]) -> None:
    compiled = compile_expression(text, SYMBOLS, at=AT)
    names = compiled.required
    if interpret(compiled, row) is not None:
        assert names is not None
        assert all(row[name] is not None for name in names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a + b", {"a", "b"}),
        ("max(a, b)", {"a", "b"}),
        ("coalesce(a + b, a * c)", {"a"}),
        ("case when a > 1 then null else b end", {"b"}),
        ("sum_known(a, b)", set()),
        ("case when a > 1 then b end", {"a", "b"}),
        ("case when a > 1 then b else b + c end", {"b"}),
        ("known(a)", set()),
        ("a > b and a > c", {"a"}),
        ("a in (b, c)", {"a"}),
        ("a between b and c", {"a"}),
        ("1 / 2", set()),
    ],
)
def test_requires_what_no_way_to_a_value_does_without(text: str, names: set[str]) -> None:
    assert compile_expression(text, SYMBOLS, at=AT).required == names
