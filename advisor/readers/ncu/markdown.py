"""Tables in Markdown: which of their columns or rows are launches.

A table has a row for each metric, with one column for each kernel or version, or a row for each
kernel, with one column for each metric. Titles tell them apart, and which columns compare, judge
or explain; a column most of whose cells are no values holds no launch either.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from advisor.readers.ncu.lines import WIDEST, PageLine
from advisor.readers.ncu.words import load_words, plain_label, unmarked
from advisor.readers.ncu.written import (
    COUNT,
    Pair,
    WrittenValue,
    counters_key,
    is_missing,
    known_unit,
    shared_labels,
    written_label,
    written_pairs,
)
from advisor.records import dataclass

FEWEST = 3
"""Values of a launch in a table: fewer may be those of something else."""

_QUOTED = re.compile(r"`([^`]*[A-Za-z][^`]*)`")
_WORDS = re.compile(r"[^\w.]+")
_CELL = re.compile(r"(?<!\\)\|")
_APART = " | "  # between two cells
_RULER = frozenset("|+-:= \t")
_BARRED = frozenset("|+")
_MOST = 2 / 3  # of the cells of a column of values
_MOST_LINES = 1_000  # of a table
_MOST_COLUMNS = 50
_LABEL_PLACES = 2  # columns that may hold the labels: one may name sections before them


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A value of a table: the counters that it may be of, and the line it stands in."""

    counters: frozenset[str]
    value: WrittenValue
    line: int


@dataclasses.dataclass(kw_only=True)
class Version:
    """A launch in a table; ``title`` is "" where nothing but a heading names it.

    ``is_kernel`` says that the title stands in a column of kernels.
    """

    title: str
    is_kernel: bool = False
    values: list[Entry] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(kw_only=True)
class TableReading:
    """What a table says: its launches in order; lines, labels and columns not understood."""

    versions: list[Version] = dataclasses.field(default_factory=list)
    lines: list[int] = dataclasses.field(default_factory=list)
    labels: list[str] = dataclasses.field(default_factory=list)
    columns: list[str] = dataclasses.field(default_factory=list)

    @property
    def is_of_one(self) -> bool:
        """Whether the table has one launch, which no title names."""
        return len(self.versions) == 1 and not self.versions[0].title

    @property
    def measured(self) -> set[str]:
        """The counters of which there is a value with a unit of a measurement."""
        said = (said for version in self.versions for said in version.values)
        return {counters_key(each.counters) for each in said if each.value.unit != COUNT}

    def take(self, version: Version, pairs: Sequence[Pair] | None, cell: str, line: int) -> None:
        """Keep the values of a launch in a cell, or its line where it is no value."""
        if pairs:
            version.values += [
                Entry(counters=each, value=value, line=line) for each, value in pairs
            ]
        elif pairs is None and not is_missing(cell) and line not in self.lines:
            self.lines.append(line)


