"""Parts of an expression, written as people write them."""

from __future__ import annotations

import pytest

from advisor.errors import Location
from advisor.expression import Kind, Symbol, compile_expression, written
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
