"""Work out how long a kernel takes on the simulated machine, and what keeps it.

The equations are stated in README.md; the names here follow it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from seed.simulation.machine import Instruction, Kernel, Machine

SECTOR = 32
"""Bytes of a sector, the grain of every cache transfer."""


@dataclass(frozen=True, kw_only=True)
class Residency:
    """Blocks of a kernel that fit on a multiprocessor, and what each resource would allow."""

    registers: int
    shared: int
    warps: int
    blocks: int
    shared_configured: int

    @property
    def fitting(self) -> int:
        """Blocks that are resident together."""
        return min(self.registers, self.shared, self.warps, self.blocks)


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """What one execution of an instruction by a warp moves, in sectors and in passes."""

    l1_sectors: float = 0.0
    l2_sectors: float = 0.0
    dram_sectors: float = 0.0
    wavefronts: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Share:
    """Multiprocessors that run the same number of blocks, and for how long (cycles)."""

    multiprocessors: int
    blocks: int
    cycles: float
    warp_cycles: float


@dataclass(frozen=True, kw_only=True)
class Execution:
    """One launch on the machine: times in cycles of the multiprocessor clock."""

    kernel: Kernel
    machine: Machine
    residency: Residency
    shares: tuple[Share, ...]
    demand: Mapping[str, float]
    latency_by_reason: Mapping[str, float]
    elapsed: float

    @property
    def duration(self) -> float:
        """Seconds from start to end."""
        return self.elapsed / self.machine.sm_clock

    @property
    def active(self) -> float:
        """Cycles in which a multiprocessor has a warp, added over multiprocessors."""
        return sum(share.multiprocessors * share.cycles for share in self.shares)

    @property
    def warp_cycles(self) -> float:
        """Resident warps times cycles, added over multiprocessors."""
        return sum(share.multiprocessors * share.warp_cycles for share in self.shares)

    @property
    def warps(self) -> int:
        """Warps of the launch."""
        return self.kernel.grid * self.kernel.warps_per_block


def run(kernel: Kernel, machine: Machine) -> Execution:
    """Run ``kernel`` once."""
    residency = fit(kernel, machine)
    demand = _demand(kernel, machine)
    chain = chain_latency(kernel, machine)
    alone = sum(chain.values())

    def round_cycles(blocks: int) -> float:
        return _together([blocks * cycles for cycles in demand.values()] + [alone], machine)

    shares = tuple(
        _share(kernel, residency, round_cycles, blocks=blocks, count=count)
        for blocks, count in _spread(kernel.grid, machine.multiprocessors)
    )
    return Execution(
        kernel=kernel,
        machine=machine,
        residency=residency,
        shares=shares,
        demand=demand,
        latency_by_reason=chain,
        elapsed=machine.launch_overhead + max(share.cycles for share in shares),
    )


def fit(kernel: Kernel, machine: Machine, *, registers: int | None = None) -> Residency:
    """Return how many blocks fit on a multiprocessor, with ``registers`` per thread if given."""
    per_thread = kernel.registers if registers is None else registers
    warps = kernel.warps_per_block
    per_warp = ceil(per_thread * 32 / machine.register_unit) * machine.register_unit
    # Registers belong to a scheduler, so the warps of each must fit on their own.
    resident = machine.schedulers * (machine.registers // machine.schedulers // per_warp)
    by_registers = resident // warps
    by_warps = machine.max_warps // warps
    wanted = kernel.shared_static + kernel.shared_dynamic + machine.shared_reserved
    allocated = ceil(wanted / machine.shared_unit) * machine.shared_unit
    others = min(by_registers, by_warps, machine.max_blocks)
    configured = next(
        (size for size in machine.shared_configurations if size >= others * allocated),
        machine.shared_configurations[-1],
    )
    return Residency(
        registers=by_registers,
        shared=configured // allocated,
        warps=by_warps,
        blocks=machine.max_blocks,
        shared_configured=configured,
    )


def traffic(instruction: Instruction, machine: Machine) -> Traffic:
    """Return what one execution of ``instruction`` by a warp moves."""
    opcode = machine.opcode(instruction.opcode)
    if opcode.memory is None:
        return Traffic()
    if opcode.memory == "shared":
        return Traffic(wavefronts=instruction.ways)
    asked = instruction.sectors
    passed = asked if opcode.store else asked * (1 - instruction.l1_hit)
    return Traffic(
        l1_sectors=asked,
        l2_sectors=passed,
        dram_sectors=passed * (1 - instruction.l2_hit),
        wavefronts=max(1.0, asked * SECTOR / machine.wavefront_bytes),
    )


def chain_latency(kernel: Kernel, machine: Machine) -> dict[str, float]:
    """Return the cycles a warp takes when it has the machine to itself, by what it waits for.

    ``selected`` is the issue itself, one cycle for each instruction.
    """
    reasons = {"selected": sum(instruction.count for instruction in kernel.instructions)}
    for instruction in kernel.instructions:
        opcode = machine.opcode(instruction.opcode)
        cycles = _latency(instruction, machine) / _side_by_side(instruction, kernel, machine)
        waited = max(0.0, cycles - 1) * instruction.count
        reasons[opcode.waits] = reasons.get(opcode.waits, 0.0) + waited
    return reasons


def _latency(instruction: Instruction, machine: Machine) -> float:
    opcode = machine.opcode(instruction.opcode)
    if opcode.memory in {"global", "local"} and not opcode.store:
        found = machine.load_latency
        missed = instruction.l2_hit * found["l2"] + (1 - instruction.l2_hit) * found["dram"]
        return instruction.l1_hit * found["l1"] + (1 - instruction.l1_hit) * missed
    if opcode.memory == "shared":
        return opcode.latency + instruction.ways - 1
    return opcode.latency + instruction.wait


def _side_by_side(instruction: Instruction, kernel: Kernel, machine: Machine) -> float:
    opcode = machine.opcode(instruction.opcode)
    if opcode.waits == "barrier":
        return 1.0
    return kernel.independent if opcode.memory is None else instruction.in_flight


def _demand(kernel: Kernel, machine: Machine) -> dict[str, float]:
    """Return the cycles that one block keeps each unit of its multiprocessor busy.

    L2 and DRAM are shared by the multiprocessors that have work: each gets an even part.
    """
    busy = min(kernel.grid, machine.multiprocessors)
    l2_rate = machine.l2_slices * machine.l2_sectors_per_slice * SECTOR * machine.l2_clock
    dram_rate = machine.dram_bytes_per_cycle * machine.memory_clock
    demand: dict[str, float] = {}
    for instruction in kernel.instructions:
        opcode = machine.opcode(instruction.opcode)
        times = instruction.count * kernel.warps_per_block
        moved = traffic(instruction, machine)
        data = "shared" if opcode.memory == "shared" else "l1"
        for unit, cycles in (
            ("issue", times / machine.schedulers),
            (opcode.unit, times / opcode.rate),
            (data, times * moved.wavefronts),
            ("l1_port", times * moved.l2_sectors * SECTOR / machine.l1_port_bytes),
            ("l2", times * moved.l2_sectors * SECTOR * busy / l2_rate * machine.sm_clock),
            ("dram", times * moved.dram_sectors * SECTOR * busy / dram_rate * machine.sm_clock),
        ):
            demand[unit] = demand.get(unit, 0.0) + cycles
    demand["l1"] += demand.pop("shared", 0.0)  # one data stage serves both
    return {unit: cycles / machine.reachable(unit) for unit, cycles in demand.items()}


def _together(cycles: list[float], machine: Machine) -> float:
    """Return the time of several things side by side: the longest, and a little for the others."""
    longest = max(cycles)
    power = machine.overlap_power
    norm: float = sum((each / longest) ** power for each in cycles) ** (1 / power)
    return longest * norm


def _spread(grid: int, multiprocessors: int) -> list[tuple[int, int]]:
    """Return (blocks, multiprocessors that get so many)."""
    least, more = divmod(grid, multiprocessors)
    return [
        (blocks, count)
        for blocks, count in ((least + 1, more), (least, multiprocessors - more))
        if count
    ]


def _share(
    kernel: Kernel,
    residency: Residency,
    round_cycles: Callable[[int], float],
    *,
    blocks: int,
    count: int,
) -> Share:
    """Run ``blocks`` on one multiprocessor in rounds of as many as fit."""
    full, rest = divmod(blocks, residency.fitting)
    rounds = [(residency.fitting, full)] * bool(full) + [(rest, 1)] * bool(rest)
    timed = [(resident, times, round_cycles(resident)) for resident, times in rounds]
    return Share(
        multiprocessors=count,
        blocks=blocks,
        cycles=sum(times * cycles for _, times, cycles in timed),
        warp_cycles=sum(
            resident * kernel.warps_per_block * times * cycles for resident, times, cycles in timed
        ),
    )
