"""Read the tables that ``ncu --csv`` prints: the raw page and the details page.

The raw page has one row per launch, counters' names as columns and a row of units below the header.
The details page has one row per launch and value, with labels in the place of counters' names, and
rows for the messages of the vendor's rules. Lines of the profiler (``==PROF==``) and of the program
may stand before, between and after; a file may hold several tables. In a log, lines carry a time or
the rank of a process in front; each rank's lines are a table of their own.

Source: Nsight Compute CLI documentation, "Console Output"; pages of 2019 to 2026.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from advisor.errors import InputError, Location
from advisor.model import Record, ReferenceFinding, Skipped
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu.printed import Building, Notes
from advisor.readers.ncu.values import (
    CounterLabels,
    Numbers,
    dimensions,
    is_counter,
    load_labels,
    printed_message,
    severity,
    whole_number,
)
from advisor.readers.text import LINE_ENDS, LONGEST_LINE, decode_head, split_prefix, text_lines

FORMAT = "ncu-csv"
COUNTERS = "ncu"

# A spreadsheet that saves the table again may take the quotes off and separate by ; or tabs.
_HEADER = re.compile(r'\ufeff?(?P<quote>"?)ID"?(?P<delimiter>[,;\t])"?Process ID"?[,;\t]')
_MOST_COLUMNS = 200_000
_AGAIN = "export again with: ncu --import REPORT --csv --page raw"
_SCOPES = frozenset({"local", "global"})


def accepts(head: bytes) -> bool:
    """Detect by the first bytes whether a table of ``ncu --csv`` is inside."""
    lines = decode_head(head).splitlines()
    return any(_HEADER.match(line) or _HEADER.match(split_prefix(line)[1]) for line in lines)


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
        if rank not in self._ranks and _HEADER.match(rest):
            self._ranks[rank] = _Reading(self._notes, self._options)
        reading = self._ranks.get(rank)
        yield from self._plain.take(line, number) if reading is None else reading.take(rest, number)

    def end(self) -> Iterator[Record]:
        """Yield the last launch of each table.

        Raises:
            InputError: there is no table.
        """
        found = [self._plain, *self._ranks.values()]
        for reading in found:
            yield from reading.end()
        if all(reading.table is None for reading in found):
            raise self._notes.nothing("table of ncu --csv")


class _Reading:
    """One table after the other: the rows of lines, and the launches of rows."""

    def __init__(self, notes: Notes, options: ReadOptions) -> None:
        self.rows = _Rows(notes)
        self.table: _Raw | _Details | None = None
        self._notes = notes
        self._options = options

    def take(self, line: str, number: int) -> Iterator[Record]:
        """Take a line; yield the launches that end with it, or before it."""
        for row in self.rows.take(line, number):
            yield from self._row(row)

    def end(self) -> Iterator[Record]:
        """Yield the last launches."""
        for row in self.rows.end():
            yield from self._row(row)
        if self.table is not None:
            yield from self.table.finish()

    def _row(self, row: _Row) -> Iterator[Record]:
        if row.header:
            if self.table is not None:
                yield from self.table.finish()
            self.table = _new_table(row, self._notes, self._options)
        elif self.table is not None:
            yield from self.table.add(row)


@dataclass(frozen=True)
class _Row:
    """The cells of a row, where it begins, and whether it was all there."""

    cells: list[str]
    at: Location
    header: bool = False
    whole: bool = True


class _Rows:
    """Makes rows of lines: a quoted cell may hold line breaks, other lines are no rows.

    A row begins with an ID and a process, both numbers, or with two empty cells (the units).
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._delimiter = ","
        self._begins: re.Pattern[str] | None = None
        self._held: list[str] = []
        self._length = 0
        self.inside_quotes = False
        self._at = Location(name=notes.name)

    def take(self, line: str, number: int) -> Iterator[_Row]:
        """Take a line; yield the rows that end with it, or before it."""
        header = _HEADER.match(line)
        if header or (self._begins and self._begins.match(line)):
            yield from self.end()
            if header:
                self._open(header)
            self._at = Location(name=self._notes.name, line=number)
        elif not self._held and not self._may_be_cut(line):
            self._notes.line(line)
            return
        self._held.append(line)
        self._length += len(line)
        self.inside_quotes ^= line.count('"') % 2 == 1
        if not self.inside_quotes or self._length > LONGEST_LINE:
            yield from self.end()

    def end(self) -> Iterator[_Row]:
        """Yield the row that was begun, whole or not."""
        if self._held:
            text = "".join(self._held).removeprefix("\ufeff")
            # An unquoted number at the end of a file may have lost digits.
            whole = not self.inside_quotes and text.endswith((*LINE_ENDS, '"', self._delimiter))
            header = _HEADER.match(text) is not None
            yield _Row(self._split(text.rstrip("\r\n")), self._at, header, whole)
        self._held, self._length, self.inside_quotes = [], 0, False

    def _open(self, header: re.Match[str]) -> None:
        self._delimiter = delimiter = header["delimiter"]
        number = r'"\d*"' if header["quote"] else r'"?\d*"?'
        self._begins = re.compile(f"{number}{delimiter}{number}{delimiter}", re.ASCII)

    def _may_be_cut(self, line: str) -> bool:
        """Return whether a line may be what is left of the last row of a table."""
        return self._begins is not None and line.startswith('"') and not line.endswith(LINE_ENDS)

    def _split(self, text: str) -> list[str]:
        if text.count(self._delimiter) >= _MOST_COLUMNS:
            problem = f"a row with more than {_MOST_COLUMNS:,} cells"
            raise InputError(problem, at=self._at, hint=_AGAIN)
        try:
            return next(csv.reader([text], delimiter=self._delimiter), [])
        except csv.Error as error:
            problem = f"the row is no row of a table: {error}"
            raise InputError(problem, at=self._at, hint=_AGAIN) from error


