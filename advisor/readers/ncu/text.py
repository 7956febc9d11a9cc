"""Read the pages that ``ncu`` prints to a terminal or a log: sections of label, unit and value.

A launch begins with a line that names the kernel, its context and stream; sections follow, each
with a table between rulers and with messages of the vendor's rules. The program's own output may
stand around and between. Lines may carry the time of a log and the rank that a launcher of many
processes puts before them; each rank's lines are read as a page of their own.

Source: Nsight Compute CLI documentation, "Console Output"; pages of 2019 to 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from advisor.errors import Location
from advisor.model import Launch, Record, ReferenceFinding
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu.printed import SECTION, Building, Notes
from advisor.readers.ncu.values import (
    CounterLabels,
    Numbers,
    dimensions,
    load_labels,
    printed_message,
    severity,
    whole_number,
)
from advisor.readers.text import LINE_ENDS, decode_head, text_lines

FORMAT = "ncu-text"
COUNTERS = "ncu"

_PREFIX = re.compile(
    r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{0,20} )?(?P<rank>\d{1,6}: |\[\d{1,6},\d{1,6}\]<\w+>:)?"
)
_PROCESS = re.compile(r"\[(\d{1,10})\] ")
_KERNEL = re.compile(
    r" {2}(?P<name>\S.*?)"
    r"(?: (?P<grid>\(\d+, \d+, \d+\))x(?P<block>\(\d+, \d+, \d+\)))?"
    r"(?:, \d{4}-\w{3}-\d{2} \d{2}:\d{2}:\d{2})?"
    r", Context (?P<context>\d+), Stream (?P<stream>\d+)"
    r"(?:, Device (?P<device>\d+), CC (?P<cc>\d+\.\d+))?"
)
_PROFILER = ("==PROF==", "==ERROR==", "==WARNING==")
_LABEL = re.compile(r" {4}\S")
_DASHES = re.compile(r"-+")
_COLUMNS = 3
_WIDEST = 10_000  # characters of a table
_MESSAGE = re.compile(r" {4}(INF|OK|OPT|WRN|ERR) {3,4}(\S.*)")
_MORE = " " * 10
_MOST_LINES = 1_000  # of a message
_SPEEDUP = re.compile(r"Est\. (Local )?Speedup: (\d{1,3}(?:\.\d+)?)%\s*", re.ASCII)
_UNLOCKED = "    Warning: Data collection happened without fixed GPU frequencies."


def accepts(head: bytes) -> bool:
    """Detect by the first bytes whether a page of ``ncu`` is inside."""
    lines = (_split_prefix(line)[1] for line in decode_head(head).splitlines())
    return any(line.startswith((*_PROFILER, SECTION)) or _kernel(line.rstrip()) for line in lines)


def read(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield one launch per kernel line that values follow, in the order in which they end.

    Of ``options`` only what units measure makes a difference.

    Raises:
        InputError: no launch at all, or a value that is no number.
    """
    notes = Notes(name=source.name, measures=options.measures)
    pages: dict[str, _Page] = {}
    with source.open() as file:
        for number, line in enumerate(text_lines(file), start=1):
            rank, rest = _split_prefix(line)
            content = rest.rstrip()
            if rank not in pages and _begins(content):
                pages[rank] = _Page(notes)
            if rank in pages:
                yield from pages[rank].take(content, rest.endswith(LINE_ENDS), number)
            else:
                notes.line(content)
    for page in pages.values():
        yield from page.finish()
    if not notes.launches:
        raise notes.nothing("result of the profiler")
    yield from notes.skipped()
    yield notes.session()


def _split_prefix(line: str) -> tuple[str, str]:
    """Return the rank before a line ("" without one), and the line without rank and time.

    >>> _split_prefix("2026-01-02T03:04:05.1Z 3:     Section: Occupancy")
    ('3: ', '    Section: Occupancy')
    """
    prefix = _PREFIX.match(line)
    if prefix is None or not prefix.end():
        return "", line
    return prefix["rank"] or "", line[prefix.end() :]


def _begins(line: str) -> bool:
    return _PROCESS.match(line) is not None or _kernel(line) is not None


def _kernel(line: str) -> re.Match[str] | None:
    return _KERNEL.fullmatch(line) if line.startswith("  ") and ", Context " in line else None


def _is_ruler(line: str) -> bool:
    return line.startswith("    -") and len(line) <= _WIDEST and not line.strip("- ")


