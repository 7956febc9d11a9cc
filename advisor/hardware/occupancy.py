"""How many blocks of a kernel fit on a multiprocessor, which limit binds, and what would change it.

The facts of ``rules/facts/occupancy.yaml`` compute the same for measured launches, in SQL; a test
holds the two together. Sizes are in B, and "allocated" is what is taken after rounding up.

Source: NVIDIA, CUDA Occupancy Calculator, header ``cuda_occupancy.h``; the limits of each compute
capability as in ``seed/occupancy-limits.yaml``.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from itertools import groupby
from typing import TYPE_CHECKING

from advisor.errors import UsageError
from advisor.hardware.called import devices_called, several_devices
from advisor.hardware.devices import CUDA, load_devices, load_occupancy_limits
from advisor.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from advisor.hardware.devices import OccupancyLimits


class Parameter(Enum):
    """What a curve varies: registers a thread, threads a block, shared memory [B] a block."""

    REGISTERS = "registers"
    THREADS = "threads"
    SHARED = "shared"


@dataclass(frozen=True, kw_only=True)
class MultiprocessorLimits:
    """What a multiprocessor of one compute capability holds and grants.

    ``registers`` lie in ``sub_partitions`` equal parts; a warp's registers are allocated in
    multiples of ``register_unit`` within one part. A block takes ``shared_reserved`` on top of what
    it asks for; the sum is rounded up to ``shared_unit``. Above ``shared_opt_in`` a kernel must ask
    for dynamic shared memory explicitly. ``carve_outs`` ascend.
    """

    key: str
    name: str
    source: str
    warp_size: int
    threads_per_block: int
    warps: int
    blocks: int
    registers: int
    registers_per_block: int
    registers_per_thread: int
    register_unit: int
    sub_partitions: int
    shared_memory: int
    shared_per_block: int
    shared_opt_in: int
    shared_unit: int
    shared_reserved: int
    carve_outs: tuple[int, ...]

    @property
    def capability(self) -> str:
        """Return the compute capability, such as ``9.0``."""
        return self.key.removeprefix(CUDA)


@dataclass(frozen=True, kw_only=True)
class BlockShape:
    """What a block asks for: threads, registers a thread, shared memory [B].

    ``carve_out`` [B] is the multiprocessor's shared memory in force; None means the largest.
    ``shared_reserved`` [B] is what the system takes per block; None means as the generation does.
    """

    threads: int
    registers: int
    shared_static: int = 0
    shared_dynamic: int = 0
    carve_out: int | None = None
    shared_reserved: int | None = None

    @property
    def shared(self) -> int:
        """Return the shared memory [B] that the block asks for."""
        return self.shared_static + self.shared_dynamic

    def with_value(self, parameter: Parameter, value: int) -> BlockShape:
        """Return the shape with another value of one parameter; shared memory becomes static."""
        if parameter is Parameter.REGISTERS:
            return replace(self, registers=value)
        if parameter is Parameter.THREADS:
            return replace(self, threads=value)
        return replace(self, shared_static=value, shared_dynamic=0)

    def value(self, parameter: Parameter) -> int:
        """Return the value of one parameter."""
        if parameter is Parameter.REGISTERS:
            return self.registers
        return self.threads if parameter is Parameter.THREADS else self.shared


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """What fits on a multiprocessor.

    ``limits`` holds the blocks that each resource allows, None where a block takes nothing of it.
    ``occupancy`` is ``warps`` over the most a multiprocessor can hold. Registers are counted per
    warp and per block, shared memory per block, both as allocated. ``carve_out`` [B] is in force.
    """

    blocks: int
    warps: int
    occupancy: float
    limits: Mapping[str, int | None]
    warps_per_block: int
    registers_per_warp: int
    registers: int
    shared_memory: int
    carve_out: int

    @property
    def binding(self) -> tuple[str, ...]:
        """Return the resources that allow no more blocks than fit."""
        return tuple(name for name, blocks in self.limits.items() if blocks == self.blocks)


@dataclass(frozen=True, kw_only=True)
class OccupancyStep:
    """Values of a parameter, ``first`` to ``last``, for all of which the rest is the same.

    No blocks: the launch would fail.
    """

    first: int
    last: int
    blocks: int
    warps: int
    occupancy: float
    binding: tuple[str, ...]

    def holds(self, value: int) -> bool:
        """Return whether a value of the parameter belongs to this step."""
        return self.first <= value <= self.last


def limits_of(key: str) -> MultiprocessorLimits:
    """Return the limits of a compute capability, such as ``9.0`` or ``cc-9.0``.

    Raises:
        UsageError: its limits are not known; names those that are.
    """
    wanted = CUDA + key.removeprefix(CUDA)
    known = {entry.key: entry for entry in load_occupancy_limits() if entry.key.startswith(CUDA)}
    if wanted not in known:
        names = ", ".join(name.removeprefix(CUDA) for name in known)
        problem = f"the occupancy limits of compute capability {key} are not known"
        raise UsageError(problem, hint=f"known are {names}")
    return _limits(known[wanted])


def limits_of_device(name: str) -> MultiprocessorLimits:
    """Return the limits of a device, by any name that means devices of one kind.

    Raises:
        UsageError: there is no such device, those there are differ, or NVIDIA did not make it.
    """
    found = devices_called(name, load_devices())
    keys = {device.occupancy or "" for device in found}
    if len(keys) > 1:
        raise several_devices(name, found)
    (key,) = keys
    if not key.startswith(CUDA):
        problem = f"the occupancy of {name!r} is not computed: it has no compute capability"
        raise UsageError(problem, hint="the calculator knows NVIDIA's rules")
    return limits_of(key)


def granted_carve_out(limits: MultiprocessorLimits, wanted: int) -> int:
    """Return the shared memory [B] of a multiprocessor when a kernel prefers ``wanted``.

    Source: CUDA C++ Programming Guide, shared memory of compute capability 7.x: a preference that
    is not supported becomes the next larger one.

    Raises:
        UsageError: there is none as large.
    """
    found = next((size for size in limits.carve_outs if size >= wanted), None)
    if found is None:
        raise _too_much("B of carve-out", wanted, limits.carve_outs[-1], limits)
    return found


def check_static(limits: MultiprocessorLimits, launch: BlockShape) -> None:
    """Refuse arrays of shared memory that do not compile: a kernel opts in to dynamic memory alone.

    A launch that was measured did compile, whatever its profile counts as static.

    Source: CUDA C++ Programming Guide, shared memory of compute capabilities 7.x to 12.x:
    allocations over 48 KB a block must be dynamic rather than statically sized arrays.

    Raises:
        UsageError: there is more than a block has without opting in; says by how much.
    """
    most = limits.shared_opt_in
    if launch.shared_static > most:
        error = _too_much("B of static shared memory per block", launch.shared_static, most, limits)
        raise UsageError(error.problem, hint="what is above it must be dynamic: use --dynamic")


def occupancy(limits: MultiprocessorLimits, launch: BlockShape) -> Occupancy:
    """Return what fits on a multiprocessor.

    Raises:
        UsageError: such a block cannot be launched; says which limit it breaks, by how much.
    """
    refused = _refusal(limits, launch)
    if refused is not None:
        raise refused
    return _resident(limits, launch)


def steps(
    limits: MultiprocessorLimits, launch: BlockShape, parameter: Parameter
) -> tuple[OccupancyStep, ...]:
    """Return how what fits changes with one parameter, from its least value to its largest.

    Everything else stays as the launch has it. Values that no launch may have are a step without
    blocks.
    """
    points = [_point(limits, launch, parameter, *cell) for cell in _cells(limits, parameter)]
    found = []
    for _, group in groupby(points, key=lambda point: (point.blocks, point.warps, point.binding)):
        same = list(group)
        found.append(replace(same[-1], first=same[0].first))
    return tuple(found)


def resident_warps(limits: MultiprocessorLimits, launch: BlockShape) -> int:
    """Return the warps that fit on a multiprocessor, none where the launch would fail."""
    return 0 if _refusal(limits, launch) is not None else _resident(limits, launch).warps


def nearest_better(curve: Iterable[OccupancyStep], value: int) -> OccupancyStep | None:
    """Return the step with more warps that is nearest to ``value``, None where none has more."""
    known = tuple(curve)
    now = next((step.warps for step in known if step.holds(value)), 0)
    better = (step for step in known if step.warps > now and not step.holds(value))
    return min(better, key=lambda step: abs(step.last - value), default=None)


def _limits(entry: OccupancyLimits) -> MultiprocessorLimits:
    seed = {name: int(value) for name, value in entry.limits.items()}
    return MultiprocessorLimits(
        key=entry.key,
        name=entry.name,
        source=entry.source,
        warp_size=seed["warp_size"],
        threads_per_block=seed["max_threads_per_block"],
        warps=seed["max_warps_per_sm"],
        blocks=seed["max_blocks_per_sm"],
        registers=seed["registers_per_sm"],
        registers_per_block=seed["registers_per_block_max"],
        registers_per_thread=seed["registers_per_thread_max"],
        register_unit=seed["register_alloc_unit"],
        sub_partitions=seed["sub_partitions"],
        shared_memory=seed["shared_bytes_per_sm"],
        shared_per_block=seed["shared_bytes_per_block_max"],
        shared_opt_in=seed["shared_bytes_per_block_default"],
        shared_unit=seed["shared_alloc_granularity_bytes"],
        shared_reserved=seed["shared_reserved_bytes_per_block"],
        carve_outs=entry.carve_outs,
    )


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _warps(limits: MultiprocessorLimits, launch: BlockShape) -> int:
    return -(-launch.threads // limits.warp_size)


def _registers_per_warp(limits: MultiprocessorLimits, launch: BlockShape) -> int:
    return _round_up(launch.registers * limits.warp_size, limits.register_unit)


def _shared(limits: MultiprocessorLimits, launch: BlockShape) -> int:
    reserved = launch.shared_reserved
    reserved = limits.shared_reserved if reserved is None else reserved
    return _round_up(launch.shared + reserved, limits.shared_unit)


def _refusal(limits: MultiprocessorLimits, launch: BlockShape) -> UsageError | None:
    """Return why a block of this shape cannot be launched, None where it can."""
    if launch.threads < 1 or launch.registers < 0 or launch.shared < 0:
        return UsageError("a block has at least one thread, and no size is negative")
    warps = _round_up(_warps(limits, launch), limits.sub_partitions)
    taken = warps * _registers_per_warp(limits, launch)
    checks = (
        ("threads per block", launch.threads, limits.threads_per_block),
        ("registers per thread", launch.registers, limits.registers_per_thread),
        ("registers per block, as allocated,", taken, limits.registers_per_block),
        ("B of shared memory per block", launch.shared, limits.shared_per_block),
    )
    broken = (_too_much(*check, limits) for check in checks if check[1] > check[2])
    return next(broken, None)


def _too_much(what: str, value: int, most: int, limits: MultiprocessorLimits) -> UsageError:
    return UsageError(
        f"{value:,} {what} are {value - most:,} over the limit of {most:,}",
        hint=f"the limit of compute capability {limits.capability}",
    )


def _resident(limits: MultiprocessorLimits, launch: BlockShape) -> Occupancy:
    warps = _warps(limits, launch)
    per_warp = _registers_per_warp(limits, launch)
    shared = _shared(limits, launch)
    carve_out = _carve_out(limits, launch, shared)
    allowed = {
        "warps": limits.warps // warps,
        "blocks": limits.blocks,
        "registers": _warps_by_registers(limits, per_warp) // warps if per_warp else None,
        "shared memory": carve_out // shared if shared else None,
    }
    blocks = min(number for number in allowed.values() if number is not None)
    return Occupancy(
        blocks=blocks,
        warps=blocks * warps,
        occupancy=blocks * warps / limits.warps,
        limits=allowed,
        warps_per_block=warps,
        registers_per_warp=per_warp,
        registers=per_warp * warps,
        shared_memory=shared,
        carve_out=carve_out,
    )


def _warps_by_registers(limits: MultiprocessorLimits, per_warp: int) -> int:
    """Return the warps whose registers fit; none spans two sub-partitions."""
    return limits.registers // limits.sub_partitions // per_warp * limits.sub_partitions


def _carve_out(limits: MultiprocessorLimits, launch: BlockShape, shared: int) -> int:
    """Return the carve-out [B]; one that holds no block gives way to the least that does.

    Source: the curves of shared memory that Nsight Compute stores; they go on so.
    """
    wanted = limits.shared_memory if launch.carve_out is None else launch.carve_out
    return wanted if wanted >= shared else granted_carve_out(limits, shared)


def _cells(limits: MultiprocessorLimits, parameter: Parameter) -> Iterator[tuple[int, int]]:
    """Yield ranges of a parameter within which nothing can change, as first and last value."""
    least, unit, most = {
        Parameter.REGISTERS: (
            1,
            limits.register_unit // limits.warp_size,
            limits.registers_per_thread,
        ),
        Parameter.THREADS: (1, limits.warp_size, limits.threads_per_block),
        Parameter.SHARED: (0, limits.shared_unit, limits.shared_per_block),
    }[parameter]
    first = least
    for last in range(_round_up(least, unit), most + unit, unit):
        yield first, min(last, most)
        first = last + 1


def _point(
    limits: MultiprocessorLimits, launch: BlockShape, parameter: Parameter, first: int, last: int
) -> OccupancyStep:
    shape = launch.with_value(parameter, last)
    if _refusal(limits, shape) is not None:
        return OccupancyStep(first=first, last=last, blocks=0, warps=0, occupancy=0.0, binding=())
    found = _resident(limits, shape)
    return OccupancyStep(
        first=first,
        last=last,
        blocks=found.blocks,
        warps=found.warps,
        occupancy=found.occupancy,
        binding=found.binding,
    )
