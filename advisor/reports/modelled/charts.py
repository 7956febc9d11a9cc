"""The charts of a model: the report's roofline with modelled kernels, and steps as a waterfall."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from advisor import wording
from advisor.records import dataclass
from advisor.reports.charts.drawing import SIZES, Drawing
from advisor.reports.charts.roofline import draw_roofline
from advisor.reports.modelled.ceilings import ceiling_label
from advisor.reports.record.charted import ChartCeiling, Placement, Roofline, Unplaced
from advisor.reports.record.kernel_records import KernelRecord

if TYPE_CHECKING:
    from advisor.modelling.results import DeviceResult, OperationResult

MODELLED = "modelled"
_DRAM = "dram"


@dataclass(frozen=True, kw_only=True)
class Fall:
    """A bar of the waterfall: where it starts and ends as shares of the track, and its words."""

    label: str
    left: float
    width: float
    value: str
    note: str
    strong: bool


@dataclass(frozen=True, kw_only=True)
class Decade:
    """A tick of the waterfall's logarithmic axis, at a share of the track."""

    at: float
    label: str


@dataclass(frozen=True, kw_only=True)
class Waterfall:
    """Times per result, from the first to the last state; each bar is what a step took away."""

    falls: tuple[Fall, ...]
    decades: tuple[Decade, ...]


def drawings(result: DeviceResult, number: int) -> tuple[Drawing, ...]:
    """Return the roofline of a device at every size; none where nothing does arithmetic."""
    chart = roofline(result, number)
    if not chart.placements:
        return ()
    kernels = kernels_of(result, number)
    selected = next(iter(kernels), None)
    return tuple(draw_roofline(chart, kernels, size, selected) for size in SIZES)


def roofline(result: DeviceResult, number: int) -> Roofline:
    """Return a device's chart: every ceiling that applies to one of the kernels."""
    share = 1 - result.collectives
    remarks: tuple[str, ...] = ()
    if result.collectives:
        remarks = (f"roofs lowered by {wording.share(result.collectives)} for collectives",)
    return Roofline(
        id=f"m{number}",
        label=MODELLED,
        device=result.machine.name,
        ceilings=tuple(
            ChartCeiling(
                resource=name,
                label=ceiling_label(name),
                kind="profiled",  # the chart's own: `roof` says which kind they are
                value=result.rated[name] * share,
                unit="B/s" if name in memories(result) else "FLOP/s",
            )
            for name in (*memories(result), *works(result))
        ),
        binding=_binding(result),
        placements=tuple(
            Placement(kernel_id=_id(number, index), x=each.arithmetic_intensity, y=_height(each))
            for index, each in enumerate(result.operations)
            if each.flops
        ),
        unplaced=tuple(
            Unplaced(kernel_id=_id(number, index), reason="without FLOP", note="")
            for index, each in enumerate(result.operations)
            if not each.flops
        ),
        simulated=False,
        remarks=remarks,
        of="the model",
        roof=result.roof,
    )


def memories(result: DeviceResult) -> tuple[str, ...]:
    """Return the memories that serve a kernel, DRAM first."""
    names = (each.served_by for each in result.operations if each.served_by is not None)
    return tuple(dict.fromkeys((_DRAM, *names)))


def works(result: DeviceResult) -> tuple[str, ...]:
    """Return the compute ceilings that kernels use."""
    used = (work for each in result.operations for work in each.works)
    return tuple(dict.fromkeys(used))


def _binding(result: DeviceResult) -> str:
    """Return the compute ceiling that takes most of the work; empty where there is none."""
    work: dict[str, float] = {}
    for each in result.operations:
        if each.work is not None and each.work in result.rated:
            work[each.work] = work.get(each.work, 0.0) + each.flops
    return max(work, key=work.__getitem__) if work else ""


def _height(each: OperationResult) -> float:
    return each.attainable if each.achieved is None else each.achieved


def _id(number: int, index: int) -> str:
    return f"m{number}-{index}"


def kernels_of(result: DeviceResult, number: int) -> Mapping[str, KernelRecord]:
    """Return the kernels as charts want them, by id."""
    total = result.total.time
    return {
        _id(number, index): _kernel(_id(number, index), each, total)
        for index, each in enumerate(result.operations)
    }


def _kernel(key: str, each: OperationResult, total: float) -> KernelRecord:
    return KernelRecord(
        id=key,
        short_name=f"{each.name}, {MODELLED}" if each.above_dram_roof else each.name,
        name=each.name,
        launch_shape="",
        registers=None,
        launch_count=round(each.repeat),
        launches_detailed=round(each.repeat),
        launches_excluded=0,
        duration=each.time,
        duration_min=None,
        duration_max=None,
        time_share=each.time / total,
        t_sol=each.time,
        t_sol_complete=True,
        t_sol_known="",
        wasted_time=each.time,  # the charts draw the largest by this
        roof_fraction=None if not each.attainable else _height(each) / each.attainable,
        roof_fraction_achievable=None,
        roof_name="its roof",
        limiter=each.bound,
        limiter_note="",
        roofline_bound=each.bound,
        evidence_level=None,
        has_flops=bool(each.flops),
        performance=each.attainable,
        arithmetic_intensity=each.arithmetic_intensity,
        arithmetic_intensity_l2=None,
        arithmetic_intensity_l1=None,
        dram_bandwidth=None,
        dram_fraction=each.share_of_bandwidth,
        compute_utilization=None,
        memory_utilization=None,
        remark="",
    )


def waterfall(result: DeviceResult) -> Waterfall | None:
    """Return the steps as bars on a logarithmic axis; None without steps."""
    if not result.steps:
        return None
    times = [result.total.time_per_unit, *(step.time_per_unit for step in result.steps)]
    low, high = _span(times)

    def at(time: float) -> float:
        return (math.log10(time) - low) / (high - low)

    first = Fall(
        label="at first",
        left=0.0,
        width=at(times[0]),
        value=wording.seconds(times[0]),
        note="",
        strong=False,
    )
    falls = [
        Fall(
            label=step.name,
            left=min(at(before), at(step.time_per_unit)),
            width=abs(at(before) - at(step.time_per_unit)),
            value=wording.seconds(step.time_per_unit),
            note=f"{wording.ratio(step.speedup)}, rank {step.rank}",
            strong=step.rank == 1,
        )
        for before, step in zip(times, result.steps, strict=False)
    ]
    return Waterfall(falls=(first, *falls), decades=tuple(_decades(low, high)))


def _span(times: Sequence[float]) -> tuple[float, float]:
    """Return the log₁₀ range: a little more than from the shortest to the longest."""
    logs = [math.log10(time) for time in times]
    margin = 0.05 * (max(logs) - min(logs)) or 0.1
    return min(logs) - 2 * margin, max(logs) + margin


def _decades(low: float, high: float) -> list[Decade]:
    digits = (0.0,) if high - low > 1 else (0.0, math.log10(2), math.log10(5))
    places = [
        decade + digit
        for decade in range(math.floor(low), math.ceil(high) + 1)
        for digit in digits
        if low < decade + digit < high
    ]
    return [
        Decade(at=(place - low) / (high - low), label=wording.seconds(10**place))
        for place in places
    ]
