"""What the readers of printed pages share: a launch while it is read, and what stands around it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Any

from advisor.errors import InputError, Location
from advisor.model import (
    UNNAMED,
    Dim3,
    Launch,
    Packed,
    ReferenceFinding,
    ReportedDevice,
    Session,
    Skipped,
)
from advisor.readers.ncu.values import (
    Numbers,
    base_factor,
    counters_in,
    dimensions,
    is_size,
    load_labels,
    load_messages,
    measured,
    no_number,
    printed_message,
    severity,
    shape_of,
    whole_number,
    whole_size,
)
from advisor.units import Dimension

SECTION = "    Section: "
"""What the heading of a section begins with, on pages for a terminal."""

_CONNECTED = re.compile(r"==PROF== Connected to process \d+ \((.*)\)")
_ERROR = "==ERROR== "
_TWO_DECIMALS = re.compile(r"\d{1,4}\.\d\d", re.ASCII)
_MEANS = "only means over 100,000 launches and more"
_PRINT_AGAIN = "print again without --print-summary"
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})  # every host's own name for itself
_DEVICE_ATTRIBUTE = "device__attribute_"
_DEVICE_NAME = "device__attribute_display_name"
_MOST_VALUES = 500_000  # of one launch; a report of everything has 3,000
_MOST_DEVICES = 1_000  # of one file
_SHOWN = 12  # names that a message lists
_SHOWN_LENGTH = 80  # characters of each


@dataclass
class Unknown:
    """Names that are not understood: the first few of them, and whether there were others."""

    what: str
    names: set[str] = field(default_factory=set)
    more: bool = False

    def add(self, name: str) -> None:
        """Take one name."""
        name = name[:_SHOWN_LENGTH]
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


@dataclass
class Notes:
    """What a file says outside its launches, and what in it was not understood."""

    name: str
    measures: Mapping[str, frozenset[Dimension]] = field(default_factory=dict)
    program: str | None = None
    host: str | None = None
    device: str = ""
    error: str | None = None
    is_summary: bool = False
    has_other_page: bool = False
    cut: bool = False
    launches: int = 0
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
    tables: Unknown = field(
        default_factory=lambda: Unknown("tables and columns that may be of no launch")
    )

    def line(self, line: str) -> None:
        """Take what a line of the profiler says; other lines are the program's own."""
        if connected := _CONNECTED.match(line):
            self.program = self.program or connected[1]
        elif line.startswith(_ERROR):
            self.error = self.error or line.removeprefix(_ERROR).strip()
        elif line.startswith(SECTION):
            self.has_other_page = True

    def process(self, program: str, host: str) -> None:
        """Take the names of a program and its host, if they say anything."""
        self.program = self.program or program or None
        self.host = self.host or (host if host not in _LOOPBACK else "") or None

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
        kinds = (self.labels, self.units, self.unlike, self.unnamed, self.summaries, self.tables)
        records = [record for kind in kinds for record in kind.skipped(self.name)]
        records += [replace(record, cut=self.cut) for record in self.rows.skipped(self.name)]
        if self.is_summary:
            reason = f"{_MEANS} of some kernels; {_PRINT_AGAIN}"
            records.append(Skipped(place=self.name, reason=reason))
        if self.has_other_page:
            reason = "a page for a terminal beside what was read; ingest it as a file of its own"
            records.append(Skipped(place=self.name, reason=reason))
        return records

    def session(self) -> Session:
        """Return the little that a printed page says about the run as a whole."""
        return Session(
            profiler="ncu",
            program=self.program,
            host=self.host,
            devices=tuple(self.devices[number] for number in sorted(self.devices)),
        )


