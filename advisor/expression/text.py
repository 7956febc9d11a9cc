"""Tree to text: parts of an expression as people write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from advisor.quoting import literal, quoted

if TYPE_CHECKING:
    from advisor.expression.tree import ExpressionNode

_BINDING = {
    "or": 1, "and": 2, "not": 3, "=": 4, "<>": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4,
    "between": 4, "is null": 4, "+": 5, "-": 5, "*": 6, "/": 6, "negate": 7,
}  # fmt: skip
_UNORDERED = {"and", "or"}  # sums and products are rounded in the order in which they are written
_TIGHTEST = 8


def written(node: ExpressionNode, named: Callable[[str], str] | None = None) -> str:
    """Return an expression in the rule language, with no more parentheses than it needs.

    Whitespace and comments of the source are gone. ``named`` gives what to call each name.
    """
    return _Writer(named or _name).write(node, 0)


def _name(name: str) -> str:
    return name if name.isidentifier() else quoted(name)


def _literal(value: str | float | bool | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return literal(value)
    short = f"{value:.15g}"
    return short if float(short) == value else repr(value)


class _Writer:
    """Writes trees; ``named`` gives what to call each name."""

    def __init__(self, named: Callable[[str], str]) -> None:
        self._named = named

    def write(self, node: ExpressionNode, around: int) -> str:
        """Return a part of a tree, in parentheses where what is ``around`` binds tighter."""
        own = _BINDING.get(node.head, _TIGHTEST)
        text = self._plain(node, own)
        return f"({text})" if own < around else text

    def _plain(self, node: ExpressionNode, own: int) -> str:
        inner = node.operands
        match node.head:
            case "name":
                text = self._named(str(node.value))
            case "literal":
                text = _literal(node.value)
            case "call":
                text = f"{node.value}({', '.join(self.write(each, 0) for each in inner)})"
            case "case":
                text = self._case(node)
            case "negate":
                text = "-" + self.write(inner[0], _TIGHTEST)
            case "not":
                text = "not " + self.write(inner[0], _BINDING["not"] + 1)
            case _:
                text = self._joined(node, own)
        return text

    def _joined(self, node: ExpressionNode, own: int) -> str:
        parts = [self.write(operand, own + 1) for operand in node.operands]
        match node.head:
            case "is null":
                return f"{parts[0]} is null"
            case "in":
                return f"{parts[0]} in ({', '.join(parts[1:])})"
            case "between":
                return f"{parts[0]} between {parts[1]} and {parts[2]}"
        first = self.write(node.operands[0], own)
        tighter = own + (node.head not in _UNORDERED)
        rest = [self.write(each, tighter) for each in node.operands[1:]]
        return f" {node.head} ".join([first, *rest])

    def _case(self, node: ExpressionNode) -> str:
        *branches, otherwise = (self.write(operand, 0) for operand in node.operands)
        pairs = zip(branches[::2], branches[1::2], strict=True)
        cases = " ".join(f"when {condition} then {value}" for condition, value in pairs)
        tail = "" if otherwise == "null" else f" else {otherwise}"
        return f"case {cases}{tail} end"
