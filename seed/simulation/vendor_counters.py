"""Say what a launch did under the names that Nsight Compute gives its counters.

Values are in the profiler's base units: ns, byte, Hz, percent, cycles.
Source of the names: Nsight Compute, Kernel Profiling Guide, "Metrics Reference".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seed.simulation.execution import SECTOR, fit
from seed.simulation.tally import waits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seed.simulation.execution import Execution
    from seed.simulation.machine import Machine
    from seed.simulation.tally import Line, Tally

ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
ACTIVE = ".avg.pct_of_peak_sustained_active"

INTEGER = ("IADD3", "IMAD", "ISETP", "LOP3")

STALLS = (
    *("barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss", "lg_throttle"),
    *("long_scoreboard", "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction"),
    *("not_selected", "selected", "short_scoreboard", "sleeping", "tex_throttle", "wait"),
)


def counters(totals: Tally) -> dict[str, float]:
    """Return every scalar counter of a launch."""
    return {
        **_time(totals.execution),
        **_work(totals),
        **_dram(totals),
        **_caches(totals),
        **_accesses(totals),
        **_shared(totals),
        **_pipes(totals),
        **_warps(totals),
        **_launch(totals.execution),
        **_device(totals.execution.machine),
        "profiler__replayer_passes": 40,
    }


def speed_of_light(values: dict[str, float]) -> tuple[dict[str, float], dict[str, str]]:
    """Return the two speed-of-light percentages, and the members each is the largest of."""
    found: dict[str, float] = {}
    members: dict[str, str] = {}
    for name, units in (
        (
            "sm__throughput",
            (
                *("sm__inst_executed_pipe_lsu", "sm__inst_executed_pipe_xu", "sm__issue_active"),
                *("sm__pipe_alu_cycles_active", "sm__pipe_fma_cycles_active"),
                *("sm__pipe_fp64_cycles_active", "sm__pipe_tensor_cycles_active"),
            ),
        ),
        (
            "gpu__compute_memory_throughput",
            (
                *("dram__cycles_active", "l1tex__data_pipe_lsu_wavefronts"),
                *("l1tex__lsuin_requests", "l1tex__m_l1tex2xbar_req_cycles_active"),
                *("l1tex__m_xbar2l1tex_read_sectors", "lts__t_sectors"),
            ),
        ),
    ):
        found[name + ELAPSED] = max(values[unit + ELAPSED] for unit in units)
        members["breakdown:" + name + ELAPSED] = ",".join(unit + ELAPSED for unit in units)
    return found, members


def device_attributes(machine: Machine) -> dict[str, float]:
    """Return what the session says about the device."""
    major, minor = machine.compute_capability
    return {
        "compute_capability_major": major,
        "compute_capability_minor": minor,
        "multiprocessor_count": machine.multiprocessors,
        "num_schedulers_per_multiprocessor": machine.schedulers,
        "max_warps_per_multiprocessor": machine.max_warps,
        "max_blocks_per_multiprocessor": machine.max_blocks,
        "max_registers_per_multiprocessor": machine.registers,
        "max_shared_memory_per_multiprocessor": machine.shared_configurations[-1],
        "warp_size": 32,
        "clock_rate": int(machine.boost_clock / 1000),
        "memory_clock_rate": int(machine.memory_clock / 1000),
        "global_memory_bus_width": machine.bus_width,
        "l2_cache_size": machine.l2_bytes,
        "total_memory": machine.memory_bytes,
    }


def _device(machine: Machine) -> dict[str, float]:
    """Return the attributes that the profiler repeats for every launch."""
    elsewhere = {"clock_rate", "memory_clock_rate", "global_memory_bus_width", "total_memory"}
    return {
        "device__attribute_" + name: value
        for name, value in device_attributes(machine).items()
        if name not in elsewhere
    }


def _time(execution: Execution) -> dict[str, float]:
    machine = execution.machine
    idle = machine.multiprocessors - sum(share.multiprocessors for share in execution.shares)
    least = 0.0 if idle else min(share.cycles for share in execution.shares)
    l2_cycles = execution.duration * machine.l2_clock
    clocks = {
        "sm": machine.sm_clock,
        "smsp": machine.sm_clock,
        "l1tex": machine.sm_clock,
        "lts": machine.l2_clock,
        "dram": machine.memory_clock,
    }
    return {
        "gpu__time_duration.sum": execution.duration * 1e9,
        "sm__cycles_elapsed.avg": execution.elapsed,
        "sm__cycles_active.avg": execution.active / machine.multiprocessors,
        "sm__cycles_active.max": max(share.cycles for share in execution.shares),
        "sm__cycles_active.min": least,
        "lts__cycles_active.avg": 0.98 * l2_cycles,
        "lts__cycles_active.max": 0.99 * l2_cycles,
        **{f"{unit}__cycles_elapsed.avg.per_second": clock for unit, clock in clocks.items()},
    }


def _work(totals: Tally) -> dict[str, float]:
    execution = totals.execution
    units = execution.machine.multiprocessors
    peaks = {"ffma": 64, "dfma": 32, "hfma": 128}
    rates = {
        kind: totals.flop(kind) / execution.elapsed
        for kind in ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma", "hadd", "hmul", "hfma")
    }
    threads = execution.kernel.active_threads
    executed, matrix = "sass_thread_inst_executed_op", "sm__ops_path_tensor_src_fp16_dst_fp32"
    return {
        **{
            f"smsp__{executed}_{kind}_pred_on.sum.per_cycle_elapsed": rate
            for kind, rate in rates.items()
        },
        **{
            f"sm__{executed}_{kind}_pred_on.sum.peak_sustained": float(peak * units)
            for kind, peak in peaks.items()
        },
        f"smsp__{executed}_integer_pred_on.sum": threads * _of_opcodes(totals, INTEGER),
        f"smsp__{executed}_conversion_pred_on.sum": threads * _of_opcodes(totals, ("F2F",)),
        f"{matrix}_sparsity_off.sum": totals.flop("tensor"),
        f"{matrix}_sparsity_off.sum.peak_sustained": 2048.0 * units,
    }


def _of_opcodes(totals: Tally, prefixes: tuple[str, ...]) -> float:
    return sum(
        line.executed for line in totals.lines if line.instruction.opcode.startswith(prefixes)
    )


def _dram(totals: Tally) -> dict[str, float]:
    execution, machine = totals.execution, totals.execution.machine
    rate = (totals.dram_read + totals.dram_written) / execution.duration
    used = 100 * rate / (machine.dram_bytes_per_cycle * machine.memory_clock)
    return {
        "dram__bytes_read.sum": totals.dram_read,
        "dram__bytes_write.sum": totals.dram_written,
        "dram__bytes.sum.per_second": rate,
        "dram__bytes.sum.peak_sustained": machine.dram_bytes_per_cycle,
        "dram__cycles_active" + ELAPSED: used,
        "gpu__dram_throughput" + ELAPSED: used,
    }


def _caches(totals: Tally) -> dict[str, float]:
    execution, machine = totals.execution, totals.execution.machine
    asked = totals.sectors(lambda moved: moved.l1_sectors)
    loads = totals.sectors(lambda moved: moved.l1_sectors, store=False)
    read = totals.sectors(lambda moved: moved.l2_sectors, store=False)
    written = totals.sectors(lambda moved: moved.l2_sectors, store=True)
    missed = totals.sectors(lambda moved: moved.dram_sectors)
    cycles = execution.elapsed * machine.multiprocessors
    peak = machine.l2_slices * machine.l2_sectors_per_slice * machine.l2_clock
    port = machine.l1_port_bytes / SECTOR
    l2_used = 100 * (read + written) / execution.duration / peak
    read_missed = totals.dram_read / SECTOR
    stages = {
        "l1tex__data_pipe_lsu_wavefronts": totals.wavefronts("global", "local", "shared"),
        "l1tex__lsuin_requests": totals.unit_cycles("lsu"),
        "l1tex__m_xbar2l1tex_read_sectors": read / port,
        "l1tex__m_l1tex2xbar_req_cycles_active": written / port,
    }
    used = {name: 100 * busy / cycles for name, busy in stages.items()}
    return {
        **{name + ELAPSED: share for name, share in used.items()},
        "l1tex__throughput" + ELAPSED: max(used.values()),
        "lts__t_sectors" + ELAPSED: l2_used,
        "lts__throughput" + ELAPSED: l2_used,
        "lts__t_sectors.sum": read + written,
        "lts__t_sectors.avg": (read + written) / machine.l2_slices,
        "lts__t_sectors.avg.peak_sustained": machine.l2_sectors_per_slice,
        "lts__t_sectors_srcunit_tex_op_read.sum": read,
        "lts__t_sectors_srcunit_tex_op_write.sum": written,
        **{
            f"lts__t_sectors_aperture_{elsewhere}_op_{way}.sum": 0.0
            for elsewhere in ("sysmem", "peer")
            for way in ("read", "write")
        },
        "l1tex__m_xbar2l1tex_read_bytes.sum": read * SECTOR,
        "l1tex__m_l1tex2xbar_write_bytes.sum": written * SECTOR,
        "l1tex__t_sector_hit_rate.pct": 100 * _share(loads - read, asked),
        "lts__t_sector_hit_rate.pct": 100 * (1 - _share(missed, read + written)),
        "lts__t_sector_op_read_hit_rate.pct": 100 * (1 - _share(read_missed, read)),
    }


def _accesses(totals: Tally) -> dict[str, float]:
    found: dict[str, float] = {}
    for memory in ("global", "local"):
        for suffix, store in (("ld", False), ("st", True)):
            lines = tuple(totals.of(memory, store=store))
            requests = sum(line.executed for line in lines)
            sectors = sum(line.executed * line.moved.l1_sectors for line in lines)
            at = f"pipe_lsu_mem_{memory}_op_{suffix}"
            found[f"l1tex__t_sectors_{at}.sum"] = sectors
            if memory == "local":
                found[f"smsp__sass_inst_executed_op_{memory}_{suffix}.sum"] = requests
            else:
                found[f"l1tex__t_requests_{at}.sum"] = requests
                ratio = SECTOR * _share(sum(needed_sectors(line) for line in lines), sectors)
                name = f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{suffix}.ratio"
                found[name] = ratio
    for bits in (8, 16, 32, 64, 128):
        found[f"smsp__sass_inst_executed_op_memory_{bits}b.sum"] = sum(
            line.executed
            for memory in ("global", "local")
            for line in totals.of(memory)
            if line.instruction.bits == bits
        )
    for kind in ("atom", "red"):
        found[f"l1tex__t_requests_pipe_lsu_mem_global_op_{kind}.sum"] = 0.0
        found[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{kind}.sum"] = 0.0
    needed = sum(needed_sectors(line) for line in totals.of("global"))
    touched = sum(line.executed * line.moved.l1_sectors for line in totals.of("global"))
    local = sum(line.executed * line.moved.l1_sectors for line in totals.of("local"))
    return {
        **found,
        "memory_l2_theoretical_sectors_global": touched,
        "memory_l2_theoretical_sectors_global_ideal": needed,
        "memory_l2_theoretical_sectors_local": local,
    }


def needed_sectors(line: Line) -> float:
    """Return the sectors that the bytes of all executions of a global access would fill."""
    return line.executed * line.instruction.needed


def _shared(totals: Tally) -> dict[str, float]:
    found: dict[str, float] = {}
    taken = needed = 0.0
    for suffix, store in (("ld", False), ("st", True)):
        lines = tuple(totals.of("shared", store=store))
        passes = sum(line.executed * line.moved.wavefronts for line in lines)
        without = sum(line.executed * line.needed_wavefronts for line in lines)
        at = f"pipe_lsu_mem_shared_op_{suffix}.sum"
        found[f"smsp__sass_inst_executed_op_shared_{suffix}.sum"] = sum(
            line.executed for line in lines
        )
        found[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{suffix}.sum"] = passes
        found[f"l1tex__data_bank_conflicts_{at}"] = passes - without
        taken, needed = taken + passes, needed + without
    return {
        **found,
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": taken,
        "memory_l1_wavefronts_shared": taken,
        "memory_l1_wavefronts_shared_ideal": needed,
    }


def _pipes(totals: Tally) -> dict[str, float]:
    execution, machine = totals.execution, totals.execution.machine
    elapsed = execution.elapsed * machine.multiprocessors
    issued = 100 * totals.executed / machine.schedulers
    found = {
        "sm__issue_active" + ELAPSED: issued / elapsed,
        "sm__inst_executed_pipe_uniform" + ACTIVE: 0.0,
        "sm__inst_executed_pipe_fp16" + ACTIVE: 0.0,
    }
    for unit in ("alu", "fma", "fp64", "tensor"):
        busy = 100 * totals.unit_cycles(unit)
        found[f"sm__pipe_{unit}_cycles_active{ELAPSED}"] = busy / elapsed
        found[f"sm__pipe_{unit}_cycles_active{ACTIVE}"] = busy / execution.active
    for unit in ("lsu", "xu"):
        busy = 100 * totals.unit_cycles(unit)
        found[f"sm__inst_executed_pipe_{unit}{ACTIVE}"] = busy / execution.active
        found[f"sm__inst_executed_pipe_{unit}{ELAPSED}"] = busy / elapsed
    return found


def _warps(totals: Tally) -> dict[str, float]:
    execution, machine = totals.execution, totals.execution.machine
    executed, active = totals.executed, execution.active
    reasons = waits(totals)
    issue = executed / machine.schedulers / active
    resident = execution.warp_cycles / active
    kernel = execution.kernel
    most = execution.residency.fitting * kernel.warps_per_block
    branches = sum(line.executed for line in totals.lines if line.opcode.branch)
    diverged = execution.warps * kernel.divergent_branches
    stalled = "smsp__average_warps_issue_stalled"
    return {
        **{f"{stalled}_{why}_per_issue_active.ratio": reasons.get(why, 0.0) for why in STALLS},
        "smsp__average_warp_latency_per_inst_issued.ratio": sum(reasons.values()),
        "smsp__issue_active.avg.per_cycle_active": issue,
        "smsp__warps_active.avg.per_cycle_active": resident / machine.schedulers,
        "smsp__warps_eligible.avg.per_cycle_active": issue * (1 + reasons.get("not_selected", 0)),
        "sm__warps_active.avg.per_cycle_active": resident,
        "sm__warps_active" + ACTIVE: 100 * resident / machine.max_warps,
        "sm__maximum_warps_per_active_cycle_pct": 100 * most / machine.max_warps,
        "smsp__inst_executed.sum": executed,
        "smsp__inst_issued.sum": executed,
        "smsp__inst_executed_op_branch.sum": branches,
        "smsp__sass_branch_targets_threads_divergent.sum": diverged,
        "smsp__thread_inst_executed_per_inst_executed.ratio": kernel.active_threads,
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": kernel.active_threads,
        "inst_executed": executed,
        "thread_inst_executed_true": executed * kernel.active_threads,
    }


def _launch(execution: Execution) -> dict[str, float]:
    kernel, residency, machine = execution.kernel, execution.residency, execution.machine
    slots = residency.fitting * machine.multiprocessors
    return {
        "launch__grid_size": kernel.grid,
        "launch__block_size": kernel.block,
        "launch__thread_count": kernel.grid * kernel.block,
        "launch__device_id": 0,
        "launch__sm_count": machine.multiprocessors,
        "launch__waves_per_multiprocessor": kernel.grid / slots,
        "launch__registers_per_thread": kernel.registers,
        "launch__shared_mem_per_block_static": kernel.shared_static,
        "launch__shared_mem_per_block_dynamic": kernel.shared_dynamic,
        "launch__shared_mem_per_block_driver": machine.shared_reserved,
        "launch__shared_mem_config_size": residency.shared_configured,
        "launch__occupancy_limit_registers": residency.registers,
        "launch__occupancy_limit_shared_mem": residency.shared,
        "launch__occupancy_limit_warps": residency.warps,
        "launch__occupancy_limit_blocks": residency.blocks,
    }


def warps_by_registers(execution: Execution) -> Iterator[tuple[str, float]]:
    """Yield (registers per thread, resident warps): what another number of registers would give."""
    for registers in range(32, 256, 32):
        fitting = fit(execution.kernel, execution.machine, registers=registers).fitting
        if fitting:
            yield str(registers), fitting * execution.kernel.warps_per_block


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
