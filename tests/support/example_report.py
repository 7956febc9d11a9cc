"""A report made up by hand: five kernels on a device that does not exist, labelled simulated.

The device does 10 TFLOP/s in fp32 and 1 TB/s, so its ridge is at 10 FLOP/B and times can be worked
out in the head: `stream` moves 4 GB in 5 ms, 4 ms at the roof, 80 % of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from advisor.reports.record.charted import AtLevel, ChartCeiling, Placement, Roofline, Unplaced
from advisor.reports.record.kernel_records import (
    FactGroup,
    Gain,
    KernelName,
    KernelRecord,
    OccupancyLimit,
    OccupancyRecord,
    ResourceTime,
    RuleResult,
    ShownFact,
    Stall,
    Stalls,
    VendorFinding,
)
from advisor.reports.record.records import (
    Collect,
    Condition,
    Figure,
    Provenance,
    Recommendation,
    Report,
    Rest,
    RunRecord,
    RunVerdict,
)

CEILINGS = (
    ChartCeiling(resource="dram", label="DRAM", kind="profiled", value=1.0e12, unit="B/s"),
    ChartCeiling(resource="l2", label="L2", kind="profiled", value=3.0e12, unit="B/s"),
    ChartCeiling(resource="l1", label="L1", kind="profiled", value=1.2e13, unit="B/s"),
    ChartCeiling(
        resource="dram",
        label="DRAM",
        kind="achievable",
        value=0.9e12,
        unit="B/s",
        source="a copy, measured: 0.9 of the peak",
        confidence="medium",
    ),
    ChartCeiling(
        resource="dram",
        label="DRAM",
        kind="nominal",
        value=1.01e12,
        unit="B/s",
        source="data sheet",
        confidence="high",
    ),
    ChartCeiling(resource="fp32", label="FP32", kind="profiled", value=1.0e13, unit="FLOP/s"),
    ChartCeiling(resource="fp16", label="FP16", kind="profiled", value=2.0e13, unit="FLOP/s"),
    ChartCeiling(
        resource="fp32",
        label="FP32",
        kind="nominal",
        value=1.2e13,
        unit="FLOP/s",
        source="data sheet",
        confidence="low",
    ),
)


def kernel(
    name: str,
    *,
    duration: float,
    share: float,
    t_sol: float,
    limiter: str | None,
    intensity: float | None = None,
    has_flops: bool | None = True,
    bandwidth: float | None = None,
    **changes: Any,
) -> KernelRecord:
    """Return a kernel of the example; what is not named follows from the arguments."""
    base = KernelRecord(
        id=name.replace("_", ""),
        name=f"void example::{name}<float, 4>(float const*, float*, int)",
        short_name=name,
        launch_shape="4,096 × 256",
        registers=32,
        launch_count=1,
        launches_excluded=0,
        launches_detailed=1,
        duration=duration,
        duration_min=duration,
        duration_max=duration,
        time_share=share,
        t_sol=t_sol,
        t_sol_complete=True,
        t_sol_known="fp32, dram, l2, l1",
        wasted_time=duration - t_sol,
        roof_fraction=t_sol / duration,
        roof_fraction_achievable=min(1.0, t_sol / duration / 0.9),
        roof_name="profiled DRAM roof",
        limiter=limiter,
        limiter_note="DRAM 80 %",
        roofline_bound="memory",
        evidence_level=1,
        has_flops=has_flops,
        performance=None if intensity is None or bandwidth is None else intensity * bandwidth,
        arithmetic_intensity=intensity,
        arithmetic_intensity_l2=None if intensity is None else intensity * 0.9,
        arithmetic_intensity_l1=None if intensity is None else intensity * 0.4,
        dram_bandwidth=bandwidth,
        dram_fraction=None if bandwidth is None else bandwidth / 1e12,
        compute_utilization=0.3,
        memory_utilization=0.8,
        remark="On the slope at 80 % of the profiled DRAM roof.",
    )
    return replace(base, **changes)


FACTS = (
    FactGroup(
        name="time",
        facts=(
            ShownFact(
                name="duration", label="duration", value=5e-3, unit="s", kind="measured, 1 launch"
            ),
            ShownFact(name="t_sol", label="time at the roof", value=4e-3, unit="s", kind="derived"),
        ),
    ),
    FactGroup(
        name="traffic",
        facts=(
            ShownFact(name="dram_bytes", label="DRAM traffic", value=4e9, unit="B", kind="counted"),
            ShownFact(
                name="l2_hit_rate", label="hit rate, L2", value=0.578, unit="share", kind="measured"
            ),
            ShownFact(
                name="spill_bytes",
                label="register spills",
                value=None,
                unit="B",
                kind="collect with --set full",
            ),
        ),
    ),
)
RESULTS = (
    RuleResult(
        outcome="fires",
        rule_id="memory/bytes-in-flight",
        title="Put more bytes in flight",
        severity="warning",
        text="800 GB/s is 89 % of what this launch could achieve.",
        gain=Gain(low=1e-4, likely=5e-4, high=1e-3),
        next_command="advisor show stream",
    ),
    RuleResult(
        outcome="ruled out",
        rule_id="occupancy/registers",
        title="Raise occupancy",
        severity="note",
        text="Limited by registers, but DRAM is 80 % busy.",
        gain=None,
    ),
    RuleResult(
        outcome="unknown",
        rule_id="memory/uncoalesced-loads",
        title="Uncoalesced loads",
        severity="warning",
        text="Needs load efficiency.",
        gain=None,
    ),
)
DETAIL: dict[str, Any] = {
    "facts": FACTS,
    "results": RESULTS,
    "resources": (
        ResourceTime(label="DRAM", group="memory", time=4e-3, share=0.8, binds=True),
        ResourceTime(label="L2", group="memory", time=1.5e-3, share=0.3, binds=False),
        ResourceTime(label="FP32 pipe", group="compute", time=1e-4, share=0.02, binds=False),
    ),
    "stalls": Stalls(
        latency=14.4,
        entries=(
            Stall(
                label="long scoreboard", about="data from L1 or beyond", share=0.7, neutral=False
            ),
            Stall(label="wait", about="fixed latency", share=0.15, neutral=False),
            Stall(label="selected", about="issuing", share=0.1, neutral=True),
        ),
        other_count=6,
        other_share=0.05,
    ),
    "occupancy": OccupancyRecord(
        theoretical=0.75,
        achieved=0.68,
        block_size=256,
        limits=(
            OccupancyLimit(label="registers", blocks=6, binds=True),
            OccupancyLimit(label="warps", blocks=8, binds=False),
            OccupancyLimit(label="block slots", blocks=32, binds=False),
        ),
    ),
    "vendor": (
        VendorFinding(
            rule="SOLBottleneck",
            title="High Memory Throughput",
            text="Memory is more heavily utilized than Compute.",
            severity="warning",
            estimate=0.12,
            scope="global",
        ),
    ),
    "actions": (1,),
}


def kernels() -> tuple[KernelRecord, ...]:
    """Return the five kernels, most wasted time first: 20 ms in all, 10 ms of it wasted."""
    return (
        kernel(
            "matrix_product",
            duration=8e-3,
            share=0.40,
            t_sol=2e-3,
            limiter="compute",
            intensity=25.0,
            bandwidth=1e11,
            remark="Right of the ridge.",
            roof_name="profiled FP32 roof",
            actions=(2,),
        ),
        kernel(
            "stencil_step",
            duration=5e-3,
            share=0.25,
            t_sol=3e-3,
            limiter="latency",
            intensity=2.0,
            bandwidth=6e11,
        ),
        kernel(
            "stream",
            duration=5e-3,
            share=0.25,
            t_sol=4e-3,
            limiter="memory",
            intensity=0.25,
            bandwidth=8e11,
            **DETAIL,
        ),
        kernel(
            "reduction",
            duration=1.5e-3,
            share=0.075,
            t_sol=0.9e-3,
            limiter="balanced",
            intensity=9.0,
            bandwidth=5e11,
            smaller=1,
        ),
        kernel(
            "transpose",
            duration=0.5e-3,
            share=0.025,
            t_sol=0.1e-3,
            limiter=None,
            has_flops=False,
            bandwidth=2e11,
        ),
    )


def example_report() -> Report:
    """Return the whole example."""
    listed = kernels()
    placed = tuple(
        Placement(
            kernel_id=k.id,
            x=k.arithmetic_intensity,
            y=k.performance or 0.0,
            levels=tuple(
                AtLevel(level=level, label=label, x=x)
                for level, label, x in (
                    ("l2", "L2", k.arithmetic_intensity_l2),
                    ("l1", "L1", k.arithmetic_intensity_l1),
                )
                if x is not None
            ),
            roof=min(1e13, (k.arithmetic_intensity or 0.0) * 1e12),
        )
        for k in listed
        if k.has_flops
    )
    return Report(
        run=RunRecord(
            run_id="0123456789ab",
            title="example.ncu-rep",
            file_name="example.ncu-rep",
            file_hash="0123456789ab" + "0" * 52,
            file_size=12345,
            profiler="Nsight Compute",
            profiler_version="2024.1.0",
            driver_version="550.54",
            command_line="ncu --set full ./example",
            program="./example",
            host="host",
            started_at=1.7e9,
            launch_count=5,
            variant_count=5,
            launches_excluded=0,
            simulated=True,
        ),
        verdict=RunVerdict(
            sentence="This run is compute-bound. Start by using tensor cores: saves 3.0 ms.",
            paragraph="40 % of the profiled kernel time runs at 25 % of the profiled FP32 roof.",
            figures=(
                Figure(label="profiled kernel time", value="20.0", unit="ms", note="5 launches"),
                Figure(label="of profiled roof", value="50", unit="%", note="10.0 ms wasted"),
            ),
        ),
        duration=20e-3,
        t_sol=10e-3,
        wasted_time=10e-3,
        actions=(
            action(1, "memory/bytes-in-flight", "Put more bytes in flight", 5e-4, listed[2]),
            action(2, "compute/tensor", "Use the tensor cores", 3e-3, listed[0]),
        ),
        more_actions=1,
        left_alone=Rest(kernel_count=2, duration=2e-3, duration_share=0.1),
        not_judged=None,
        collect=Collect(
            rule_count=4, kernel_count=3, most_valuable=1e-3, command="ncu --set full ./example"
        ),
        conditions=(
            Condition(label="device", value="Example GPU", note="CC 9.9, 100 SM"),
            Condition(label="clock lock", value="unknown", note="not in the report", departs=True),
        ),
        device="Example GPU",
        ceilings=CEILINGS,
        rooflines=(
            Roofline(
                id="fp32",
                label="FP32",
                device="Example GPU",
                ceilings=CEILINGS,
                binding="fp32",
                placements=placed,
                unplaced=(
                    Unplaced(
                        kernel_id="transpose",
                        reason="without floating-point work",
                        note="20 % of DRAM roof",
                    ),
                ),
                simulated=True,
                remarks=("tensor FP16 80.0 TFLOP/s, no kernel uses it",),
            ),
        ),
        plane=None,
        kernels=listed,
        provenance=Provenance(
            advisor_version="0.1.0",
            schema_revision="0001",
            database="advisor.duckdb",
            rules="25 shipped, 0 overridden",
            ceilings=("profiled: this file", "nominal: data sheet"),
            report_command="advisor report 0123456789ab --html",
            query_command="advisor query \"select * from kernels where run_id = '0123456789ab'\"",
            written_at=1.7e9,
        ),
    )


def action(
    number: int, rule_id: str, title: str, likely: float, about: KernelRecord
) -> Recommendation:
    """Return an action on one kernel whose gain is from half of ``likely`` to twice as much."""
    return Recommendation(
        number=number,
        rule_id=rule_id,
        title=title,
        headline="loading more at once",
        severity="warning",
        kernels=(KernelName(id=about.id, short_name=about.short_name),),
        gain=Gain(low=likely / 2, likely=likely, high=likely * 2),
        gain_share=likely / 20e-3,
        evidence="800 GB/s is 89 % of what this launch could achieve.",
        why="Too few bytes are in flight to fill the queue.",
        steps=("Let each thread load 16 bytes.", "Issue all loads before the first use."),
        verify=("DRAM bandwidth goes up (now 800 GB/s)", "Time goes down (now 3.00 ms)"),
        caveats=("Alignment must allow it.",),
        confidence="medium",
        confidence_reason="one exclusion not checked",
        next_command=f"advisor show {about.short_name}",
        most={about.id: (likely * 2, likely * 8)},
    )
