"""Tree to SQL. Every identifier and literal is written here, and nothing else is ever emitted.

All numbers are DOUBLE. A piece is *safe* when it is finite or NULL whatever the columns hold
(columns themselves are). Non-finite values stay non-finite through sums and products, so they are
turned into NULL only where they could vanish: below a division, in a comparison, as the argument of
a function, and in the result.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor.quoting import double, literal

if TYPE_CHECKING:
    from fractions import Fraction

    from advisor.expression.tree import ExpressionNode, Text

MAX_SQL = 100_000

_LARGEST = sys.float_info.max
_ARITHMETIC = {"+", "-", "*"}
_GREATEST = {"max_known": "greatest", "min_known": "least"}
_OVERFLOWING = {"exp", "power"}
_POSITIVE = {"ln": ">", "log2": ">", "sqrt": ">="}
"""Functions that fail unless their argument is greater than 0, or as great."""

_WHOLE = {"ceil", "floor"}
_EXTREME = {"max": "greatest", "min": "least"}
_PASSING = {"abs", "ceil", "floor", "round"}
"""Functions of one number that DuckDB leaves without a finite value where its argument has none."""

_NUMBER = re.compile(r"\(?-?\d[\d.]*(e[+-]?\d+)?\)?")
_WHOLE_FROM = "9007199254740992e0"  # 2 to the 53rd: every DOUBLE from there on is whole


@dataclass(frozen=True, slots=True)
class Piece:
    """SQL of what can stand as an operand: ``value`` where all ``guards`` hold, NULL elsewhere.

    It is ``safe`` if what it gives is finite or NULL for certain, and ``known`` if that is not NULL
    where the guards hold. Guards move outwards through what is NULL as soon as an operand is, so
    that a value is said once for its own check and once to be given, however deep it stands. The
    database evaluates them in any order, so none may fail where another does not hold.
    """

    value: str
    safe: bool = True
    known: bool = False
    guards: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        """Return it as one expression."""
        return _where(" AND ".join(self.guards), self.value) if self.guards else self.value


class SqlWriter:
    """Writes one tree; ``column`` gives the SQL of a name, ``scales`` its factor to SI."""

    def __init__(
        self,
        source: Text,
        scales: Mapping[str, Fraction],
        column: Callable[[str], str],
        dialect: str,
    ) -> None:
        self._source = source
        self._scales = scales
        self._column = column
        self._dialect = dialect
        self._heads: dict[str, Callable[[ExpressionNode], Piece]] = {
            "literal": lambda leaf: Piece(self._literal(leaf.value), known=leaf.value is not None),
            "name": self._name,
            "call": self._call,
            "case": self._case,
            "/": self._quotient,
            "negate": self._negation,
        }

    def write(self, node: ExpressionNode) -> str:
        """Return the SQL of the whole expression, finite or NULL."""
        return self._finite(node).sql

    def _piece(self, node: ExpressionNode) -> Piece:
        piece = self._write(node)
        if len(piece.sql) > MAX_SQL:
            problem = "compiles to too much SQL: divisions or functions are nested too deeply"
            raise self._source.error(problem, node.position)
        return piece

    def _finite(self, node: ExpressionNode) -> Piece:
        """Return what is finite or NULL."""
        if node.head == "case":
            return self._case(node, self._finite)
        piece = self._piece(node)
        if piece.safe:
            return piece
        return Piece(piece.value, known=True, guards=self._has_value(piece))

    def _has_value(self, piece: Piece) -> tuple[str, ...]:
        """Return the conditions that a piece is finite, which NULL is not."""
        if piece.safe:
            return piece.guards if piece.known else (*piece.guards, f"{piece.value} IS NOT NULL")
        if self._dialect == "duckdb":  # that spares two nodes each time, of thousands to plan
            return (*piece.guards, f"isfinite({piece.value})")
        return (*piece.guards, f"abs({piece.value}) <= {self._number(_LARGEST)}")

    def _write(self, node: ExpressionNode) -> Piece:
        if node.head in _ARITHMETIC:
            parts = [self._piece(operand) for operand in node.operands]
            value = "(" + f" {node.head} ".join(part.value for part in parts) + ")"
            return Piece(value, safe=False, guards=_guards(parts))
        return self._heads.get(node.head, self._condition)(node)

    def _quotient(self, node: ExpressionNode) -> Piece:
        above, below = self._piece(node.operands[0]), self._finite(node.operands[1])
        divisor, leaf = below.value, node.operands[1]
        if self._dialect != "duckdb" and not (leaf.head == "literal" and leaf.value):
            divisor = f"nullif({divisor}, {self._number(0.0)})"  # DuckDB's own is not finite
        return Piece(f"({above.value} / {divisor})", safe=False, guards=_guards((above, below)))

    def _negation(self, node: ExpressionNode) -> Piece:
        piece = self._piece(node.operands[0])
        return replace(piece, value=f"(- {piece.value})")

    def _condition(self, node: ExpressionNode) -> Piece:
        parts = [self._finite(operand).sql for operand in node.operands]
        match node.head:
            case "not":
                sql = f"NOT {parts[0]}"
            case "is null":
                sql = f"{parts[0]} IS NULL"
            case "in":
                sql = f"{parts[0]} IN ({', '.join(parts[1:])})"
            case "between":
                sql = f"{parts[0]} BETWEEN {parts[1]} AND {parts[2]}"
            case operator:
                sql = f"{parts[0]} {operator.upper()} {parts[1]}"
        return Piece(f"({sql})")

    def _literal(self, value: str | float | bool | None) -> str:
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return literal(value)
        return self._number(value)

    def _number(self, value: float) -> str:
        digits = double(value)
        return f"CAST({digits} AS DOUBLE PRECISION)" if self._dialect == "postgres" else digits

    def _name(self, node: ExpressionNode) -> Piece:
        name = str(node.value)
        column, scale = self._column(name), self._scales.get(name)
        if scale is None or scale == 1:
            return Piece(column, known=_is_number(column))
        if scale.numerator == 1:
            return Piece(f"({column} / {self._number(float(scale.denominator))})")
        return Piece(f"({column} * {self._number(float(scale))})", safe=scale < 1)

    def _case(
        self, node: ExpressionNode, write: Callable[[ExpressionNode], Piece] | None = None
    ) -> Piece:
        """Return a CASE of values as ``write`` gives them, which may be finite each by itself."""
        conditions = node.operands[:-1:2]
        values = [*map(write or self._piece, (*node.operands[1::2], node.operands[-1]))]
        branches = " ".join(
            f"WHEN {self._piece(condition).sql} THEN {value.sql}"
            for condition, value in zip(conditions, values, strict=False)
        )
        safe = all(value.safe for value in values)
        return Piece(f"(CASE {branches} ELSE {values[-1].sql} END)", safe=safe)

    def _call(self, node: ExpressionNode) -> Piece:
        name = str(node.value)
        if name in _EXTREME:
            return self._extreme(_EXTREME[name], node.operands)
        if name in _PASSING and self._dialect == "duckdb":
            passed = self._piece(node.operands[0])
            return replace(passed, value=f"{name}({passed.value})")
        parts = [self._finite(operand) for operand in node.operands]
        if name in _OVERFLOWING:
            values = ", ".join(part.value for part in parts)
            return Piece(f"{name}({values})", safe=False, guards=_guards(parts))
        if name == "round_up":
            return self._rounded_up(*parts)
        written = [part.sql for part in parts]
        if name == "sum_known":
            return self._sum_known(written)
        return Piece(self._function(name, written))

    def _function(self, name: str, parts: Sequence[str]) -> str:
        """Return a call of a function that gives what is finite or NULL."""
        if name in _WHOLE and self._dialect == "portable":
            return _whole(name, parts[0])
        if name in _POSITIVE:  # no guard: those of one value stand in no order
            condition = f"{parts[0]} {_POSITIVE[name]} {self._number(0.0)}"
            return _where(condition, f"{name}({parts[0]})")
        if name in _WRITTEN:
            return _WRITTEN[name](parts)
        return f"{_GREATEST.get(name, name)}({', '.join(parts)})"

    def _rounded_up(self, value: Piece, step: Piece) -> Piece:
        steps = f"({value.value} / nullif({step.value}, {self._number(0.0)}))"
        whole = _whole("ceil", steps) if self._dialect == "portable" else f"ceil{steps}"
        return Piece(f"({whole} * {step.value})", safe=False, guards=_guards((value, step)))

    def _sum_known(self, parts: Sequence[str]) -> Piece:
        total = " + ".join(f"coalesce({part}, {self._number(0.0)})" for part in parts)
        guard = f"coalesce({', '.join(parts)}) IS NOT NULL"
        return Piece(f"({total})", safe=False, known=True, guards=(guard,))

    def _extreme(self, function: str, operands: Sequence[ExpressionNode]) -> Piece:
        """Return the strict extreme: the database's own skips NULL."""
        pieces = [self._piece(operand) for operand in operands]
        guards = dict.fromkeys(guard for piece in pieces for guard in self._has_value(piece))
        found = f"{function}({', '.join(piece.value for piece in pieces)})"
        return Piece(found, known=True, guards=tuple(guards))


def _guards(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Return the guards of several pieces, each once."""
    return tuple(dict.fromkeys(guard for piece in pieces for guard in piece.guards))


def _is_number(sql: str) -> bool:
    return _NUMBER.fullmatch(sql) is not None


def _where(condition: str, value: str) -> str:
    return f"(CASE WHEN {condition} THEN {value} END)"


def _whole(function: str, value: str) -> str:
    """Return a rounded DOUBLE: elsewhere it is an integer, which larger numbers overflow."""
    rounded = f"CAST({function}({value}) AS DOUBLE)"
    return f"(CASE WHEN abs({value}) < {_WHOLE_FROM} THEN {rounded} ELSE {value} END)"


def _arg_max(parts: Sequence[str]) -> str:
    labels, values = parts[::2], parts[1::2]
    pairs = zip(labels, values, strict=True)
    branches = " ".join(f"WHEN {value} THEN {label}" for label, value in pairs)
    return f"(CASE greatest({', '.join(values)}) {branches} END)"


_WRITTEN: Mapping[str, Callable[[Sequence[str]], str]] = {
    "arg_max": _arg_max,
    "known": lambda parts: f"({parts[0]} IS NOT NULL)",
}
