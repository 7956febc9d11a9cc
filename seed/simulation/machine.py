"""Read the descriptions of the simulated machine and of the kernels that run on it.

``machine.yaml`` and ``kernels.yaml`` say what the figures mean; README.md says how they are used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Opcode:
    """What one warp instruction costs; ``rate`` is per multiprocessor and cycle."""

    prefix: str
    unit: str
    rate: float
    waits: str
    latency: float = 0.0
    memory: str | None = None
    store: bool = False
    branch: bool = False
    flop: tuple[str, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A GPU as the simulation sees it: SI units, rates per multiprocessor and cycle."""

    name: str
    chip: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    schedulers: int
    max_warps: int
    max_blocks: int
    registers: int
    register_unit: int
    shared_configurations: tuple[int, ...]
    shared_unit: int
    shared_reserved: int
    l2_bytes: int
    l2_slices: int
    memory_bytes: int
    bus_width: int
    boost_clock: float
    memory_clock: float
    l2_clock: float
    dram_bytes_per_cycle: float
    l2_sectors_per_slice: float
    l1_port_bytes: float
    wavefront_bytes: int
    efficiency: Mapping[str, float]
    launch_overhead: float
    overlap_power: float
    opcodes: tuple[Opcode, ...]
    load_latency: Mapping[str, float]
    sm_clock: float = 1.275e9

    def reachable(self, unit: str) -> float:
        """Return the share of the peak of ``unit`` that kernels reach at best."""
        return self.efficiency.get(unit, self.efficiency["others"])

    def opcode(self, name: str) -> Opcode:
        """Return what the instruction ``name`` costs; the last entry fits everything."""
        return next(opcode for opcode in self.opcodes if name.startswith(opcode.prefix))


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One instruction of a kernel, as often as a warp executes it.

    ``sectors`` are the 32-byte sectors that one execution touches, ``needed`` those that its bytes
    would fill; ``ways`` the passes that one shared access takes, ``needed_ways`` those without bank
    conflicts (the same if not given); ``in_flight`` how many executions a warp has on the way
    before it waits for the first; ``wait`` the cycles spent at a barrier; ``bits`` what a thread
    moves at once.
    """

    opcode: str
    count: float
    sectors: float = 4.0
    needed: float = 4.0
    l1_hit: float = 0.0
    l2_hit: float = 0.0
    ways: float = 1.0
    needed_ways: float | None = None
    in_flight: float = 1.0
    wait: float = 0.0
    bits: int = 32


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A kernel and its launch; ``active_threads`` of a warp take part in an average instruction."""

    name: str
    signature: str
    grid: int
    block: int
    registers: int
    instructions: tuple[Instruction, ...]
    shared_static: int = 0
    shared_dynamic: int = 0
    active_threads: float = 32.0
    divergent_branches: float = 0.0
    independent: float = 2.0

    @property
    def warps_per_block(self) -> int:
        """Warps that a block of this kernel has."""
        return -(-self.block // 32)

    def changed(self, changes: Mapping[str, Any]) -> Kernel:
        """Return this kernel after an edit: ``{opcode: {field: value}}`` or ``{field: value}``."""
        plain = {key: value for key, value in changes.items() if not isinstance(value, dict)}
        edits = {key: value for key, value in changes.items() if isinstance(value, dict)}
        unknown = edits.keys() - {instruction.opcode for instruction in self.instructions}
        if unknown:
            raise ValueError(f"{self.name} has no instruction {', '.join(sorted(unknown))}")
        instructions = tuple(
            replace(instruction, **edits.get(instruction.opcode, {}))
            for instruction in self.instructions
        )
        return replace(self, instructions=instructions, **plain)


def load_machine(path: Path = HERE / "machine.yaml") -> Machine:
    """Read the machine."""
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    opcodes = tuple(
        Opcode(**(entry | {"flop": tuple(entry["flop"]) if "flop" in entry else None}))
        for entry in raw.pop("opcodes")
    )
    for name in ("compute_capability", "shared_configurations"):
        raw[name] = tuple(raw[name])
    return Machine(opcodes=opcodes, **raw)


def load_kernels(path: Path = HERE / "kernels.yaml") -> tuple[Kernel, ...]:
    """Read the kernels in the order in which they are launched."""
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(_kernel(name, dict(entry)) for name, entry in raw["kernels"].items())


def _kernel(name: str, entry: dict[str, Any]) -> Kernel:
    entry.pop("about")
    code = tuple(
        _instruction(opcode, cost if isinstance(cost, dict) else {"count": cost})
        for opcode, cost in entry.pop("instructions").items()
    )
    return Kernel(name=name, instructions=code, **entry)


def _instruction(opcode: str, cost: dict[str, Any]) -> Instruction:
    """Return an instruction; its width is in its name, as in LDG.E.128."""
    last = opcode.rsplit(".", 1)[-1]
    return Instruction(opcode=opcode, bits=int(last) if last in {"64", "128"} else 32, **cost)
