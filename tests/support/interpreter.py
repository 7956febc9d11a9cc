"""A slow interpreter of the rule language, written from its description, to hold the compiler to.

It works on the checked tree with Python floats and None, one row at a time, and shares no code with
the SQL writer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from advisor.expression import Expression
from advisor.expression.tree import ExpressionNode

Value = float | str | bool | None
Row = Mapping[str, Value]


def interpret(expression: Expression, row: Row) -> Value:
    """Return the value of ``expression`` for one row of stored values."""
    si = {name: _to_si(row[name], expression.scales.get(name)) for name in expression.names}
    return _value(expression.tree, si)


def _to_si(value: Value, scale: Fraction | None) -> Value:
    if scale is None or not isinstance(value, float):
        return value
    return _finite(float(Fraction(value) * scale)) if abs(value) < 1e290 else value * float(scale)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _value(node: ExpressionNode, row: Row) -> Value:
    if node.head == "literal":
        return node.value
    if node.head == "name":
        return row[str(node.value)]
    if node.head == "case":
        return _case(node, row)
    values = [_value(operand, row) for operand in node.operands]
    if node.head == "call":
        return CALLS[str(node.value)](*values)
    return OPERATORS[node.head](*values)


def _case(node: ExpressionNode, row: Row) -> Value:
    branches = node.operands[:-1]
    for condition, value in zip(branches[::2], branches[1::2], strict=True):
        if _value(condition, row) is True:
            return _value(value, row)
    return _value(node.operands[-1], row)


def _strict(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return ``function``, NULL where an argument is NULL or the result does not exist."""

    def wrapped(*values: Value) -> Value:
        if any(value is None for value in values):
            return None
        try:
            result = function(*values)
        except (ArithmeticError, ValueError):
            return None
        return _finite(result) if isinstance(result, float) else result

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
    result: Value = False
    for member in members:
        result = _or(result, None if wanted is None or member is None else wanted == member)
    return result


def _between(value: Value, low: Value, high: Value) -> Value:
    return _and(_strict(lambda a, b: a >= b)(value, low), _strict(lambda a, b: a <= b)(value, high))


def _known(combine: Callable[[list[float]], float]) -> Callable[..., Value]:
    def wrapped(*values: Value) -> Value:
        known = [value for value in values if isinstance(value, float)]
        return _finite(combine(known)) if known else None

    return wrapped


def _sum(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


def _arg_max(*values: Value) -> Value:
    best: tuple[float, Value] | None = None
    for label, value in zip(values[::2], values[1::2], strict=True):
        if isinstance(value, float) and (best is None or value > best[0]):
            best = (value, label)
    return best[1] if best else None


def _round(value: float) -> float:
    """Round half away from zero."""
    whole = math.floor(abs(value))
    return math.copysign(whole + (abs(value) - whole >= 0.5), value)


OPERATORS: dict[str, Callable[..., Value]] = {
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
CALLS: dict[str, Callable[..., Value]] = {
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
    "sum_known": _known(_sum),
}
