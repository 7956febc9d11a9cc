"""The marks of a chart: which kernels, how large, where, and what stands beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from advisor import wording
from advisor.records import dataclass
from advisor.reports.charts.drawing import DrawingSize, Mark, PlacedText
from advisor.reports.charts.labels import (
    LINE_HEIGHT,
    Box,
    Label,
    Subject,
    Surroundings,
    place,
    shortened,
    text_box,
)
from advisor.reports.charts.scales import Frame
from advisor.reports.record.charted import Placement
from advisor.reports.record.kernel_records import KernelRecord
from advisor.reports.record.layout import limited_by

MOST_MARKS = 60
MOST_AGAIN = 20  # kernels that are drawn once more: at another level, by their share, over levels
_RADIUS = 23.0
_LEAST_RADIUS = 4.0
_COMPACT = 2 / 3
_ARROW = 12.0
_RING = 4.0
_COMPACT_NAME = 16
_LEAST_NAMED = 0.01  # of the time; names of smaller marks crowd out those that matter


@dataclass(frozen=True, kw_only=True)
class MarkSpot:
    """A mark before it is named: its kernel, its data, its pixels."""

    kernel: KernelRecord
    placement: Placement
    at: tuple[float | None, float]
    x: float
    y: float
    radius: float

    @property
    def box(self) -> Box:
        """Return the square around the mark."""
        r = self.radius
        return Box(self.x - r, self.y - r, self.x + r, self.y + r)


def largest(
    placements: Sequence[Placement], kernels: Mapping[str, KernelRecord]
) -> tuple[Placement, ...]:
    """Return at most 60 placements, the largest by wasted time first."""

    def wasted(placement: Placement) -> float:
        return kernels[placement.kernel_id].wasted_time or 0.0

    return tuple(sorted(placements, key=wasted, reverse=True)[:MOST_MARKS])


def log_spot(
    placement: Placement, kernel: KernelRecord, frame: Frame, size: DrawingSize
) -> MarkSpot:
    """Return the spot of a kernel in a log-log chart; without bytes it is at the right edge."""
    x = None if placement.x is None else math.log10(placement.x)
    y = math.log10(placement.y)
    radius = _radius(kernel, size)
    return MarkSpot(
        kernel=kernel,
        placement=placement,
        at=(x, y),
        x=frame.right - radius - _ARROW if x is None else frame.x(x),
        y=frame.y(y),
        radius=radius,
    )


def share_spot(
    placement: Placement, kernel: KernelRecord, frame: Frame, size: DrawingSize
) -> MarkSpot:
    """Return the spot of a kernel in the utilisation plane."""
    x, y = min(1.0, placement.x or 0.0), min(1.0, placement.y)
    return MarkSpot(
        kernel=kernel,
        placement=placement,
        at=(x, y),
        x=frame.x(x),
        y=frame.y(y),
        radius=_radius(kernel, size),
    )


def chart_name(kernel: KernelRecord, size: DrawingSize) -> str:
    """Return a kernel's name as a chart writes it: its head and tail on a phone."""
    return shortened(kernel.short_name, _COMPACT_NAME) if size.compact else kernel.short_name


def name_marks(
    spots: Sequence[MarkSpot],
    around: Surroundings,
    size: DrawingSize,
    second: Callable[[MarkSpot], str],
    describe: Callable[[MarkSpot], str],
) -> tuple[Mark, ...]:
    """Return the marks with their labels, small ones last so that they lie on top.

    A kernel that takes less than 1 % of the time has none, unless all do.
    """
    shares = [share for spot in spots if (share := spot.kernel.time_share) is not None]
    least = min(_LEAST_NAMED, max(shares, default=0.0))
    subjects = [
        Subject(
            key=spot.kernel.id,
            x=spot.x,
            y=spot.y,
            radius=spot.radius,
            name=chart_name(spot.kernel, size),
            second=second(spot),
            is_named=spot.kernel.time_share is None or spot.kernel.time_share >= least,
        )
        for spot in spots
    ]
    labels = {label.key: label for label in place(subjects, around)}
    ordered = sorted(spots, key=lambda spot: -spot.radius)
    return tuple(_mark(spot, labels.get(spot.kernel.id), describe(spot)) for spot in ordered)


def label_boxes(mark: Mark) -> tuple[Box, ...]:
    """Return the boxes that the lines of a mark's label cover."""
    return tuple(
        text_box(mark.x + line.x, mark.y + line.y, line.text, line.anchor) for line in mark.label
    )


def _radius(kernel: KernelRecord, size: DrawingSize) -> float:
    """Return r = 23 √share, at least 4; two thirds of that on a phone."""
    radius = _RADIUS * math.sqrt(kernel.time_share or 0.0)
    return max(_LEAST_RADIUS, radius * (_COMPACT if size.compact else 1.0))


def _mark(spot: MarkSpot, label: Label | None, description: str) -> Mark:
    return Mark(
        kernel_id=spot.kernel.id,
        limiter=spot.kernel.limiter,
        at=spot.at,
        x=spot.x,
        y=spot.y,
        radius=spot.radius,
        ring=spot.radius + _RING,
        from_edge=spot.radius + _ARROW,
        arrow=_arrow(spot),
        shape=mark_path(spot.kernel.limiter, spot.radius),
        aria=f"{spot.kernel.full_name}: {description}",
        label=() if label is None else _lines(spot, label),
    )


def _arrow(spot: MarkSpot) -> str:
    """Return the arrow of a mark that stands at the right edge, its intensity being unknown."""
    if spot.at[0] is not None:
        return ""
    return f"M{spot.radius + 2:.1f},0h8m-3,-3l3,3l-3,3"


def mark_path(limiter: str | None, radius: float) -> str:
    """Return the SVG path of a mark: circle, square, triangle or diamond of about equal area."""
    r = round(radius, 1)
    if limiter == "compute":
        half = 0.89 * r
        return f"M{-half:.1f},{-half:.1f}h{2 * half:.1f}v{2 * half:.1f}h{-2 * half:.1f}z"
    if limiter == "latency":
        return f"M0,{-1.3 * r:.1f}L{1.25 * r:.1f},{0.9 * r:.1f}H{-1.25 * r:.1f}z"
    if limiter == "balanced":
        d = 1.25 * r
        return f"M0,{-d:.1f}L{d:.1f},0L0,{d:.1f}L{-d:.1f},0z"
    return f"M{-r:.1f},0a{r:.1f},{r:.1f},0,1,1,{2 * r:.1f},0a{r:.1f},{r:.1f},0,1,1,{-2 * r:.1f},0z"


def _lines(spot: MarkSpot, label: Label) -> tuple[PlacedText, ...]:
    return tuple(
        PlacedText(
            text=text,
            x=label.x - spot.x,
            y=label.y - spot.y + LINE_HEIGHT * i,
            anchor=label.anchor,
            strong=i == 0,
        )
        for i, text in enumerate(label.lines)
    )


def coordinates(spot: MarkSpot) -> str:
    """Return the intensity and performance of a mark of a roofline, in words."""
    x = spot.placement.x
    intensity = "no bytes known" if x is None else wording.si(x, "FLOP/B")
    return f"{intensity}, {wording.si(spot.placement.y, 'FLOP/s')}"


def position(spot: MarkSpot) -> str:
    """Return where a mark of a roofline stands and what that means, in words."""
    kernel = spot.kernel
    return (
        f"{wording.share(kernel.roof_fraction)} of roof, "
        f"{wording.share(kernel.time_share)} of time; {coordinates(spot)}, "
        f"{limited_by(kernel.limiter)}"
    )
