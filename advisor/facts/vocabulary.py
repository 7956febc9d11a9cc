"""Every name that a fact or rule may use: quantities, values of the device, facts.

Facts are read from ``rules/facts/*.yaml`` and from directories of the user; each is checked against
the names and units of all others, so their order in the files does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

from advisor.documents import load
from advisor.errors import Location, RuleError
from advisor.expression import Dialect, Kind, Symbol
from advisor.facts.bindings import PARTS, Bound, OfOperation
from advisor.facts.declared import AGGREGATES, LEVELS, Declared, one_of, read_declared
from advisor.facts.formulas import (
    Columns,
    Formula,
    add_new,
    compile_formula,
    read_numbers,
    yaml_files,
)
from advisor.facts.layers import dependency_order
from advisor.facts.naming import ByName, OfKernel, read_by_name
from advisor.quantities import Quantities, Quantity, load_quantities, quantity_of, source_of
from advisor.quoting import literal, quoted
from advisor.records import dataclass
from advisor.resources import data_dir, rule_dirs
from advisor.suggest import did_you_mean
from advisor.units import parse_unit

Level = Literal["launch", "kernel"]


@dataclass(frozen=True, kw_only=True)
class KernelColumn:
    """A column of the view ``kernels`` that is neither quantity nor fact.

    ``of`` is the quantity that it follows from; ``rests_on`` are names that must be read for it.
    """

    name: str
    unit: str
    about: str
    of: str | None = None
    rests_on: tuple[str, ...] = ()


KERNEL_COLUMNS = (
    KernelColumn(name="launch_count", unit="1", about="launches of the variant"),
    KernelColumn(name="launches_excluded", unit="1", about="launches left out of its totals"),
    KernelColumn(name="launches_detailed", unit="1", about="launches read in detail"),
    KernelColumn(name="duration_min", unit="s", about="shortest launch", of="duration"),
    KernelColumn(name="duration_median", unit="s", about="median launch", of="duration"),
    KernelColumn(name="duration_mean", unit="s", about="mean over the launches", of="duration"),
    KernelColumn(name="duration_max", unit="s", about="longest launch", of="duration"),
    KernelColumn(name="duration_first", unit="s", about="first launch", of="duration"),
    KernelColumn(
        name="duration_stddev",
        unit="s",
        about="standard deviation over the launches",
        of="duration",
    ),
    KernelColumn(
        name="run_duration",
        unit="s",
        about="all profiled kernel time of the run",
        of="duration",
        rests_on=("duration",),
    ),
    KernelColumn(
        name="run_sm_clock",
        unit="Hz",
        about="largest clock of the run on this device",
        of="sm_clock",
        rests_on=("sm_clock",),
    ),
)

_KERNEL_COLUMNS_REST_ON = {column.name: column.rests_on for column in KERNEL_COLUMNS}


@dataclass(frozen=True, kw_only=True)
class KnownOf:
    """The labels of the columns that are known, joined by commas; NULL if none is."""

    columns: Mapping[str, str]

    @property
    def names(self) -> frozenset[str]:
        """Return the columns that are looked at."""
        return frozenset(self.columns.values())

    def sql(self, columns: Columns | Mapping[str, str] | None = None, _: Dialect = "duckdb") -> str:
        """Return the SQL, the same in every dialect; ``columns`` as for a formula."""
        if columns is None:
            find: Columns = quoted
        else:
            find = columns if callable(columns) else columns.__getitem__
        cases = ", ".join(
            f"case when {find(name)} is not null then {literal(label)} end"
            for label, name in self.columns.items()
        )
        return f"nullif(concat_ws(', ', {cases}), '')"


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A value that follows from quantities and other facts.

    ``level`` says where it is computed: per launch, and then aggregated like a quantity, or once
    over a variant's aggregated quantities. The sums that a ``paired`` fact reads are taken over the
    launches in which all of them are known. The table ``variant`` has a column for a ``stored``
    fact: the shipped ones of a launch, and those that are tracked.
    """

    name: str
    kind: Kind
    unit: str | None
    level: Level
    aggregate: str | None
    paired: bool
    stored: bool
    expression: Formula | KnownOf | OfKernel
    about: str
    source: str
    at: Location


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """All names: ``facts`` in order of dependency, ``symbols`` what is known of kernels."""

    quantities: Quantities
    facts: Mapping[str, Fact]
    symbols: Mapping[str, Symbol]

    def unit(self, name: str) -> str | None:
        """Return the unit of a name as it is declared; None for a text or truth value."""
        return self._units[name]

    @cached_property
    def _units(self) -> Mapping[str, str | None]:
        units = ((name, symbol.unit) for name, symbol in self.symbols.items())
        return {name: None if unit is None else str(unit) for name, unit in units}

    def adds_up(self, name: str) -> bool:
        """Return whether a variant's value is the sum over its launches."""
        declared = self.quantities.quantities.get(name) or self.facts.get(name)
        return declared is not None and declared.aggregate == "sum"

    def rests_on(
        self, names: Iterable[str], *, totals: bool = False, known: Collection[str] = ()
    ) -> set[str]:
        """Return names and all that they rest on; where ``totals`` are known, these on nothing.

        The totals are what launches add up to: quantities, and facts that are computed per launch.
        The facts ``known`` rest on nothing either.
        """
        needed: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += () if name in known else self._rests_on(name, totals)
        return needed

    def narrowed(
        self, names: Iterable[str], *, totals: bool = False, known: Collection[str] = ()
    ) -> Vocabulary:
        """Return what is left when only some names, and all that these rest on, are wanted."""
        needed = self.rests_on(names, totals=totals, known=known)
        groups = {
            group: {name: quantity for name, quantity in found.items() if name in needed}
            for group, found in vars(self.quantities).items()
        }
        return Vocabulary(
            quantities=Quantities(**groups),
            facts={name: fact for name, fact in self.facts.items() if name in needed},
            symbols=self.symbols,
        )

    def _rests_on(self, name: str, totals: bool) -> Iterable[str]:
        if name in self.facts:
            of_launch = self.facts[name].level == "launch"
            return () if totals and of_launch else self.facts[name].expression.names
        quantity = self.quantities.quantities.get(quantity_of(name))
        if quantity is None:
            return _KERNEL_COLUMNS_REST_ON.get(name, ())
        if totals:
            return [quantity.name]
        return [quantity.name] if quantity.weight is None else [quantity.name, quantity.weight]


