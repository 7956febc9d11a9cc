"""A roofline drawn at one size: frame, grid, roofs, marks, and words that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from advisor import wording
from advisor.reports.charts.drawing import (
    Drawing,
    DrawingSize,
    GridLine,
    LevelMarks,
    LevelTick,
    ListedKernel,
    Listing,
    PlacedText,
    Point,
    Stroke,
)
from advisor.reports.charts.labels import (
    LINE_HEIGHT,
    Anchor,
    Box,
    Surroundings,
    text_box,
    text_width,
)
from advisor.reports.charts.marks import (
    MarkSpot,
    chart_name,
    label_boxes,
    largest,
    log_spot,
    mark_path,
    name_marks,
    position,
)
from advisor.reports.charts.roofs import DrawnRoofs, Line, pixels, roofs, seat, segments
from advisor.reports.charts.scales import Frame, Tick, log_range, log_ticks
from advisor.reports.charts.ways import draw_ways
from advisor.reports.record.charted import Roofline, Unplaced
from advisor.reports.record.kernel_records import KernelRecord

_ROW = 18.0
_CROWDED = 6.0
_EDGE_DISTANCE = 15.0
_FLOOR = -20.0
_TICK = 8.0
_UNIT = "FLOP/s"


@dataclass(kw_only=True)
class _Sheet:
    """What is fixed before words are placed, and the boxes they have taken so far."""

    chart: Roofline
    kernels: Mapping[str, KernelRecord]
    size: DrawingSize
    frame: Frame
    roofs: DrawnRoofs
    spots: tuple[MarkSpot, ...]
    taken: list[Box] = field(default_factory=list)

    @property
    def inside(self) -> Box:
        """Return where words may stand."""
        frame = self.frame
        return Box(frame.left + 2, frame.top + 2, frame.right - 2, frame.bottom - 2)

    def free(self, box: Box) -> bool:
        """Return whether a box lies inside and covers neither words nor marks."""
        others = (*self.taken, *(spot.box for spot in self.spots))
        return self.inside.holds(box) and not any(box.overlap(other) for other in others)


def draw_roofline(
    chart: Roofline, kernels: Mapping[str, KernelRecord], size: DrawingSize, selected: str | None
) -> Drawing:
    """Return ``chart`` at one size; ``selected`` is the kernel whose levels show at first."""
    sheet = _sheet(chart, kernels, size)
    frame = sheet.frame
    edge_texts = _edge_texts(sheet)
    remark = _remark(sheet)
    listing = _listing(sheet)
    texts = _slope_texts(sheet, minor=False)
    levels = tuple(_levels(sheet, spot, spot.kernel.id == selected) for spot in sheet.spots)
    ridge = _ridge(sheet)
    marks = name_marks(sheet.spots, _surroundings(sheet), size, _second_line(size), position)
    sheet.taken.extend(box for mark in marks for box in label_boxes(mark))
    texts += _slope_texts(sheet, minor=True)
    return Drawing(
        id=f"{chart.id}-{size.name}",
        size=size,
        frame=frame,
        title=f"Roofline of {chart.of} on {chart.device}, {chart.label}",
        description=_description(sheet),
        x_title=x_title(f"arithmetic intensity at DRAM, {chart.label} [FLOP/B]", sheet.size),
        y_title=_y_title(sheet),
        x_grid=_grid(sheet, log_ticks(frame.x0, frame.x1), vertical=True),
        y_grid=_grid(sheet, log_ticks(frame.y0, frame.y1, _UNIT), vertical=False),
        unit="" if size.compact else _UNIT,
        strokes=tuple(stroke(line, frame) for line in sheet.roofs.lines),
        area=_area(sheet),
        texts=texts,
        edge_texts=edge_texts,
        ridge=ridge,
        remark=remark,
        marks=marks,
        levels=levels,
        listing=listing,
        zoomable=True,
        ways=tuple(draw_ways(chart.paths, sheet.spots, frame, named=not size.compact)),
    )


def stroke(line: Line, frame: Frame) -> Stroke:
    """Return a line with its pixels."""
    return Stroke(style=line.style, points=line.points, pixels=pixels(line, frame))


def x_title(text: str, size: DrawingSize) -> PlacedText:
    """Return the title under the horizontal axis."""
    middle = size.left + size.inner_width / 2
    return PlacedText(text=text, x=middle, y=size.height - 8, anchor="middle")


def _sheet(chart: Roofline, kernels: Mapping[str, KernelRecord], size: DrawingSize) -> _Sheet:
    lines = roofs(chart)
    shown = largest(chart.placements, kernels)
    levels = [x for p in shown for x in (p.x, p.x_l2, p.x_l1) if x]
    past = [point for path in chart.paths for point in path.points]
    x = log_range([*lines.extent_x, *levels, *(x for x, _ in past)] or [1.0])
    tops = [*lines.extent_y, *(p.y for p in chart.placements), *(y for _, y in past)]
    y = log_range(tops or [1e12])
    frame = size.frame(x, y)
    spots = tuple(log_spot(p, kernels[p.kernel_id], frame, size) for p in shown)
    return _Sheet(chart=chart, kernels=kernels, size=size, frame=frame, roofs=lines, spots=spots)


def _second_line(size: DrawingSize) -> Callable[[MarkSpot], str]:
    def text(spot: MarkSpot) -> str:
        roof = f"{wording.share(spot.kernel.roof_fraction)} of roof"
        time = f", {wording.share(spot.kernel.time_share)} of time"
        return roof if size.compact else roof + time

    return text


def _surroundings(sheet: _Sheet) -> Surroundings:
    roof = [line for line in sheet.roofs.lines if line.style == "bind"]
    others = [line for line in sheet.roofs.lines if line.style != "bind"]
    return Surroundings(
        frame=sheet.inside,
        taken=tuple(sheet.taken),
        roof=segments(roof, sheet.frame),
        lines=segments(others, sheet.frame),
    )


def _y_title(sheet: _Sheet) -> PlacedText:
    unit = f" [{_UNIT}]" if sheet.size.compact else ""
    simulated = ", simulated" if sheet.chart.simulated else ""
    text = f"performance, {sheet.chart.label}{unit}{simulated}"
    return PlacedText(text=text, x=sheet.frame.left, y=sheet.frame.top - 10)


def _grid(sheet: _Sheet, ticks: Sequence[Tick], *, vertical: bool) -> tuple[GridLine, ...]:
    frame = sheet.frame
    low, high = (frame.x0, frame.x1) if vertical else (frame.y0, frame.y1)
    sparse = sheet.size.compact or high - low > _CROWDED
    return tuple(
        GridLine(
            at=frame.x(tick.at) if vertical else frame.y(tick.at),
            label=tick.label.replace(_UNIT, "") if sheet.size.compact else tick.label,
            major=tick.major,
        )
        for tick in ticks
        if tick.label or not sparse
    )


def _area(sheet: _Sheet) -> Stroke | None:
    """Return what lies under the binding roof."""
    roof = next((line for line in sheet.roofs.lines if line.style == "bind"), None)
    if roof is None:
        return None
    closed = (*roof.points, (roof.points[-1][0], _FLOOR), (roof.points[0][0], _FLOOR))
    return stroke(Line(style="area", points=closed), sheet.frame)


def _edge_texts(sheet: _Sheet) -> tuple[PlacedText, ...]:
    """Return the words at the right end of compute roofs, pushed up to 15 px apart."""
    frame, compact = sheet.frame, sheet.size.compact
    anchor: Anchor = "end" if compact else "start"
    x = frame.right - 5 if compact else frame.right + 8
    found = []
    last = math.inf
    for edge in sorted(sheet.roofs.edge_texts, key=lambda edge: edge.y):
        last = min(frame.y(edge.y), last - _EDGE_DISTANCE)
        y = last - 5 if compact else last + 4
        box = text_box(x, y, edge.text, anchor)
        if compact and box.top < frame.top:
            continue
        sheet.taken.append(box)
        found.append(
            PlacedText(
                text=edge.text, x=x, y=y, anchor=anchor, strong=edge.strong, at=(frame.x1, edge.y)
            )
        )
    return tuple(found)


def _remark(sheet: _Sheet) -> PlacedText | None:
    """Return what the chart leaves out, as much of it as fits the top edge."""
    hidden = _hidden(sheet)
    for words in ((*hidden, *sheet.chart.remarks), hidden):
        text = "; ".join(words)
        x, y = sheet.frame.right - 6, sheet.frame.top + 16
        box = text_box(x, y, text, "end")
        if text and sheet.free(box):
            sheet.taken.append(box)
            return PlacedText(text=text, x=x, y=y, anchor="end")
    return None


def _hidden(sheet: _Sheet) -> tuple[str, ...]:
    """Return how many kernels have no mark for want of room, and how little time each takes."""
    shown = {spot.kernel.id for spot in sheet.spots}
    rest = [p.kernel_id for p in sheet.chart.placements if p.kernel_id not in shown]
    if not rest:
        return ()
    longest = max(sheet.kernels[kernel_id].time_share or 0.0 for kernel_id in rest)
    return (f"{wording.fixed(len(rest))} more, at most {wording.share(longest)} of time each",)


def _listing(sheet: _Sheet) -> Listing | None:
    """Return the list of kernels without a place, in a corner where it covers nothing."""
    unplaced = sheet.chart.unplaced
    for most in (3, 2) if sheet.size.compact else (6, 4, 2):
        if not unplaced:
            return None
        rows = [_listed(sheet, row, i) for i, row in enumerate(unplaced[:most])]
        more = len(unplaced) - len(rows)
        heading = f"Not placed, {unplaced[0].reason}:"
        width = max(text_width(heading), *(30 + text_width(r.name + r.note) for r in rows))
        height = _ROW * (len(rows) + 1 + bool(more))
        for x, y in _corners(sheet.frame, width, height):
            box = Box(x, y - 12, x + width, y - 12 + height)
            if sheet.free(box):
                sheet.taken.append(box)
                more_y = _ROW * (len(rows) + 1)
                return Listing(
                    x=x, y=y, heading=heading, rows=tuple(rows), more=more, more_y=more_y
                )
    return None


def _listed(sheet: _Sheet, row: Unplaced, index: int) -> ListedKernel:
    kernel = sheet.kernels[row.kernel_id]
    return ListedKernel(
        kernel_id=row.kernel_id,
        limiter=kernel.limiter,
        name=chart_name(kernel, sheet.size),
        note="" if sheet.size.compact else row.note,
        shape=mark_path(kernel.limiter, 4.0),
        y=_ROW * (index + 1),
    )


def _corners(frame: Frame, width: float, height: float) -> tuple[Point, ...]:
    """Return where a list may start: lower right, else upper left, above every roof."""
    return (
        (frame.right - width - 10, frame.bottom - height + 4),
        (frame.left + 10, frame.top + 20),
    )


def _slope_texts(sheet: _Sheet, *, minor: bool) -> tuple[PlacedText, ...]:
    frame = sheet.frame
    marks = [spot.box for spot in sheet.spots]
    found = []
    wanted = [words for words in sheet.roofs.slope_texts if words.minor == minor]
    for words in sorted(wanted, key=lambda words: not words.strong):
        short = words.text.replace(f" {sheet.chart.roof}", "").split(",")[0]
        said = replace(words, text=short) if sheet.size.compact else words
        seated = seat(said, frame, sheet.taken, marks)
        if seated is None:
            continue
        at, boxes = seated
        sheet.taken.extend(boxes)
        found.append(
            PlacedText(
                text=said.text,
                x=frame.x(at[0]),
                y=frame.y(at[1]),
                strong=said.strong,
                at=at,
                angle=frame.slope(),
                dy=said.dy,
            )
        )
    return tuple(found)


def _ridge(sheet: _Sheet) -> PlacedText | None:
    """Return the dot where the binding roof bends, with its words where they cover nothing."""
    at = sheet.roofs.ridge
    if at is None:
        return None
    x, y = sheet.frame.x(at[0]), sheet.frame.y(at[1])
    text = f"ridge {wording.si(10 ** at[0], 'FLOP/B')}"
    places: tuple[tuple[float, float, Anchor], ...] = ((10, 18, "start"), (-8, -10, "end"))
    for dx, dy, anchor in places:
        box = text_box(x + dx, y + dy, text, anchor)
        if sheet.free(box):
            sheet.taken.append(box)
            return PlacedText(text=text, x=x, y=y, anchor=anchor, at=at, dx=dx, dy=dy)
    return PlacedText(text="", x=x, y=y, at=at)


def _levels(sheet: _Sheet, spot: MarkSpot, selected: bool) -> LevelMarks:
    """Return the ticks at L2 and L1 on one line with the mark, and the drop to its roof."""
    frame, placement = sheet.frame, spot.placement
    y = spot.at[1]
    found = (("L2", placement.x_l2), ("L1", placement.x_l1))
    ticks = tuple(
        _level_tick(name, math.log10(x), spot, frame)
        for name, x in found
        if x is not None and x > 0
    )
    ticks = tuple(_named(sheet, tick) for tick in _apart(ticks))
    if selected:
        sheet.taken.extend(_name_box(tick) for tick in ticks if tick.name)
        sheet.taken.extend(Box(t.x - 2, t.y - 7, t.x + 2, t.y + 7) for t in ticks)
    ends = [tick.at[0] for tick in ticks]
    x = spot.at[0]
    span = drop = None
    if x is not None and ends:
        points = ((min(ends), y), (max(*ends, x), y))
        span = stroke(Line(style="levels", points=points), frame)
    if x is not None and placement.roof:
        drop = stroke(Line(style="drop", points=((x, y), (x, math.log10(placement.roof)))), frame)
    return LevelMarks(kernel_id=spot.kernel.id, span=span, ticks=ticks, drop=drop)


def _name_box(tick: LevelTick) -> Box:
    return text_box(tick.x, tick.y + tick.name_y, tick.name, "middle")


def _named(sheet: _Sheet, tick: LevelTick) -> LevelTick:
    """Return the tick, without its name where other words stand already."""
    box = _name_box(tick)
    free = sheet.inside.holds(box) and not any(box.overlap(other) for other in sheet.taken)
    return tick if free else replace(tick, name="")


def _level_tick(name: str, at: float, spot: MarkSpot, frame: Frame) -> LevelTick:
    """Return the tick of a level at log₁₀ ``at``; one that lies under the mark sticks out of it."""
    x = frame.x(at)
    hidden = abs(x - spot.x) < spot.radius + _TICK
    half = spot.radius + _TICK if hidden else _TICK
    return LevelTick(
        name=name,
        at=(at, spot.at[1]),
        x=x,
        y=spot.y,
        path=f"M0,{-half:.1f}V{half:.1f}",
        name_y=-half - 4,
    )


def _apart(ticks: tuple[LevelTick, ...]) -> tuple[LevelTick, ...]:
    """Join the names of two ticks that are too close for two names."""
    if len(ticks) == 2 and abs(ticks[0].x - ticks[1].x) < 2 * LINE_HEIGHT:
        return replace(ticks[0], name="L1 L2"), replace(ticks[1], name="")
    return ticks


def _description(sheet: _Sheet) -> str:
    label = sheet.chart.label
    heads = [f"{spot.kernel.short_name}: {position(spot)}" for spot in sheet.spots[:5]]
    rest = len(sheet.chart.placements) - len(heads)
    more = [f"and {rest} more"] if rest > 0 else []
    return (
        f"Log-log. Horizontal: {label} operations per byte of DRAM traffic. Vertical: {label} "
        f"operations per second. {len(sheet.chart.placements)} kernels are placed. "
        f"{'. '.join([*heads, *more])}. The table of kernels below holds intensities over all work."
    )
