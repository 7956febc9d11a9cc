"""What is fixed of a roofline before words are placed, and what several of its parts share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from advisor import wording
from advisor.reports.charts.drawing import DrawingSize, PlacedText, Point, Stroke
from advisor.reports.charts.labels import Anchor, Box, Surroundings, crossed, text_box
from advisor.reports.charts.marks import MOST_AGAIN, MarkSpot
from advisor.reports.charts.roofs import DrawnRoofs, Line, pixels, segments
from advisor.reports.charts.scales import Frame
from advisor.reports.record.charted import Roofline
from advisor.reports.record.kernel_records import KernelRecord

_FLOOR = -20.0


@dataclass(kw_only=True)
class Sheet:
    """A roofline's frame, roofs and marks, and the boxes that words have taken so far."""

    chart: Roofline
    kernels: Mapping[str, KernelRecord]
    size: DrawingSize
    frame: Frame
    roofs: DrawnRoofs
    spots: tuple[MarkSpot, ...]
    taken: list[Box] = field(default_factory=list)

    @cached_property
    def inside(self) -> Box:
        """Return where words may stand."""
        return frame_box(self.frame)

    @cached_property
    def marks(self) -> tuple[Box, ...]:
        """Return the boxes of the marks."""
        return tuple(spot.box for spot in self.spots)

    def free(self, box: Box) -> bool:
        """Return whether a box lies inside and covers neither words nor marks."""
        return self.inside.holds(box) and box.is_free_of(self.taken) and box.is_free_of(self.marks)


def frame_box(frame: Frame) -> Box:
    """Return where words may stand in a frame."""
    return Box(frame.left + 2, frame.top + 2, frame.right - 2, frame.bottom - 2)


def stroke(line: Line, frame: Frame) -> Stroke:
    """Return a line with its pixels."""
    return Stroke(style=line.style, points=line.points, pixels=pixels(line, frame))


def x_title(text: str, size: DrawingSize) -> PlacedText:
    """Return the title under the horizontal axis."""
    middle = size.left + size.inner_width / 2
    return PlacedText(text=text, x=middle, y=size.height - 8, anchor="middle")


def intensity_title(sheet: Sheet, level: str, *, again: bool = False) -> PlacedText:
    """Return the title of the horizontal axis of a roofline: intensity at a level of memory.

    ``again`` where only those that waste most are drawn, and some are left out.
    """
    text = f"arithmetic intensity at {level}, {sheet.chart.label} [FLOP/B]"
    return x_title(text + (left_out(len(sheet.spots), sheet.size) if again else ""), sheet.size)


def left_out(kernels: int, size: DrawingSize) -> str:
    """Return how many of the kernels are drawn again, empty where all are."""
    if kernels <= MOST_AGAIN:
        return ""
    return f", {MOST_AGAIN} kernels" + ("" if size.compact else " that waste most")


def area_under(lines: Sequence[Line], frame: Frame) -> Stroke | None:
    """Return what lies under the roof that binds."""
    roof = next((line for line in lines if line.style == "bind"), None)
    if roof is None:
        return None
    closed = (*roof.points, (roof.points[-1][0], _FLOOR), (roof.points[0][0], _FLOOR))
    return stroke(Line(style="area", points=closed), frame)


def ridge_text(sheet: Sheet, at: Point | None) -> PlacedText | None:
    """Return the dot where a roof bends, with its words where they cover nothing."""
    if at is None:
        return None
    x, y = sheet.frame.x(at[0]), sheet.frame.y(at[1])
    text = f"ridge {wording.si(10 ** at[0], 'FLOP/B')}"
    around = surroundings(sheet, sheet.roofs.lines)
    places: tuple[tuple[float, float, Anchor], ...] = (
        (10, 18, "start"), (-8, -10, "end"), (6, -10, "start"), (0, -10, "middle"),
        (10, -24, "start"), (10, 34, "start"),
    )  # fmt: skip
    found = []
    for dx, dy, anchor in places:
        box = text_box(x + dx, y + dy, text, anchor)
        if sheet.free(box):
            found.append((crossed(box, around), dx, dy, anchor, box))
    if not found:
        return PlacedText(text="", x=x, y=y, at=at)
    _, dx, dy, anchor, box = min(found, key=lambda place: place[0])
    sheet.taken.append(box)
    return PlacedText(text=text, x=x, y=y, anchor=anchor, at=at, dx=dx, dy=dy)


def surroundings(sheet: Sheet, lines: Sequence[Line]) -> Surroundings:
    """Return what the names of marks must not cover, under these roofs."""
    roof = [line for line in lines if line.style == "bind"]
    others = [line for line in lines if line.style != "bind"]
    return Surroundings(
        frame=sheet.inside,
        taken=tuple(sheet.taken),
        roof=segments(roof, sheet.frame),
        lines=segments(others, sheet.frame),
    )


def second_line(size: DrawingSize) -> Callable[[MarkSpot], str]:
    """Return what gives the second line of a mark's label."""

    def text(spot: MarkSpot) -> str:
        roof = f"{wording.share(spot.kernel.roof_fraction)} of roof"
        time = f", {wording.share(spot.kernel.time_share)} of time"
        return roof if size.compact else roof + time

    return text
