"""Tree to text: parts of an expression as people write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from advisor.quoting import quoted

if TYPE_CHECKING:
    from advisor.expression.tree import ExpressionNode

_BINDING = {
    "or": 1, "and": 2, "not": 3, "=": 4, "<>": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4,
    "between": 4, "is null": 4, "+": 5, "-": 5, "*": 6, "/": 6, "negate": 7,
}  # fmt: skip
_UNORDERED = {"and", "or", "+", "*"}
_TIGHTEST = 8


def written(node: ExpressionNode) -> str:
    """Return an expression in the rule language, with no more parentheses than it needs.

    Whitespace and comments of the source are gone.
    """
    return _written(node, 0)


def _written(node: ExpressionNode, around: int) -> str:
    own = _BINDING.get(node.head, _TIGHTEST)
    text = _plain(node, own)
    return f"({text})" if own < around else text


def _plain(node: ExpressionNode, own: int) -> str:
    if node.head in _SPECIAL:
        return _SPECIAL[node.head](node)
    parts = [_written(operand, own + 1) for operand in node.operands]
    match node.head:
        case "is null":
            return f"{parts[0]} is null"
        case "in":
            return f"{parts[0]} in ({', '.join(parts[1:])})"
        case "between":
            return f"{parts[0]} between {parts[1]} and {parts[2]}"
    first = _written(node.operands[0], own)
    rest = [_written(each, own + (node.head not in _UNORDERED)) for each in node.operands[1:]]
    return f" {node.head} ".join([first, *rest])


def _name(node: ExpressionNode) -> str:
    name = str(node.value)
    return name if name.isidentifier() else quoted(name)


def _call(node: ExpressionNode) -> str:
    inside = ", ".join(_written(operand, 0) for operand in node.operands)
    return f"{node.value}({inside})"


def _case(node: ExpressionNode) -> str:
    *branches, otherwise = (_written(operand, 0) for operand in node.operands)
    pairs = zip(branches[::2], branches[1::2], strict=True)
    said = " ".join(f"when {condition} then {value}" for condition, value in pairs)
    tail = "" if otherwise == "null" else f" else {otherwise}"
    return f"case {said}{tail} end"


def _literal(node: ExpressionNode) -> str:
    value = node.value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"{value:.15g}"


_SPECIAL: Mapping[str, Callable[[ExpressionNode], str]] = {
    "call": _call,
    "case": _case,
    "literal": _literal,
    "name": _name,
    "negate": lambda node: "-" + _written(node.operands[0], _TIGHTEST),
    "not": lambda node: "not " + _written(node.operands[0], _BINDING["not"] + 1),
}
