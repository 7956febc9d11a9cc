"""The utilisation plane: where kernels stand when neither operations nor bytes were counted."""

from __future__ import annotations

from collections.abc import Mapping

from advisor import wording
from advisor.reports.charts.drawing import Drawing, DrawingSize, GridLine, PlacedText
from advisor.reports.charts.labels import Surroundings
from advisor.reports.charts.marks import MarkSpot, largest, name_marks, share_spot
from advisor.reports.charts.roofs import Line, segments
from advisor.reports.charts.sheet import frame_box, stroke, x_title
from advisor.reports.record.charted import Plane
from advisor.reports.record.kernel_records import KernelRecord
from advisor.reports.record.layout import limited_by

_MARGIN = 0.08
_RANGE = (-_MARGIN, 1.0 + _MARGIN)
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def draw_plane(plane: Plane, kernels: Mapping[str, KernelRecord], size: DrawingSize) -> Drawing:
    """Return the plane at one size: memory utilisation to the right, compute upwards."""
    frame = size.frame(_RANGE, _RANGE)
    shown = largest(plane.placements, kernels)
    spots = [share_spot(p, kernels[p.kernel_id], frame, size) for p in shown]
    diagonal = Line(style="thin", points=((0.0, 0.0), (1.0, 1.0)))
    around = Surroundings(
        frame=frame_box(frame)._replace(left=frame.x(0.0), bottom=frame.y(0.0)),
        taken=(),
        roof=(),
        lines=segments([diagonal], frame),
    )
    return Drawing(
        id=f"plane-{size.name}",
        size=size,
        frame=frame,
        title=f"Utilisation of the kernels on {plane.device}",
        description=_description(spots),
        x_title=x_title("memory utilisation [% of peak]", size),
        y_title=PlacedText(text=_title(plane), x=frame.left, y=frame.top - 10),
        x_grid=tuple(GridLine(at=frame.x(t), label=f"{100 * t:.0f}", major=True) for t in _TICKS),
        y_grid=tuple(GridLine(at=frame.y(t), label=f"{100 * t:.0f}", major=True) for t in _TICKS),
        unit="",
        strokes=(stroke(diagonal, frame),),
        area=None,
        texts=(),
        edge_texts=(),
        ridge=None,
        remark=None,
        marks=name_marks(spots, around, size, _second_line, _position),
        levels=(),
        zoomable=False,
    )


def _title(plane: Plane) -> str:
    return "compute utilisation [% of peak]" + (", simulated" if plane.simulated else "")


def _second_line(spot: MarkSpot) -> str:
    return f"{wording.share(spot.kernel.time_share)} of time"


def _position(spot: MarkSpot) -> str:
    return (
        f"memory {wording.share(spot.placement.x)}, compute {wording.share(spot.placement.y)} of "
        f"peak, {_second_line(spot)}, {limited_by(spot.kernel.limiter)}"
    )


def _description(spots: list[MarkSpot]) -> str:
    heads = ". ".join(f"{spot.kernel.short_name}: {_position(spot)}" for spot in spots[:5])
    return (
        "Horizontal: utilisation of the busiest memory unit. Vertical: utilisation of the busiest "
        f"compute unit. {heads}. The table of kernels below holds the same numbers."
    )
