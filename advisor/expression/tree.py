"""The tree of the rule language: the only thing that SQL is ever written from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from advisor.documents import locate
from advisor.errors import ExpressionError

if TYPE_CHECKING:
    from advisor.errors import Location
    from advisor.units import Unit


class Kind(Enum):
    """What an expression yields."""

    NUMBER = "a number"
    TEXT = "a text"
    BOOLEAN = "a condition"

    @property
    def column_type(self) -> str:
        """Return the type of a column that holds such values, as DuckDB calls it."""
        return _COLUMN_TYPES[self]


_COLUMN_TYPES = {Kind.NUMBER: "DOUBLE", Kind.TEXT: "VARCHAR", Kind.BOOLEAN: "BOOLEAN"}


@dataclass(frozen=True)
class Symbol:
    """What a name stands for; ``unit`` is that of the stored value, None unless a number."""

    kind: Kind
    unit: Unit | None = None


@dataclass(frozen=True)
class ExpressionNode:
    """One operation, call or leaf.

    ``head`` is an operator (``+``, ``and``, ``in`` …), ``call`` (``value``: the function), ``case``
    (operands: condition, value, condition, value, …, otherwise), ``name`` or ``literal``.
    ``position`` is an offset in the text of the expression.
    """

    head: str
    operands: tuple[ExpressionNode, ...] = ()
    value: str | float | bool | None = None
    position: int = 0


@dataclass(frozen=True)
class Text:
    """The text of an expression and the place of its beginning."""

    text: str
    at: Location

    def error(self, problem: str, position: int, hint: str | None = None) -> ExpressionError:
        """Return the error for what stands at ``position``."""
        return ExpressionError(problem, at=locate(self.at, self.text, position), hint=hint)
