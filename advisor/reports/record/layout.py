"""Which facts a report shows of a kernel, in which order, under which words.

Only names and labels stand here; units come from the vocabulary. ``share`` values are shown in
percent; an ``essential`` one is shown as unknown where it is missing, others are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LABELS: Mapping[str, str] = {
    "dram": "DRAM",
    "l2": "L2",
    "l1": "L1",
    "shared": "shared memory",
    "fp16": "FP16",
    "fp32": "FP32",
    "fp64": "FP64",
    "tensor": "tensor",
}
_BOUND = {"balanced": "bound by memory and compute alike"}
MEMORY = ("dram", "l2", "l1", "shared")
PRECISIONS = ("fp64", "fp32", "fp16", "tensor")

STALLS: Mapping[str, str] = {
    "long_scoreboard": "data from L1 or beyond",
    "short_scoreboard": "shared memory, special functions",
    "lg_throttle": "queue of global accesses full",
    "mio_throttle": "memory input-output queue full",
    "tex_throttle": "texture queue full",
    "math_pipe_throttle": "arithmetic pipe busy",
    "wait": "fixed latency",
    "barrier": "other warps at a barrier",
    "membar": "memory fence",
    "branch_resolving": "branch target",
    "no_instruction": "instruction fetch",
    "imc_miss": "immediate-constant cache",
    "drain": "stores at exit",
    "dispatch": "dispatcher held it back",
    "sleeping": "put to sleep",
    "gmma": "warp-group matrix work",
    "misc": "other reasons",
    "not_selected": "ready, another warp issued",
    "selected": "issuing",
}
# How a quantity was had, by the label of the formula that gave it.
SOURCES: Mapping[str, str] = {
    "counted": "counted",
    "rate": "counted per cycle",
    "opcodes": "from opcodes",
    "sectors": "sectors × 32 B",
}
NEUTRAL_STALLS = frozenset({"not_selected", "selected"})

LIMITS: Mapping[str, tuple[str, str]] = {
    "registers": ("blocks_by_registers", "occupancy_limit_registers"),
    "shared memory": ("blocks_by_shared_memory", "occupancy_limit_shared_memory"),
    "warps": ("blocks_by_warps", "occupancy_limit_warps"),
    "block slots": ("blocks_by_blocks", "occupancy_limit_blocks"),
}


@dataclass(frozen=True)
class Entry:
    """One line of the list of facts.

    ``of`` names a fact that is this value's share of a peak; ``kind`` says how a value came about
    that is not measured. ``part_of`` names a fact beside which an equal value says nothing.
    """

    name: str
    label: str
    of: str = ""
    of_what: str = ""
    kind: str = "derived"
    part_of: str = ""
    share: bool = False
    essential: bool = False


@dataclass(frozen=True)
class Group:
    """Facts that stand together."""

    name: str
    entries: tuple[Entry, ...]


_ALL = "arithmetic_intensity"
_LEAST = "by the operation"
_MIX = "for its mix of work"
_RATIO = "measured / needed"

GROUPS = (
    Group(
        "time",
        (
            Entry("duration", "duration", essential=True),
            Entry("duration_median", "median launch"),
            Entry("t_sol", "speed-of-light time", essential=True),
            Entry("t_least", "least time", kind="by the busiest unit", part_of="t_sol"),
            Entry("t_sol_achievable", "achievable time"),
            Entry("wasted_time", "wasted time", essential=True),
            Entry("roof_fraction", "of profiled roof", share=True, essential=True),
            Entry("roof_fraction_achievable", "of achievable roof", share=True),
        ),
    ),
    Group(
        "work",
        (
            Entry("flops", "work, all FLOP", essential=True),
            Entry("flops_fp64", "work, FP64 vector"),
            Entry("flops_fp32", "work, FP32 vector"),
            Entry("flops_fp16", "work, FP16 vector"),
            Entry("flops_tensor", "work, tensor"),
            Entry("ops_tensor_integer", "integer work, tensor"),
            Entry("performance_fp64", "performance, FP64", "fraction_fp64", "of profiled"),
            Entry("performance_fp32", "performance, FP32", "fraction_fp32", "of profiled"),
            Entry("performance_fp16", "performance, FP16", "fraction_fp16", "of profiled"),
            Entry("performance_tensor", "performance, tensor", "fraction_tensor", "of peak"),
            Entry("unfused_share_fp64", "FP64 not fused", share=True),
            Entry("unfused_share_fp32", "FP32 not fused", share=True),
        ),
    ),
    Group(
        "traffic",
        (
            Entry("dram_bytes", "DRAM traffic", essential=True),
            Entry("dram_read_bytes", "DRAM read"),
            Entry("dram_write_bytes", "DRAM written"),
            Entry("dram_bandwidth", "bandwidth, DRAM", "dram_fraction", "of profiled"),
            Entry("l2_bytes", "L2 traffic"),
            Entry("l2_bandwidth", "bandwidth, L2", "l2_fraction", "of profiled"),
            Entry("l1_bytes", "L1 traffic"),
            Entry("l1_bandwidth", "bandwidth, L1", "l1_fraction", "of profiled"),
            Entry("shared_bytes", "shared-memory traffic"),
            Entry("l1_hit_rate", "hit rate, L1", share=True),
            Entry("l2_hit_rate", "hit rate, L2", share=True),
        ),
    ),
    Group(
        "intensity",
        (
            Entry("arithmetic_intensity", "intensity, DRAM", kind="all FLOP", essential=True),
            Entry("arithmetic_intensity_fp64", "intensity, DRAM, FP64", part_of=_ALL),
            Entry("arithmetic_intensity_fp32", "intensity, DRAM, FP32", part_of=_ALL),
            Entry("arithmetic_intensity_fp16", "intensity, DRAM, FP16", part_of=_ALL),
            Entry("arithmetic_intensity_tensor", "intensity, DRAM, tensor", part_of=_ALL),
            Entry("arithmetic_intensity_l2", "intensity, L2", kind="all FLOP"),
            Entry("arithmetic_intensity_l1", "intensity, L1", kind="all FLOP"),
            Entry("effective_peak", "compute roof", kind=_MIX),
            Entry("ridge_point", "ridge point", kind=_MIX),
        ),
    ),
    Group(
        "operation",
        (
            Entry("operation", "operation", kind="configured"),
            Entry("t_operation", "time needed", "operation_fraction", "of run time"),
            Entry("required_bytes", "DRAM traffic needed", kind=_LEAST),
            Entry("traffic_per_required", "DRAM traffic over that needed", kind=_RATIO),
            Entry("avoidable_bytes", "DRAM traffic beyond that needed", kind="measured - needed"),
            Entry("required_flops", "work needed", kind=_LEAST),
            Entry("work_per_required", "work over that needed", kind=_RATIO),
        ),
    ),
    Group(
        "utilisation",
        (
            Entry("compute_utilization", "compute utilisation", share=True, essential=True),
            Entry("memory_utilization", "memory utilisation", share=True, essential=True),
            Entry("limiting_unit", "busiest unit"),
            Entry("issue_slot_utilization", "issue slots used", share=True),
            Entry("eligible_warps", "eligible warps"),
            Entry("sm_busy", "{UNITS} active", share=True),
            Entry("sm_imbalance", "imbalance of {UNITS}", share=True),
            Entry("sm_clock", "clock, {UNITS}"),
        ),
    ),
    Group(
        "launch",
        (
            Entry("grid_size", "blocks", essential=True),
            Entry("block_size", "threads in a block", essential=True),
            Entry("waves", "waves", essential=True),
            Entry("tail_share", "slots empty in the last wave", share=True),
            Entry("registers_per_thread", "registers per thread"),
            Entry("shared_memory_static", "shared memory, static"),
            Entry("shared_memory_dynamic", "shared memory, dynamic"),
            Entry("occupancy_achieved", "occupancy, achieved", share=True),
        ),
    ),
    Group(
        "access",
        (
            Entry("load_efficiency", "bytes used of loaded sectors", share=True),
            Entry("store_efficiency", "bytes used of stored sectors", share=True),
            Entry("load_sectors_per_request", "sectors per load"),
            Entry("store_sectors_per_request", "sectors per store"),
            Entry("excess_sector_share", "sectors that coalescing would save", share=True),
            Entry("shared_load_ways", "passes per shared load"),
            Entry("shared_store_ways", "passes per shared store"),
            Entry("local_traffic_share", "local memory in L1 traffic", share=True),
            Entry("divergence", "idle threads", share=True),
        ),
    ),
)


def limited_by(limiter: str | None) -> str:
    """Return what limits a kernel, in words.

    >>> limited_by("memory"), limited_by("balanced")
    ('memory-bound', 'bound by memory and compute alike')
    """
    if limiter is None:
        return "limiter undetermined"
    return _BOUND.get(limiter, f"{limiter}-bound")