def load_vocabulary(
    extra_dirs: Sequence[Path] = (), *, bound: tuple[Bound, ...] = ()
) -> Vocabulary:
    """Return the vocabulary, with the facts of ``<directory>/facts`` for each extra directory.

    ``bound`` says what kernels need at least; the first that matches one holds.

    Raises:
        RuleError: a file is wrong, a name is unknown or defined twice, units are unlike, or facts
            need each other; with file, line and column.
    """
    quantities = load_quantities()
    found: dict[str, Declared] = {}
    directories = [directory / "facts" for directory in (*rule_dirs(), *extra_dirs)]
    shipped = data_dir("rules") / "facts"
    for path in yaml_files(directories, "*.yaml"):
        _read_file(path, found, quantities, shipped=path.parent == shipped)
    symbols = _symbols(quantities, found)
    facts = {name: _compile(declared, symbols, bound) for name, declared in found.items()}
    facts = _in_order(facts)
    for fact in facts.values():
        _check_level(fact, facts, quantities)
    alone = _of_launches_alone(quantities)
    of_kernels = {name: symbol for name, symbol in symbols.items() if name not in alone}
    return Vocabulary(quantities=quantities, facts=facts, symbols=of_kernels)


def _read_file(
    path: Path, found: dict[str, Declared], quantities: Quantities, *, shipped: bool
) -> None:
    document = load(path)
    document.refuse_unknown({"thresholds", "facts"})
    numbers = read_numbers(document.mapping("thresholds")) if "thresholds" in document else {}
    facts = document.mapping("facts")
    taken = {quantity.name for quantity in quantities} | {column.name for column in KERNEL_COLUMNS}
    for name in facts:
        if name in taken:
            problem = f"{name!r} is a quantity, and cannot be a fact"
            raise RuleError(problem, at=facts.places[name])
        add_new(
            found, {name: read_declared(name, facts.mapping(name), numbers, shipped=shipped)}, facts
        )


def _symbols(quantities: Quantities, found: Mapping[str, Declared]) -> dict[str, Symbol]:
    symbols: dict[str, Symbol] = {}
    for quantity in quantities:
        kind = Kind.TEXT if quantity.is_text else Kind.NUMBER
        symbols[quantity.name] = _symbol(kind, quantity.unit)
        if quantity.remember_source:
            symbols[source_of(quantity.name)] = _symbol(Kind.TEXT, None)
    for column in KERNEL_COLUMNS:
        symbols[column.name] = _symbol(Kind.NUMBER, column.unit)
    for declared in found.values():
        symbols[declared.name] = _symbol(declared.kind, declared.unit)
    return symbols