@dataclass
class Building:
    """A launch while its values are read.

    ``part`` is the kernel that the part of the page speaks of, which names a launch that nothing
    else names; its device is the one that the page names before it, or else behind it. Of the
    launches of a summary, ``invocations`` of them, the counters are means, and ``extremes`` the
    least and the greatest values.
    """

    notes: Notes
    name: str
    grid: Dim3 | None = None
    block: Dim3 | None = None
    device: int | None = None
    context: int | None = None
    stream: int | None = None
    process: int | None = None
    part: str = ""
    invocations: int = 1
    extremes: tuple[dict[str, float], dict[str, float]] = field(default_factory=lambda: ({}, {}))
    is_written: bool = False
    clock_locked: bool | None = None
    counters: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    findings: list[ReferenceFinding] = field(default_factory=list)
    invalid: set[str] = field(default_factory=set)
    device_name: str = ""

    def __post_init__(self) -> None:
        self.device_name = self.device_name or self.notes.device

    @classmethod
    def told(cls, notes: Notes, told: Mapping[str, str], **more: Any) -> Building:
        """Return a launch with what its line or row tells, and ``more`` fields.

        Of name, grid, block, device, context, stream, cc and invocations. In summaries grid and
        block may be the numbers of blocks and threads alone.
        """
        launch = cls(
            notes=notes,
            name=told["name"],
            grid=dimensions(told.get("grid", "")),
            block=dimensions(told.get("block", "")),
            device=whole_number(told.get("device", "")),
            context=whole_number(told.get("context", "")),
            stream=whole_number(told.get("stream", "")),
            invocations=int(told.get("invocations") or 1),
            **more,
        )
        launch.capability(told.get("cc", ""))
        for shape in ("grid", "block"):
            size = whole_number(told.get(shape, ""))
            if size is not None:
                launch.counters[f"launch__{shape}_size"] = float(size)
        return launch

    def take(self, counter: str, unit: str, cell: str, numbers: Numbers, at: Location) -> None:
        """Keep what ``cell`` says about a counter: a number in base units, or a text.

        A number in a unit that is not known, or not the counter's, is left out and noted; of a
        counter that is printed twice the last value counts; one that is not finite is counted, not
        kept.

        Raises:
            InputError: a cell with a unit holds no number.
        """
        value = numbers.parse(cell, at)
        if value is None:
            return
        if isinstance(value, str):
            if unit:
                raise no_number(value, unit, at)
            self.texts[counter] = value
            return
        factor = base_factor(unit)
        if factor is None:
            self.notes.units.add(unit)
        elif self.notes.is_unlike(counter, unit):
            self.notes.unlike.add(f"{counter} in {unit}")
        elif math.isfinite(scaled := _scaled(counter, cell, value, factor)):
            self.counters[counter] = scaled
        else:
            self.invalid.add(counter)

    def spread(
        self, counter: str, unit: str, cells: Sequence[str], numbers: Numbers, at: Location
    ) -> None:
        """Keep the least and the greatest value of a counter, the mean of which was taken.

        There are none but in a summary. Where one is no finite number, the mean stands for it.
        """
        factor = base_factor(unit)
        if len(cells) != len(self.extremes) or counter not in self.counters or factor is None:
            return
        for values, cell in zip(self.extremes, cells, strict=True):
            value = numbers.parse(cell, at)
            if isinstance(value, float):
                scaled = _scaled(counter, cell, value, factor)
                values[counter] = scaled if math.isfinite(scaled) else self.counters[counter]

    def write(self) -> None:
        """Take it that people wrote of the launch: the part of the page names it, if anything."""
        self.name = self.name or self.part
        self.is_written = self.is_written or self.name in {"", self.part}

    def check_room(self, at: Location) -> None:
        """Refuse a launch that has more values and messages than any has.

        Raises:
            InputError: it does.
        """
        if len(self.counters) + len(self.texts) + len(self.findings) >= _MOST_VALUES:
            problem = f"a launch with more than {_MOST_VALUES:,} values is none of the profiler's"
            raise InputError(problem, at=at, hint="copy or export the file again")

    def capability(self, text: str) -> None:
        """Take the compute capability ``8.6`` as the device attributes that a report has."""
        major, _, minor = text.strip().partition(".")
        if major.isdecimal() and minor.isdecimal() and max(len(major), len(minor)) <= 2:
            self.counters[f"{_DEVICE_ATTRIBUTE}compute_capability_major"] = float(major)
            self.counters[f"{_DEVICE_ATTRIBUTE}compute_capability_minor"] = float(minor)

    def launches(self) -> Iterator[Launch]:
        """Yield the finished launch, or those of a summary: the least, the greatest, the others.

        The others share what is left of the sum, so that sum, mean and range of each counter are
        those that the summary tells.
        """
        mean = self.launch()
        if self.invocations == 1:
            yield mean
            return
        self.notes.summaries.add(mean.kernel_name)
        least, greatest = ({**mean.counters, **found} for found in self.extremes)
        others = max(self.invocations - 2, 1)
        rest = {
            name: (self.invocations * value - least[name] - greatest[name]) / others
            for name, value in mean.counters.items()
            if least[name] != greatest[name]  # else all are the mean, to the last digit
        }
        ends = (Packed.of(least), Packed.of(greatest))
        kinds = chain(
            ends, repeat(Packed.of({**mean.counters, **rest}), self.invocations - len(ends))
        )
        for number, counters in enumerate(kinds):
            yield replace(mean, index=mean.index + number, counters=counters)
        self.notes.launches += self.invocations - 1

    def launch(self) -> Launch:
        """Return the finished launch and tell the notes about it and its device."""
        in_messages = counters_in(finding.text for finding in self.findings)
        self.counters = {**in_messages, **self.counters}
        said = self.device_name or self.notes.device or None
        device_name = self.texts.get(_DEVICE_NAME, said)
        device = self._device_number(device_name)
        self._remember_device(device or 0, device_name)
        self.notes.launches += 1
        return Launch(
            index=self.notes.launches - 1,
            kernel_name=self.name or UNNAMED,
            grid=self.grid or self._shape("grid"),
            block=self.block or self._shape("block"),
            blocks=self._size("grid"),
            threads=self._size("block"),
            device=device,
            device_name=device_name,
            context=self.context,
            stream=self.stream,
            process=self.process,
            clock_locked=self.clock_locked,
            counters=Packed.of(self.counters),
            texts=self.texts,
            reference_findings=tuple(self.findings),
            invalid_counters=len(self.invalid - self.counters.keys()),
        )

    def _shape(self, name: str) -> Dim3 | None:
        return shape_of(*(self.counters.get(f"launch__{name}_dim_{axis}") for axis in "xyz"))

    def _size(self, name: str) -> int | None:
        size = self.counters.get(f"launch__{name}_size")
        return None if size is None or not is_size(size) else int(size)

    def _device_number(self, name: str | None) -> int | None:
        """Return the number of the device; one of another name has another number."""
        number, known = self.device, self.notes.devices
        if number is None:
            told = self.counters.get("launch__device_id")
            number = None if told is None or not is_size(told) else int(told)
        if not name:
            return number
        number = number or 0
        if number not in known or known[number].name in {"", name}:
            return number
        return next((at for at, each in known.items() if each.name == name), max(known) + 1)

    def _remember_device(self, number: int, name: str | None) -> None:
        if number in self.notes.devices or len(self.notes.devices) >= _MOST_DEVICES:
            return
        values: dict[str, float | str] = {**self.counters, **self.texts}
        attributes = {
            name: value for name, value in values.items() if name.startswith(_DEVICE_ATTRIBUTE)
        }
        if attributes or name:
            self.notes.devices[number] = ReportedDevice(
                id=number, name=name or "", attributes=attributes
            )


def _scaled(counter: str, cell: str, value: float, factor: float) -> float:
    """Return a printed value in base units; of a rounded size, the whole bytes it stands for."""
    is_size = counter in load_labels().sizes and _TWO_DECIMALS.fullmatch(cell)
    return whole_size(cell, factor) if is_size else value * factor


def finding(text: str, section: str, kind: str) -> ReferenceFinding:
    """Return what a message of a section says; ``kind`` is the abbreviation before it."""
    speedup = load_messages().worth.match(text)
    estimate = float(speedup["percent"]) / 100 if speedup else None
    known = estimate is not None and estimate <= 1
    return ReferenceFinding(
        rule="",
        section=section,
        severity=severity(kind),
        text=printed_message(text[speedup.end() :] if speedup else text),
        estimate=estimate if known else None,
        scope=("local" if speedup["local"] else "global") if speedup and known else None,
    )