@dataclasses.dataclass(kw_only=True)
class MarkdownTable:
    """The lines of a table while they are taken, each with its number and whether it is whole.

    Rows may do without the bars at their ends; the ruler tells that the line above it has titles.
    ``above`` is the line taken last that was none of a table.
    """

    lines: list[tuple[PageLine, bool, int]] = dataclasses.field(default_factory=list)
    above: tuple[PageLine, bool, int] | None = None
    is_bare: bool = False

    def takes(self, line: PageLine, whole: bool, number: int) -> bool:
        """Take a line, if it is one of a table."""
        if not self._is_row(line) or len(line.text) > WIDEST or len(self.lines) >= _MOST_LINES:
            self.above = (line, whole, number)
            return False
        if not self.lines and self.above is not None and line.text[0] == "-":
            self.lines, self.is_bare = [self.above], True
        self.lines.append((line, whole, number))
        return True

    def _is_row(self, line: PageLine) -> bool:
        text = line.text
        if text.startswith("|") or self.is_bare:
            return "|" in text
        if self.lines or text[:2] == "+-":
            return _is_ruler(line)
        is_titled = self.above is not None and _APART in self.above[0].text
        return is_titled and text[:1] == "-" and _is_ruler(line)

    @property
    def is_whole(self) -> bool:
        """Whether the end of every line was there."""
        return all(whole for _, whole, _ in self.lines)

    def has_labels(self) -> bool:
        """Return whether labels that are known begin two of the rows, or title two columns."""
        rows = [_cells(line.text) for line, _, _ in self.lines] or [[""]]
        begin, title = [cells[0] for cells in rows], rows[0]
        return any(sum(map(_is_label, cells)) > 1 for cells in (begin, title))

    def reading(self) -> TableReading | None:
        """Return what the table says, None where its titles do not tell."""
        lines = [(line, number) for line, whole, number in self.lines if whole]
        rows = [(_cells(line.text), number) for line, number in lines if not _is_ruler(line)]
        if not rows:
            return None
        begins = next((at for at, (line, _) in enumerate(lines) if not _is_ruler(line)), 0)
        if len(rows) <= 1 or not _is_ruler(lines[begins + 1][0]):
            return None
        table = _grid(rows)
        return None if table is None else table.by_rows() or table.by_columns()


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A row of a table that has a row for each metric."""

    label: str
    unit: str
    cells: list[str]
    line: int

    @property
    def is_known(self) -> bool:
        """Whether the label, or one of those that share the row, is known."""
        return _is_label(self.label)

    def pairs(self, at: int) -> list[Pair] | None:
        """Return counters and their values in a cell; None where it or its unit is not known."""
        unit = "" if is_missing(self.unit) else known_unit(unmarked(self.unit))
        return None if unit is None else written_pairs(self.label, self.cells[at], unit)


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Titles, and the cells of each row with its line."""

    titles: list[str]
    rows: Sequence[tuple[list[str], int]]

    def by_rows(self) -> TableReading | None:
        """Return a launch for each row, if titles are metrics and the first names kernels."""
        words = load_words().kernels
        if plain_label(self.titles[0]) in words.numbers:
            return self._without_first().by_rows()
        known = [_is_label(title) for title in self.titles[1:]]
        if plain_label(self.titles[0]) not in words.titles or sum(known) < FEWEST:
            return None
        reading = TableReading()
        reading.labels += [
            unmarked(title) for title, is_known in zip(self.titles[1:], known, strict=True)
            if not is_known and not self._is_other(title)
        ]  # fmt: skip
        for cells, line in self.rows:
            name = unmarked(cells[0])
            if not name or (words.sums.fullmatch(name) and "`" not in cells[0]):
                continue
            if len(cells) != len(self.titles):
                reading.lines.append(line)
                continue
            version = Version(title=_name(cells[0]), is_kernel=True)
            for title, cell in zip(self.titles[1:], cells[1:], strict=True):
                reading.take(version, written_pairs(title, cell), cell, line)
            reading.versions.append(version)
        return reading

    def _without_first(self) -> _Grid:
        return _Grid(titles=self.titles[1:], rows=[(cells[1:], line) for cells, line in self.rows])

    def by_columns(self) -> TableReading | None:
        """Return a launch for each column of values, where the rows begin with labels."""
        place = self._label_place()
        if place is None:
            return None
        words = load_words().columns
        rest = range(place + 1, len(self.titles))
        unit = next((at for at in rest if plain_label(self.titles[at]) in words.units), None)
        rows = [
            _Row(
                label=_label(cells[place], section),
                unit="" if unit is None else cells[unit],
                cells=cells,
                line=line,
            )
            for section, (cells, line) in zip(self._sections(place), self.rows, strict=True)
            if len(cells) == len(self.titles)
        ]
        named = [at for at in rest if plain_label(self.titles[at]) in words.values]
        may = named or [at for at in rest if at != unit and not self._is_other(self.titles[at])]
        shares = {at: _share_of_values(rows, at) for at in may}
        reading = TableReading(
            lines=[line for cells, line in self.rows if len(cells) != len(self.titles)],
            columns=[unmarked(self.titles[at]) for at in may if 0 < shares[at] < _MOST],
        )
        return self._read_columns(reading, rows, [at for at in may if shares[at] >= _MOST])

    def _read_columns(
        self, reading: TableReading, rows: Iterable[_Row], places: Sequence[int]
    ) -> TableReading | None:
        titles = [_title(self.titles[at]) for at in places]
        if len(set(titles)) < len(titles):
            titles = [unmarked(self.titles[at]) for at in places]
        if len(set(titles)) < len(titles) or ("" in titles and len(titles) > 1) or not titles:
            return None
        reading.versions = [Version(title=title) for title in titles]
        for row in rows:
            if row.is_known:
                for version, at in zip(reading.versions, places, strict=True):
                    reading.take(version, row.pairs(at), row.cells[at], row.line)
            elif row.label:
                reading.labels.append(unmarked(row.label))
        return reading

    def _is_other(self, title: str) -> bool:
        """Return whether a title says that its column compares launches, or is of none."""
        text = unmarked(title)
        words = _WORDS.split(text.casefold())
        named = {unmarked(each).casefold() for each in self.titles if each != title}
        compares = len(named & set(words)) > 1
        return compares or load_words().columns.others.fullmatch(text) is not None

    def _sections(self, place: int) -> list[str]:
        """Return of each row what stands before its label, or stood there last."""
        befores = [cells[0] if place else "" for cells, _ in self.rows]
        return list(accumulate(befores, _latest))

    def _label_place(self) -> int | None:
        """Return the column of the labels: its title says so, or two of its cells are known."""
        places = range(min(_LABEL_PLACES, len(self.titles) - 1))
        cells = [[cells[at] for cells, _ in self.rows] for at in places]
        known = [sum(map(_is_label, each)) for each in cells]
        words = load_words().columns.labels
        titled = [at for at in places if known[at] and plain_label(self.titles[at]) in words]
        told = [at for at in places if known[at] >= max(1, min(_LABEL_PLACES, len(cells[at])))]
        return next(iter(titled + told), None)


