"""Where kernels stood in a roofline on earlier nights: hollow dots that lead to today's mark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from advisor.reports.charts.drawing import NightWay, PlacedText, Stroke
from advisor.reports.charts.marks import MarkSpot
from advisor.reports.charts.scales import Frame
from advisor.reports.record.charted import NightPath

_GAP = 3.0  # pixels between an arrow's tip and its mark
_LEAST = 6.0  # pixels that a dot must be away from its mark and arrow
_ABOVE = -9.0  # pixels from a dot to its words


def draw_ways(
    paths: Sequence[NightPath], spots: Sequence[MarkSpot], frame: Frame, *, named: bool
) -> Iterator[NightWay]:
    """Yield the paths of kernels whose mark has a known place; ``named`` ones say since when.

    Dots that the mark would hide are left out.
    """
    marks = {spot.kernel.id: spot for spot in spots}
    for path in paths:
        spot = marks.get(path.kernel_id)
        if spot is None or spot.at[0] is None:
            continue
        points = tuple((math.log10(x), math.log10(y)) for x, y in path.points)
        least = spot.radius + _GAP + _LEAST
        points = tuple(
            (x, y)
            for x, y in points
            if math.hypot(frame.x(x) - spot.x, frame.y(y) - spot.y) >= least
        )
        if not points:
            continue
        whole = (*points, (spot.at[0], spot.at[1]))
        yield NightWay(
            kernel_id=path.kernel_id,
            limiter=spot.kernel.limiter,
            line=Stroke(
                style="way", points=whole, pixels=tuple((frame.x(x), frame.y(y)) for x, y in whole)
            ),
            dots=tuple(
                PlacedText(
                    text=path.first if named and place == 0 else "",
                    x=frame.x(x),
                    y=frame.y(y),
                    anchor="middle",
                    at=(x, y),
                    dy=_ABOVE,
                )
                for place, (x, y) in enumerate(points)
            ),
            gap=spot.radius + _GAP,
        )
