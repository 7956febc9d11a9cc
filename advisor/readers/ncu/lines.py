"""What a line of a printed page is, wherever people put it.

Pages are pasted into comments, quotations and notes: their lines stand at any indent, behind
comment signs, with remarks after the values. So a line is known by what it says, not by where it
stands.

Source: Nsight Compute CLI documentation, "Console Output"; pages of 2019 to 2026.
"""

from __future__ import annotations

import dataclasses
import re
from functools import lru_cache
from typing import NamedTuple

from advisor.readers.ncu.values import (
    COUNTER_NAME,
    base_factor,
    is_number,
    load_labels,
    load_messages,
)
from advisor.readers.ncu.written import is_share, written_label, written_value
from advisor.records import dataclass

PROCESS = re.compile(r"\[(\d{1,10})\] ")
"""How the line begins that names a process, its program and its host."""

WIDEST = 10_000  # characters of a table's line

_DATE = r"\d{4}-\w{3}-\d{2} \d{2}:\d{2}:\d{2}"
_SHAPE = r"(?P<grid>\(\d+, ?\d+, ?\d+\))x(?P<block>\(\d+, ?\d+, ?\d+\))"
_KERNEL = re.compile(
    rf"(?P<name>\S.*?)(?: {_SHAPE})?(?:, (?P<date>{_DATE}))?"
    r", Context (?P<context>\d+), Stream (?P<stream>\d+)"
    r"(?:, Device (?P<device>\d+), CC (?P<cc>\d+\.\d+))?"
)
_CUT_KERNEL = re.compile(
    rf"(?P<name>\S.*?) {_SHAPE}(?:, (?P<date>{_DATE}))?"
    r"(?P<context>)(?P<stream>)(?:, Device (?P<device>\d+))?, CC (?P<cc>\d+\.\d+)"
)
_SUMMARISED = re.compile(
    rf"(?P<name>\S.*?)(?: {_SHAPE})?"
    r", Device (?P<device>\d+), CC (?P<cc>\d+\.\d+), Invocations (?P<invocations>[1-9]\d{0,4})"
)
_SUMMARISED_2020 = re.compile(
    r"(?P<name>\S.*), Block Size (?P<block>\d{1,10}), Grid Size (?P<grid>\d{1,10})"
    r", (?P<invocations>[1-9]\d{0,4}) invocations ?"
)
_SUMMARY = re.compile(r"\S.*, (?:Invocations \d+|\d+ invocations ?)")
_KERNEL_FIRST_HALF = re.compile(rf"(?P<name>\S.*) {_SHAPE},?")
_KERNEL_SECOND_HALF = re.compile(r"Context \d+, Stream \d+(?:, Device \d+, CC \d+\.\d+)?")
_PLACE = 2  # blanks before a kernel's name, as it is printed
_TITLE = re.compile(r"(?P<kind>Section|Table Name) ?: +(?P<name>\S.*)")
_HEAD = re.compile(r"Metric Name\s+Metric Unit\s+(?:Metric Value|Minimum\s+Maximum\s+Average)")
_RULER = re.compile(r"--[- ]*")
COLUMNS = 3
"""Label, unit and value."""

OF_SUMMARY = 5
"""Label, unit, and the least, greatest and mean value over the launches of a kernel."""

_DASHES = re.compile(r"-+")
_LISTED = re.compile(r"(?:[-+] )?(?P<label>[^\s:=](?:[^:=]*[^\s:=])?)(?: *:| =) +(?P<value>\S.*)")
_BRACKETED = re.compile(r"\[(.*)\]")
_MARKED = re.compile(r"[*`]")
_WRITTEN = re.compile(
    r"(?P<number>[-+]?\d[\d.,]*(?:[eE][-+]?\d+)?) ?(?P<unit>%|[^\W\d][\w/]*)?(?: \(.*\))?"
)
_NUMERIC = re.compile(
    r"\W{0,4}(?:ca\.? )?\d"
)  # what may be a value: a quick test, for much other text
_COUNT = "1"
_REMARK = re.compile(r"\s(?:#|//|/\*|\*/|<-|←).*")
_APART = re.compile(r"\t|\s\s+")
_LEADER = re.compile(r"(?<!\s)\s+\.{3,}\s+")
_EMPTY = ("(!) n/a", "n/a")


