"""Add up what a launch did: instructions, accesses, bytes, and what its warps waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seed.simulation.execution import SECTOR, traffic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from seed.simulation.execution import Execution, Traffic
    from seed.simulation.machine import Instruction, Opcode

ARITHMETIC = ("fma", "alu", "fp64", "xu", "tensor", "cbu", "adu")
"""Units whose queue a warp waits for as for an arithmetic pipe."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One instruction of a kernel with all its executions in the launch."""

    instruction: Instruction
    opcode: Opcode
    executed: float
    moved: Traffic
    needed_wavefronts: float


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Sums over a launch; ``lines`` follow the order of the kernel's code."""

    execution: Execution
    lines: tuple[Line, ...]

    @property
    def executed(self) -> float:
        """Warp instructions."""
        return sum(line.executed for line in self.lines)

    def of(self, memory: str, *, store: bool | None = None) -> Iterator[Line]:
        """Yield the accesses to ``memory``; loads or stores alone if asked."""
        for line in self.lines:
            if line.opcode.memory == memory and store in {None, line.opcode.store}:
                yield line

    def sectors(self, what: Callable[[Traffic], float], *, store: bool | None = None) -> float:
        """Return sectors of global and local accesses, at the level that ``what`` picks."""
        return sum(
            line.executed * what(line.moved)
            for memory in ("global", "local")
            for line in self.of(memory, store=store)
        )

    def unit_cycles(self, unit: str) -> float:
        """Return the cycles that ``unit`` was busy, added over multiprocessors."""
        return sum(
            line.executed / line.opcode.rate for line in self.lines if line.opcode.unit == unit
        )

    def wavefronts(self, *memories: str) -> float:
        """Return passes through the data stage for accesses to ``memories``."""
        return sum(
            line.executed * line.moved.wavefronts for memory in memories for line in self.of(memory)
        )

    def flop(self, kind: str) -> float:
        """Return executions of a kind: per thread, or operations for "tensor"."""
        threads = 1.0 if kind == "tensor" else self.execution.kernel.active_threads
        return sum(
            line.executed * line.opcode.flop[1] * threads
            for line in self.lines
            if line.opcode.flop is not None and line.opcode.flop[0] == kind
        )

    @property
    def dram_read(self) -> float:
        """Bytes read from device memory."""
        return SECTOR * self.sectors(lambda moved: moved.dram_sectors, store=False)

    @property
    def dram_written(self) -> float:
        """Bytes written to device memory."""
        return SECTOR * self.sectors(lambda moved: moved.dram_sectors, store=True)


def tally(execution: Execution) -> Tally:
    """Add up a launch."""
    machine = execution.machine
    lines = []
    for instruction in execution.kernel.instructions:
        opcode = machine.opcode(instruction.opcode)
        needed = instruction.ways if instruction.needed_ways is None else instruction.needed_ways
        lines.append(
            Line(
                instruction=instruction,
                opcode=opcode,
                executed=execution.warps * instruction.count,
                moved=traffic(instruction, machine),
                needed_wavefronts=needed if opcode.memory == "shared" else 0.0,
            )
        )
    return Tally(execution=execution, lines=tuple(lines))


def waits(totals: Tally) -> dict[str, float]:
    """Return the cycles between two instructions of a warp, by what it waited for.

    The waits of a warp alone come first; what is left of the measured time went to the queues of
    the busy units, in proportion to how much each lengthened a round.
    """
    execution = totals.execution
    per_warp = sum(line.instruction.count for line in totals.lines)
    alone = {reason: cycles / per_warp for reason, cycles in execution.latency_by_reason.items()}
    measured = execution.warp_cycles / totals.executed
    left = max(0.0, measured - sum(alone.values()))
    pressure = {
        unit: cycles**execution.machine.overlap_power for unit, cycles in execution.demand.items()
    }
    whole = sum(pressure.values())
    for unit, weight in pressure.items():
        for reason, part in _queue(unit, totals).items():
            alone[reason] = alone.get(reason, 0.0) + left * weight / whole * part
    return alone


def _queue(unit: str, totals: Tally) -> dict[str, float]:
    """Return what a warp is said to wait for when ``unit`` is busy, as shares."""
    if unit == "issue":
        return {"not_selected": 1.0}
    if unit in ARITHMETIC:
        return {"math_pipe_throttle": 1.0}
    if unit not in {"lsu", "l1"}:
        return {"long_scoreboard": 1.0}
    shared = totals.wavefronts("shared")
    everything = totals.wavefronts("shared", "global", "local")
    part = shared / everything if everything else 0.0
    return {"mio_throttle": part, "lg_throttle": 1.0 - part}
