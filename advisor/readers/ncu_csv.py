"""Read the tables that ``ncu --csv`` prints: the raw page and the details page.

The raw page has one row per launch, counters' names as columns and a row of units below the header.
The details page has one row per launch and value, with labels in the place of counters' names, and
rows for the messages of the vendor's rules. Lines of the profiler (``==PROF==``) and of the program
may stand before, between and after; a file may hold several tables.

Source: Nsight Compute CLI documentation, "Console Output"; pages of 2019 to 2026.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from advisor.errors import InputError, Location
from advisor.model import Launch, Record, ReferenceFinding, Skipped
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu_printed import Building, Notes, dimensions, session_of
from advisor.readers.ncu_values import Labels, Numbers, base_factor, load_labels, severity
from advisor.readers.text import decode_head, text_lines

FORMAT = "ncu-csv"
COUNTERS = "ncu"

_HEADER = re.compile(r'^"?ID"?\s*,\s*"?Process ID"?\s*,')
_LARGEST_FIELD = 4 * 1024 * 1024
_FIXED = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time")
_SHAPE = ("Context", "Stream", "Block Size", "Grid Size", "Device", "CC")


def accepts(head: bytes) -> bool:
    """Tell by the first bytes whether a table of ``ncu --csv`` is inside."""
    return any(_HEADER.match(line) for line in decode_head(head).splitlines())


def read(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield one launch per row (raw) or group of rows (details), in file order.

    Raises:
        InputError: no table, a value that is no number, a row that ends too early.
    """
    csv.field_size_limit(_LARGEST_FIELD)
    notes = Notes(name=source.name)
    table: _Raw | _Details | None = None
    index = 0
    with source.open() as file:
        for row in _rows(notes, text_lines(file)):
            if row.header:
                if table is not None:
                    yield from table.finish()
                table = _new_table(row.cells, notes, options)
            elif table is not None:
                for record in table.add(row):
                    index += isinstance(record, Launch)
                    yield record
        if table is None:
            raise InputError(
                "no table of ncu --csv in this file",
                at=Location(name=source.name),
                hint="export with: ncu --import REPORT --csv --page raw",
            )
        yield from table.finish()
    yield from notes.skipped()
    yield session_of(notes)


@dataclass(frozen=True)
class _Row:
    cells: list[str]
    line: int
    header: bool = False
    whole: bool = True


def _rows(notes: Notes, lines: Iterator[str]) -> Iterator[_Row]:
    """Yield header and data rows; lines that are neither go to the notes."""
    inside = False
    numbered = enumerate(lines, start=1)
    for number, line in numbered:
        if _HEADER.match(line.lstrip("\ufeff")):
            inside = True
            yield _Row(cells=_split(line.lstrip("\ufeff")), line=number, header=True)
        elif inside and line.startswith('"'):
            text, whole = _joined(line, numbered)
            yield _Row(cells=_split(text), line=number, whole=whole)
        else:
            notes.line(line)


def _joined(line: str, following: Iterator[tuple[int, str]]) -> tuple[str, bool]:
    """Return a row that a quoted line break may spread over several lines, and if it is whole."""
    text = line
    while text.count('"') % 2:
        _, more = next(following, (0, ""))
        if not more or len(text) > _LARGEST_FIELD:
            return text, False
        text += more
    return text, text.endswith(("\n", "\r"))


def _split(line: str) -> list[str]:
    return next(csv.reader([line.rstrip("\r\n")]), [])


def _new_table(header: Sequence[str], notes: Notes, options: ReadOptions) -> _Raw | _Details:
    if "Metric Name" in header:
        return _Details(header=list(header), notes=notes, options=options)
    return _Raw(header=list(header), notes=notes, options=options)


@dataclass
class _Table:
    """What both pages share: named cells of a row and where it stands."""

    header: list[str]
    notes: Notes
    options: ReadOptions
    numbers: Numbers = field(default_factory=Numbers)

    def place(self, row: _Row) -> Location:
        return Location(name=self.notes.name, line=row.line)

    def building(self, named: Mapping[str, str], at: Location) -> Building:
        """Return a launch with what the fixed columns say about it."""
        self.notes.program = self.notes.program or named.get("Process Name") or None
        self.notes.host = self.notes.host or named.get("Host Name") or None
        launch = Building(index=self.notes.next_index(), name=named.get("Kernel Name", ""))
        for key in ("Context", "Stream", "Process ID", "Device"):
            value = self.numbers.parse(named.get(key, ""), at)
            launch.place[key] = None if value is None else int(value)
        launch.block = dimensions(named.get("Block Size", ""))
        launch.grid = dimensions(named.get("Grid Size", ""))
        launch.capability(named.get("CC", ""))
        return launch


