"""A launch of a printed page while its values are read."""

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
)
from advisor.readers.ncu.notes import Notes
from advisor.readers.ncu.values import (
    Numbers,
    base_factor,
    counters_in,
    dimensions,
    is_far,
    is_size,
    load_labels,
    load_messages,
    no_number,
    printed_message,
    severity,
    shape_of,
    whole_number,
    whole_size,
)

_TWO_DECIMALS = re.compile(r"\d{1,4}\.\d\d", re.ASCII)
_DEVICE_ATTRIBUTE = "device__attribute_"
_DEVICE_NAME = "device__attribute_display_name"
_ROUNDING = 0.02  # by which one value may differ where a page has it twice
_ROUNDED = 0.05  # by which a number of a message may differ that has one decimal
_MOST_VALUES = 500_000  # of one launch; a report of everything has 3,000
_MOST_DEVICES = 1_000  # of one file


def differs(one: float, other: float | None) -> bool:
    """Return whether two values of one counter differ by more than rounding.

    >>> differs(100.0, 101.0), differs(100.0, 103.0), differs(100.0, None)
    (False, True, False)
    """
    return other is not None and abs(one - other) > _ROUNDING * abs(one)


@dataclass
class Building:
    """A launch while its values are read.

    ``part`` is the kernel that the part of the page speaks of, which names a launch that nothing
    else names; its device is the one that the page names before it, or else behind it. Of the
    launches of a summary, ``invocations`` of them, the counters are means, and ``extremes`` the
    least and the greatest values. ``said_at`` tells where each of the findings of a page stands.
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
    said_at: list[Location] = field(default_factory=list)
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

    def tells_other(
        self, counter: str, unit: str, cell: str, numbers: Numbers, at: Location
    ) -> bool:
        """Return whether ``cell`` says another number of a counter, by more than rounding."""
        other = Building(notes=self.notes, name="")
        other.take(counter, unit, cell, numbers, at)
        return differs(self.counters[counter], other.counters.get(counter))

    def say(self, finding: ReferenceFinding, at: Location) -> None:
        """Take what a message says that stands at a place."""
        self.findings.append(finding)
        self.said_at.append(at)

    def leave_contradicting(self) -> None:
        """Leave out, and note, messages whose numbers are not those of the launch's counters."""
        said = list(zip(self.findings, self.said_at, strict=True))
        self.findings, self.said_at = [], []
        for finding, at in said:
            told = counters_in([(finding.text, finding.estimate)])
            if any(self._contradicts(name, number) for name, number in told.items()):
                self.notes.messages.place(at)
            else:
                self.say(finding, at)

    def _contradicts(self, counter: str, number: float) -> bool:
        if counter not in self.counters:
            return False
        value = self.counters[counter]
        least, greatest = (values.get(counter, value) for values in self.extremes)
        nearest = min(max(number, least), greatest)
        return is_far(number, nearest) and abs(number - nearest) > _ROUNDED

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
        in_messages = counters_in((each.text, each.estimate) for each in self.findings)
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
