"""Tree to value: the same answers as the SQL, for a handful of numbers that are in no database.

Functions are made of a tree once and called often. A value that does not exist, or is not finite,
is None, as it is NULL in SQL. Nothing of Python is reachable from a tree but what stands here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from advisor.expression.tree import ExpressionNode

Value = float | str | bool | None
Find = Callable[[str], Value]
Calculation = Callable[[Find], Value]


def calculation(node: ExpressionNode, scales: Mapping[str, Fraction]) -> Calculation:
    """Return the function of a checked tree; it asks for the value of each name it needs."""
    if node.head == "literal":
        value = node.value
        return lambda _: value
    if node.head == "name":
        return _name(str(node.value), scales)
    parts = [calculation(operand, scales) for operand in node.operands]
    if node.head == "case":
        return _case(parts)
    function = _CALLS[str(node.value)] if node.head == "call" else _OPERATORS[node.head]
    if len(parts) == 2:  # most have two, and a sweep asks for thousands
        left, right = parts
        return lambda find: function(left(find), right(find))
    return lambda find: function(*[part(find) for part in parts])


def _name(name: str, scales: Mapping[str, Fraction]) -> Calculation:
    scale = float(scales.get(name, 1))
    if scale == 1:
        return lambda find: find(name)
    scaled = _strict(lambda value: value * scale)
    return lambda find: scaled(find(name))


def _case(parts: list[Calculation]) -> Calculation:
    branches = list(zip(parts[:-1:2], parts[1::2], strict=False))

    def chosen(find: Find) -> Value:
        for condition, value in branches:
            if condition(find) is True:
                return value(find)
        return parts[-1](find)

    return chosen


def _strict(function: Callable[..., Any]) -> Callable[..., Value]:
    """Return ``function``, None where an argument is None or there is no finite result."""

    def wrapped(*values: Value) -> Value:
        if None in values:
            return None
        try:
            result: Value = function(*values)
        except (ArithmeticError, ValueError):
            return None
        return result if not isinstance(result, float) or math.isfinite(result) else None

    return wrapped


def _and(left: Value, right: Value) -> Value:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _or(left: Value, right: Value) -> Value:
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _in(wanted: Value, *members: Value) -> Value:
    if wanted is None:
        return None
    if wanted in [member for member in members if member is not None]:
        return True
    return None if None in members else False


def _between(value: Value, low: Value, high: Value) -> Value:
    return _and(_OPERATORS[">="](value, low), _OPERATORS["<="](value, high))


def _known(combine: Callable[[list[Any]], float]) -> Callable[..., Value]:
    strict = _strict(lambda *values: combine(list(values)))

    def wrapped(*values: Value) -> Value:
        known = [value for value in values if value is not None]
        return strict(*known) if known else None

    return wrapped


def _arg_max(*values: Value) -> Value:
    best: tuple[float, Value] | None = None
    for label, value in zip(values[::2], values[1::2], strict=True):
        if isinstance(value, float) and (best is None or value > best[0]):
            best = (value, label)
    return best[1] if best else None


def _round(value: float) -> float:
    """Round half away from zero, as databases do."""
    whole = math.floor(abs(value))
    return math.copysign(whole + (abs(value) - whole >= 0.5), value)


_OPERATORS: Mapping[str, Callable[..., Value]] = {
    "+": _strict(lambda a, b: a + b),
    "-": _strict(lambda a, b: a - b),
    "*": _strict(lambda a, b: a * b),
    "/": _strict(lambda a, b: a / b),
    "negate": _strict(lambda a: -a),
    "=": _strict(lambda a, b: a == b),
    "<>": _strict(lambda a, b: a != b),
    "<": _strict(lambda a, b: a < b),
    "<=": _strict(lambda a, b: a <= b),
    ">": _strict(lambda a, b: a > b),
    ">=": _strict(lambda a, b: a >= b),
    "and": _and,
    "or": _or,
    "not": _strict(lambda a: not a),
    "in": _in,
    "between": _between,
    "is null": lambda a: a is None,
}
_CALLS: Mapping[str, Callable[..., Value]] = {
    "abs": _strict(abs),
    "arg_max": _arg_max,
    "ceil": _strict(lambda a: float(math.ceil(a))),
    "coalesce": lambda *values: next((value for value in values if value is not None), None),
    "exp": _strict(math.exp),
    "floor": _strict(lambda a: float(math.floor(a))),
    "known": lambda a: a is not None,
    "ln": _strict(math.log),
    "log2": _strict(math.log2),
    "max": _strict(max),
    "max_known": _known(max),
    "min": _strict(min),
    "min_known": _known(min),
    "power": _strict(math.pow),
    "round": _strict(_round),
    "round_up": _strict(lambda a, step: math.ceil(a / step) * step),
    "sqrt": _strict(math.sqrt),
    "starts_with": _strict(lambda text, start: text.startswith(start)),
    "sum_known": _known(sum),
}