def _new_table(row: _Row, notes: Notes, options: ReadOptions) -> _Raw | _Details:
    kind = _Details if "Metric Name" in row.cells else _Raw
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
        launch = Building(
            notes=self.notes,
            name=named["Kernel Name"],
            grid=dimensions(named.get("Grid Size", "")),
            block=dimensions(named.get("Block Size", "")),
            device=whole_number(named.get("Device", "")),
            context=whole_number(named.get("Context", "")),
            stream=whole_number(named.get("Stream", "")),
            process=whole_number(named.get("Process ID", "")),
        )
        launch.capability(named.get("CC", ""))
        return launch

    def left_out(self, row: _Row, problem: str) -> Skipped:
        """Return the record about a row that is not whole, where such are taken.

        Raises:
            InputError: they are not.
        """
        if not self.options.allow_truncated:
            hint = "copy the file again, or take what is whole with --allow-truncated"
            raise InputError(problem, at=row.at, hint=hint)
        reason = f"{problem}; its launch is left out"
        return Skipped(place=str(row.at), reason=reason, cut=True)


@dataclass
class _Raw(_Table):
    """The raw page: a row of units, then one row per launch."""

    counters: list[tuple[int, str, str]] | None = None

    def add(self, row: _Row) -> Iterator[Record]:
        """Take a row; yield the launch that it is."""
        if self.counters is None:
            self.counters = self._units(row)
        elif not row.whole or len(row.cells) != len(self.header):
            problem = f"the row has {len(row.cells):,} of {len(self.header):,} cells"
            yield self.left_out(row, problem if row.whole else "the row is cut off")
        else:
            launch = self.building(dict(zip(self.header, row.cells, strict=True)))
            cells, numbers, at = row.cells, self.numbers, row.at
            for column, name, unit in self.counters:
                launch.take(name, unit, cells[column], numbers, at)
            yield launch.launch()

    def _units(self, row: _Row) -> list[tuple[int, str, str]]:
        """Return column, name and unit of each counter."""
        if not row.whole or len(row.cells) != len(self.header) or row.cells[0].strip():
            raise InputError(
                "expected the row of units below the header",
                at=row.at,
                hint=_AGAIN,
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

    def _check_blank(self, row: _Row, counters: set[str]) -> None:
        """Refuse a blank row of units where one of the counters is no count."""
        if any(any(kind) for name in counters for kind in self.options.measures.get(name, ())):
            raise InputError("the row of units is blank", at=row.at, hint=_AGAIN)

    def finish(self) -> Iterator[Record]:
        """Yield nothing: each row is a launch of its own."""
        return iter(())


@dataclass
class _Details(_Table):
    """The details page: rows of one launch follow each other."""

    labels: CounterLabels = field(default_factory=load_labels)
    key: tuple[str, ...] = ()
    launch: Building | None = None

    def add(self, row: _Row) -> Iterator[Record]:
        """Take a row; yield the launch that ends before it."""
        named = dict(zip(self.header, row.cells, strict=False))
        key = (named.get("ID", ""), named.get("Process ID", ""), named.get("Kernel Name", ""))
        problem = self._problem(row, named)
        if problem:
            if row.whole and key != self.key:
                yield from self.finish()
            yield self.left_out(row, problem)
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

    def _problem(self, row: _Row, named: Mapping[str, str]) -> str | None:
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

    def finish(self) -> Iterator[Record]:
        """Yield the launch that was being read."""
        if self.launch is not None:
            yield self.launch.launch()
        self.launch = None


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
