"""The ceilings of one device, of one kind, and what they make of what an operation needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from advisor.errors import UsageError
from advisor.hardware.describe import peak
from advisor.hardware.devices import NOMINAL
from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.hardware.machines import Machine
    from advisor.modelling.needs import Need
    from advisor.modelling.scenario import Roof

Bound = Literal["memory", "compute"]
DRAM = "dram"
_MATRIX = "tensor_"  # formats of the matrix units share them


@dataclass(frozen=True, kw_only=True)
class Placed:
    """Where one run of a kernel stands under the roofs; times in s, without collectives.

    ``work`` is the ceiling that its arithmetic takes longest under, ``works`` are all of them.
    ``unrated`` is work at a rate that nobody tells: it is in no time. ``peak`` [FLOP/s] is what its
    mix of work may reach, None where that is unknown.
    """

    need: Need
    work: str | None
    works: tuple[str, ...]
    unrated: tuple[str, ...]
    peak: float | None
    bandwidth: float
    compute_time: float
    dram_time: float
    served_time: float

    @property
    def memory_time(self) -> float:
        """Return the time that the slower memory takes."""
        return max(self.dram_time, self.served_time)

    @property
    def time(self) -> float:
        """Return the least time."""
        return max(self.compute_time, self.memory_time)

    @property
    def ridge_point(self) -> float | None:
        """Return the peak over DRAM bandwidth, in FLOP/B."""
        return None if self.peak is None else self.peak / self.bandwidth

    @property
    def bound(self) -> Bound:
        """Return what binds; the ridge itself is compute."""
        if self.compute_time >= self.memory_time:
            return "compute"
        need, ridge = self.need, self.ridge_point
        plain = need.bytes == need.dram_bytes and need.served_by is None
        at_ridge = plain and ridge is not None and need.flops / need.bytes >= ridge
        return "compute" if at_ridge else "memory"

    @property
    def binding_resource(self) -> str:
        """Return the ceiling that binds."""
        if self.bound == "compute" and self.work is not None:
            return self.work
        served = self.need.served_by
        return served if served is not None and self.served_time > self.dram_time else DRAM

    @property
    def above_dram_roof(self) -> bool:
        """Return whether it is drawn above the DRAM roof, as a nearer memory serves it."""
        return self.need.bytes / self.bandwidth > self.time


class DeviceRoofs:
    """The ceilings of a device of one kind: nominal, as printed, or practical."""

    def __init__(self, machine: Machine, kind: Roof) -> None:
        self.machine = machine
        self.kind = kind
        self.rated = {
            resource: found.value
            for resource in dict.fromkeys(c.resource for c in machine.ceilings)
            if (found := peak(machine, resource, kind)) is not None
            and found.unit in ("B/s", "FLOP/s")
        }
        self.units = {r: _unit(machine, r) for r in self.rated}

    @property
    def bandwidth(self) -> float:
        """Return the bandwidth of DRAM, in B/s.

        Raises:
            UsageError: the device has no such figure.
        """
        return self.memory(DRAM)

    def memory(self, name: str, need: Need | None = None) -> float:
        """Return the bandwidth of a memory, in B/s.

        Raises:
            UsageError: the device has no such figure; names those it has.
        """
        if self.units.get(name) != "B/s":
            raise self._lacks([name], "B/s", need)
        return self.rated[name]

    def work(self, works: Sequence[str], need: Need | None = None) -> str:
        """Return the first of some ceilings that the device rates, or leaves open.

        Raises:
            UsageError: it rates none of them; names those it rates.
        """
        found = next((work for work in works if self.units.get(work) == "FLOP/s"), None)
        if found is not None:
            return found
        if all(map(self.machine.leaves_open, works)):
            return works[0]
        raise self._lacks(works, "FLOP/s", need)

    def place(self, need: Need) -> Placed:
        """Return where a kernel stands.

        Work of one pipe adds up; of unlike pipes the one that takes longest counts. Work at a rate
        that is unknown counts in none: the time is that of what is known.

        Raises:
            UsageError: the device lacks a ceiling that it needs, or nothing of it has a rate.
        """
        pieces = [(flops, self.work(works, need)) for flops, works in need.pieces]
        used = tuple(dict.fromkeys(work for _, work in pieces))
        unrated = tuple(work for work in used if work not in self.rated)
        if unrated and unrated == used and not need.bytes:
            raise self._untimed(unrated[0], need)
        work, compute_time = self._slowest(piece for piece in pieces if piece[1] in self.rated)
        bandwidth = self.memory(DRAM, need)
        served = None if need.served_by is None else self.memory(need.served_by, need)
        return Placed(
            need=need,
            work=next(iter(unrated), None) if work is None else work,
            works=tuple(each for each in used if each in self.rated),
            unrated=unrated,
            peak=None if work is None or unrated else self._peak(need, compute_time, work),
            bandwidth=bandwidth,
            compute_time=compute_time,
            dram_time=need.dram_bytes / bandwidth,
            served_time=0.0 if served is None else need.bytes / served,
        )

    def _slowest(self, pieces: Iterable[tuple[float, str]]) -> tuple[str | None, float]:
        """Return the pipe that takes longest, by its slowest ceiling, and its time; else 0 s."""
        times: dict[str, float] = {}
        slowest: dict[str, tuple[float, str]] = {}
        for flops, work in pieces:
            pipe, time = pipe_of(work), flops / self.rated[work]
            times[pipe] = times.get(pipe, 0.0) + time
            slowest[pipe] = max(slowest.get(pipe, (0.0, work)), (time, work))
        if not times:
            return None, 0.0
        slow = max(times, key=times.__getitem__)
        return slowest[slow][1], times[slow]

    def _peak(self, need: Need, time: float, work: str) -> float:
        """Return the peak of a mix of work; a single piece has its ceiling, to the last digit."""
        if len(need.pieces) == 1:
            return self.rated[work]
        return need.flops / time

    def _untimed(self, work: str, need: Need) -> UsageError:
        problem = f"the time of {need.name!r} on {self.machine.device_id} is unknown"
        hint = f"no bytes move, and the rate of {work} is unknown there: give it that ceiling"
        return UsageError(problem, at=need.at, hint=hint)

    def _lacks(self, names: Sequence[str], unit: str, need: Need | None) -> UsageError:
        having = sorted(name for name, found in self.units.items() if found == unit)
        kind = "" if self.kind == NOMINAL else f" of kind {self.kind}"
        problem = f"{self.machine.device_id} has no ceiling {' or '.join(names)}{kind}"
        hint = f"it has {', '.join(having)}" if having else "it has none of that kind"
        if need is None:
            return UsageError(problem, hint=hint)
        return UsageError(f"{need.name!r}: {problem}", at=need.at, hint=hint)


def pipe_of(work: str) -> str:
    """Return the pipe of a ceiling: formats of the matrix units share one."""
    return _MATRIX if work.startswith(_MATRIX) else work


def _unit(machine: Machine, resource: str) -> str:
    return next(c.unit for c in machine.ceilings if c.resource == resource and c.unit != "1")
