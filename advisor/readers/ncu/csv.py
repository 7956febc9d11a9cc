"""Read the tables that ``ncu --csv`` prints: the raw page, the details page and summaries.

The raw page has one row per launch, counters' names as columns and a row of units below the header.
The details page has one row per launch and value, with labels in the place of counters' names, and
rows for the messages of the vendor's rules. A summary has a row per kernel and value: the least,
the greatest and the mean over its launches.

Lines of the profiler (``==PROF==``) and of the program may stand before, between and after; a file
may hold several tables. In a log, lines carry a time or the rank of a process in front; each rank's
lines are a table of their own.

Source: Nsight Compute CLI documentation, "Console Output"; pages of 2019 to 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from advisor.errors import InputError, Location
from advisor.model import Record, ReferenceFinding
from advisor.readers.base import ReadOptions, Source, left_out
from advisor.readers.ncu.notes import Notes
from advisor.readers.ncu.outline import device_named
from advisor.readers.ncu.printed import Building
from advisor.readers.ncu.rows import EXPORT_AGAIN, HEADER, TableRow, TableRows
from advisor.readers.ncu.values import (
    CounterLabels,
    Numbers,
    is_counter,
    load_labels,
    printed_message,
    severity,
    whole_number,
)
from advisor.readers.text import decode_head, split_prefix, text_lines

FORMAT = "ncu-csv"
COUNTERS = "ncu"

_AS_DETAILS = {"Average": "Metric Value", "Device Id": "Device"}
_EXTREMES = ("Minimum", "Maximum")
_INVOCATIONS = re.compile(r"[1-9]\d{0,4}")  # that are read as launches
_TOLD = {
    "Kernel Name": "name",
    "Grid Size": "grid",
    "Block Size": "block",
    "Device": "device",
    "CC": "cc",
    "Context": "context",
    "Stream": "stream",
    "Invocations": "invocations",
}  # about a launch, by columns
_OF_LAUNCH = ("ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "Device")
_SCOPES = frozenset({"local", "global"})


def accepts(head: bytes) -> bool:
    """Detect by the first bytes whether a table of ``ncu --csv`` is inside."""
    lines = decode_head(head).splitlines()
    return any(HEADER.match(line) or HEADER.match(split_prefix(line)[1]) for line in lines)


def read(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield one launch per row (raw) or group of rows (details), in file order.

    Raises:
        InputError: no table, a value that is no number, a row that is not whole.
    """
    notes = Notes(name=source.name, measures=options.measures)
    tables = _Tables(notes, options)
    with source.open() as file:
        for number, line in enumerate(text_lines(file), start=1):
            yield from tables.take(line, number)
    yield from tables.end()
    yield from notes.skipped()
    yield notes.session()


class _Tables:
    """The tables of a file: that of plain lines, and of a log one for each rank."""

    def __init__(self, notes: Notes, options: ReadOptions) -> None:
        self._notes = notes
        self._options = options
        self._plain = _Reading(notes, options)
        self._ranks: dict[str, _Reading] = {}

    def take(self, line: str, number: int) -> Iterator[Record]:
        """Take a line; yield the launches that end with it, or before it."""
        rank, rest = split_prefix(line)
        if rest == line or self._plain.rows.inside_quotes:
            yield from self._plain.take(line, number)
            return
        if rank not in self._ranks and HEADER.match(rest):
            self._ranks[rank] = _Reading(self._notes, self._options)
        reading = self._ranks.get(rank)
        yield from self._plain.take(line, number) if reading is None else reading.take(rest, number)

    def end(self) -> Iterator[Record]:
        """Yield the last launch of each table.

        Raises:
            InputError: there is no table, or only one of means.
        """
        found = [self._plain, *self._ranks.values()]
        for reading in found:
            yield from reading.end()
        is_empty = self._notes.is_summary and not self._notes.launches
        if is_empty or all(reading.table is None for reading in found):
            raise self._notes.nothing("table of ncu --csv")


class _Reading:
    """One table after the other: the rows of lines, and the launches of rows."""

    def __init__(self, notes: Notes, options: ReadOptions) -> None:
        self.rows = TableRows(notes)
        self.table: _Raw | _Details | None = None
        self._notes = notes
        self._options = options

    def take(self, line: str, number: int) -> Iterator[Record]:
        """Take a line; yield the launches that end with it, or before it.

        Above the table stands what the program printed, which may name the device.
        """
        if self.table is None:
            self._notes.device = self._notes.device or device_named(line)
        for row in self.rows.take(line, number):
            yield from self._row(row)

    def end(self) -> Iterator[Record]:
        """Yield the last launches."""
        for row in self.rows.end():
            yield from self._row(row)
        if self.table is not None:
            yield from self.table.finish()

    def _row(self, row: TableRow) -> Iterator[Record]:
        if row.header:
            if self.table is not None:
                yield from self.table.finish()
            self.table = _new_table(row, self._notes, self._options)
        elif self.table is not None:
            yield from self.table.add(row)


def _new_table(row: TableRow, notes: Notes, options: ReadOptions) -> _Raw | _Details:
    kind: type[_Raw | _Details] = _Raw
    if "Metric Name" in row.cells:
        kind = _Summary if "Invocations" in row.cells else _Details
    if not row.whole or "Kernel Name" not in row.cells:
        problem = "the header of the table is cut off"
        raise InputError(problem, at=row.at, hint="copy or export the file again")
    return kind(header=row.cells, notes=notes, options=options)


