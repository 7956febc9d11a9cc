"""The lines of a roofline: which ceilings become which strokes, where they meet, what they say."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from advisor import wording
from advisor.records import dataclass
from advisor.reports.charts.labels import Box, LineSegment, text_width
from advisor.reports.charts.scales import Frame
from advisor.reports.record.charted import ChartCeiling, Roofline

# Lines go on beyond the frame, so that zooming out does not show their ends.
_BEYOND = 8.0
_SAME = 0.02
_STEP = 22.0
_ABOVE, _BELOW = -6.0, 15.0

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A stroke through log₁₀ points; ``style`` is bind, thin, achievable or nominal."""

    style: str
    points: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True)
class SlopeText:
    """Words along a memory roof: where they may start, and on which side of the line (``dy``).

    ``minor`` words give way to the names of kernels.
    """

    text: str
    start: Point
    end: Point
    dy: float
    strong: bool
    minor: bool


@dataclass(frozen=True, kw_only=True)
class EdgeText:
    """Words at the right end of a compute roof at log₁₀ ``y``."""

    text: str
    y: float
    strong: bool


@dataclass(frozen=True, kw_only=True)
class DrawnRoofs:
    """Everything drawn for the ceilings; the ridge is where the binding roof bends."""

    lines: tuple[Line, ...]
    slope_texts: tuple[SlopeText, ...]
    edge_texts: tuple[EdgeText, ...]
    ridge: Point | None
    extent_x: tuple[float, ...]
    extent_y: tuple[float, ...]


def roofs(chart: Roofline) -> DrawnRoofs:
    """Return lines and words for the ceilings of ``chart``."""
    memory = _of(chart.ceilings, "profiled", "B/s")
    compute = _of(chart.ceilings, "profiled", "FLOP/s")
    dram = next((c for c in memory if c.resource == "dram"), None)
    bound = next((c for c in compute if c.resource == chart.binding), None)
    top = max((c.value for c in compute), default=None)
    ridge = _meet(dram, bound)
    lines = [
        *_slopes(memory, dram, top),
        *_flats(compute, bound, memory),
        *_achievable(chart.ceilings, bound),
        *_nominal(chart.ceilings, memory, compute),
        *_binding(dram, bound, top),
    ]
    corners = [point for line in lines for point in line.points]
    return DrawnRoofs(
        lines=tuple(lines),
        slope_texts=tuple(_slope_texts(chart, memory, bound, top)),
        edge_texts=tuple(_edge_texts(chart.ceilings, compute)),
        ridge=ridge,
        extent_x=tuple(10**x for x, _ in corners if abs(x) < _BEYOND),
        extent_y=tuple(c.value for c in chart.ceilings if c.unit == "FLOP/s"),
    )


def level_roof(chart: Roofline, level: str) -> tuple[list[Line], Point | None]:
    """Return the roof that binds at a level of memory, and where it bends."""
    memory = next((c for c in chart.level_ceilings if c.resource == level), None)
    compute = _of(chart.ceilings, "profiled", "FLOP/s")
    bound = next((c for c in compute if c.resource == chart.binding), None)
    return _binding(memory, bound, None), _meet(memory, bound)


def pixels(line: Line, frame: Frame) -> tuple[Point, ...]:
    """Return the points of a line in pixels."""
    return tuple((frame.x(x), frame.y(y)) for x, y in line.points)


def segments(lines: Iterable[Line], frame: Frame) -> tuple[LineSegment, ...]:
    """Return the pieces of some lines in pixels."""
    found: list[LineSegment] = []
    for line in lines:
        points = pixels(line, frame)
        found += [LineSegment(*a, *b) for a, b in itertools.pairwise(points)]
    return tuple(found)


def seat(
    words: SlopeText, frame: Frame, texts: Sequence[Box], marks: Sequence[Box]
) -> tuple[Point, tuple[Box, ...]] | None:
    """Return the log₁₀ point where words along a slope start, and the boxes they cover.

    The first place from the left that is free of texts and marks. The name of the roof itself may
    lie over a mark where there is no such place; other words are left out.
    """
    angle = math.radians(frame.slope())
    inside = Box(frame.left, frame.top, frame.right, frame.bottom)
    fallback = None
    for start in _starts(words, frame, angle):
        boxes = _along(start, angle, words)
        if not all(inside.holds(box) for box in boxes):
            continue
        if not all(box.is_free_of(texts) for box in boxes):
            continue
        point = _unproject(start, frame)
        if all(box.is_free_of(marks) for box in boxes):
            return point, boxes
        if words.strong:
            fallback = fallback or (point, boxes)
    return fallback