class PageLine(NamedTuple):
    """A line without its end: ``text`` is what stands behind blanks and comment signs."""

    whole: str
    text: str

    @property
    def margin(self) -> int:
        """The columns of blanks before anything else."""
        return _width(self.whole[: len(self.whole) - len(self.whole.lstrip())])

    @property
    def indent(self) -> int:
        """The columns before the text."""
        return _width(self.prefix)

    @property
    def is_remark(self) -> bool:
        """Whether comment signs stand before the text."""
        return bool(self.prefix.strip())

    @property
    def prefix(self) -> str:
        """What stands before the text."""
        return self.whole[: len(self.whole) - len(self.text)]


@dataclass(frozen=True, kw_only=True)
class Row:
    """Label, unit and value of a row that is understood without its table's columns.

    ``is_written`` says that people wrote it, as a row of a table in Markdown or of a list. In a
    summary the value is the mean, and ``extremes`` are the least and the greatest.
    """

    label: str
    unit: str
    cell: str
    is_written: bool = False
    extremes: tuple[str, ...] = ()

    @property
    def has_unit(self) -> bool:
        """Whether a unit of a measurement stands beside the number."""
        return self.unit not in {"", _COUNT}


@dataclasses.dataclass(kw_only=True)
class PageTable:
    """A table that is being read: its columns, and where its lines begin.

    ``section`` is what titles it; ``is_told`` says that it is the profiler's even without a head.
    ``ends_at`` is the number of the last line that stands in it.
    """

    section: str
    is_told: bool
    is_headed: bool = False
    columns: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    prefix: str = ""
    indents: set[int] = dataclasses.field(default_factory=set)
    rows: int = 0
    ends_at: int = 0
    is_apart: bool = False

    def holds(self, line: PageLine) -> bool:
        """Return whether a line stands where the table's lines do."""
        is_read = bool(self.columns) and (self.is_told or self.is_headed)
        return is_read and (line.indent in self.indents or self._behind_prefix(line) is not None)

    def row(self, line: PageLine) -> Row | None:
        """Return a row by the columns; None where a word stands outside them."""
        text = without_remark(self._behind_prefix(line) or line.text)
        ends = [0, *(end for _, end in self.columns)]
        starts = [*(start for start, _ in self.columns), len(text)]
        if any(text[end:start].strip() for end, start in zip(ends, starts, strict=True)):
            return None
        label, unit, *cells = (text[start:end].strip() for start, end in self.columns)
        return Row(label=label, unit=unit, cell=cells[-1], extremes=tuple(cells[:-1]))

    def is_open(self, number: int) -> bool:
        """Return whether this is the profiler's, and the line of that number stands in it."""
        return (self.is_told or self.is_headed) and self.ends_at == number

    def is_remark(self, line: PageLine) -> bool:
        """Return whether comment signs stand before a line that the table's ruler has not."""
        return line.is_remark and line.prefix != self.prefix

    def _behind_prefix(self, line: PageLine) -> str | None:
        text = line.whole.removeprefix(self.prefix)
        return text if line.whole.startswith(self.prefix) and text[:1].strip() else None


