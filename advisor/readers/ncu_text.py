"""Read the pages that ``ncu`` prints to a terminal or a log: sections of label, unit and value.

A launch begins with a line that names the kernel, its context and stream; sections follow, each
with a table between rulers and with messages of the vendor's rules. The program's own output may
stand around and between.

Source: Nsight Compute CLI documentation, "Console Output"; pages of 2019 to 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from advisor.errors import InputError, Location
from advisor.model import Launch, Record, ReferenceFinding
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu_printed import Building, Notes, dimensions, session_of
from advisor.readers.ncu_values import Labels, Numbers, base_factor, load_labels, severity
from advisor.readers.text import decode_head, text_lines

FORMAT = "ncu-text"
COUNTERS = "ncu"

_PROCESS = re.compile(r"^\[(\d+)\] (.*)@(\S+)\s*$")
_KERNEL = re.compile(
    r"^ {2}(?P<name>\S.*?)"
    r"(?: (?P<grid>\(\d+, \d+, \d+\))x(?P<block>\(\d+, \d+, \d+\)))?"
    r"(?:, (?P<time>\d{4}-\w{3}-\d{2} \d{2}:\d{2}:\d{2}))?"
    r", Context (?P<context>\d+), Stream (?P<stream>\d+)"
    r"(?:, Device (?P<device>\d+), CC (?P<cc>\d+\.\d+))?\s*$"
)
_SECTION = re.compile(r"^ {4}Section: (.*?)\s*$")
_RULER = re.compile(r"^ {4}-+( -+)+\s*$")
_LABEL = re.compile(r"^ {4}\S")
_DASHES = re.compile(r"-+")
_COLUMNS = 3
_MESSAGE = re.compile(r"^ {4}(INF|OK|OPT|WRN|ERR) {3}(.*?)\s*$")
_MORE = re.compile(r"^ {10}(\S.*?)\s*$")
_SPEEDUP = re.compile(r"^Est\. (Local )?Speedup: ([\d.,]+)%\s*")


def accepts(head: bytes) -> bool:
    """Tell by the first bytes whether a page of ``ncu`` is inside."""
    return any(_begins(line) for line in decode_head(head).splitlines())


def _begins(line: str) -> bool:
    return line.startswith("==PROF==") or bool(_SECTION.match(line)) or bool(_KERNEL.match(line))


def read(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield one launch per kernel line that a section follows, in file order.

    Raises:
        InputError: no section at all, or a value that is no number.
    """
    notes = Notes(name=source.name)
    page = _Page(notes=notes, options=options)
    found = False
    with source.open() as file:
        for number, line in enumerate(text_lines(file), start=1):
            launch = page.take(line.rstrip("\r\n"), Location(name=source.name, line=number))
            if launch is not None:
                found = True
                yield launch
    last = page.finish()
    if last is not None:
        yield last
    elif not found:
        raise InputError(
            "a log of the profiler without any result in it",
            at=Location(name=source.name),
            hint="the results are printed after the program ends, or are in a .ncu-rep file",
        )
    notes.unknown_labels.update(page.labels.unknown)
    yield from notes.skipped()
    yield session_of(notes)


@dataclass
class _Page:
    """The state between two lines: which launch, which section, which table, which message."""

    notes: Notes
    options: ReadOptions
    labels: Labels = field(default_factory=load_labels)
    numbers: Numbers = field(default_factory=Numbers)
    process: int | None = None
    launch: Building | None = None
    section: str = ""
    columns: list[tuple[int, int]] = field(default_factory=list)
    message: list[str] = field(default_factory=list)
    message_type: str = ""

    def take(self, line: str, at: Location) -> Launch | None:
        """Take one line; return the launch that it ends, if it ends one."""
        self._process(line)
        kernel = _KERNEL.match(line)
        if kernel:
            done = self.finish()
            self._begin(kernel)
            return done
        if self.launch is None:
            self.notes.line(line)
            return None
        self._inside(self.launch, line, at)
        return None

    def finish(self) -> Launch | None:
        """Return the launch that was being read, if any section belonged to it."""
        self._end_message()
        done, self.launch = self.launch, None
        if done is None or not (self.section or done.counters):
            return None
        return done.launch(self.notes)

    def _process(self, line: str) -> None:
        match = _PROCESS.match(line)
        if match:
            self.process = int(match[1])
            self.notes.program = self.notes.program or match[2]
            self.notes.host = match[3]

    def _begin(self, kernel: re.Match[str]) -> None:
        self.launch = Building(index=self.notes.next_index(), name=kernel["name"])
        self.launch.grid = dimensions(kernel["grid"] or "")
        self.launch.block = dimensions(kernel["block"] or "")
        device = kernel["device"]
        self.launch.place = {
            "Context": int(kernel["context"]),
            "Stream": int(kernel["stream"]),
            "Process ID": self.process,
            "Device": None if device is None else int(device),
        }
        self.launch.capability(kernel["cc"] or "")
        self.section, self.columns = "", []

    def _inside(self, launch: Building, line: str, at: Location) -> None:
        section = _SECTION.match(line)
        message = _MESSAGE.match(line)
        more = _MORE.match(line) if self.message_type else None
        if section:
            self._end_message()
            self.section, self.columns = section[1], []
        elif message:
            self._end_message()
            self.message_type, self.message = message[1], [message[2]]
        elif more:
            self.message.append(more[1])
        elif _RULER.match(line):
            self._end_message()
            self.columns = [match.span() for match in _DASHES.finditer(line)]
        elif _LABEL.match(line) and len(self.columns) == _COLUMNS:
            self._row(launch, line, at)
        if not line.strip():
            self._end_message()

    def _row(self, launch: Building, line: str, at: Location) -> None:
        label, unit, cell = (line[start:end].strip() for start, end in self.columns)
        if not label or not cell or label == "Metric Name":
            return
        counter = self.labels.counter(self.section, label, unit)
        if counter is None:
            return
        factor = base_factor(unit)
        if factor is None or not (cell[0].isdigit() or cell[0] in "-+." or cell.lower() == "nan"):
            launch.texts[counter] = cell
        else:
            launch.value(counter, self.numbers.parse(cell, at), factor)

    def _end_message(self) -> None:
        if self.launch is not None and self.message_type:
            self.launch.findings.append(self._finding(" ".join(self.message)))
        self.message_type, self.message = "", []

    def _finding(self, text: str) -> ReferenceFinding:
        speedup = _SPEEDUP.match(text)
        return ReferenceFinding(
            rule="",
            section=self.section,
            severity=severity(self.message_type),
            text=text[speedup.end() :] if speedup else text,
            estimate=float(speedup[2].replace(",", "")) / 100 if speedup else None,
            scope=("local" if speedup[1] else "global") if speedup else None,
        )
