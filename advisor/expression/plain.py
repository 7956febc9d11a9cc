"""Sums and products of names and numbers, read without sqlglot, which takes a while to load.

What is anything else, or wrong, is left to ``parse``: both give the same tree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from advisor.expression.tree import ExpressionNode

MAX_TOKENS = 60  # what is longer or deeper is compared with the limits of the language
MAX_BRACKETS = 8
_TOKEN = re.compile(
    r"[ \t\n]*(?:(?P<number>[0-9]+(?:\.[0-9]+)?)(?![\w.])"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?![\w(.])|(?P<mark>[-+*/()]))"
)
_WORDS = frozenset(  # that mean something, and are no names
    (
        *("and", "between", "case", "else", "end", "false", "in", "is", "not", "null", "or"),
        *("then", "true", "when"),
    )
)
Token = tuple[str, str, int]


def parse_plain(text: str) -> ExpressionNode | None:
    """Return the tree of an expression of ``+ - * /``, brackets, names and numbers; else None."""
    tokens = _tokens(text)
    if not tokens or len(tokens) > MAX_TOKENS or text.count("(") > MAX_BRACKETS:
        return None
    tree, end = _sum(tokens, 0)
    return tree if end == len(tokens) else None


def _tokens(text: str) -> list[Token] | None:
    """Return kind, text and place of each token; None where something else stands."""
    tokens: list[Token] = []
    at, end = 0, len(text.rstrip(" \t\n"))
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            return None
        kind = found.lastgroup
        if kind == "name" and found[kind].lower() in _WORDS:
            return None
        tokens.append((kind, found[kind], found.start(kind)))
        at = found.end()
    return tokens


def _sum(tokens: Sequence[Token], at: int) -> tuple[ExpressionNode | None, int]:
    return _chain(tokens, at, "+-")


def _chain(tokens: Sequence[Token], at: int, marks: str) -> tuple[ExpressionNode | None, int]:
    """Return operands that are joined by some marks, from the left, and where they end."""
    below = _factor if marks == "*/" else lambda tokens, at: _chain(tokens, at, "*/")
    tree, at = below(tokens, at)
    while tree is not None and at < len(tokens) and tokens[at][1] in marks:
        mark = tokens[at][1]
        other, at = below(tokens, at + 1)
        tree = other and ExpressionNode(mark, (tree, other), position=tree.position)
    return tree, at


def _factor(tokens: Sequence[Token], at: int) -> tuple[ExpressionNode | None, int]:
    kind, text, position = tokens[at] if at < len(tokens) else ("", "", 0)
    if kind == "number":
        return ExpressionNode("literal", value=float(text), position=position), at + 1
    if kind == "name":
        return ExpressionNode("name", value=text, position=position), at + 1
    if text == "(":
        tree, end = _sum(tokens, at + 1)
        closed = end < len(tokens) and tokens[end][1] == ")"
        return (tree, end + 1) if closed else (None, end)
    return None, at
