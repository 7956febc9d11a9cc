"""``rules/counters/<profiler>/*.yaml`` as records, with formulas not compiled yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from pathlib import Path

from advisor.counters.instructions import FILE, read_view
from advisor.counters.staging import Breakdown, OpcodeColumn, UnitName, Weight, glob_pattern
from advisor.documents import DocumentNode, MappingNode, load
from advisor.errors import Location, RuleError
from advisor.facts.formulas import NamedNumber, add_new, read_numbers, yaml_files
from advisor.records import dataclass
from advisor.units import Dimension, Unit, parse_unit


@dataclass(frozen=True, kw_only=True)
class FormulaEntry:
    """A formula, or a list of alternatives, and the unit that it must have."""

    unit: str
    node: DocumentNode


@dataclass(frozen=True, kw_only=True)
class CounterFiles:
    """What all files of a profiler say together; a name stands in one of them only."""

    profiler: str
    units: list[tuple[re.Pattern[str], Unit]] = field(default_factory=list)
    printed_as: list[tuple[re.Pattern[str], Unit]] = field(default_factory=list)
    constants: dict[str, NamedNumber] = field(default_factory=dict)
    opcodes: dict[str, OpcodeColumn] = field(default_factory=dict)
    breakdowns: dict[str, Breakdown] = field(default_factory=dict)
    helpers: dict[str, FormulaEntry] = field(default_factory=dict)
    quantities: dict[str, FormulaEntry] = field(default_factory=dict)
    flags: dict[str, DocumentNode] = field(default_factory=dict)
    keyed: list[str] = field(default_factory=list)
    curves: dict[str, str] = field(default_factory=dict)
    instructions: list[str] = field(default_factory=list)
    builds: list[str] = field(default_factory=list)

    def unit(self, counter: str, at: Location) -> Unit:
        """Return the unit of a counter, by the first pattern that matches its name.

        Raises:
            RuleError: no pattern matches.
        """
        for pattern, unit in self.units:
            if pattern.fullmatch(counter):
                return unit
        raise RuleError(f"no pattern of `units` matches {counter!r}", at=at)

    def measures(self, counter: str, unit: Unit) -> frozenset[Dimension]:
        """Return what units measure under which pages print a counter; ``unit`` is its own."""
        others = (other for pattern, other in self.printed_as if pattern.fullmatch(counter))
        return frozenset(each.measures for each in (unit, *others))


def read_counter_files(directories: Sequence[Path], profiler: str) -> CounterFiles:
    """Return what the files in the folder ``profiler`` of each directory say.

    Raises:
        RuleError: a file has another form, or a name stands twice.
    """
    files = CounterFiles(profiler=profiler)
    for path in yaml_files(directories, f"{profiler}/*.yaml"):
        document = load(path)
        document.refuse_unknown({"profiler", *SECTIONS})
        if document.text("profiler") != profiler:
            raise RuleError(f"expected the profiler {profiler!r}", at=document["profiler"].at)
        for section, read in SECTIONS.items():
            if section in document:
                read(files, document[section])
    return files


def _read_units(files: CounterFiles, node: DocumentNode) -> None:
    files.units.extend(_units_by_name(node))


def _read_printed_as(files: CounterFiles, node: DocumentNode) -> None:
    files.printed_as.extend(_units_by_name(node))


def _units_by_name(node: DocumentNode) -> Iterator[tuple[re.Pattern[str], Unit]]:
    for item in node.as_sequence():
        entry = item.as_mapping()
        entry.refuse_unknown({"match", "unit"})
        unit = parse_unit(entry.text("unit"), at=entry["unit"].at)
        yield glob_pattern(entry.text("match")), unit


def _read_constants(files: CounterFiles, node: DocumentNode) -> None:
    add_new(files.constants, read_numbers(node.as_mapping()), node.as_mapping())


def _read_opcodes(files: CounterFiles, node: DocumentNode) -> None:
    mapping = node.as_mapping()
    columns = {name: _opcode_column(name, mapping.mapping(name)) for name in mapping}
    add_new(files.opcodes, columns, mapping)
    for name, column in columns.items():
        for other in column.excepted:
            if other not in files.opcodes:
                raise RuleError(f"{other!r} is no column of opcodes", at=mapping.places[name])


def _opcode_column(name: str, node: MappingNode) -> OpcodeColumn:
    node.refuse_unknown({"counter", "weights", "except"})
    return OpcodeColumn(
        name=name,
        counter=node.text("counter"),
        weights=tuple(_weight(item.as_mapping()) for item in node.sequence("weights")),
        excepted=node.sequence("except").texts() if "except" in node else (),
    )


def _weight(node: MappingNode) -> Weight:
    node.refuse_unknown({"match", "weight", "times"})
    try:
        pattern = re.compile(node.text("match"))
    except re.error as error:
        raise RuleError(f"not a regular expression: {error}", at=node["match"].at) from error
    times = node.text("times") if "times" in node else None
    if times is not None and times not in pattern.groupindex:
        raise RuleError(f"the pattern has no group {times!r}", at=node["times"].at)
    return Weight(pattern=pattern, weight=node.number("weight"), times=times)


def _read_helpers(files: CounterFiles, node: DocumentNode) -> None:
    mapping = node.as_mapping()
    found = {}
    for name in mapping:
        helper = mapping.mapping(name)
        helper.refuse_unknown({"unit", "alternatives"})
        found[name] = FormulaEntry(unit=helper.text("unit"), node=helper["alternatives"])
    add_new(files.helpers, found, mapping)


def _read_quantities(files: CounterFiles, node: DocumentNode) -> None:
    mapping = node.as_mapping()
    for name, entry in mapping.items():
        if isinstance(entry, MappingNode):
            add_new(files.breakdowns, {name: _breakdown(name, entry)}, mapping)
        else:
            add_new(files.quantities, {name: FormulaEntry(unit="1", node=entry)}, mapping)


def _breakdown(name: str, node: MappingNode) -> Breakdown:
    node.refuse_unknown({"breakdown", "units"})
    units = [item.as_mapping() for item in node.sequence("units")]
    for unit in units:
        unit.refuse_unknown({"match", "unit"})
    return Breakdown(
        name=name,
        lists=node.sequence("breakdown").texts(),
        units=tuple(
            UnitName(pattern=glob_pattern(unit.text("match")), unit=unit.text("unit"))
            for unit in units
        ),
    )


def _read_flags(files: CounterFiles, node: DocumentNode) -> None:
    mapping = node.as_mapping()
    add_new(files.flags, dict(mapping.items()), mapping)


def _read_keyed(files: CounterFiles, node: DocumentNode) -> None:
    files.keyed.extend(node.as_sequence().texts())


def _read_curves(files: CounterFiles, node: DocumentNode) -> None:
    mapping = node.as_mapping()
    add_new(files.curves, {name: mapping.text(name) for name in mapping}, mapping)


def _read_instructions(files: CounterFiles, node: DocumentNode) -> None:
    files.instructions.extend(node.as_sequence().texts())


def _read_builds(files: CounterFiles, node: DocumentNode) -> None:
    files.builds.extend(node.as_sequence().texts())


def _check_views(files: CounterFiles, node: DocumentNode) -> None:
    """Refuse wrong views where counters are read; ``load_instruction_views`` gives the views."""
    if Path(node.at.name).name != FILE:
        raise RuleError(f"instruction_views stand in files called {FILE}", at=node.at)
    for item in node.as_sequence():
        read_view(item.as_mapping(), files.instructions)


SECTIONS: dict[str, Callable[[CounterFiles, DocumentNode], None]] = {
    "units": _read_units,
    "printed_as": _read_printed_as,
    "constants": _read_constants,
    "opcodes": _read_opcodes,
    "helpers": _read_helpers,
    "quantities": _read_quantities,
    "flags": _read_flags,
    "keyed": _read_keyed,
    "curves": _read_curves,
    "instructions": _read_instructions,
    "builds": _read_builds,
    "instruction_views": _check_views,
}
