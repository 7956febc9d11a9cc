"""``rules/counters/<profiler>/*.yaml`` → the mapping of counters to quantities.

The first alternative that is not NULL wins; its label is kept where the
vocabulary says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from advisor.counters.computed import Computed, Way
from advisor.counters.files import CounterFiles, FormulaEntry, read_counter_files
from advisor.counters.staging import Mapping
from advisor.errors import Location, RuleError
from advisor.expression import Kind, Symbol
from advisor.facts.formulas import Formula, compile_formula
from advisor.facts.layers import dependency_order
from advisor.quantities import Quantities, Quantity, load_quantities, quantity_of, source_of
from advisor.quoting import literal
from advisor.records import dataclass
from advisor.resources import counter_dirs
from advisor.suggest import did_you_mean
from advisor.units import DIMENSIONLESS, Unit, parse_unit

_QUOTED = re.compile(r'"([^"]+)"')


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """One way to know a quantity; ``label`` is kept where sources are remembered."""

    label: str
    formula: Formula

    def in_sql(self) -> Iterator[Way]:
        """Yield it as SQL; nothing where it never has a value."""
        required = self.formula.required()
        if required is not None:
            sql, names = self.formula.sql(), self.formula.names
            yield Way(label=self.label, sql=sql, names=names, required=required)


@dataclass(frozen=True, kw_only=True)
class Derived:
    """A quantity, or a helper of formulas, and the ways to know it, best first."""

    name: str
    at: Location
    alternatives: tuple[Alternative, ...]
    remember_source: bool = False

    @property
    def names(self) -> frozenset[str]:
        """Return every name that an alternative reads."""
        return frozenset[str]().union(*(way.formula.names for way in self.alternatives))

    def ways(self) -> tuple[frozenset[str], ...]:
        """Return the names that each alternative cannot do without."""
        found = (way.formula.needs() for way in self.alternatives)
        return tuple(names for names in found if names is not None)

    def computed(self) -> Computed:
        """Return it as SQL."""
        ways = tuple(each for way in self.alternatives for each in way.in_sql())
        return Computed(name=self.name, ways=ways, remember_source=self.remember_source)


@dataclass(frozen=True, kw_only=True)
class Ways:
    """A mapping with the formulas of its quantities and helpers, and the units of counters."""

    mapping: Mapping
    formulas: dict[str, Derived]
    units: dict[str, Unit]


def load_mapping(profiler: str, directories: Sequence[Path] | None = None) -> Mapping:
    """Return the mapping of ``profiler``, by default of ``rules/counters`` and installed packs.

    Raises:
        RuleError: a file or formula is wrong; with file, line and column.
    """
    return load_ways(profiler, directories).mapping


def load_ways(profiler: str, directories: Sequence[Path] | None = None) -> Ways:
    """Return the mapping of ``profiler`` and its formulas, as ``load_mapping`` finds them.

    Raises:
        RuleError: a file or formula is wrong; with file, line and column.
    """
    files = read_counter_files(directories or counter_dirs(), profiler)
    return _Compiler(files, load_quantities()).ways()


class _Compiler:
    """Compiles the formulas of counter files against the vocabulary."""

    def __init__(self, files: CounterFiles, quantities: Quantities) -> None:
        self._files = files
        self._quantities = quantities
        self._symbols = self._names()
        self._counters: dict[str, Unit] = {}
        self._devices: set[str] = set()

    def ways(self) -> Ways:
        """Return the compiled mapping, and the formulas that it was made of."""
        derived = [self._derived(name, entry) for name, entry in self._files.helpers.items()]
        for name, entry in self._files.quantities.items():
            if name not in self._quantities.quantities:
                hint = did_you_mean(name, self._quantities.quantities)
                raise RuleError(f"{name!r} is no quantity", at=entry.node.at, hint=hint)
            derived.append(self._derived(name, entry))
        derived = _ordered(derived)
        flags = self._flags()
        mapping = Mapping(
            profiler=self._files.profiler,
            counters=tuple(sorted(self._counters)),
            measures={
                name: self._files.measures(name, unit) for name, unit in self._counters.items()
            },
            keyed=(*self._files.keyed, *self._files.curves.values()),
            curves=tuple(self._files.curves.items()),
            instructions=tuple(self._files.instructions),
            builds=tuple(self._files.builds),
            opcodes=tuple(self._files.opcodes.values()),
            breakdowns=tuple(self._files.breakdowns.values()),
            devices=tuple(sorted(self._devices)),
            ways=self._ways(derived),
            computed=tuple(one.computed() for one in derived),
            flags=flags,
            quantities=self._quantities,
        )
        formulas = {one.name: one for one in derived}
        return Ways(mapping=mapping, formulas=formulas, units=dict(self._counters))

    def _ways(self, derived: Sequence[Derived]) -> dict[str, tuple[frozenset[str], ...]]:
        ways = {one.name: one.ways() for one in derived}
        for column in self._files.opcodes.values():
            ways[column.name] = (frozenset({column.counter}),)
        for name, breakdown in self._files.breakdowns.items():
            ways[name] = tuple(frozenset({counters}) for counters in breakdown.lists)
        return ways

    def _flags(self) -> str:
        cases = []
        for name, node in self._files.flags.items():
            holds = self._formula(FormulaEntry(unit="1", node=node), kind=Kind.BOOLEAN).sql()
            cases.append(f"case when {holds} then {literal(name)} end")
        return f"list_filter([{', '.join(cases)}], lambda flag: flag is not null)"

    def _names(self) -> dict[str, Symbol]:
        of_launch, of_device = self._quantities.launch, self._quantities.device
        symbols = {name: _symbol(q) for name, q in (*of_launch.items(), *of_device.items())}
        for name, quantity in self._quantities.quantities.items():
            symbols[name] = _symbol(quantity)
            if quantity.remember_source:
                symbols[source_of(name)] = Symbol(kind=Kind.TEXT, unit=None)
        number = Symbol(kind=Kind.NUMBER, unit=DIMENSIONLESS)
        symbols |= dict.fromkeys(self._files.opcodes, number)
        for name, entry in self._files.helpers.items():
            symbols[name] = Symbol(kind=Kind.NUMBER, unit=parse_unit(entry.unit))
        return symbols

    def _derived(self, name: str, entry: FormulaEntry) -> Derived:
        quantity = self._quantities.quantities.get(name)
        unit = entry.unit if quantity is None else quantity.unit or "1"
        ways = []
        for item in entry.node.as_sequence():
            way = item.as_mapping()
            way.refuse_unknown({"from", "formula"})
            formula = self._formula(FormulaEntry(unit=unit, node=way["formula"]))
            ways.append(Alternative(label=way.text("from"), formula=formula))
        if not ways:
            raise RuleError(f"{name} has no alternative", at=entry.node.at)
        return Derived(
            name=name,
            at=entry.node.at,
            alternatives=tuple(ways),
            remember_source=quantity is not None and quantity.remember_source,
        )

    def _formula(self, entry: FormulaEntry, kind: Kind = Kind.NUMBER) -> Formula:
        """Compile a formula; what stands in double quotes is a counter, with its unit by name."""
        counters = {
            name: self._files.unit(name, entry.node.at)
            for name in _QUOTED.findall(entry.node.as_text())
        }
        symbols = self._symbols | {
            name: Symbol(kind=Kind.NUMBER, unit=unit) for name, unit in counters.items()
        }
        self._counters |= counters
        unit = parse_unit(entry.unit) if kind is Kind.NUMBER else None
        formula = compile_formula(entry.node, symbols, self._files.constants, kind=kind, unit=unit)
        self._devices |= formula.names & self._quantities.device.keys()
        return formula


def _symbol(quantity: Quantity) -> Symbol:
    if quantity.is_text or quantity.unit is None:
        return Symbol(kind=Kind.TEXT, unit=None)
    return Symbol(kind=Kind.NUMBER, unit=parse_unit(quantity.unit))


def _ordered(derived: Sequence[Derived]) -> list[Derived]:
    """Return what is derived in dependency order: each after all that it reads."""
    by_name = {one.name: one for one in derived}
    needs = {one.name: {*one.names, *map(quantity_of, one.names)} for one in derived}
    layers, circle = dependency_order(needs)
    if circle:
        problem = f"these quantities need each other: {', '.join(sorted(circle))}"
        raise RuleError(problem, at=by_name[circle[0]].at)
    return [by_name[name] for layer in layers for name in layer]
