"""What a measured kernel would take on another device.

``low`` is the least time of its work, and of its device-memory traffic as it was counted, at the
device's rated peaks, of as many units as the grid has blocks.
``likely`` holds the share of the practical roof that the kernel held where it ran, of the same
resources here and there, apart from the time of empty launches, which is the device's own.
``high`` is how much longer real pairs took (``rules/whatif.yaml``). All times are in s and of all
launches of a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from advisor import wording
from advisor.errors import AdvisorError
from advisor.modelling.roofs import DRAM, DeviceRoofs, pipe_of
from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.hardware.machines import Machine
    from advisor.modelling.elsewhere_settings import ElsewhereSettings

NO_PEAKS = "the profile lacks the peaks that its time compares with"
Timed = tuple[float, str]
"""A time [s] and the ceiling that it is under."""


@dataclass(frozen=True, kw_only=True)
class MeasuredWork:
    """A kernel as it ran: amounts and times of all its launches, None where nothing counted them.

    ``work`` is in FLOP by quantity, ``traffic`` in B by memory. ``held`` [s] is the least time in
    practice where it ran, by resource: a pipe, device memory or a cache. ``memory_side`` tells
    whether memory is busier than compute, ``clock`` is the clock held over the rated one,
    ``cache_size`` [B] that of its L2. ``blocks`` are those of a launch, where ``held`` takes
    account of them.
    """

    name: str
    launches: float
    measured: float | None
    work: Mapping[str, float] | None
    traffic: Mapping[str, float]
    held: Mapping[str, float]
    device_id: str
    vendor: str | None
    memory_side: bool | None = None
    clock: float | None = None
    cache_size: float | None = None
    blocks: float | None = None


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """A kernel in a scenario, in s; the three are None where ``reason`` says why."""

    name: str
    launches: float
    measured: float | None
    low: float | None = None
    likely: float | None = None
    high: float | None = None
    binding_resource: str | None = None
    caveats: tuple[str, ...] = ()
    reason: str | None = None


class LackingError(AdvisorError):
    """Why there is no prediction of a kernel."""


class TargetDevice:
    """A device to predict for: rated and practical peaks, in B/s and FLOP/s by resource."""

    def __init__(self, machine: Machine, settings: ElsewhereSettings) -> None:
        self.machine = machine
        self.settings = settings
        self.empty = settings.empty(machine.device_id)
        self.rated = DeviceRoofs(machine, "nominal").rated
        known = DeviceRoofs(machine, "practical").rated
        self.practical = {
            resource: known.get(resource, value * self._share(resource))
            for resource, value in self.rated.items()
        }
        self.has_practical = DRAM in known

    def _share(self, resource: str) -> float:
        memory, compute = self.settings.practical_memory, self.settings.practical_compute
        if resource == DRAM:
            return memory
        return compute if self.machine.is_work(resource) else 1.0

    def times(self, kernel: MeasuredWork, peaks: Mapping[str, float]) -> dict[str, Timed]:
        """Return the least time of a kernel's work and device-memory traffic, by resource.

        Raises:
            LackingError: the device does not rate what the kernel needs.
        """
        times = self.work_times(kernel, peaks)
        if kernel.traffic.get(DRAM) is not None:
            if DRAM not in peaks:
                raise LackingError(f"{self.machine.name} has no figure for memory bandwidth")
            times[DRAM] = (kernel.traffic[DRAM] / peaks[DRAM], DRAM)
        return times

    def practical_times(self, kernel: MeasuredWork) -> dict[str, Timed]:
        """Return the least time in practice by resource, also of caches that were timed before.

        Raises:
            LackingError: the device does not rate what the kernel needs.
        """
        times = self.times(kernel, self.practical)
        for name, cache in self.settings.caches.items():
            found = next((each for each in cache.ceilings if each in self.practical), None)
            if found is not None and name in kernel.held:
                busy = self.busy(kernel) if cache.of_units else 1.0
                times[name] = (kernel.traffic[name] / self.practical[found] / busy, found)
        return times

    def busy(self, kernel: MeasuredWork) -> float:
        """Return the share of the units that a launch has blocks for."""
        machine = self.machine
        return self.settings.busy(machine.device_id, kernel.blocks, machine.unit_count)

    def work_times(self, kernel: MeasuredWork, peaks: Mapping[str, float]) -> dict[str, Timed]:
        """Return the least time of each pipe, with the ceiling that takes most of it.

        Raises:
            LackingError: the device does not rate some of the work.
        """
        work, busy = kernel.work or {}, self.busy(kernel)
        total = sum(work.values())
        times: dict[str, float] = {}
        named: dict[str, Timed] = {}
        for quantity, amount in work.items():
            if amount <= 0:
                continue
            ceilings = self.settings.work[quantity]
            found = next((each for each in ceilings if each in peaks), None)
            if found is None:
                if amount < self.settings.negligible * total:
                    continue
                raise LackingError(f"{self.machine.name} has no figure for {ceilings[0]}")
            time, pipe = amount / peaks[found] / busy, pipe_of(found)
            times[pipe] = times.get(pipe, 0.0) + time
            named[pipe] = max(named.get(pipe, (0.0, found)), (time, found))
        return {pipe: (time, named[pipe][1]) for pipe, time in times.items()}


def predict(kernel: MeasuredWork, target: TargetDevice) -> Predicted:
    """Return what a kernel would take on a device."""
    unknown = Predicted(name=kernel.name, launches=kernel.launches, measured=kernel.measured)
    try:
        return _predicted(kernel, target)
    except LackingError as lacking:
        return _with(unknown, reason=str(lacking))


def _predicted(kernel: MeasuredWork, target: TargetDevice) -> Predicted:
    if reason := why_unknown(kernel):
        raise LackingError(reason)
    settings = target.settings
    low = longest(target.times(kernel, target.rated))
    practical, binding = _practical(kernel, target)
    likely = target.empty * kernel.launches + practical * _slower(kernel, settings)
    caveats, lowest, factor = _widened(kernel, target, low)
    likely = max(likely, low)
    high = likely * factor
    if (missed := _missed_traffic(kernel, target)) is not None:
        high = max(high, missed / target.practical[DRAM] * _slower(kernel, settings) * factor)
    return Predicted(
        name=kernel.name,
        launches=kernel.launches,
        measured=kernel.measured,
        low=lowest,
        likely=likely,
        high=high,
        binding_resource=binding,
        caveats=caveats,
    )


def longest(times: Mapping[str, Timed]) -> float:
    """Return the longest time, in s; 0 where there is none."""
    return max((time for time, _ in times.values()), default=0.0)


def _practical(kernel: MeasuredWork, target: TargetDevice) -> Timed:
    """Return the least time in practice, and what binds, of what was timed here and there.

    Raises:
        LackingError: what binds it here was not timed there, or what binds it there, not here.
    """
    here, there = kernel.held, target.practical_times(kernel)
    binding = max(here, key=here.__getitem__)
    if binding not in there:
        cache = target.settings.caches.get(binding)
        what = binding if cache is None else cache.name
        raise LackingError(f"{what} binds it, and {target.machine.name} has no figure for it")
    slowest = max(there, key=there.__getitem__)
    if slowest not in here:
        raise LackingError(NO_PEAKS)
    return there[slowest]


def _slower(kernel: MeasuredWork, settings: ElsewhereSettings) -> float:
    """Return the time that a kernel took, without empty launches, over the least in practice."""
    empty = settings.empty(kernel.device_id) * kernel.launches
    return max((kernel.measured or 0.0) - empty, 0.0) / max(kernel.held.values())


def why_unknown(kernel: MeasuredWork) -> str | None:
    """Return why a profile says too little of a kernel, None where it says enough."""
    if kernel.measured is None:
        return "it was not timed"
    has_traffic = DRAM in kernel.traffic
    if kernel.work is None and not has_traffic:
        return "the profile counts neither its work nor its traffic"
    if kernel.work is None and kernel.memory_side is not True:
        return "the profile does not count its work, and memory is not what limits it"
    if not has_traffic and kernel.memory_side is not False:
        return "the profile does not count its traffic, and compute is not what limits it"
    if not any(kernel.held.values()):
        return NO_PEAKS
    return None


def _widened(
    kernel: MeasuredWork, target: TargetDevice, low: float
) -> tuple[tuple[str, ...], float, float]:
    """Return the caveats about a range, its lower end [s], and how far above likely it goes."""
    settings, machine = target.settings, target.machine
    factor = settings.same_vendor
    caveats = []
    if kernel.vendor is None or kernel.vendor.casefold() != (machine.vendor or "").casefold():
        factor = settings.other_vendor
        maker = f"{machine.vendor}'s" if machine.vendor else "another vendor's"
        caveats.append(f"{maker} libraries and compiler may do the same work in another way")
    if not target.has_practical:
        factor *= settings.no_practical_figure
        caveats.append(f"what good kernels reach on {machine.name} is not known")
    if kernel.clock is not None and kernel.clock < settings.held_clock:
        factor /= kernel.clock
        caveats.append(f"the clock was held at {wording.percent(kernel.clock)} of the rated one")
    if kernel.work is None:
        caveats.append("its work was not counted; memory is its busiest side")
    if DRAM not in kernel.traffic:
        caveats.append("its traffic was not counted; compute is its busiest side")
    of_sizes, low = _sizes(kernel, target, low)
    return (*caveats, *of_sizes), low, factor


def _sizes(kernel: MeasuredWork, target: TargetDevice, low: float) -> tuple[list[str], float]:
    """Return the caveats about what fits the device, and the lower end of the range [s]."""
    machine, caveats = target.machine, []
    if (busy := target.busy(kernel)) < 1 and machine.unit_count:
        blocks = wording.count(kernel.blocks, "block")
        kind = wording.plural(machine.unit_kind or "unit", machine.unit_count)
        used = f"{busy * machine.unit_count:.0f} of the {machine.unit_count} {kind}"
        caveats.append(f"{blocks} can keep only {used} there busy")
    here, there = _fits(kernel, kernel.cache_size), _fits(kernel, machine.l2_bytes)
    if there and here is False:
        size = wording.size(machine.l2_bytes)
        caveats.append(f"a launch's traffic fits the {size} of L2 there, and not the one here")
        low = _without_memory(kernel, target, low)
    if here and there is False:
        size = wording.size(kernel.cache_size)
        caveats.append(f"a launch's traffic fits the {size} of L2 here, and not the one there")
    if here is there is False and _may_miss_less(kernel, target, low):
        sizes = f"{wording.size(machine.l2_bytes)} there, {wording.size(kernel.cache_size)} here"
        caveats.append(
            f"a larger L2 ({sizes}) may serve some of its device-memory traffic, and it may then"
            " take less than the least time"
        )
    return caveats, low


def _fits(kernel: MeasuredWork, size: float | None) -> bool | None:
    """Return whether what a launch moves would fit in an L2 of this size."""
    moved = kernel.traffic.get(DRAM)
    if moved is None or size is None or not kernel.launches:
        return None
    return moved / kernel.launches <= size


def _may_miss_less(kernel: MeasuredWork, target: TargetDevice, low: float) -> bool:
    """Return whether the least time [s] is that of misses which a larger L2 may turn to hits."""
    larger = (target.machine.l2_bytes or 0.0) > (kernel.cache_size or 0.0)
    return larger and kernel.traffic[DRAM] / target.rated[DRAM] >= low


def _without_memory(kernel: MeasuredWork, target: TargetDevice, low: float) -> float:
    """Return the least time where L2 holds the data from launch to launch."""
    memory = kernel.traffic[DRAM] / target.rated[DRAM]
    if memory < low:
        return low
    work = longest(target.work_times(kernel, target.rated))
    return max(work, memory / target.settings.cache_over_memory)


def _missed_traffic(kernel: MeasuredWork, target: TargetDevice) -> float | None:
    """Return the bytes [B] that go through device memory where only the L2 here holds the data."""
    here, there = _fits(kernel, kernel.cache_size), _fits(kernel, target.machine.l2_bytes)
    if here and there is False and DRAM in target.practical:
        return kernel.traffic.get("l2")
    return None


def _with(kernel: Predicted, *, reason: str) -> Predicted:
    return Predicted(
        name=kernel.name, launches=kernel.launches, measured=kernel.measured, reason=reason
    )
