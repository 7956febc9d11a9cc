"""From kernels to charts: which rooflines a run needs, their ceilings, and who stands where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from advisor import wording
from advisor.reports.record.charted import (
    AtLevel,
    CeilingKind,
    ChartCeiling,
    Placement,
    Plane,
    Roofline,
    Unplaced,
)
from advisor.reports.record.judgement import Judgement
from advisor.reports.record.layout import layout
from advisor.reports.record.rows import Row, number

_DEVICE_MEMORY = "dram"
_ALL = "roofline_work"
"""The fact of the work that the roofline compares with traffic."""


def ceilings(rows: Sequence[Row], known: Sequence[Row]) -> tuple[ChartCeiling, ...]:
    """Return every ceiling that applies to a run: profiled, achievable, nominal.

    ``known`` are the rows of the view ``ceilings`` for the device: where its figures come from.
    """
    found: list[ChartCeiling | None] = []
    for name in layout().levels:
        value = _largest(rows, f"peak_{name}_bandwidth")
        found.append(_ceiling(name, "profiled", value, "B/s"))
    dram = _largest(rows, "peak_dram_bandwidth")
    compute = {name: _compute_peak(rows, name) for name in layout().precisions}
    found += [_ceiling(name, "profiled", value, "FLOP/s") for name, value in compute.items()]
    fraction = _largest(rows, "achievable_dram_fraction")
    if dram is not None and fraction is not None:
        source = _source(known, "dram", "achievable_fraction")
        found.append(_ceiling("dram", "achievable", dram * fraction, "B/s", source))
    nominal = _largest(rows, "nominal_dram_bandwidth")
    found.append(_ceiling("dram", "nominal", nominal, "B/s", _source(known, "dram", "nominal")))
    for name, each in sorted(layout().precisions.items()):
        if each.nominal is None:
            continue
        column, resource = each.nominal
        value = _largest(rows, column)
        source = _source(known, resource, "nominal")
        found.append(_ceiling(name, "nominal", value, "FLOP/s", source))
    return tuple(ceiling for ceiling in found if ceiling is not None)


def rooflines(
    rows: Sequence[Row],
    limits: Sequence[ChartCeiling],
    judgement: Judgement,
    *,
    device: str,
    simulated: bool,
) -> tuple[Roofline, ...]:
    """Return a chart per precision that matters: by its share of the work, or of the time."""
    used = [name for name in layout().precisions if any(_work(row, name) for row in rows)]
    led = _time_led(rows)
    charts = [
        _roofline(rows, name, limits, judgement, device=device, simulated=simulated, used=used)
        for name in used
        if _matters(rows, name, led[name], judgement)
    ]
    ordered = sorted(charts, key=lambda chart: _importance(rows, chart), reverse=True)
    return tuple(replace(each, unplaced=tuple(_unplaced(rows, each, ordered))) for each in ordered)


def plane(
    rows: Sequence[Row], charts: Sequence[Roofline], *, device: str, simulated: bool
) -> Plane | None:
    """Return the utilisation plane for kernels whose operations or bytes nobody counted."""
    placed = {p.kernel_id for chart in charts for p in chart.placements}
    found = tuple(
        Placement(kernel_id=str(row["variant_id"]), x=memory, y=compute)
        for row in rows
        if row["variant_id"] not in placed
        and not (charts and _has_no_work(row))
        and (memory := number(row, "memory_utilization")) is not None
        and (compute := number(row, "compute_utilization")) is not None
    )
    return Plane(device=device, placements=found, simulated=simulated) if found else None


def _matters(rows: Sequence[Row], precision: str, led: float, judgement: Judgement) -> bool:
    work = sum(_work(row, precision) for row in rows)
    every = sum(number(row, _ALL) or 0.0 for row in rows)
    if work <= 0:
        return False
    return work >= judgement.chart_work_share * every or led >= judgement.chart_time_share


def _work(row: Row, precision: str) -> float:
    """Return the operations of a precision, 0 where they are not known."""
    return number(row, layout().precisions[precision].work) or 0.0


def _time_led(rows: Sequence[Row]) -> dict[str, float]:
    """Return the share of time of the kernels most of whose operations are of a precision."""
    led = dict.fromkeys(layout().precisions, 0.0)
    for row in rows:
        work = {name: _work(row, name) for name in led}
        best = max(work, key=lambda name: work[name])
        if work[best] > 0:
            led[best] += number(row, "time_share") or 0.0
    return led


def _roofline(
    rows: Sequence[Row],
    precision: str,
    limits: Sequence[ChartCeiling],
    judgement: Judgement,
    *,
    device: str,
    simulated: bool,
    used: Sequence[str],
) -> Roofline:
    least = judgement.chart_work_share
    placements = tuple(p for row in rows if (p := _placement(row, precision, limits, least)))
    shown = [c for c in limits if _belongs(c, precision, used)]
    return Roofline(
        id=precision,
        label=layout().label(precision),
        device=device,
        ceilings=tuple(shown),
        binding=precision,
        placements=placements,
        unplaced=(),
        simulated=simulated,
        remarks=tuple(_unused(limits, used)),
        level_ceilings=tuple(c for c in limits if _is_level(c)),
    )


def _is_level(ceiling: ChartCeiling) -> bool:
    is_profiled = ceiling.unit == "B/s" and ceiling.kind == "profiled"
    return is_profiled and ceiling.resource != _DEVICE_MEMORY


def _belongs(ceiling: ChartCeiling, precision: str, used: Sequence[str]) -> bool:
    """Return whether a ceiling is drawn: memory levels, and the precisions that kernels use."""
    if ceiling.unit == "B/s":
        return _is_drawn(ceiling.resource)
    return ceiling.resource == precision or (
        ceiling.kind == "profiled" and ceiling.resource in used
    )


def _placement(
    row: Row, precision: str, limits: Sequence[ChartCeiling], least: float
) -> Placement | None:
    work, duration = _work(row, precision), number(row, "duration")
    every = number(row, _ALL)
    if not work or not duration or not every or work < least * every:
        return None
    rate = work / duration
    traffic = number(row, "dram_bytes")
    x = work / traffic if traffic else None
    return Placement(
        kernel_id=str(row["variant_id"]),
        x=x,
        y=rate,
        levels=tuple(_at_levels(row, work)),
        roof=_attainable(row, precision, x, limits),
    )


def _at_levels(row: Row, work: float) -> Iterable[AtLevel]:
    """Yield the intensity at each level of memory nearer to the units, reads and writes."""
    for level, label in layout().levels.items():
        traffic = number(row, f"{level}_bytes")
        if level != _DEVICE_MEMORY and traffic:
            yield AtLevel(level=level, label=label.label, x=work / traffic)


def _attainable(
    row: Row, precision: str, x: float | None, limits: Sequence[ChartCeiling]
) -> float | None:
    """Return what the kernel's own launch could do at its intensity."""
    peak_of = layout().precisions[precision].peak
    own = [number(row, "peak_dram_bandwidth"), number(row, peak_of)]
    bandwidth = own[0]
    peak = own[1] or next(
        (c.value for c in limits if c.resource == precision and c.kind == "profiled"), None
    )
    if x is None or bandwidth is None:
        return peak
    return bandwidth * x if peak is None else min(peak, bandwidth * x)


