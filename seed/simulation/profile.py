"""Turn one simulated launch into the record that the report writer stores."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING

from advisor.model import Keyed, Launch
from seed.simulation.execution import run
from seed.simulation.tally import ARITHMETIC, Line, Tally, tally, waits
from seed.simulation.vendor_counters import (
    counters,
    needed_sectors,
    speed_of_light,
    warps_by_registers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from seed.simulation.machine import Kernel, Machine

_CODE_START = 0x500
_INSTRUCTION_SIZE = 16
_SAMPLING_INTERVAL = 2048
_WORTH_SAMPLING = 0.1
_DIGITS = 10
_COUNTED = {  # integers in reports; sums of hardware counters are doubles there
    "inst_executed",
    "thread_inst_executed_true",
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "memory_l2_theoretical_sectors_local",
}


def profile(index: int, kernel: Kernel, machine: Machine, *, started_at: int) -> Launch:
    """Run ``kernel`` on ``machine`` and return what the profiler would have stored."""
    execution = run(kernel, machine)
    totals = tally(execution)
    values = counters(totals)
    highest, members = speed_of_light(values)
    values |= highest
    opcodes = {line.instruction.opcode: line.executed for line in totals.lines}
    name = "sass__inst_executed_per_opcode_with_modifier_all"
    values[name] = totals.executed
    return Launch(
        index=index,
        kernel_name=kernel.signature,
        grid=(kernel.grid, 1, 1),
        block=(kernel.block, 1, 1),
        device=0,
        context=1,
        stream=7,
        process=4242,
        started_at=started_at,
        clock_locked=True,
        counters={key: tidy(key, value) for key, value in values.items()},
        texts={"device__attribute_display_name": machine.name, **members},
        keyed={
            name: _keyed(sorted(opcodes.items())),
            "launch__occupancy_per_register_count": _keyed(warps_by_registers(execution)),
        },
        instructions=_per_instruction(totals),
    )


def tidy(name: str, value: float) -> float:
    """Return ``value`` as a profile has it: counts whole, the rest with ten digits."""
    if isinstance(value, int):
        return value
    if name in _COUNTED:
        return round(value)
    return float(round(value)) if name.endswith(".sum") else float(f"{value:.{_DIGITS}g}")


def _per_instruction(totals: Tally) -> dict[str, Mapping[int, float]]:
    columns: dict[str, Callable[[Line], float]] = {
        "inst_executed": lambda line: line.executed,
        "memory_l2_theoretical_sectors_global": lambda line: (
            line.executed * line.moved.l1_sectors if line.opcode.memory == "global" else 0.0
        ),
        "memory_l2_theoretical_sectors_global_ideal": lambda line: (
            needed_sectors(line) if line.opcode.memory == "global" else 0.0
        ),
        "memory_l2_theoretical_sectors_local": lambda line: (
            line.executed * line.moved.l1_sectors if line.opcode.memory == "local" else 0.0
        ),
        "memory_l1_wavefronts_shared": lambda line: (
            line.executed * line.moved.wavefronts if line.opcode.memory == "shared" else 0.0
        ),
        "memory_l1_wavefronts_shared_ideal": lambda line: line.executed * line.needed_wavefronts,
    }
    found = {name: _at_addresses(map(value, totals.lines)) for name, value in columns.items()}
    found |= dict(_samples(totals))
    return {name: values for name, values in found.items() if values}


def _samples(totals: Tally) -> Iterable[tuple[str, Mapping[int, float]]]:
    """Yield, for what warps mostly waited for, how often a sample found them at which place."""
    reasons = waits(totals)
    whole = sum(reasons.values())
    for reason, cycles in sorted(reasons.items()):
        places = {
            line.instruction.opcode: line.executed * max(1.0, line.moved.wavefronts)
            for line in totals.lines
            if _waits_at(line, reason)
        }
        weight = sum(places.values())
        if cycles < _WORTH_SAMPLING * whole or not weight:
            continue
        samples = totals.executed * cycles / _SAMPLING_INTERVAL / weight
        yield (
            f"smsp__pcsamp_warps_issue_stalled_{reason}",
            _at_addresses(
                samples * places.get(line.instruction.opcode, 0.0) for line in totals.lines
            ),
        )


def _waits_at(line: Line, reason: str) -> bool:
    if reason == "math_pipe_throttle":
        return line.opcode.unit in ARITHMETIC
    if reason in {"long_scoreboard", "lg_throttle"}:
        return line.opcode.memory in {"global", "local"}
    if reason == "mio_throttle":
        return line.opcode.memory == "shared"
    return line.opcode.waits == reason


def _at_addresses(values: Iterable[float]) -> Mapping[int, float]:
    """Return counts of the instructions of a kernel, where not zero, by address in its code."""
    counts = enumerate(map(round, values))
    return {_CODE_START + place * _INSTRUCTION_SIZE: count for place, count in counts if count}


def _keyed(rows: Iterable[tuple[str, float]]) -> Keyed:
    kept = [(key, value) for key, value in rows if not isclose(value, 0.0)]
    return Keyed(keys=tuple(key for key, _ in kept), values=tuple(value for _, value in kept))
