"""What a printed page says outside its launches, and what of it was not understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from advisor.errors import InputError, Location
from advisor.model import UNNAMED, ReportedDevice, Session, Skipped, titled
from advisor.readers.ncu.values import measured
from advisor.readers.ncu.words import load_words
from advisor.units import Dimension

SECTION = "    Section: "
"""What the heading of a section begins with, on pages for a terminal."""

_CONNECTED = re.compile(r"==PROF== Connected to process \d+ \((.*)\)")
_ERROR = "==ERROR== "
_MEANS = "only means over 100,000 launches and more"
_PRINT_AGAIN = "print again without --print-summary"
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})  # every host's own name for itself
_SHOWN = 12  # names that a message lists
_SHOWN_LENGTH = 120  # characters of each
_LONGEST = 500  # characters of a line that titles or heads a table of another program


@dataclass
class Unknown:
    """Names that are not understood: the first few of them, and whether there were others."""

    what: str
    names: set[str] = field(default_factory=set)
    more: bool = False

    def add(self, name: str) -> None:
        """Take one name; of a long one, its beginning."""
        self._add(_shortened(name))

    def place(self, at: Location | None) -> None:
        """Take the place of one that has no name."""
        self._add(str(at))

    def _add(self, name: str) -> None:
        if len(self.names) < _SHOWN:
            self.names.add(name)
        elif name not in self.names:
            self.more = True

    def skipped(self, place: str) -> list[Skipped]:
        """Return the record that says what was left out, if anything was."""
        if not self.names:
            return []
        shown = "; ".join(sorted(self.names)) + ("; and more" if self.more else "")
        return [Skipped(place=place, reason=f"{self.what}: {shown}")]


def _shortened(name: str) -> str:
    """Return a long name without its last words, or where it is one word, without its end."""
    if len(name) <= _SHOWN_LENGTH:
        return name
    begin = name[: _SHOWN_LENGTH - 1]
    words = begin.rpartition(" ")[0]
    return f"{words if len(words) > _SHOWN_LENGTH // 2 else begin}…"


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


@dataclass
class Notes:
    """What a file says outside its launches, and what in it was not understood."""

    name: str
    measures: Mapping[str, frozenset[Dimension]] = field(default_factory=dict)
    ran: dict[str, str] = field(default_factory=dict)
    connected: dict[str, str] = field(default_factory=dict)
    host: str | None = None
    device: str = ""
    error: str | None = None
    is_summary: bool = False
    has_other_page: bool = False
    cut: bool = False
    calls: dict[str, str] = field(default_factory=dict)
    launches: int = 0
    without_name: int = 0
    devices: dict[int, ReportedDevice] = field(default_factory=dict)
    labels: Unknown = field(default_factory=lambda: Unknown("labels without a known counter"))
    units: Unknown = field(default_factory=lambda: Unknown("values in units that are not known"))
    unlike: Unknown = field(default_factory=lambda: Unknown("values in units of something else"))
    unnamed: Unknown = field(
        default_factory=lambda: Unknown("the name of a kernel, which the page does not tell")
    )
    rows: Unknown = field(default_factory=lambda: Unknown("rows that do not fit their table"))
    summaries: Unknown = field(
        default_factory=lambda: Unknown(
            "which launch had which value (a summary tells the least, the mean and the greatest)"
        )
    )
    messages: Unknown = field(
        default_factory=lambda: Unknown("messages of which the launch is not certain")
    )
    tables: Unknown = field(
        default_factory=lambda: Unknown("tables and columns that may be of no launch")
    )
    others: Unknown = field(
        default_factory=lambda: Unknown("tables of another program, which are not read")
    )
    title_of_other: str = ""

    def line(self, line: str) -> None:
        """Take what a line of the profiler says; other lines are the program's own."""
        if connected := _CONNECTED.match(line):
            self.connected.setdefault(_file_name(connected[1]), connected[1])
        elif line.startswith(_ERROR):
            self.error = self.error or line.removeprefix(_ERROR).strip()
        elif line.startswith(SECTION):
            self.has_other_page = True

    def other_table(self, line: str) -> None:
        """Note a table of another program, where a line heads one; the line above titles it."""
        if len(line) > _LONGEST:
            return
        for other in load_words().other_tables:
            if titled := other.title.match(line):
                self.title_of_other = f" ({titled['name']})"
            elif other.head.match(line):
                self.others.add(other.program + self.title_of_other)
                self.title_of_other = ""

    def process(self, program: str, host: str) -> None:
        """Take the names of a program and its host, if they say anything."""
        if program:
            self.ran.setdefault(_file_name(program), program)
        self.host = self.host or (host if host not in _LOOPBACK else "") or None

    @property
    def program(self) -> str | None:
        """The program that ran all launches, with its path where the profiler connected to it."""
        programs = self.ran or self.connected
        if len(programs) != 1:
            return None
        ((name, said),) = programs.items()
        return self.connected.get(name, said)

    def is_unlike(self, counter: str, unit: str) -> bool:
        """Return whether ``unit``, which is known, measures something else than the counter does.

        A value without a unit is in base units: the profiler prints some so.
        """
        expected = self.measures.get(counter)
        return expected is not None and unit != "" and measured(unit) not in expected

    def nothing(self, what: str) -> InputError:
        """Return the error that there is no ``what``, with the profiler's own if there is one."""
        problem = f"no {what} in this file"
        hint = "results come when the program ends, or are in a .ncu-rep file"
        if self.is_summary:
            problem = f"{_MEANS} in this file, not the launches"
            hint = _PRINT_AGAIN
        elif self.error:
            problem += f"; the profiler says: {self.error[:200]}"
        return InputError(problem, at=Location(name=self.name), hint=hint)

    def skipped(self) -> list[Skipped]:
        """Return one record for each kind of thing that was not understood."""
        kinds = (
            self.labels,
            self.units,
            self.unlike,
            self.unnamed,
            self.summaries,
            self.messages,
            self.tables,
            self.others,
        )
        records = [record for kind in kinds for record in kind.skipped(self.name)]
        records += [replace(record, cut=self.cut) for record in self.rows.skipped(self.name)]
        if self.is_summary:
            reason = f"{_MEANS} of some kernels; {_PRINT_AGAIN}"
            records.append(Skipped(place=self.name, reason=reason))
        if self.has_other_page:
            reason = "a page for a terminal beside what was read; ingest it as a file of its own"
            records.append(Skipped(place=self.name, reason=reason))
        return records

    def nameless(self, at: Location | None) -> str:
        """Note a launch without a name and return one: nothing tells that two are of one."""
        self.unnamed.place(at)
        self.without_name += 1
        return UNNAMED if self.without_name == 1 else titled(f"{UNNAMED} {self.without_name}")

    def session(self) -> Session:
        """Return the little that a printed page says about the run as a whole.

        The command is one that the page quotes, where all of them ran the same program.
        """
        return Session(
            profiler="ncu",
            command_line=next(iter(self.calls.values())) if len(self.calls) == 1 else None,
            program=self.program,
            host=self.host,
            devices=tuple(self.devices[number] for number in sorted(self.devices)),
        )
