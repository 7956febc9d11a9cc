"""What the readers of printed pages share: a launch while it is read, and what stands around it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from advisor.model import Dim3, Launch, ReferenceFinding, ReportedDevice, Session, Skipped

_DIMENSIONS = re.compile(r"\(?\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)?")
_CONNECTED = re.compile(r"==PROF== Connected to process (\d+) \((.*)\)")
_DEVICE_ATTRIBUTE = "device__attribute_"
_SHOWN_LABELS = 12


def dimensions(text: str) -> Dim3 | None:
    """Return the three numbers of ``(256, 1, 1)``, or None.

    >>> dimensions("(256, 1, 1)"), dimensions("")
    ((256, 1, 1), None)
    """
    match = _DIMENSIONS.fullmatch(text.strip())
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


@dataclass
class Notes:
    """What the lines around the tables say about the run."""

    name: str
    program: str | None = None
    host: str | None = None
    launches: int = 0
    unknown_labels: dict[str, int] = field(default_factory=dict)
    devices: dict[int, ReportedDevice] = field(default_factory=dict)

    def next_index(self) -> int:
        """Return the index of the next launch."""
        self.launches += 1
        return self.launches - 1

    def line(self, line: str) -> None:
        """Take what a line of the profiler says; other lines are the program's own."""
        match = _CONNECTED.match(line)
        if match:
            self.program = match[2]

    def skipped(self) -> list[Skipped]:
        """Return one record about labels that no counter is known for."""
        if not self.unknown_labels:
            return []
        names = sorted(self.unknown_labels)
        more = f" and {len(names) - _SHOWN_LABELS} more" if len(names) > _SHOWN_LABELS else ""
        shown = "; ".join(names[:_SHOWN_LABELS]) + more
        return [Skipped(place=self.name, reason=f"labels without a known counter: {shown}")]


def session_of(notes: Notes) -> Session:
    """Return the little that a printed page says about the run as a whole."""
    return Session(
        profiler="Nsight Compute",
        program=notes.program,
        host=notes.host,
        devices=tuple(notes.devices[number] for number in sorted(notes.devices)),
    )


@dataclass
class Building:
    """A launch while its rows are read."""

    index: int
    name: str
    grid: Dim3 | None = None
    block: Dim3 | None = None
    place: dict[str, int | None] = field(default_factory=dict)
    counters: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    findings: list[ReferenceFinding] = field(default_factory=list)
    invalid: int = 0

    def value(self, counter: str, value: float | None, factor: float) -> None:
        """Keep a value in base units; one that is not finite is counted, not kept."""
        if value is None:
            return
        scaled = value * factor
        if math.isfinite(scaled):
            self.counters[counter] = scaled
        else:
            self.invalid += 1

    def capability(self, text: str) -> None:
        """Take the compute capability ``8.6`` as the device attributes that a report has."""
        major, _, minor = text.strip().partition(".")
        if major.isdigit() and minor.isdigit():
            self.counters[f"{_DEVICE_ATTRIBUTE}compute_capability_major"] = float(major)
            self.counters[f"{_DEVICE_ATTRIBUTE}compute_capability_minor"] = float(minor)

    def launch(self, notes: Notes) -> Launch:
        """Return the finished launch and tell the notes about its device."""
        device = self.place.get("Device")
        self._remember_device(notes, 0 if device is None else device)
        return Launch(
            index=self.index,
            kernel_name=self.name,
            grid=self.grid or self._shape("launch__grid_dim_"),
            block=self.block or self._shape("launch__block_dim_"),
            device=device,
            device_name=self.texts.get(f"{_DEVICE_ATTRIBUTE}display_name"),
            context=self.place.get("Context"),
            stream=self.place.get("Stream"),
            process=self.place.get("Process ID"),
            counters=self.counters,
            texts=self.texts,
            reference_findings=tuple(self.findings),
            invalid_counters=self.invalid,
        )

    def _shape(self, prefix: str) -> Dim3 | None:
        sides = [self.counters.get(prefix + axis) for axis in "xyz"]
        if None in sides:
            return None
        x, y, z = (int(side or 0) for side in sides)
        return x, y, z

    def _remember_device(self, notes: Notes, number: int) -> None:
        values: dict[str, float | str] = {**self.counters, **self.texts}
        attributes = {
            name.removeprefix(_DEVICE_ATTRIBUTE): value
            for name, value in values.items()
            if name.startswith(_DEVICE_ATTRIBUTE)
        }
        if number not in notes.devices and attributes:
            name = str(attributes.get("display_name", ""))
            notes.devices[number] = ReportedDevice(id=number, name=name, attributes=attributes)