def _symbol(kind: Kind, unit: str | None) -> Symbol:
    return Symbol(kind=kind, unit=None if unit is None else parse_unit(unit))


def _compile(declared: Declared, symbols: Mapping[str, Symbol], bound: tuple[Bound, ...]) -> Fact:
    node = declared.node
    level = one_of(node, "level", LEVELS, "kernel")
    aggregate = one_of(node, "aggregate", sorted(AGGREGATES), "") or None
    return Fact(
        name=declared.name,
        kind=declared.kind,
        unit=declared.unit,
        level="launch" if level == "launch" else "kernel",
        aggregate=aggregate,
        paired="paired" in node and node.boolean("paired"),
        stored=declared.stored,
        expression=_expression(declared, symbols, bound),
        about=node.text("about"),
        source=node.text("source"),
        at=node.at,
    )


def _expression(
    declared: Declared, symbols: Mapping[str, Symbol], bound: tuple[Bound, ...]
) -> Formula | KnownOf | OfKernel:
    if "formula" in declared.node:
        unit = None if declared.unit is None else parse_unit(declared.unit)
        formula = declared.node["formula"]
        return compile_formula(formula, symbols, declared.numbers, kind=declared.kind, unit=unit)
    if "of_operation" in declared.node:
        return _of_operation(declared, bound)
    if "by_name" in declared.node:
        return _by_name(declared)
    known_of = declared.node.mapping("known_of")
    for label in known_of:
        name = known_of.text(label)
        if name not in symbols:
            hint = did_you_mean(name, symbols)
            raise RuleError(f"unknown name {name!r}", at=known_of[label].at, hint=hint)
    return KnownOf(columns={label: known_of.text(label) for label in known_of})


def _of_operation(declared: Declared, bound: tuple[Bound, ...]) -> OfOperation:
    node = declared.node
    part = one_of(node, "of_operation", PARTS, "")
    kind, unit = PARTS[part]
    if (declared.kind, declared.unit) != (kind, unit):
        raise RuleError(f"of an operation, {part} is {unit or 'a text'}", at=node.at)
    if node.nodes.keys() & {"level", "aggregate", "paired"}:
        raise RuleError("what an operation needs is known per kernel", at=node.at)
    return OfOperation(part=part, bound=bound)


def _by_name(declared: Declared) -> ByName:
    node = declared.node
    if declared.kind is not Kind.TEXT or node.nodes.keys() & {"level", "aggregate", "paired"}:
        raise RuleError("what a name tells is a text, and known per kernel", at=node.at)
    return read_by_name(node.mapping("by_name"))


def _in_order(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    needs = {name: fact.expression.names for name, fact in facts.items()}
    layers, circle = dependency_order(needs)
    if circle:
        problem = f"these facts need each other: {', '.join(sorted(circle))}"
        raise RuleError(problem, at=facts[circle[0]].at)
    return {name: facts[name] for layer in layers for name in layer}


def _check_level(fact: Fact, facts: Mapping[str, Fact], quantities: Quantities) -> None:
    """Refuse a fact that reads what is not there yet, or pairs what is not a sum."""
    later = {name for name, other in facts.items() if other.level == "kernel"}
    later |= {column.name for column in KERNEL_COLUMNS}
    if fact.level == "launch" and (wrong := fact.expression.names & later):
        problem = f"{fact.name} is computed per launch; {min(wrong)} is known per kernel only"
        raise RuleError(problem, at=fact.at)
    if fact.level == "kernel" and (wrong := fact.expression.names & _of_launches_alone(quantities)):
        problem = f"{fact.name} is computed per kernel; {min(wrong)} is known per launch only"
        raise RuleError(problem, at=fact.at)
    if fact.aggregate and fact.level != "launch":
        raise RuleError(f"{fact.name}: only facts of a launch are aggregated", at=fact.at)
    if not fact.paired:
        return
    sums = {name for name, other in facts.items() if other.aggregate == "sum"}
    sums |= {name for name, quantity in quantities.quantities.items() if _is_sum(quantity)}
    if wrong := fact.expression.names - sums:
        problem = f"{fact.name} is paired, but {min(wrong)} is no sum over launches"
        raise RuleError(problem, at=fact.at)


def _of_launches_alone(quantities: Quantities) -> set[str]:
    """Return the quantities of launches that come to nothing for a kernel."""
    groups = (quantities.launch, quantities.quantities)
    return {n for each in groups for n, quantity in each.items() if quantity.aggregate == "none"}


def _is_sum(quantity: Quantity) -> bool:
    return quantity.aggregate == "sum"
