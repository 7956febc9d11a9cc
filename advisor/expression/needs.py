"""What must be known for an expression to have a value, by its tree and the meaning of NULL.

``needs`` is what to get to know, ``required`` what there is no value without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from advisor.expression.tree import ExpressionNode

Needs = frozenset[str] | None
"""Names that must become known; empty where nothing must, None where no name can help."""

NOTHING: frozenset[str] = frozenset()


def needs(node: ExpressionNode, of_name: Callable[[str], Needs]) -> Needs:
    """Return what an expression needs to have a value; ``of_name`` says it of a name.

    Of several ways the first that is open is taken. A truth that one part alone can decide needs
    all the parts that can become known.
    """
    if node.head == "name":
        return of_name(str(node.value))
    if node.head == "literal":
        return None if node.value is None else NOTHING
    parts = [needs(operand, of_name) for operand in node.operands]
    kind = str(node.value) if node.head == "call" else node.head
    return _BY_KIND.get(kind, _all)(parts)


def required(node: ExpressionNode) -> Needs:
    """Return the names without each of which an expression has no value; None where it has none."""
    if node.head == "name":
        return frozenset({str(node.value)})
    if node.head == "literal":
        return None if node.value is None else NOTHING
    parts = [required(operand) for operand in node.operands]
    kind = str(node.value) if node.head == "call" else node.head
    return _REQUIRED.get(kind, _all)(parts)


def _pairs(parts: Sequence[Needs]) -> list[Needs]:
    return [_all(pair) for pair in zip(parts[::2], parts[1::2], strict=True)]


def _common(parts: Sequence[Needs]) -> Needs:
    """Return what all parts that can have a value require; None where none can."""
    possible = [part for part in parts if part is not None]
    return frozenset.intersection(*possible) if possible else None


def _first(parts: Sequence[Needs]) -> Needs:
    """Return nothing where a part is known, else what the first part needs that can be."""
    if NOTHING in parts:
        return NOTHING
    return next((part for part in parts if part is not None), None)


def _any(parts: Sequence[Needs]) -> Needs:
    """Return nothing where a part is known, else what all parts need that can be."""
    if NOTHING in parts:
        return NOTHING
    return _possible(parts)


def _case(parts: Sequence[Needs]) -> Needs:
    """Return what conditions and values need; parts are condition, value, …, and the other one."""
    conditions, values = parts[:-1:2], parts[1:-1:2]
    reached = [
        value for condition, value in zip(conditions, values, strict=True) if condition is not None
    ]
    if all(part is None for part in (*reached, parts[-1])):
        return None
    return _union((*conditions, *reached, parts[-1]))


def _all(parts: Sequence[Needs]) -> Needs:
    return None if None in parts else _union(parts)


def _possible(parts: Sequence[Needs]) -> Needs:
    """Return what all parts need that can become known; None where none can."""
    return None if all(part is None for part in parts) else _union(parts)


def _union(parts: Iterable[Needs]) -> frozenset[str]:
    return NOTHING.union(*(part for part in parts if part is not None))


_BY_KIND: Mapping[str, Callable[[Sequence[Needs]], Needs]] = {
    "is null": lambda _: NOTHING,
    "known": lambda _: NOTHING,
    "coalesce": _first,
    "max_known": _any,
    "min_known": _any,
    "sum_known": _any,
    "arg_max": lambda parts: _any(parts[1::2]),
    "or": _possible,
    "case": _case,
}

_REQUIRED: Mapping[str, Callable[[Sequence[Needs]], Needs]] = {
    "is null": lambda _: NOTHING,
    "known": lambda _: NOTHING,
    **dict.fromkeys(("coalesce", "max_known", "min_known", "sum_known"), _common),
    **dict.fromkeys(("and", "or"), _common),  # one operand alone may decide
    "in": lambda parts: _all((parts[0], _common(parts[1:]))),
    "between": lambda parts: _all((parts[0], _common(parts[1:]))),
    "arg_max": lambda parts: _common(_pairs(parts)),
    "case": lambda parts: _common((*_pairs(parts[:-1]), parts[-1])),
}