def _grid(rows: Sequence[tuple[list[str], int]]) -> _Grid | None:
    """Return titles and rows; titles that stand below a line of groups are the titles."""
    (titles, _), *rest = rows
    if not titles[0] and rest and plain_label(rest[0][0][0]) in load_words().columns.labels:
        (titles, _), *rest = rest
    if len(titles) > _MOST_COLUMNS:
        return None
    filled = [(cells + [""] * (len(titles) - len(cells)), line) for cells, line in rest]
    return _Grid(titles=titles, rows=[row for row in filled if any(row[0])])


def _cells(text: str) -> list[str]:
    inner = text.strip().removeprefix("|").removesuffix("|")
    return [cell.replace("\\|", "|").strip() for cell in _CELL.split(inner)]


def _is_label(text: str) -> bool:
    return written_label(text) is not None or any(shared_labels(text))


def _latest(last: str, here: str) -> str:
    return here or last


def _label(label: str, section: str) -> str:
    """Return a row's label: with its section, where that completes it."""
    whole = f"{label} {section}"
    return whole if section and not written_label(label) and written_label(whole) else label


def _is_ruler(line: PageLine) -> bool:
    return bool(_BARRED & set(line.text)) and "-" in line.text and set(line.text) <= _RULER


def _title(title: str) -> str:
    """Return the title of a column as a launch's name, "" where it only says that values follow."""
    return "" if plain_label(title) in load_words().columns.values else _name(title)


def _name(text: str) -> str:
    """Return a launch's name: what alone stands in backticks, else the text without marks."""
    names = _QUOTED.findall(text)
    return names[0].strip() if len(names) == 1 else unmarked(text)


def _share_of_values(rows: Iterable[_Row], at: int) -> float:
    """Return the share of values among the cells of a column that should be some."""
    known = [row for row in rows if row.is_known and not is_missing(row.cells[at])]
    return sum(bool(row.pairs(at)) for row in known) / len(known) if known else 0.0