@dataclass
class _Raw(_Table):
    """The raw page: a row of units, then one row per launch."""

    units: list[str] | None = None

    def add(self, row: _Row) -> Iterator[Record]:
        if self.units is None:
            self.units = row.cells
            self._check_units(row)
            return
        if len(row.cells) < len(self.header):
            self._too_short(row)
            yield Skipped(place=str(self.place(row)), reason="the row ends too early")
            return
        at = self.place(row)
        named = dict(zip(self.header, row.cells, strict=False))
        launch = self.building({k: named.get(k, "") for k in (*_FIXED, *_SHAPE)}, at)
        for name, unit, cell in zip(self.header, self.units, row.cells, strict=False):
            if "__" in name or name == "inst_executed":
                self._value(launch, name, unit, cell, at)
        yield launch.launch(self.notes)

    def _value(self, launch: Building, name: str, unit: str, cell: str, at: Location) -> None:
        factor = base_factor(unit)
        if factor is None or not _looks_numeric(cell):
            launch.texts[name] = cell
            return
        launch.value(name, self.numbers.parse(cell, at), factor)

    def _check_units(self, row: _Row) -> None:
        if len(row.cells) < len(self.header) or row.cells[0].strip():
            raise InputError(
                "expected the row of units below the header",
                at=self.place(row),
                hint="export again with: ncu --import REPORT --csv --page raw",
            )

    def _too_short(self, row: _Row) -> None:
        if self.options.allow_truncated:
            return
        problem = f"the row has {len(row.cells):,} of {len(self.header):,} cells"
        raise InputError(problem, at=self.place(row), hint="--allow-truncated takes what is whole")

    def finish(self) -> Iterator[Record]:
        return iter(())


def _looks_numeric(cell: str) -> bool:
    text = cell.strip()
    return (
        not text or text[0].isdigit() or text[0] in "-+." or text.lower() in ("nan", "inf", "n/a")
    )


@dataclass
class _Details(_Table):
    """The details page: rows of one launch follow each other."""

    labels: Labels = field(default_factory=load_labels)
    key: tuple[str, ...] = ()
    launch: Building | None = None

    def add(self, row: _Row) -> Iterator[Record]:
        named = dict(zip(self.header, row.cells, strict=False))
        at = self.place(row)
        if not row.whole and "Metric Value" not in named and "Rule Description" not in named:
            if not self.options.allow_truncated:
                hint = "--allow-truncated takes what is whole"
                raise InputError("the last row is cut off", at=at, hint=hint)
            self.launch = None
            yield Skipped(place=str(at), reason="the last row is cut off; its launch is left out")
            return
        key = (named.get("ID", ""), named.get("Process ID", ""), named.get("Kernel Name", ""))
        if key != self.key or self.launch is None:
            yield from self.finish()
            self.key, self.launch = key, self.building(named, at)
        if named.get("Metric Name"):
            self._metric(self.launch, named, at)
        elif named.get("Rule Name"):
            self.launch.findings.append(_finding(named, self.numbers, at))

    def _metric(self, launch: Building, named: Mapping[str, str], at: Location) -> None:
        unit, cell = named.get("Metric Unit", ""), named.get("Metric Value", "")
        name = self.labels.counter(named.get("Section Name", ""), named["Metric Name"], unit)
        if name is None:
            return
        factor = base_factor(unit)
        if factor is None or not _looks_numeric(cell):
            launch.texts[name] = cell
        else:
            launch.value(name, self.numbers.parse(cell, at), factor)

    def finish(self) -> Iterator[Record]:
        if self.launch is not None:
            yield self.launch.launch(self.notes)
        self.launch = None
        self.notes.unknown_labels.update(self.labels.unknown)


def _finding(named: Mapping[str, str], numbers: Numbers, at: Location) -> ReferenceFinding:
    percent = numbers.parse(named.get("Estimated Speedup", ""), at)
    return ReferenceFinding(
        rule=named["Rule Name"],
        section=named.get("Section Name", ""),
        severity=severity(named.get("Rule Type", "")),
        text=named.get("Rule Description", ""),
        estimate=None if percent is None else percent / 100,
        scope=named.get("Estimated Speedup Type") or None,
    )