@dataclass(frozen=True, kw_only=True)
class Forms:
    """The forms of lines that the known labels decide."""

    signs: re.Pattern[str]
    labels: re.Pattern[str]

    def line(self, whole: str) -> PageLine:
        """Return a line taken apart; the page's own labels that begin with # keep it."""
        signs = self.signs.match(whole)
        return PageLine(whole, whole[signs.end() :] if signs else whole)

    def row(self, text: str, *, written: bool = False) -> Row | None:
        """Return the row that a text is by itself: a known label, a known unit or none, a number.

        Columns are apart by blanks, two of them somewhere, or a tab; one blank will do where label,
        unit and number are all of the line. Some write the unit behind the number. Lines of tables
        in Markdown and of lists are rows where the page may be ``written`` by people, and so are
        labels that people shorten.
        """
        text = _LEADER.sub("   ", text) if ".." in text and len(text) <= WIDEST else text
        if written and len(text) <= WIDEST and (cells := _cells(text)):
            is_listed = not _MARKED.sub("", text).startswith("|")
            return self._written(*cells) or (_item(*cells) if is_listed else None)
        label = self.label(text)
        if label is None:
            parts = _APART.split(text, 1) if written and len(text) <= WIDEST else []
            return _item(*parts) if len(parts) > 1 else None
        rest = without_remark(text)[len(label) :]
        words = _apart(rest.split())
        if rest.strip().endswith(_EMPTY) or not 1 <= len(words) <= 2:
            return None
        *units, cell = words if is_number(words[-1]) else words[::-1]
        unit = _BRACKETED.sub(r"\1", units[0]) if units else ""
        known = is_number(cell) and base_factor(unit) is not None
        apart = _APART.search(rest) or (unit and cell == words[-1])
        return Row(label=label, unit=unit, cell=cell) if known and apart else None

    def _written(self, label: str, *cells: str) -> Row | None:
        """Return the row that somebody wrote: a known label, one number, its unit.

        The unit stands before the number, as it is printed, or behind it; without one the number
        is a count. What follows is about the number: a second number is of something else.
        """
        numbers = [each for each in cells if _WRITTEN.match(each)]
        value = _WRITTEN.fullmatch(numbers[0]) if len(numbers) == 1 else None
        if value is None or self.label(f"{label} ") != label:
            return None
        before = cells[0] if value.string == cells[-1] and len(cells) == COLUMNS - 1 else ""
        unit = value["unit"] or before or _COUNT
        known = is_number(value["number"]) and base_factor(unit) is not None
        cell = value["number"]
        return Row(label=label, unit=unit, cell=cell, is_written=True) if known else None

    def begins_page(self, line: PageLine) -> bool:
        """Return whether a line is the first that a page of the profiler, or of people, has."""
        return (
            PROCESS.match(line.whole) is not None
            or kernel(line) is not None
            or is_summary(line.text)
            or first_half(line) is not None
            or title(line.text) is not None
            or columns(line.text) is not None
            or is_head(line.text)
            or self.row(line.text, written=True) is not None
            or load_messages().alone.match(line.text) is not None
        )

    def begins_row(self, text: str) -> bool:
        """Return whether a known label begins a text, and something stands well apart from it."""
        label = self.label(text)
        return label is not None and _APART.match(text, len(label)) is not None

    def label(self, text: str) -> str | None:
        """Return the label of any section, or the name of a counter, that begins a text."""
        found = self.labels.match(text) if len(text) <= WIDEST else None
        return found[0] if found else None


def _cells(text: str) -> list[str]:
    """Return label and what follows it, of a line of a Markdown table or of a list; else nothing.

    >>> _cells("| **Duration** | us | 1.5 |"), _cells("- Duration: 1.5 us"), _cells("Duration 1.5")
    (['Duration', 'us', '1.5'], ['Duration', '1.5 us'], [])
    """
    plain = _MARKED.sub("", text)
    if plain.startswith("|"):
        return [cell.strip() for cell in plain.strip("| ").split("|")]
    found = _LISTED.fullmatch(plain)
    return [found["label"], found["value"]] if found else []


def _item(label: str, value: str) -> Row | None:
    """Return the row that an item of a list is, of a label that people shorten.

    Shapes are left to tables, and so are labels of which the unit does not tell what they mean.
    """
    found = written_label(label) if _NUMERIC.match(value) else None
    number = written_value(value, found.unit) if found and not found.is_shape else None
    if found is None or number is None:
        return None
    fit = [name for name in found.counters if is_share(name) == (number.unit == "%")]
    if len(fit) != 1:
        return None
    return Row(label=fit[0], unit=number.unit, cell=number.cell, is_written=True)


def _apart(words: list[str]) -> list[str]:
    """Return what follows a label, a unit that stands close behind its number apart from it.

    >>> _apart(["23.4us"]), _apart(["us", "23.4"])
    (['23.4', 'us'], ['us', '23.4'])
    """
    found = _WRITTEN.fullmatch(words[0]) if len(words) == 1 else None
    return [found["number"], found["unit"]] if found and found["unit"] else words


