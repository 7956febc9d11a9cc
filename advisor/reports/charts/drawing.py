"""A chart as a drawing: every pixel that the SVG template writes, for one size.

The same chart is drawn at several sizes and the page shows the one that fits, so text is 12 px
everywhere and nothing is scaled. Marks and lines carry log₁₀ data beside their pixels: the script
projects them again when someone zooms.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from advisor.records import dataclass
from advisor.reports.charts.labels import Anchor
from advisor.reports.charts.scales import Frame

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class DrawingSize:
    """A drawing's canvas and the box of its frame in pixels; ``compact`` for phones."""

    name: str
    width: float
    height: float
    left: float
    top: float
    inner_width: float
    inner_height: float
    compact: bool = False

    def frame(self, x: tuple[float, float], y: tuple[float, float]) -> Frame:
        """Return the frame over these ranges of data."""
        return Frame(
            left=self.left,
            top=self.top,
            width=self.inner_width,
            height=self.inner_height,
            x0=x[0],
            x1=x[1],
            y0=y[0],
            y1=y[1],
        )


SIZES = (
    DrawingSize(
        name="w4", width=1500, height=760, left=96, top=30, inner_width=1234, inner_height=682
    ),
    DrawingSize(
        name="w3", width=1040, height=620, left=96, top=30, inner_width=774, inner_height=542
    ),
    DrawingSize(
        name="w2", width=690, height=520, left=96, top=30, inner_width=424, inner_height=442
    ),
    DrawingSize(
        name="w1",
        width=368,
        height=440,
        left=48,
        top=28,
        inner_width=312,
        inner_height=366,
        compact=True,
    ),
)


@dataclass(frozen=True, kw_only=True)
class PlacedText:
    """One line of text; ``at`` is its log₁₀ point where it moves with the data."""

    text: str
    x: float
    y: float
    anchor: Anchor = "start"
    strong: bool = False
    at: Point | None = None
    angle: float = 0.0
    dx: float = 0.0
    dy: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Stroke:
    """A line with its log₁₀ points and its pixels."""

    style: str
    points: tuple[Point, ...]
    pixels: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A kernel's mark: pixel centre, radius, SVG path and label lines relative to the centre."""

    kernel_id: str
    limiter: str | None
    at: tuple[float | None, float]
    x: float
    y: float
    radius: float
    ring: float
    from_edge: float
    arrow: str
    shape: str
    aria: str
    label: tuple[PlacedText, ...]


@dataclass(frozen=True, kw_only=True)
class LevelTick:
    """Where the same work lies at another level of the hierarchy."""

    name: str
    at: Point
    x: float
    y: float
    path: str
    name_y: float
    name_x: float = 0.0


@dataclass(frozen=True, kw_only=True)
class LevelMarks:
    """What is drawn only for the selected kernel: ticks at other levels, the drop to its roof."""

    kernel_id: str
    span: Stroke | None
    ticks: tuple[LevelTick, ...]
    drop: Stroke | None


@dataclass(frozen=True, kw_only=True)
class LevelView:
    """The same kernels at another level of memory: in the same frame, under that level's roof."""

    level: str
    label: str
    x_title: PlacedText
    roof: tuple[Stroke, ...]
    area: Stroke | None
    ridge: PlacedText | None
    marks: tuple[Mark, ...]

    @cached_property
    def by_kernel(self) -> Mapping[str, Mark]:
        """Return the marks by the ids of their kernels."""
        return {mark.kernel_id: mark for mark in self.marks}


@dataclass(frozen=True, kw_only=True)
class NightWay:
    """Where a kernel stood on earlier nights: hollow dots, joined, with an arrow at its mark.

    ``gap`` is how far the arrow stays from the centre of the mark; the first dot tells its night.
    """

    kernel_id: str
    limiter: str | None
    line: Stroke
    dots: tuple[PlacedText, ...]
    gap: float


@dataclass(frozen=True, kw_only=True)
class GridLine:
    """A grid line at pixel ``at``, with the label of its tick or none."""

    at: float
    label: str
    major: bool


@dataclass(frozen=True, kw_only=True)
class ListedKernel:
    """A kernel that has no mark in a chart, as it is listed below."""

    kernel_id: str
    name: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Outside:
    """Kernels that have no mark for one reason; ``more`` counts those that are not listed."""

    heading: str
    kernels: tuple[ListedKernel, ...]
    more: int

    @property
    def sentence(self) -> str:
        """Return the list in one line."""
        named = [each.name + (f" ({each.note})" if each.note else "") for each in self.kernels]
        more = f" and {self.more} more" if self.more else ""
        return f"{self.heading}: {', '.join(named)}{more}."


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A chart at one size; its marks are at device memory, those of its ``views`` elsewhere."""

    id: str
    size: DrawingSize
    frame: Frame
    title: str
    description: str
    x_title: PlacedText
    y_title: PlacedText
    x_grid: tuple[GridLine, ...]
    y_grid: tuple[GridLine, ...]
    unit: str
    strokes: tuple[Stroke, ...]
    area: Stroke | None
    texts: tuple[PlacedText, ...]
    edge_texts: tuple[PlacedText, ...]
    ridge: PlacedText | None
    remark: PlacedText | None
    marks: tuple[Mark, ...]
    levels: tuple[LevelMarks, ...]
    zoomable: bool
    ways: tuple[NightWay, ...] = ()
    views: tuple[LevelView, ...] = ()
    outside: tuple[Outside, ...] = ()

    @cached_property
    def again(self) -> frozenset[str]:
        """Return the ids of the kernels that have a place at another level of memory."""
        return frozenset(mark.kernel_id for view in self.views for mark in view.marks)

    def spoken(self, mark: Mark) -> str:
        """Return what a mark is called: empty where words stand beside it at every level.

        Words that stand beside it at some level are part of it.
        """
        others = (view.by_kernel.get(mark.kernel_id) for view in self.views)
        shown = [mark, *(each for each in others if each)]
        labels = [" ".join(line.text for line in each.label) for each in shown]
        if all(labels):
            return ""
        words = max(labels, key=len)
        return mark.aria if words in mark.aria.replace(":", "") else f"{words}; {mark.aria}"