@dataclass
class _Page:
    """The state between two lines: which launch, which section, which table, which message."""

    notes: Notes
    number: int = 0
    labels: CounterLabels = field(default_factory=load_labels)
    numbers: Numbers = field(default_factory=Numbers)
    process: int | None = None
    launch: Building | None = None
    section: str = ""
    columns: list[tuple[int, int]] = field(default_factory=list)
    message: list[str] = field(default_factory=list)
    message_type: str = ""
    below_ruler: bool = False

    @property
    def at(self) -> Location:
        """Where the line that was taken last stands."""
        return Location(name=self.notes.name, line=self.number)

    def take(self, line: str, whole: bool, number: int) -> Iterator[Launch]:
        """Take a line, ``whole`` where its end was there; yield the launch that it ends."""
        self.number = number
        kernel = _kernel(line)
        if kernel:
            yield from self.finish()
            self._begin(kernel)
        elif _PROCESS.match(line):
            self._process(line)
        elif self.launch is None:
            self.notes.line(line)
        else:
            self._inside(self.launch, line, whole)

    def finish(self) -> Iterator[Launch]:
        """Yield the launch that was being read, if anything is known of it."""
        self._end_message()
        done, self.launch = self.launch, None
        if done is not None and (self.section or done.counters):
            yield done.launch()

    def _process(self, line: str) -> None:
        program, found, host = line.rpartition("@")
        match = _PROCESS.match(program)
        if match and found and " " not in host:
            self.process = int(match[1])
            self.notes.process(program[match.end() :], host)

    def _begin(self, kernel: re.Match[str]) -> None:
        self.launch = Building(
            notes=self.notes,
            name=kernel["name"],
            grid=dimensions(kernel["grid"] or ""),
            block=dimensions(kernel["block"] or ""),
            device=whole_number(kernel["device"] or ""),
            context=whole_number(kernel["context"]),
            stream=whole_number(kernel["stream"]),
            process=self.process,
        )
        self.launch.capability(kernel["cc"] or "")
        self.section, self.columns = "", []

    def _inside(self, launch: Building, line: str, whole: bool) -> None:
        # A message without a type has blanks in its place, right below a ruler.
        goes_on = line.startswith(_MORE) and (self.message or self.below_ruler)
        self.below_ruler = _is_ruler(line)
        message = _MESSAGE.fullmatch(line)
        if goes_on:
            if len(self.message) < _MOST_LINES:
                self.message.append(line.strip())
            return
        self._end_message()
        if line.startswith(SECTION):
            self.section, self.columns = line.removeprefix(SECTION), []
        elif message:
            self.message_type, self.message = message[1], [message[2]]
        elif line == _UNLOCKED:
            launch.clock_locked = False
        elif self.below_ruler:
            self.columns = [match.span() for match in _DASHES.finditer(line)]
        elif _LABEL.match(line) and len(self.columns) == _COLUMNS:
            self._row(launch, line, whole)

    def _row(self, launch: Building, line: str, whole: bool) -> None:
        label, unit, cell = (line[start:end].strip() for start, end in self.columns)
        if not label or not cell or label == "Metric Name":
            return
        if not whole or not self._fits(line):
            self.notes.cut |= not whole
            self.notes.rows.add(str(self.at))
            return
        launch.check_room(self.at)
        counter = self.labels.counter(self.section, label, unit)
        if counter is None:
            self.notes.labels.add(f"{self.section}: {label}")
        else:
            launch.take(counter, unit, cell, self.numbers, self.at)

    def _fits(self, line: str) -> bool:
        """Return whether every word of the line stands inside a column."""
        ends = [0, *(end for _, end in self.columns)]
        starts = [*(start for start, _ in self.columns), len(line)]
        return not any(line[end:start].strip() for end, start in zip(ends, starts, strict=True))

    def _end_message(self) -> None:
        if self.launch is not None and self.message:
            self.launch.check_room(self.at)
            self.launch.findings.append(self._finding(" ".join(self.message)))
        self.message_type, self.message = "", []

    def _finding(self, text: str) -> ReferenceFinding:
        speedup = _SPEEDUP.match(text)
        estimate = float(speedup[2]) / 100 if speedup else None
        known = estimate is not None and estimate <= 1
        return ReferenceFinding(
            rule="",
            section=self.section,
            severity=severity(self.message_type),
            text=printed_message(text[speedup.end() :] if speedup else text),
            estimate=estimate if known else None,
            scope=("local" if speedup[1] else "global") if speedup and known else None,
        )