def _log(value: float) -> float:
    return math.log10(value)


def _of(ceilings: Iterable[ChartCeiling], kind: str, unit: str) -> list[ChartCeiling]:
    return [c for c in ceilings if c.kind == kind and c.unit == unit]


def _meet(memory: ChartCeiling | None, compute: ChartCeiling | None) -> Point | None:
    if memory is None or compute is None:
        return None
    return _log(compute.value) - _log(memory.value), _log(compute.value)


def _slope(bandwidth: float, x_end: float) -> tuple[Point, ...]:
    return (-_BEYOND, _log(bandwidth) - _BEYOND), (x_end, _log(bandwidth) + x_end)


def _slopes(
    memory: Sequence[ChartCeiling], dram: ChartCeiling | None, top: float | None
) -> list[Line]:
    return [
        Line(style="thin", points=_slope(c.value, _BEYOND if top is None else _log(top / c.value)))
        for c in memory
        if c is not dram
    ]


def _flats(
    compute: Sequence[ChartCeiling], bound: ChartCeiling | None, memory: Sequence[ChartCeiling]
) -> list[Line]:
    widest = max((c.value for c in memory), default=None)
    highest = max((c.value for c in compute), default=None)
    found = []
    for ceiling in compute:
        # The highest roof also closes the slopes of the caches, so it is drawn though it may bind.
        if ceiling is not bound or ceiling.value == highest:
            start = -_BEYOND if widest is None else _log(ceiling.value / widest)
            y = _log(ceiling.value)
            found.append(Line(style="thin", points=((start, y), (_BEYOND, y))))
    return found


def _binding(
    memory: ChartCeiling | None, bound: ChartCeiling | None, top: float | None
) -> list[Line]:
    ridge = _meet(memory, bound)
    if memory is not None and ridge is not None:
        bent = (*_slope(memory.value, ridge[0]), (_BEYOND, ridge[1]))
        lines = [Line(style="bind", points=bent)]
        if top is not None and _log(top) > ridge[1]:
            end = (_log(top / memory.value), _log(top))
            lines.insert(0, Line(style="thin", points=(ridge, end)))
        return lines
    if memory is not None:
        return [Line(style="bind", points=_slope(memory.value, _BEYOND))]
    if bound is not None:
        y = _log(bound.value)
        return [Line(style="bind", points=((-_BEYOND, y), (_BEYOND, y)))]
    return []


def _achievable_limit(
    ceilings: Sequence[ChartCeiling], bound: ChartCeiling | None
) -> ChartCeiling | None:
    """Return where the achievable memory roof ends."""
    return next(iter(_of(ceilings, "achievable", "FLOP/s")), bound)


def _achievable(ceilings: Sequence[ChartCeiling], bound: ChartCeiling | None) -> list[Line]:
    memory = next(iter(_of(ceilings, "achievable", "B/s")), None)
    compute = next(iter(_of(ceilings, "achievable", "FLOP/s")), None)
    limit = _achievable_limit(ceilings, bound)
    if memory is not None:
        end = _BEYOND if limit is None else _log(limit.value / memory.value)
        points = _slope(memory.value, end)
        if compute is not None:
            points = (*points, (_BEYOND, _log(compute.value)))
        return [Line(style="achievable", points=points)]
    if compute is not None:
        y = _log(compute.value)
        return [Line(style="achievable", points=((-_BEYOND, y), (_BEYOND, y)))]
    return []


def _nominal(
    ceilings: Sequence[ChartCeiling],
    memory: Sequence[ChartCeiling],
    compute: Sequence[ChartCeiling],
) -> list[Line]:
    """Return dotted lines for the nominal ceilings that differ from the profiled ones."""
    dram = next(iter(_of(ceilings, "nominal", "B/s")), None)
    base = dram or next((c for c in memory if c.resource == "dram"), None)
    flats = [c for c in _of(ceilings, "nominal", "FLOP/s") if not _close(c, compute)]
    lines = []
    if dram is not None and not _close(dram, memory):
        highest = max((c.value for c in (*flats, *compute)), default=None)
        end = _BEYOND if highest is None else _log(highest / dram.value)
        lines.append(Line(style="nominal", points=_slope(dram.value, end)))
    for ceiling in flats:
        start = -_BEYOND if base is None else _log(ceiling.value / base.value)
        y = _log(ceiling.value)
        lines.append(Line(style="nominal", points=((start, y), (_BEYOND, y))))
    return lines