def _has_no_work(row: Row) -> bool:
    """Return whether a kernel does no operation, and how much of the memory it uses is known."""
    return number(row, _ALL) == 0 and number(row, "dram_fraction") is not None


def _unplaced(
    rows: Sequence[Row], chart: Roofline, charts: Sequence[Roofline]
) -> Iterable[Unplaced]:
    """Yield the kernels that have no mark in a chart, and in which other charts they have one."""
    placed = {each.label: {p.kernel_id for p in each.placements} for each in charts}
    for row in sorted(rows, key=lambda row: -(number(row, "time_share") or 0.0)):
        kernel_id = str(row["variant_id"])
        found = [label for label, kernels in placed.items() if kernel_id in kernels]
        if chart.label in found:
            continue
        note = f"{wording.share(number(row, 'time_share'))} of time"
        if _has_no_work(row):
            reason = "without floating-point work"
            note = f"{wording.share(number(row, 'dram_fraction'))} of DRAM roof"
        elif found:
            reason = f"under {' and '.join(found)}"
        else:
            reason = "whose operations or time nobody counted"
        yield Unplaced(kernel_id=kernel_id, reason=reason, note=note)


def _unused(limits: Sequence[ChartCeiling], used: Sequence[str]) -> Iterable[str]:
    """Return a line for the matrix pipe where no kernel uses it."""
    if "tensor" in used:
        return
    for ceiling in limits:
        if ceiling.resource == "tensor" and ceiling.unit == "FLOP/s":
            value = wording.si(ceiling.value, "FLOP/s")
            yield f"tensor FP16 {value} {ceiling.kind}, no kernel uses it"
            return


def _largest(rows: Sequence[Row], name: str) -> float | None:
    return max((value for row in rows if (value := number(row, name))), default=None)


def _compute_peak(rows: Sequence[Row], precision: str) -> float | None:
    if precision != "tensor":
        return _largest(rows, layout().precisions[precision].peak)
    used = [
        work / time
        for row in rows
        if (work := number(row, "flops_tensor")) and (time := number(row, "t_tensor"))
    ]
    return max(used) if used else _largest(rows, "peak_tensor_fp16")


def _ceiling(
    resource: str,
    kind: CeilingKind,
    value: float | None,
    unit: str,
    source: tuple[str, str] = ("", ""),
) -> ChartCeiling | None:
    if not value:
        return None
    return ChartCeiling(
        resource=resource,
        label=layout().label(resource),
        kind=kind,
        value=value,
        unit="B/s" if unit == "B/s" else "FLOP/s",
        source=source[0],
        confidence=source[1],
    )


def _source(known: Sequence[Row], resource: str, kind: str) -> tuple[str, str]:
    """Return where a figure of the device comes from, and how far it is trusted."""
    for row in known:
        if row["resource"] == resource and row["kind"] == kind:
            return str(row["source"] or ""), str(row["confidence"] or "")
    return "", ""


def _importance(rows: Sequence[Row], chart: Roofline) -> tuple[float, float]:
    """Return the time of the kernels in a chart, and the work of its precision."""
    placed = {placement.kernel_id for placement in chart.placements}
    time = sum(number(row, "duration") or 0.0 for row in rows if row["variant_id"] in placed)
    return time, sum(_work(row, chart.id) for row in rows)


def _is_drawn(resource: str) -> bool:
    level = layout().levels.get(resource)
    return level is not None and level.drawn