def may_tell(whole: str) -> bool:
    """Return whether a line can be a kernel's, a head or a row; a quick test, for much other text.

    >>> may_tell("    return x"), may_tell("Duration    ms  1.5")
    (False, True)
    """
    return (
        ", C" in whole
        or "|" in whole
        or ": " in whole
        or " = " in whole
        or " ..." in whole
        or whole[-1:].isdigit()
        or _APART.search(whole.strip()) is not None
    )


def kernel(line: PageLine) -> re.Match[str] | None:
    """Return what a line says about a launch, if it begins one: its name, shape, context, device.

    A shape or a date tells it from other sentences; without them it stands where it is printed. A
    summary is about all launches of a kernel and shape at once.
    """
    if ", Invocations " in line.text:
        return _SUMMARISED.fullmatch(line.text)
    if " invocations" in line.text:
        return _SUMMARISED_2020.fullmatch(line.text)
    if ", Context " in line.text:
        found = _KERNEL.fullmatch(line.text)
        if found and not (found["grid"] or found["date"]):
            return found if line.whole.startswith(" " * _PLACE) and not line.is_remark else None
        return found
    return _CUT_KERNEL.fullmatch(line.text) if ", CC " in line.text else None


def comes_before_each_section(kernel: re.Match[str]) -> bool:
    """Return whether the line of a kernel has the form of 2020, which each section repeats."""
    return kernel.re is _SUMMARISED_2020


def is_summary(text: str) -> bool:
    """Return whether a line begins the part of a summary about a kernel, of however many launches.

    >>> is_summary("add(int) (8, 1, 1)x(256, 1, 1), Device 0, CC 8.9, Invocations 14")
    True
    """
    return "nvocations" in text and _SUMMARY.fullmatch(text) is not None


def first_half(line: PageLine) -> re.Match[str] | None:
    """Return what a line says that may be a kernel's, cut or broken behind the launch's shape."""
    return _KERNEL_FIRST_HALF.fullmatch(line.text) if "x(" in line.text else None


def joined(first: str, second: str) -> re.Match[str] | None:
    """Return what the two halves of a kernel's line say about a launch, if they are."""
    if not _KERNEL_SECOND_HALF.fullmatch(second):
        return None
    return _KERNEL.fullmatch(f"{first.rstrip(',')}, {second}")


def below(above: str, line: PageLine) -> re.Match[str] | None:
    """Return what two lines say about a launch, the second of which begins with its shape."""
    if not (line.text.startswith("(") and above.endswith(")") and len(above) <= WIDEST):
        return None
    return kernel(PageLine("", f"{above} {line.text}"))


def title(text: str) -> tuple[bool, str] | None:
    """Return the name of the section or table that a line titles, and whether it is a section's."""
    found = _TITLE.fullmatch(text)
    return (found["kind"] == "Section", found["name"]) if found else None


def is_head(text: str) -> bool:
    """Return whether a line heads a table."""
    return _HEAD.fullmatch(text) is not None


def columns(text: str) -> list[tuple[int, int]] | None:
    """Return where the columns of a table begin and end, if the line is a ruler."""
    if len(text) > WIDEST or not _RULER.fullmatch(text):
        return None
    return [match.span() for match in _DASHES.finditer(text)]


def without_remark(text: str) -> str:
    """Return a row without what somebody wrote behind it.

    >>> without_remark("# SMs      SM     142   # of this device")
    '# SMs      SM     142'
    """
    return _REMARK.sub("", text).rstrip()


def _width(blanks: str) -> int:
    return len(blanks.expandtabs())


@lru_cache(maxsize=1)
def load_forms() -> Forms:
    """Return the forms of lines with the labels of ``rules/labels/ncu.yaml``."""
    names = sorted(load_labels().names(), key=len, reverse=True)
    labels = "|".join(map(re.escape, names))
    kept = "|".join(re.escape(name[1:]) for name in names if name.startswith("#"))
    return Forms(
        signs=re.compile(rf"(?:\s|//|/\*|\*/|\*|>|#(?!(?:{kept})\s))*"),
        labels=re.compile(rf"(?:{labels}|{COUNTER_NAME})(?=\s)", re.ASCII),
    )
