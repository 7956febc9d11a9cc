"""What counter and fact files share: formulas with named numbers, and finding the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from advisor.documents import DocumentNode, MappingNode
from advisor.errors import Location, RuleError
from advisor.expression import Dialect, Expression, Kind, Symbol, compile_expression
from advisor.expression.needs import Needs, needs
from advisor.quoting import double, quoted
from advisor.records import dataclass
from advisor.units import Unit, parse_unit

if TYPE_CHECKING:
    from advisor.expression.calculate import Calculation, Value
    from advisor.expression.tree import ExpressionNode

T = TypeVar("T")
_ARITHMETIC = ("name", "literal", "+", "-", "*", "/", "negate")
Columns = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class NamedNumber:
    """A number that formulas may name; ``value`` in ``unit``, and where it comes from."""

    name: str
    value: float
    unit: str
    source: str

    @property
    def symbol(self) -> Symbol:
        """Return what the compiler must know about the name."""
        return Symbol(kind=Kind.NUMBER, unit=parse_unit(self.unit).in_si())

    @property
    def in_si(self) -> float:
        """Return the value in SI."""
        return self.value * float(parse_unit(self.unit).scale)

    @property
    def sql(self) -> str:
        """Return the value in SI as an SQL literal."""
        return f"({double(self.in_si)})"


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A compiled expression whose named numbers are filled in.

    ``names`` are the quantities and facts that it reads.
    """

    expression: Expression
    numbers: Mapping[str, NamedNumber]
    _written: dict[Dialect, str] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names that are not named numbers."""
        return self.expression.names.difference(self.numbers)

    @property
    def is_arithmetic(self) -> bool:
        """Return whether it lacks a value as soon as one name does: it is of sums and products."""
        return _is_arithmetic(self.expression.tree)

    def needs(self) -> Needs:
        """Return the names that it cannot do without; None where it has no value at all."""
        return needs(self.expression.tree, lambda name: frozenset({name}) - self.numbers.keys())

    def required(self) -> Needs:
        """Return the names without each of which it has no value; None where it has none at all."""
        found = self.expression.required
        return None if found is None else found - self.numbers.keys()

    def sql(
        self, columns: Columns | Mapping[str, str] | None = None, dialect: Dialect = "duckdb"
    ) -> str:
        """Return the SQL; ``columns`` gives the SQL of a name, by default its quoted self."""
        if columns is None:
            if dialect not in self._written:
                self._written[dialect] = self.sql(quoted, dialect)
            return self._written[dialect]
        find = columns if callable(columns) else columns.__getitem__
        return self.expression.sql(
            lambda name: self.numbers[name].sql if name in self.numbers else find(name), dialect
        )

    def reduced(self, find: Callable[[str], Value]) -> ExpressionNode:
        """Return the part of the formula that gave its value, by the value of each name."""
        from advisor.expression.reduced import reduced  # only numbers that are opened need it

        numbers = {name: number.in_si for name, number in self.numbers.items()}
        return reduced(
            self.expression.tree,
            lambda name: numbers[name] if name in numbers else find(name),
            self.expression.scales,
        )

    def calculation(self) -> Calculation:
        """Return the formula as a function of a function that gives the value of each name."""
        formula = self.expression.calculation()
        numbers = {name: number.in_si for name, number in self.numbers.items()}

        def calculated(find: Callable[[str], Value]) -> Value:
            return formula(lambda name: numbers[name] if name in numbers else find(name))

        return calculated


def _is_arithmetic(node: ExpressionNode) -> bool:
    return node.head in _ARITHMETIC and all(map(_is_arithmetic, node.operands))


def compile_formula(
    node: DocumentNode,
    symbols: Mapping[str, Symbol],
    numbers: Mapping[str, NamedNumber],
    *,
    kind: Kind = Kind.NUMBER,
    unit: Unit | None = None,
) -> Formula:
    """Return the formula that a text node holds; named numbers hide symbols of the same name.

    Raises:
        ExpressionError: it is wrong; with file, line and column.
    """
    known = {**symbols, **{name: number.symbol for name, number in numbers.items()}}
    expression = compile_expression(node.as_text(), known, at=node.at, kind=kind, unit=unit)
    return Formula(
        expression=expression,
        numbers={name: numbers[name] for name in expression.names & numbers.keys()},
    )


def read_numbers(node: MappingNode) -> dict[str, NamedNumber]:
    """Return the named numbers of a mapping; each has a value and a source, and perhaps a unit.

    Raises:
        RuleError: an entry has another form.
    """
    numbers = {}
    for name in node:
        entry = node.mapping(name)
        entry.refuse_unknown({"value", "unit", "source"})
        unit = entry.text("unit") if "unit" in entry else "1"
        parse_unit(unit, at=entry.at)
        numbers[name] = NamedNumber(
            name=name, value=entry.number("value"), unit=unit, source=entry.text("source")
        )
    return numbers


def add_new(known: dict[str, T], found: Mapping[str, T], node: MappingNode) -> None:
    """Add ``found`` to ``known``; ``node`` is where its names stand.

    Raises:
        RuleError: a name is there already.
    """
    for name, value in found.items():
        if name in known:
            raise RuleError(f"{name!r} is defined twice", at=node.places[name])
        known[name] = value


def yaml_files(directories: Sequence[Path], pattern: str) -> list[Path]:
    """Return the files of each directory that match ``pattern``, in order of name.

    Raises:
        RuleError: there are none in any of them.
    """
    files = [path for directory in directories for path in sorted(directory.glob(pattern))]
    if not files:
        places = ", ".join(map(str, directories))
        raise RuleError(f"there is no file {pattern}", at=Location(name=places))
    return files
