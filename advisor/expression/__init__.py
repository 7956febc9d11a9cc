"""The rule language: an SQL scalar expression, parsed, checked, compiled for the database in use.

Nothing is ever evaluated as Python, and nothing reaches the database but what ``sql`` writes from
the checked tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from advisor.errors import Location
from advisor.expression.needs import Needs, required
from advisor.expression.sql import SqlWriter
from advisor.expression.text import written
from advisor.expression.tree import ExpressionNode, Kind, Symbol, Text
from advisor.quoting import quoted
from advisor.records import Seldom, dataclass
from advisor.units import DIMENSIONLESS, Unit

if TYPE_CHECKING:
    from fractions import Fraction

    from advisor.expression.calculate import Calculation
    from advisor.expression.check import Type

__all__ = ["Expression", "Kind", "Symbol", "compile_expression", "written"]

Dialect = Literal["duckdb", "portable", "postgres"]
"""``portable`` is spelled as DuckDB does, and uses only what other engines mean the same by."""

_TYPES = {Kind.NUMBER: "DOUBLE PRECISION", Kind.TEXT: "VARCHAR", Kind.BOOLEAN: "BOOLEAN"}


@dataclass(frozen=True, kw_only=True)
class Expression(Seldom):
    """A checked expression; ``unit`` is the SI unit of a number, ``names`` those it reads.

    Without each of the names ``required`` it has no value; with None it never has one.
    """

    SELDOM: ClassVar = ("at", "tree", "scales")  # rules are kept with the SQL that was written

    text: str
    kind: Kind
    unit: Unit | None
    names: frozenset[str]
    required: Needs
    at: Location = field(repr=False)
    tree: ExpressionNode = field(repr=False)
    scales: Mapping[str, Fraction] = field(repr=False)

    def sql(
        self,
        columns: Callable[[str], str] | Mapping[str, str] | None = None,
        dialect: Dialect = "duckdb",
    ) -> str:
        """Return the expression in SQL; ``columns`` gives the SQL of each name.

        Without ``columns`` every name is a column of that name. The SQL of a name must be a DOUBLE,
        finite or NULL, where the name is a number.
        """
        if columns is None:
            columns = quoted
        column = columns if callable(columns) else columns.__getitem__
        source = Text(self.text, self.at)
        written = SqlWriter(source, self.scales, column, dialect).write(self.tree)
        if self.tree.head == "literal" and self.tree.value is None:
            return f"CAST({written} AS {_TYPES[self.kind]})"
        return written

    def calculation(self) -> Calculation:
        """Return the expression as a function of a function that gives the value of each name.

        What it returns is finite or None, and what SQL would say.
        """
        from advisor.expression.calculate import calculation  # only models work without a database

        return calculation(self.tree, self.scales)


def compile_expression(
    text: str,
    symbols: Mapping[str, Symbol],
    *,
    at: Location,
    kind: Kind | None = None,
    unit: Unit | None = None,
) -> Expression:
    """Return the checked expression.

    ``symbols`` are the names it may use. ``kind`` and ``unit`` are what it must yield, where the
    caller knows; a unit is SI, and makes the kind a number.

    Raises:
        ExpressionError: with the line and column in the file of ``at``.
    """
    # Compiled rules need neither of them, nor sqlglot, which comes with the second.
    from advisor.expression.check import Checker
    from advisor.expression.plain import parse_plain

    source = Text(text, at)
    tree = _with_names(parse_plain(text) or _parsed(source), symbols)
    checker = Checker(source, symbols)
    kind, unit = _outcome(source, checker.infer(tree), Kind.NUMBER if unit else kind, unit)
    scales = {name: s.unit.scale for name, s in checker.met.items() if s.unit is not None}
    expression = Expression(
        text=text,
        kind=kind,
        unit=unit,
        names=frozenset(checker.met),
        required=required(tree),
        at=at,
        tree=tree,
        scales=scales,
    )
    expression.sql()
    return expression


def _with_names(tree: ExpressionNode, symbols: Mapping[str, Symbol]) -> ExpressionNode:
    """Return the tree in which what is called like ``ratio(x)`` is that name, where it is one."""
    operands = tuple(_with_names(operand, symbols) for operand in tree.operands)
    if tree.head == "call" and len(operands) == 1 and operands[0].head == "name":
        name = f"{tree.value}({operands[0].value})"
        if name in symbols:
            return ExpressionNode("name", value=name, position=tree.position)
    return tree if operands == tree.operands else replace(tree, operands=operands)


def _parsed(source: Text) -> ExpressionNode:
    from advisor.expression.parse import parse  # and sqlglot, which plain arithmetic does not need

    return parse(source)


def _outcome(
    source: Text, found: Type, kind: Kind | None, unit: Unit | None
) -> tuple[Kind, Unit | None]:
    """Return the kind and unit of the result, compared with those wanted."""
    if kind and found.kind and found.kind is not kind:
        raise source.error(f"expected {kind.value}, but this is {found.kind.value}", 0)
    if unit and unit.scale != 1:
        hint = "results are in s, B, FLOP, Hz, J, W and 1"
        raise source.error("the declared unit is not an SI unit", 0, hint)
    if unit and found.unit and not found.unit.is_like(unit):
        raise source.error(f"declared in {unit}, but this is in {found.unit}", 0)
    kind = found.kind or kind or Kind.NUMBER
    return kind, (found.unit or unit or DIMENSIONLESS) if kind is Kind.NUMBER else None
