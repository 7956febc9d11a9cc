"""Tree to SQL. Every identifier and literal is written here, and nothing else is ever emitted.

All numbers are DOUBLE. A piece is *safe* when it is finite or NULL whatever the columns hold
(columns themselves are). Non-finite values stay non-finite through sums and products, so they are
turned into NULL only where they could vanish: below a division, in a comparison, as the argument of
a function, and in the result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.quoting import double

if TYPE_CHECKING:
    from fractions import Fraction

    from advisor.expression.tree import ExpressionNode, Text

MAX_SQL = 100_000

_LARGEST = sys.float_info.max
_ARITHMETIC = {"+", "-", "*"}
_GREATEST = {"max_known": "greatest", "min_known": "least"}
_OVERFLOWING = {"exp", "power"}
_UNBOUNDED = {"round_up", "sum_known"}
_WHOLE = {"ceil", "floor"}
_EXTREME = {"max": "greatest", "min": "least"}
_PASSING = {"abs", "ceil", "floor", "round"}
"""Functions of one number that DuckDB leaves without a finite value where its argument has none."""

_WHOLE_FROM = "9007199254740992e0"  # 2 to the 53rd: every DOUBLE from there on is whole


@dataclass(frozen=True, slots=True)
class Piece:
    """SQL that can stand as an operand, and whether it is finite or NULL for certain."""

    sql: str
    safe: bool = True


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
            "literal": lambda leaf: Piece(self._literal(leaf.value)),
            "name": self._name,
            "call": self._call,
            "case": self._case,
            "/": self._quotient,
            "negate": self._negation,
        }

    def write(self, node: ExpressionNode) -> str:
        """Return the SQL of the whole expression, finite or NULL."""
        return self._finite(node)

    def _piece(self, node: ExpressionNode) -> Piece:
        piece = self._write(node)
        if len(piece.sql) > MAX_SQL:
            problem = "compiles to too much SQL: divisions or functions are nested too deeply"
            raise self._source.error(problem, node.position)
        return piece

    def _finite(self, node: ExpressionNode) -> str:
        """Return SQL that is finite or NULL."""
        piece = self._piece(node)
        if piece.safe:
            return piece.sql
        return _where(self._has_value(piece), piece.sql)

    def _has_value(self, piece: Piece) -> str:
        """Return the condition that a piece is finite, which NULL is not."""
        if piece.safe:
            return f"{piece.sql} IS NOT NULL"
        if self._dialect == "duckdb":  # that spares two nodes each time, of thousands to plan
            return f"isfinite({piece.sql})"
        return f"abs({piece.sql}) <= {self._number(_LARGEST)}"

    def _write(self, node: ExpressionNode) -> Piece:
        if node.head in _ARITHMETIC:
            parts = [self._piece(operand).sql for operand in node.operands]
            return Piece("(" + f" {node.head} ".join(parts) + ")", safe=False)
        return self._heads.get(node.head, self._condition)(node)

    def _quotient(self, node: ExpressionNode) -> Piece:
        above, below = node.operands
        return Piece(f"({self._piece(above).sql} / {self._divisor(below)})", safe=False)

    def _negation(self, node: ExpressionNode) -> Piece:
        piece = self._piece(node.operands[0])
        return Piece(f"(- {piece.sql})", safe=piece.safe)

    def _condition(self, node: ExpressionNode) -> Piece:
        parts = [self._finite(operand) for operand in node.operands]
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
            return "'" + value.replace("'", "''") + "'"
        return self._number(value)

    def _number(self, value: float) -> str:
        literal = double(value)
        return f"CAST({literal} AS DOUBLE PRECISION)" if self._dialect == "postgres" else literal

    def _name(self, node: ExpressionNode) -> Piece:
        name = str(node.value)
        column, scale = self._column(name), self._scales.get(name)
        if scale is None or scale == 1:
            return Piece(column)
        if scale.numerator == 1:
            return Piece(f"({column} / {self._number(float(scale.denominator))})")
        return Piece(f"({column} * {self._number(float(scale))})", safe=scale < 1)

    def _divisor(self, node: ExpressionNode) -> str:
        divisor = self._finite(node)
        if self._dialect == "duckdb" or (node.head == "literal" and node.value):
            return divisor  # what DuckDB divides by zero is not finite
        return f"nullif({divisor}, {self._number(0.0)})"

    def _case(self, node: ExpressionNode) -> Piece:
        conditions = node.operands[:-1:2]
        values = [self._piece(value) for value in (*node.operands[1::2], node.operands[-1])]
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
            return Piece(f"{name}({passed.sql})", safe=passed.safe)
        parts = [self._finite(operand) for operand in node.operands]
        if name in _WHOLE and self._dialect == "portable":
            return Piece(_whole(name, parts[0]))
        if name in _OVERFLOWING:
            return Piece(f"{name}({', '.join(parts)})", safe=False)
        if name in _WRITTEN:
            piece = _WRITTEN[name](parts, self._number(0.0))
            if name == "round_up" and self._dialect == "portable":
                zero, (value, step) = self._number(0.0), parts
                piece = f"({_whole('ceil', f'({value} / nullif({step}, {zero}))')} * {step})"
            return Piece(piece, safe=name not in _UNBOUNDED)
        return Piece(f"{_GREATEST.get(name, name)}({', '.join(parts)})")

    def _extreme(self, function: str, operands: Sequence[ExpressionNode]) -> Piece:
        """Return the strict extreme: the database's own skips NULL.

        Where all have a value, no operand need say so again: to say each twice is half the SQL.
        """
        pieces = [self._piece(operand) for operand in operands]
        literal = [operand.head == "literal" and operand.value is not None for operand in operands]
        has_value = [
            self._has_value(piece)
            for piece, is_known in zip(pieces, literal, strict=True)
            if not is_known
        ]
        found = f"{function}({', '.join(piece.sql for piece in pieces)})"
        return Piece(_where(" AND ".join(has_value), found) if has_value else found)


def _where(condition: str, value: str) -> str:
    return f"(CASE WHEN {condition} THEN {value} END)"


def _whole(function: str, value: str) -> str:
    """Return a rounded DOUBLE: elsewhere it is an integer, which larger numbers overflow."""
    rounded = f"CAST({function}({value}) AS DOUBLE)"
    return f"(CASE WHEN abs({value}) < {_WHOLE_FROM} THEN {rounded} ELSE {value} END)"


def _sum_known(parts: Sequence[str], zero: str) -> str:
    total = " + ".join(f"coalesce({part}, {zero})" for part in parts)
    return _where(f"coalesce({', '.join(parts)}) IS NOT NULL", total)


def _arg_max(parts: Sequence[str], _: str) -> str:
    labels, values = parts[::2], parts[1::2]
    pairs = zip(labels, values, strict=True)
    branches = " ".join(f"WHEN {value} THEN {label}" for label, value in pairs)
    return f"(CASE greatest({', '.join(values)}) {branches} END)"


_WRITTEN: Mapping[str, Callable[[Sequence[str], str], str]] = {
    "arg_max": _arg_max,
    "known": lambda parts, _: f"({parts[0]} IS NOT NULL)",
    "ln": lambda parts, zero: _where(f"{parts[0]} > {zero}", f"ln({parts[0]})"),
    "log2": lambda parts, zero: _where(f"{parts[0]} > {zero}", f"log2({parts[0]})"),
    "round_up": lambda parts, zero: f"(ceil({parts[0]} / nullif({parts[1]}, {zero})) * {parts[1]})",
    "sqrt": lambda parts, zero: _where(f"{parts[0]} >= {zero}", f"sqrt({parts[0]})"),
    "sum_known": _sum_known,
}
