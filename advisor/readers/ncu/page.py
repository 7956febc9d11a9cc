"""A printed or written page while it is read: which launch, section, table and message is open.

A launch begins with a line that names the kernel, its context and stream; where no such line is
left, with a section or a label that comes again. Tables in Markdown are taken whole, since their
titles tell what is a launch.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from advisor.errors import Location
from advisor.model import Launch, Skipped
from advisor.readers.base import ReadOptions, left_out
from advisor.readers.ncu import lines
from advisor.readers.ncu.builds import Builds
from advisor.readers.ncu.commands import Commands
from advisor.readers.ncu.lines import Forms, PageLine, PageTable, Row
from advisor.readers.ncu.markdown import MarkdownTable, TableReading
from advisor.readers.ncu.notes import Notes
from advisor.readers.ncu.outline import Outline, declared, device_named, is_fence
from advisor.readers.ncu.pieces import Pieces, says
from advisor.readers.ncu.printed import Building
from advisor.readers.ncu.printed_message import PrintedMessage, marked_message
from advisor.readers.ncu.sections import PageSection, counter_of
from advisor.readers.ncu.values import (
    CounterLabels,
    Numbers,
    WrittenNumbers,
    load_labels,
    load_messages,
)
from advisor.readers.ncu.versions import Versions
from advisor.readers.ncu.written import label_key

_MOST_COMPARED = 1000  # printed launches, with which tables of others are compared
_NEAR = 3  # lines between the last row of a page in a remark and the kernel below it


@dataclass
class TextPage:
    """The state between two lines: which launch, which section, which table, which message.

    ``again`` is a line of a kernel by which a report went on with its only launch.
    """

    notes: Notes
    forms: Forms
    builds: Builds
    number: int = 0
    labels: CounterLabels = field(default_factory=load_labels)
    numbers: Numbers = field(default_factory=Numbers)
    written: WrittenNumbers = field(init=False)
    process: int | None = None
    pieces: Pieces = field(init=False)
    header: str = ""
    row_at: int = 0
    half: re.Match[str] | None = None
    again: re.Match[str] | None = None
    is_mean: bool = False
    section: PageSection = field(default_factory=PageSection)
    sheet: MarkdownTable = field(default_factory=MarkdownTable)
    outline: Outline = field(default_factory=Outline)
    commands: Commands = field(init=False)
    versions: Versions = field(init=False)
    is_begun: bool = False
    is_printed: bool = False
    capture: Hashable = None
    printed: list[Mapping[str, float]] = field(default_factory=list)
    message: PrintedMessage = field(init=False)
    above: str = ""
    here: str = ""

    def __post_init__(self) -> None:
        self.written = WrittenNumbers(tables=self.numbers, leave=self.notes.rows.place)
        self.versions = Versions(notes=self.notes, numbers=self.written)
        self.pieces = Pieces(notes=self.notes)
        self.commands = Commands(calls=self.notes.calls)
        self.message = PrintedMessage(forms=self.forms, at=self.at)

    @property
    def launch(self) -> Building | None:
        """The launch that is being read."""
        return self.pieces.launch

    @property
    def _under(self) -> tuple[str, int]:
        """The kernel that the page speaks of, and how many commands it has quoted."""
        return self.outline.name, self.commands.quoted

    @property
    def _name(self) -> str | None:
        return self.launch.name if self.launch is not None else None

    @property
    def at(self) -> Location:
        """Where the line that was taken last stands."""
        return Location(name=self.notes.name, line=self.number)

    def take(self, line: PageLine, whole: bool, number: int) -> Iterator[Launch]:
        """Take a line, ``whole`` where its end was there; yield the launch that it ends."""
        self.above, self.here = self.here, line.text
        self.notes.other_table(line.text)
        if self.commands.take(line.whole) and self.launch is not None:
            yield from self.finish()  # what follows was measured by another run
        may_be_written = not (self.pieces.titles or self.is_mean)
        if may_be_written and self.sheet.takes(line, whole, number):
            return
        if self.sheet.lines:
            yield from self._sheet_ended()
            if may_be_written and self.sheet.takes(line, whole, number):
                return
        if may_be_written:
            self.outline.take(line.whole)
        if self._marked(line.whole, Location(name=self.notes.name, line=number)):
            return
        self.notes.device = device_named(line.whole) or self.notes.device
        self.is_begun = self.is_begun or self.forms.begins_page(line)
        if not self.is_begun:  # most of a log is the program's own
            self.notes.line(line.whole)
            return
        if self.launch is not None and (source := declared(line.whole)):
            yield from self._source(source, number)
        yield from self._take(line, whole, number)

    def _marked(self, line: str, at: Location) -> bool:
        """Take a message that people marked, of the launch that it names or stands below."""
        said = marked_message(line)
        if said is None:
            return False
        launch = self.versions.named(said.name or self.outline.addressed, self.launch)
        self._end_message()
        if launch is not None:
            launch.say(said.finding(self.outline.section(self.labels.sections)), at)
        elif said.is_certain:
            self.notes.messages.place(at)
        return launch is not None or said.is_certain

    def _source(self, name: str, number: int) -> Iterator[Launch]:
        """End a launch in the remark above a kernel: without a name it has that of the kernel."""
        if self.launch is not None and not self.launch.name and number - self.row_at <= _NEAR:
            self.launch.name = name
            yield from self.finish()

    def _take(self, line: PageLine, whole: bool, number: int) -> Iterator[Launch]:
        self.number = number
        half, self.half = self.half, lines.first_half(line)
        kernel = lines.kernel(line) or (half and lines.joined(half[0], line.text))
        kernel = lines.below(self.above, line) or kernel
        title = lines.title(line.text)
        if half and (title or self.forms.row(line.text)):
            yield from self._begin(half)
        if kernel:
            yield from self._begin(kernel)
        elif lines.is_summary(line.text):
            yield from self.finish()
            self.is_mean = self.notes.is_summary = True
        elif lines.PROCESS.match(line.whole):
            self._process(line.whole)
        elif not self.is_mean:
            if title is None and (self.launch is None or not self.launch.name):
                self.notes.line(line.whole)
            yield from self._inside(line, title, whole)

    def end(self, options: ReadOptions) -> Iterator[Launch | Skipped]:
        """Yield the launches that the end of the page ends, and whether the last is cut."""
        yield from self._sheet_ended()
        is_printed = self.launch is not None and self.launch.name and not self.launch.is_written
        table = self.section.table
        if is_printed and table is not None and table.is_open(self.number):
            kept = "the rows before that are kept"
            yield left_out("the table is cut off", self.at, options, then=kept)
        yield from self.finish(at_end=True)
        if self.is_printed:
            is_all = len(self.printed) < _MOST_COMPARED
            self.versions.leave(self.printed if is_all else [{}])
        yield from self.versions.finish()

    def _sheet_ended(self) -> Iterator[Launch]:
        """Take a table in Markdown, all lines of which are there; yield the launch that it ends."""
        table, self.sheet = self.sheet, MarkdownTable()
        reading = table.reading()
        self.notes.cut |= not table.is_whole
        if reading is None:
            yield from self._unread(table)
        elif reading.is_of_one:
            yield from self._written(reading)
        else:
            self.versions.take(reading, self.outline)

    def _unread(self, table: MarkdownTable) -> Iterator[Launch]:
        """Take the lines of a table whose titles do not tell what it is, each by itself."""
        before = len(self.pieces.known)
        for line, whole, number in table.lines:
            said = line.text.strip("| ").replace(" | ", ": ")  # a table of two columns
            self.notes.device = device_named(said) or self.notes.device
            yield from self._take(line, whole, number)
        if before == len(self.pieces.known) and table.has_labels():
            self.number = table.lines[0][2]
            self.notes.tables.place(self.at)

    def _written(self, reading: TableReading) -> Iterator[Launch]:
        """Take a table of the launch that is being read, or of the next one."""
        self.versions.tell(reading)
        table = self.versions.launch(reading.versions[0])
        if self.launch is not None and not table.agrees(self.launch):
            yield from self.finish()
        yield from self._other_part()
        launch = self._open(table.at)
        launch.write()
        self.pieces.is_loose = False
        launch.check_room(table.at or self.at)
        launch.counters = {**table.building.counters, **launch.counters}
        launch.grid, launch.block = (
            launch.grid or table.building.grid,
            launch.block or table.building.block,
        )
        self.pieces.known |= {("", counter) for counter in table.building.counters}
        self.pieces.told |= table.measured

    def _other_part(self) -> Iterator[Launch]:
        """Yield the launch that is being read where the page speaks of another kernel now."""
        if self.launch is not None and self.outline.name not in {"", self.launch.part}:
            yield from self.finish()

    def finish(self, *, at_end: bool = False) -> Iterator[Launch]:
        """Yield the launch that was being read, if anything is known of it."""
        self._end_message()
        self.again = None
        for launch in self.pieces.finish(at_end=at_end):
            if len(self.printed) < _MOST_COMPARED:
                self.printed.append(launch.counters)
            yield self.builds.numbered(launch, self.capture)

    def _process(self, line: str) -> None:
        program, found, host = line.rpartition("@")
        match = lines.PROCESS.match(program)
        if match and found and " " not in host:
            self.process = int(match[1])
            self.notes.process(program[match.end() :], host)

    def _begin(self, kernel: re.Match[str]) -> Iterator[Launch]:
        is_same = self.launch is not None and self.header == kernel.string
        if is_same and self.commands.shows_again:
            self.again = kernel
        elif not (is_same and lines.comes_before_each_section(kernel)):
            self.pieces.leave_unnamed()
            yield from self.finish()
            self._named(kernel)
        self.commands.headers += 1
        self.header = kernel.string
        self.section = PageSection(at=self.section.at, margins=self.section.margins)
        self.is_mean = False

    def _named(self, kernel: re.Match[str]) -> None:
        self.is_printed = True
        told = kernel.groupdict("")
        self._entered(Building.told(self.notes, told, **self._of_page))

    @property
    def _of_page(self) -> dict[str, Any]:
        """What the page says about a launch that begins here."""
        return {
            "process": self.process,
            "part": self.outline.name,
            "clock_locked": self.commands.clock_locked,
        }

    def _open(self, at: Location | None) -> Building:
        """Return the launch that is being read; where there is none, one without a name."""
        new = Building(notes=self.notes, name="", **self._of_page)
        return self.launch or self._entered(new, at)

    def _entered(self, launch: Building, at: Location | None = None) -> Building:
        """Begin a launch where the page stands now, and return it."""
        self.capture = (self.process, self.commands.quoted, self.outline.headings)
        self.message.under = self._under
        return self.pieces.begin(launch, at)

    def _inside(
        self, line: PageLine, title: tuple[bool, str] | None, whole: bool
    ) -> Iterator[Launch]:
        self.message.at = self.message.at if self.message.words else self.at
        if self.launch is not None and self.message.goes_on(line):
            return
        self._end_message()
        columns = lines.columns(line.text)
        if title or columns is not None or lines.is_head(line.text):
            self.outline.entitle(self.above)
        self.message.ruler = line if columns is not None else None
        if title:
            self._title(title, line)
        elif columns is not None:
            self.section.rule(line, columns, self.number, is_cut=not whole, launch=self._name)
        elif lines.is_head(line.text):
            self.section.head(line, self.number, launch=self._name)
        elif self.message.begins(line, is_placed=bool(self.launch) and self.section.has(line)):
            self._message_begun()
        elif line.text == load_messages().unlocked and self.launch is not None:
            self.launch.clock_locked = False
        elif line.text:
            yield from self._row(line, whole)
        elif self.section.table is not None:
            self.section.table.is_apart = True

    def _title(self, title: tuple[bool, str], line: PageLine) -> None:
        self.is_printed = True
        self.section = self.section.below(*title, line, self.at)
        self._open(self.at)
        self.message.under = self._under
        self.pieces.entitle(self.section.key)

    def _row(self, line: PageLine, whole: bool) -> Iterator[Launch]:
        table = self.section.holding(line)
        row = table.row(line) if table else None
        if table and row:
            table.ends_at = self.number
        if row is None or not row.cell:  # moved out of its columns
            row = self.forms.row(line.text, written=not self.pieces.titles) or row
        if row is None or not whole:
            self._left_out(line, table, whole)
        elif row.label and row.cell:
            if self.section.table is not None:
                self.section.table.rows += 1
            yield from self._value(row)

    def _left_out(self, line: PageLine, table: PageTable | None, whole: bool) -> None:
        """Note a line that should be a row: it stands in a table, or begins with a known label.

        Other lines are words that part what stands before them from what follows.
        """
        in_table = table is not None and not table.is_apart and not table.is_remark(line)
        is_row = in_table or self.forms.begins_row(line.text)
        if is_fence(line.text) or not is_row:
            self.pieces.is_apart |= says(line.text)
            if self.pieces.titles:  # else it was taken already
                self.outline.take(line.whole)
        elif self.launch is not None:
            self.notes.cut |= not whole
            self.notes.rows.place(self.at)

    def _value(self, row: Row) -> Iterator[Launch]:
        table, section = self.section.table, self.section.of_row
        if table is None and not self.labels.knows(section, row.label):
            section = ""
        counter = counter_of(section, row, self.labels, self.notes)
        if row.is_written:
            yield from self._other_part()
        headed = table is not None and table.is_headed
        is_printed, part = headed or bool(section), self.outline.name
        numbers = self.written if row.is_written else self.numbers
        is_other = table is None and self.pieces.is_other(counter, row, numbers, self.at)
        ends = self.pieces.ends_before((section, counter), is_printed=is_printed, part=part)
        if ends or is_other:
            again = self.again
            yield from self.finish()
            if again:  # a report that shows a section twice shows other launches
                self._named(again)
        at = self.section.at if section else self.at
        self.pieces.go_on(is_printed=is_printed, part=part, at=at)
        launch = self._open(at)
        launch.check_room(self.at)
        if row.is_written:
            launch.write()
        if counter is None:
            self.notes.labels.add(f"{section}: {row.label}" if section else row.label)
            return
        self.pieces.take(
            (section, counter), is_loose=row.is_written and not self.here.startswith("|")
        )
        self.row_at, self.message.under = self.number, self._under
        self.pieces.is_page |= headed or section in self.labels.sections
        if row.has_unit:
            self.pieces.told.add(label_key(row.label))
        launch.take(counter, row.unit, row.cell, numbers, self.at)
        launch.spread(counter, row.unit, row.extremes, numbers, self.at)

    def _message_begun(self) -> None:
        """Open a launch for a message, unless it may be of any of those in tables or of another."""
        may_be_any = self.launch is None and bool(self.versions.groups)
        if may_be_any or self.message.is_of_another(self.launch, self._under, self.builds):
            self.message.end(self.section.title)
            self.notes.messages.place(self.at)
        else:
            self._open(self.at)

    def _end_message(self) -> None:
        said = self.message.end(self.section.title)
        if self.launch is not None and said is not None:
            self.launch.check_room(self.at)
            self.launch.say(said, self.message.at)