def _close(nominal: ChartCeiling, profiled: Iterable[ChartCeiling]) -> bool:
    """Return whether a profiled ceiling of the same resource is within 2 %."""
    return any(
        c.resource == nominal.resource and abs(c.value / nominal.value - 1) <= _SAME
        for c in profiled
    )


def _slope_texts(
    chart: Roofline,
    memory: Sequence[ChartCeiling],
    bound: ChartCeiling | None,
    top: float | None,
) -> Iterable[SlopeText]:
    ceilings = chart.ceilings
    for ceiling in memory:
        text = f"{ceiling.label} {wording.si(ceiling.value, 'B/s')} {chart.roof}"
        for nominal in _of(ceilings, "nominal", "B/s"):
            if nominal.resource == ceiling.resource and _close(nominal, memory):
                text += f", nominal {wording.si(nominal.value, 'B/s')}"
        yield _words(text, ceiling, top, dy=_ABOVE)
    limit = _achievable_limit(ceilings, bound)
    for ceiling in _of(ceilings, "achievable", "B/s"):
        text = f"achievable {wording.si(ceiling.value, 'B/s')}"
        yield _words(text, ceiling, None if limit is None else limit.value, dy=_BELOW)
    for ceiling in _of(ceilings, "nominal", "B/s"):
        if not _close(ceiling, memory):
            text = f"nominal {wording.si(ceiling.value, 'B/s')}"
            yield _words(text, ceiling, top, dy=_ABOVE)


def _words(text: str, ceiling: ChartCeiling, top: float | None, *, dy: float) -> SlopeText:
    end = _BEYOND if top is None else _log(top / ceiling.value)
    first, last = _slope(ceiling.value, end)
    profiled = ceiling.kind == "profiled"
    return SlopeText(
        text=text,
        start=first,
        end=last,
        dy=dy,
        strong=profiled and ceiling.resource == "dram",
        minor=not profiled,
    )


def _edge_texts(
    ceilings: Sequence[ChartCeiling], compute: Sequence[ChartCeiling]
) -> Iterable[EdgeText]:
    for ceiling in compute:
        text = f"{ceiling.label} {wording.si(ceiling.value, 'FLOP/s')}"
        yield EdgeText(text=text, y=_log(ceiling.value), strong=True)
    for ceiling in _of(ceilings, "achievable", "FLOP/s"):
        text = f"achievable {wording.si(ceiling.value, 'FLOP/s')}"
        yield EdgeText(text=text, y=_log(ceiling.value), strong=False)
    for ceiling in _of(ceilings, "nominal", "FLOP/s"):
        if not _close(ceiling, compute):
            text = f"nominal {wording.si(ceiling.value, 'FLOP/s')}"
            yield EdgeText(text=text, y=_log(ceiling.value), strong=False)


def _starts(words: SlopeText, frame: Frame, angle: float) -> Iterable[Point]:
    """Yield pixel points along the visible part of a slope, from its lower end."""
    x, y = frame.x(words.start[0]), frame.y(words.start[1])
    end = frame.x(words.end[0])
    enter = max(frame.left + 4 - x, (y - frame.bottom + 4) / math.tan(-angle))
    x, y = x + enter, y + enter * math.tan(angle)
    while x < min(end, frame.right):
        yield x, y
        x, y = x + _STEP * math.cos(angle), y + _STEP * math.sin(angle)


def _along(start: Point, angle: float, words: SlopeText) -> tuple[Box, ...]:
    """Return boxes that together cover slanted words: one per dozen pixels of their length."""
    length = text_width(words.text)
    pieces = max(1, math.ceil(length / 12))
    boxes = []
    for i in range(pieces + 1):
        along = length * i / pieces
        across = words.dy - 4
        x = start[0] + along * math.cos(angle) - across * math.sin(angle)
        y = start[1] + along * math.sin(angle) + across * math.cos(angle)
        boxes.append(Box(x - 8, y - 8, x + 8, y + 8))
    return tuple(boxes)


def _unproject(point: Point, frame: Frame) -> Point:
    x = frame.x0 + (point[0] - frame.left) / frame.width * (frame.x1 - frame.x0)
    y = frame.y0 + (frame.bottom - point[1]) / frame.height * (frame.y1 - frame.y0)
    return x, y
