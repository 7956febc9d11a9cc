"""Devices side by side: ceilings, ridge points, and the intensities at which they disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from advisor.errors import UsageError
from advisor.hardware.describe import peak
from advisor.hardware.devices import load_occupancy_limits
from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.hardware.machines import Machine

DRAM = "dram"
_UNITS = ("B/s", "FLOP/s")


@dataclass(frozen=True, kw_only=True)
class ComparedDevice:
    """A device: ``ceilings`` in B/s and FLOP/s, ``ridge_points`` in FLOP/B by work, memory in B.

    ``occupancy`` are what fits on one of its units, None where it is unknown.
    """

    device: str
    name: str
    ceilings: Mapping[str, float]
    units: Mapping[str, str]
    ridge_points: Mapping[str, float]
    memory: float | None
    occupancy: Mapping[str, float] | None


@dataclass(frozen=True, kw_only=True)
class Crossover:
    """A range of intensities [FLOP/B] in which work is compute-bound on some devices alone."""

    work: str
    low: float
    high: float
    compute_bound_on: tuple[str, ...]
    memory_bound_on: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DeviceComparison:
    """Devices in the order asked for, under one kind of roof."""

    roof: str
    devices: tuple[ComparedDevice, ...]
    changes_side: tuple[Crossover, ...]


def compare_machines(machines: Sequence[Machine], roof: str) -> DeviceComparison:
    """Return devices side by side.

    Raises:
        UsageError: a device has no ceilings of that kind.
    """
    limits = {entry.key: entry.limits for entry in load_occupancy_limits()}
    devices = tuple(_compared(machine, roof, limits) for machine in machines)
    return DeviceComparison(roof=roof, devices=devices, changes_side=tuple(_changes(devices)))


def _compared(
    machine: Machine, roof: str, limits: Mapping[str, Mapping[str, float]]
) -> ComparedDevice:
    names = dict.fromkeys(c.resource for c in machine.ceilings if c.unit in _UNITS)
    found = {name: each for name in names if (each := peak(machine, name, roof)) is not None}
    if not found:
        problem = f"{machine.device_id} has no ceilings of kind {roof}"
        raise UsageError(problem, hint="--roof nominal has the rated ones")
    dram = found.get(DRAM)
    return ComparedDevice(
        device=machine.device_id,
        name=machine.name,
        ceilings={name: each.value for name, each in found.items()},
        units={name: each.unit for name, each in found.items()},
        ridge_points=(
            {}
            if dram is None
            else {n: e.value / dram.value for n, e in found.items() if e.unit == "FLOP/s"}
        ),
        memory=machine.memory_bytes,
        occupancy=limits.get(machine.occupancy) if machine.occupancy is not None else None,
    )


def _changes(devices: Sequence[ComparedDevice]) -> Iterator[Crossover]:
    works = dict.fromkeys(work for each in devices for work in each.ridge_points)
    for work in works:
        rated = {d.device: d.ridge_points[work] for d in devices if work in d.ridge_points}
        ridges = sorted(set(rated.values()))
        for low, high in pairwise(ridges):
            yield Crossover(
                work=work,
                low=low,
                high=high,
                compute_bound_on=tuple(name for name, ridge in rated.items() if ridge <= low),
                memory_bound_on=tuple(name for name, ridge in rated.items() if ridge >= high),
            )