@dataclass
class _Table:
    """What both pages share: named cells of a row and what to do with a row that is not whole."""

    header: list[str]
    notes: Notes
    options: ReadOptions
    numbers: Numbers = field(default_factory=Numbers)

    def building(self, named: Mapping[str, str]) -> Building:
        """Return a launch with what the columns that both pages have say about it."""
        self.notes.process(named.get("Process Name", ""), named.get("Host Name", ""))
        told = {_TOLD[column]: cell for column, cell in named.items() if column in _TOLD}
        process = whole_number(named.get("Process ID", ""))
        return Building.told(self.notes, told, process=process)


@dataclass
class _Raw(_Table):
    """The raw page: a row of units, then one row per launch."""

    counters: list[tuple[int, str, str]] | None = None

    def add(self, row: TableRow) -> Iterator[Record]:
        """Take a row; yield the launch that it is."""
        if self.counters is None:
            self.counters = self._units(row)
        elif not row.whole or len(row.cells) != len(self.header):
            problem = f"the row has {len(row.cells):,} of {len(self.header):,} cells"
            problem = problem if row.whole else "the row is cut off"
            yield left_out(problem, row.at, self.options)
        else:
            launch = self.building(dict(zip(self.header, row.cells, strict=True)))
            cells, numbers, at = row.cells, self.numbers, row.at
            for column, name, unit in self.counters:
                launch.take(name, unit, cells[column], numbers, at)
            yield launch.launch()

    def _units(self, row: TableRow) -> list[tuple[int, str, str]]:
        """Return column, name and unit of each counter."""
        if not row.whole or len(row.cells) != len(self.header) or row.cells[0].strip():
            raise InputError(
                "expected the row of units below the header",
                at=row.at,
                hint=EXPORT_AGAIN,
            )
        columns = zip(self.header, row.cells, strict=True)
        counters = [
            (column, name, unit.strip())
            for column, (name, unit) in enumerate(columns)
            if is_counter(name)
        ]
        if not any(unit for _, _, unit in counters):
            self._check_blank(row, {name for _, name, _ in counters})
        return counters

    def _check_blank(self, row: TableRow, counters: set[str]) -> None:
        """Refuse a blank row of units where one of the counters is no count."""
        if any(any(kind) for name in counters for kind in self.options.measures.get(name, ())):
            raise InputError("the row of units is blank", at=row.at, hint=EXPORT_AGAIN)

    def finish(self) -> Iterator[Record]:
        """Yield nothing: each row is a launch of its own."""
        return iter(())


@dataclass
class _Details(_Table):
    """The details page: rows of one launch follow each other."""

    labels: CounterLabels = field(default_factory=load_labels)
    key: tuple[str, ...] = ()
    launch: Building | None = None

    def add(self, row: TableRow) -> Iterator[Record]:
        """Take a row; yield the launch that ends before it."""
        named = dict(zip(self.header, row.cells, strict=False))
        key = tuple(named.get(column, "") for column in _OF_LAUNCH)
        problem = self._problem(row, named)
        if problem:
            if row.whole and key != self.key:
                yield from self.finish()
            yield left_out(problem, row.at, self.options)
            self.key, self.launch = key, None
            return
        if key != self.key:
            yield from self.finish()
            self.key, self.launch = key, self.building(named)
        if self.launch is None:  # left out because of a row before
            return
        self.launch.check_room(row.at)
        if named["Metric Name"]:
            self._metric(self.launch, named, row.at)
        elif named.get("Rule Name"):
            self.launch.findings.append(_finding(named, self.numbers, row.at))

    def _problem(self, row: TableRow, named: Mapping[str, str]) -> str | None:
        """Return what is wrong with the row; those of values end before the columns of rules."""
        if not row.whole:
            return "the row is cut off"
        if "Metric Value" not in named or len(row.cells) > len(self.header):
            return f"the row has {len(row.cells):,} of {len(self.header):,} cells"
        return None

    def _metric(self, launch: Building, named: Mapping[str, str], at: Location) -> None:
        section, label, unit = (
            named.get(column, "").strip()
            for column in ("Section Name", "Metric Name", "Metric Unit")
        )
        counter = self.labels.counter(section, label, unit)
        if counter is None:
            self.notes.labels.add(f"{section}: {label}")
        else:
            launch.take(counter, unit, named["Metric Value"], self.numbers, at)
            extremes = [named[column] for column in _EXTREMES if column in named]
            launch.spread(counter, unit, extremes, self.numbers, at)

    def finish(self) -> Iterator[Record]:
        """Yield the launch that was being read."""
        if self.launch is not None:
            yield from self.launch.launches()
        self.launch = None


@dataclass
class _Summary(_Details):
    """The page of a summary: rows of one kernel and shape follow each other."""

    def __post_init__(self) -> None:
        """Call the columns as the details page does."""
        self.header = [_AS_DETAILS.get(name, name) for name in self.header]

    def add(self, row: TableRow) -> Iterator[Record]:
        """Take a row; yield the launches that end before it."""
        named = dict(zip(self.header, row.cells, strict=False))
        if _INVOCATIONS.fullmatch(named.get("Invocations", "1")):
            yield from super().add(row)
        else:
            yield from self.finish()
            self.key, self.notes.is_summary = (), True


def _finding(named: Mapping[str, str], numbers: Numbers, at: Location) -> ReferenceFinding:
    percent = numbers.parse(named.get("Estimated Speedup", ""), at)
    known = isinstance(percent, float) and 0 <= percent <= 100
    scope = named.get("Estimated Speedup Type", "")
    return ReferenceFinding(
        rule=named["Rule Name"],
        section=named.get("Section Name", ""),
        severity=severity(named.get("Rule Type", "")),
        text=printed_message(named.get("Rule Description", "")),
        estimate=percent / 100 if isinstance(percent, float) and known else None,
        scope=scope if known and scope in _SCOPES else None,
    )
