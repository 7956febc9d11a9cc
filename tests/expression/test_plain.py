"""Plain arithmetic is read as the whole language reads it, or left to it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.errors import ExpressionError, Location
from advisor.expression.parse import parse
from advisor.expression.plain import parse_plain
from advisor.expression.tree import Text

AT = Location(name="rule.yaml", line=1, column=1)
FORMS = ("{n} + {n}", "{n} - {n}", "{n} * {n}", "{n}/{n}", "({n})", " {n}\n")
LEAVES = ("a", "b_2", "batch", "ending", "0", "12", "0.5", "100.25")


@st.composite
def arithmetic(draw: st.DrawFn) -> str:
    def write(depth: int) -> str:
        form = draw(st.sampled_from(FORMS if depth else LEAVES))
        return re.sub(r"\{n\}", lambda _: write(depth - 1), form)

    return write(draw(st.integers(min_value=0, max_value=4)))


@given(text=arithmetic())
@settings(max_examples=300, deadline=None)
def test_gives_the_same_tree(text: str) -> None:
    found = parse_plain(text)
    assert found is not None
    assert found == parse(Text(text, AT))


@given(text=st.text(alphabet="ab1.5e+-*/() \t'\"<,_", max_size=12))
@settings(max_examples=500, deadline=None)
def test_takes_nothing_that_the_language_refuses(text: str) -> None:
    found = parse_plain(text)
    if found is not None:
        assert found == parse(Text(text, AT))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-a",
        "a +",
        "(a",
        "a)",
        "f(a)",
        "a b",
        "2a",
        "1e3",
        "a < b",
        "case",
        "not a",
        "a.b",
        "'a'",
    ],
)
def test_leaves_the_rest(text: str) -> None:
    assert parse_plain(text) is None


def test_a_wrong_one_is_still_an_error() -> None:
    with pytest.raises(ExpressionError):
        parse(Text("a +", AT))
