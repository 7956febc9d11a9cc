"""The part of an expression that gave its value: other branches and what is unknown are gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from advisor.expression.calculate import Find, calculation
from advisor.expression.tree import ExpressionNode

_OF_KNOWN = ("max_known", "min_known", "sum_known")
_FIRST_KNOWN = "coalesce"


def reduced(node: ExpressionNode, find: Find, scales: Mapping[str, Fraction]) -> ExpressionNode:
    """Return what of a checked tree gave its value, by the value of each name.

    Of a case the branch that was taken is left, of several ways to know something the first that
    is known; ``max_known`` of what is known is ``max``. A tree without a value stays whole.
    """

    def value(part: ExpressionNode) -> object:
        return calculation(part, scales)(find)

    if value(node) is None:
        return node
    if node.head == "case":
        return reduced(_branch(node, value), find, scales)
    operands = tuple(reduced(each, find, scales) for each in node.operands)
    if isinstance(node.value, str) and node.value in (_FIRST_KNOWN, *_OF_KNOWN):
        operands = tuple(each for each in operands if value(each) is not None)
        if node.value == _FIRST_KNOWN or len(operands) == 1:
            return operands[0]
        return replace(node, value=node.value.removesuffix("_known"), operands=operands)
    return replace(node, operands=operands)


def _branch(node: ExpressionNode, value: Callable[[ExpressionNode], object]) -> ExpressionNode:
    *branches, otherwise = node.operands
    for condition, branch in zip(branches[::2], branches[1::2], strict=True):
        if value(condition) is True:
            return branch
    return otherwise


def names_of(node: ExpressionNode) -> tuple[str, ...]:
    """Return the names that a tree reads, in order of appearance."""
    found = (str(node.value),) if node.head == "name" else ()
    inner = (name for operand in node.operands for name in names_of(operand))
    return tuple(dict.fromkeys((*found, *inner)))
