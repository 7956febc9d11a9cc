"""How near kernels come to the roof that holds them: intensity to the right, share upwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from advisor import wording
from advisor.reports.charts.drawing import Drawing, DrawingSize, GridLine, PlacedText
from advisor.reports.charts.labels import Surroundings
from advisor.reports.charts.marks import (
    MOST_AGAIN,
    MarkSpot,
    coordinates,
    largest,
    log_spot,
    name_marks,
    position,
)
from advisor.reports.charts.roofs import Line, segments
from advisor.reports.charts.scales import Frame, log_range, log_ticks
from advisor.reports.charts.sheet import frame_box, left_out, stroke, x_title
from advisor.reports.record.charted import Placement, Roofline
from advisor.reports.record.kernel_records import KernelRecord
from advisor.reports.record.layout import layout

_RANGE = (0.0, 1.1)
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def draw_shares(
    chart: Roofline, kernels: Mapping[str, KernelRecord], size: DrawingSize
) -> Drawing | None:
    """Return a roofline's kernels by their share of the roof that binds each.

    None where no kernel has a known intensity and share.
    """
    known = [
        each
        for each in chart.placements
        if each.x is not None and kernels[each.kernel_id].roof_fraction is not None
    ]
    shown = largest(known, kernels)[:MOST_AGAIN]
    if not shown:
        return None
    frame = size.frame(log_range([each.x for each in shown if each.x]), _RANGE)
    spots = [_spot(each, kernels[each.kernel_id], frame, size) for each in shown]
    whole = Line(style="bind", points=((frame.x0, 1.0), (frame.x1, 1.0)))
    level = layout().label("dram")
    around = Surroundings(frame=frame_box(frame), taken=(), roof=segments([whole], frame), lines=())
    simulated = ", simulated" if chart.simulated else ""
    more = left_out(len(known), size)
    return Drawing(
        id=f"{chart.id}-share-{size.name}",
        size=size,
        frame=frame,
        title=f"Share of the roof of each kernel on {chart.device}, {chart.label}",
        description=_description(spots),
        x_title=x_title(f"arithmetic intensity at {level}, {chart.label} [FLOP/B]{more}", size),
        y_title=PlacedText(
            text=f"share of the roof that binds [%]{simulated}", x=frame.left, y=frame.top - 10
        ),
        x_grid=tuple(_decades(frame)),
        y_grid=tuple(GridLine(at=frame.y(t), label=f"{100 * t:.0f}", major=True) for t in _TICKS),
        unit="",
        strokes=(stroke(whole, frame),),
        area=None,
        texts=(),
        edge_texts=(),
        ridge=None,
        remark=None,
        marks=name_marks(spots, around, size, _second_line, coordinates),
        levels=(),
        zoomable=False,
    )


def _spot(placement: Placement, kernel: KernelRecord, frame: Frame, size: DrawingSize) -> MarkSpot:
    share = min(1.0, kernel.roof_fraction or 0.0)
    spot = log_spot(placement, kernel, frame, size)
    return replace(spot, at=(spot.at[0], share), y=frame.y(share))


def _decades(frame: Frame) -> Iterator[GridLine]:
    for tick in log_ticks(frame.x0, frame.x1):
        if tick.label:
            yield GridLine(at=frame.x(tick.at), label=tick.label, major=tick.major)


def _second_line(spot: MarkSpot) -> str:
    return f"{wording.share(spot.kernel.roof_fraction)} of {spot.kernel.roof_name}"


def _description(spots: list[MarkSpot]) -> str:
    heads = ". ".join(f"{spot.kernel.short_name}: {position(spot)}" for spot in spots[:5])
    return (
        "Horizontal, log: operations per byte of DRAM traffic. Vertical: least time by the roof "
        f"that binds the kernel over its time. {heads}. The table of kernels has them, too."
    )
