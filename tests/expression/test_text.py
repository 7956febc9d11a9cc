"""Parts of an expression, written as people write them."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from advisor.errors import ExpressionError, Location
from advisor.expression import Kind, Symbol, compile_expression, written
from advisor.expression.tree import ExpressionNode
from advisor.rules.language.subjects import KERNEL
from advisor.rules.language.thresholds import in_scope
from advisor.units import parse_unit
from tests.support.facts import vocabulary_once
from tests.support.knowledge import rules_once

NUMBER = Symbol(Kind.NUMBER, parse_unit("1"))
SYMBOLS = {
    "a": NUMBER,
    "b": NUMBER,
    "c": NUMBER,
    "counter.sum": NUMBER,
    "t": Symbol(Kind.TEXT),
    "p": Symbol(Kind.BOOLEAN),
    "q": Symbol(Kind.BOOLEAN),
}
AT = Location(name="here")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a+b*c", "a + b * c"),
        ("(a+b)*c", "(a + b) * c"),
        ("a-(b-c)", "a - (b - c)"),
        ("a-b-c", "a - b - c"),
        ("a/(b*c)", "a / (b * c)"),
        ("a+(b-c)", "a + (b - c)"),
        ("a*(b/c)", "a * (b / c)"),
        ("(a+b)+c", "a + b + c"),
        ("p and (q and p)", "p and q and p"),
        ("a * 0.12345678901234568", "a * 0.12345678901234568"),
        ("a * 1000000", "a * 1000000"),
        ("-a + -(b - c)", "-a + -(b - c)"),
        ("not (p and q) or p", "not (p and q) or p"),
        ("p and (q or a<1)", "p and (q or a < 1)"),
        ("t in ('x','it''s')", "t in ('x', 'it''s')"),
        ("a between 1 and b", "a between 1 and b"),
        ("a is not null", "not a is null"),
        ("case when p then a else b end", "case when p then a else b end"),
        ("case when p then a end", "case when p then a end"),
        ("max_known( a , b )", "max_known(a, b)"),
        ('"counter.sum" * 1e-3', '"counter.sum" * 0.001'),
        ("p = true", "p = true"),
    ],
)
def test_writes_what_was_meant_without_needless_parentheses(text: str, expected: str) -> None:
    assert written(compile_expression(text, SYMBOLS, at=AT).tree) == expected


def test_means_the_same_as_the_conditions_of_all_rules() -> None:
    vocabulary = vocabulary_once()
    rules = [rule for rule in rules_once() if rule.subject == KERNEL]
    for rule in rules:
        symbols = in_scope(vocabulary.symbols, rule.thresholds)
        for condition in (rule.when, *(guard.when for guard in rule.unless)):
            again = compile_expression(written(condition.tree), symbols, at=AT)
            assert again.sql() == condition.sql()
    assert len(rules) > 50


LEAVES = st.sampled_from(["a", "b", '"counter.sum"']) | st.floats(
    min_value=0, allow_nan=False, allow_infinity=False
).map(repr)
NUMBERS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner)
        | st.builds("(-{})".format, inner)
        | st.builds("max_known({}, {})".format, inner, inner)
        | st.builds("(case when {} < {} then {} else {} end)".format, inner, inner, inner, inner)
    ),
    max_leaves=12,
)
CONDITIONS = st.recursive(
    st.sampled_from(["p", "q", "(t in ('x', 'y'))"])
    | st.builds("({} {} {})".format, NUMBERS, st.sampled_from(["<", ">=", "=", "<>"]), NUMBERS)
    | st.builds("({} between {} and {})".format, NUMBERS, NUMBERS, NUMBERS)
    | st.builds("({} is null)".format, NUMBERS),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or", "="]), inner)
        | st.builds("(not {})".format, inner)
        | st.builds("({} is not null)".format, inner)
    ),
    max_leaves=4,
)


def shape(node: ExpressionNode) -> tuple[object, ...]:
    """Return a tree without places; chains of and, and of or, are one list of operands."""
    operands = [shape(each) for each in node.operands]
    if node.head in ("and", "or"):
        nested = [each[2:] if each[0] == node.head else (each,) for each in operands]
        return (node.head, None, *(each for group in nested for each in group))
    return (node.head, node.value, *operands)


@given(CONDITIONS)
def test_reads_back_as_the_same_expression(text: str) -> None:
    try:
        tree = compile_expression(text, SYMBOLS, at=AT).tree
    except ExpressionError:
        assume(False)
    again = compile_expression(written(tree), SYMBOLS, at=AT).tree
    assert shape(again) == shape(tree)
