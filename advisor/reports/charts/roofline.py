"""A roofline drawn at one size: frame, grid, roofs, marks, and words that do not overlap."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from advisor import wording
from advisor.reports.charts.drawing import (
    Drawing,
    DrawingSize,
    GridLine,
    ListedKernel,
    Outside,
    PlacedText,
)
from advisor.reports.charts.labels import (
    Anchor,
    Box,
    text_box,
)
from advisor.reports.charts.levels import draw_levels, draw_views
from advisor.reports.charts.marks import (
    coordinates,
    label_boxes,
    largest,
    log_spot,
    name_marks,
    position,
)
from advisor.reports.charts.roofs import roofs, seat
from advisor.reports.charts.scales import Tick, log_range, log_ticks
from advisor.reports.charts.sheet import (
    Sheet,
    area_under,
    intensity_title,
    ridge_text,
    second_line,
    stroke,
    surroundings,
)
from advisor.reports.charts.ways import draw_ways
from advisor.reports.record.charted import Roofline, Unplaced
from advisor.reports.record.kernel_records import KernelRecord
from advisor.reports.record.layout import layout

_CROWDED = 6.0
_OFF = 8.0  # pixels: the ring of a mark and a gap
_EDGE_DISTANCE = 15.0
_MOST_LISTED = 6
_UNIT = "FLOP/s"
_LEVEL = "dram"


def draw_roofline(
    chart: Roofline, kernels: Mapping[str, KernelRecord], size: DrawingSize, selected: str | None
) -> Drawing:
    """Return ``chart`` at one size; ``selected`` is the kernel whose levels show at first."""
    sheet = _sheet(chart, kernels, size)
    frame = sheet.frame
    edge_texts = _edge_texts(sheet)
    remark = _remark(sheet)
    texts = _slope_texts(sheet, minor=False)
    views = tuple(draw_views(sheet))
    levels = tuple(draw_levels(sheet, selected))
    ridge = ridge_text(sheet, sheet.roofs.ridge)
    around = surroundings(sheet, sheet.roofs.lines)
    marks = name_marks(sheet.spots, around, size, second_line(size), coordinates)
    sheet.taken.extend(box for mark in marks for box in label_boxes(mark))
    texts += _slope_texts(sheet, minor=True)
    return Drawing(
        id=f"{chart.id}-{size.name}",
        size=size,
        frame=frame,
        title=f"Roofline of {chart.of} on {chart.device}, {chart.label}",
        description=_description(sheet),
        x_title=intensity_title(sheet, layout().label(_LEVEL)),
        y_title=_y_title(sheet),
        x_grid=_grid(sheet, log_ticks(frame.x0, frame.x1), vertical=True),
        y_grid=_grid(sheet, log_ticks(frame.y0, frame.y1, _UNIT), vertical=False),
        unit="" if size.compact else _UNIT,
        strokes=tuple(stroke(line, frame) for line in sheet.roofs.lines),
        area=area_under(sheet.roofs.lines, frame),
        texts=texts,
        edge_texts=edge_texts,
        ridge=ridge,
        remark=remark,
        marks=marks,
        levels=levels,
        zoomable=True,
        ways=tuple(draw_ways(chart.paths, sheet.spots, frame, named=not size.compact)),
        views=views,
        outside=tuple(_outside(chart, kernels)),
    )


def _sheet(chart: Roofline, kernels: Mapping[str, KernelRecord], size: DrawingSize) -> Sheet:
    lines = roofs(chart)
    shown = largest(chart.placements, kernels)
    levels = [x for p in shown for x in (p.x, *(at.x for at in p.levels)) if x]
    past = [point for path in chart.paths for point in path.points]
    x = log_range([*lines.extent_x, *levels, *(x for x, _ in past)] or [1.0])
    tops = [*lines.extent_y, *(p.y for p in chart.placements), *(y for _, y in past)]
    y = log_range(tops or [1e12])
    frame = size.frame(x, y)
    spots = tuple(log_spot(p, kernels[p.kernel_id], frame, size) for p in shown)
    return Sheet(chart=chart, kernels=kernels, size=size, frame=frame, roofs=lines, spots=spots)


def _y_title(sheet: Sheet) -> PlacedText:
    unit = f" [{_UNIT}]" if sheet.size.compact else ""
    simulated = ", simulated" if sheet.chart.simulated else ""
    text = f"performance, {sheet.chart.label}{unit}{simulated}"
    return PlacedText(text=text, x=sheet.frame.left, y=sheet.frame.top - 10)


def _grid(sheet: Sheet, ticks: Sequence[Tick], *, vertical: bool) -> tuple[GridLine, ...]:
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


def _edge_texts(sheet: Sheet) -> tuple[PlacedText, ...]:
    """Return the words at the right end of compute roofs, pushed up to 15 px apart."""
    frame, compact = sheet.frame, sheet.size.compact
    anchor: Anchor = "end" if compact else "start"
    x = frame.right - 5 if compact else frame.right + 8
    found = []
    last = math.inf
    for edge in sorted(sheet.roofs.edge_texts, key=lambda edge: edge.y):
        last = min(frame.y(edge.y), last - _EDGE_DISTANCE)
        y = last - 5 if compact else last + 4
        dx = _off_marks(sheet, text_box(x, y, edge.text, anchor)) if compact else 0.0
        box = text_box(x + dx, y, edge.text, anchor)
        if compact and box.top < frame.top:
            continue
        sheet.taken.append(box)
        at = frame.x1, edge.y
        placed = PlacedText(text=edge.text, x=x, y=y, anchor=anchor, strong=edge.strong, at=at)
        found.append(replace(placed, dx=dx))
    return tuple(found)


def _off_marks(sheet: Sheet, box: Box) -> float:
    """Return how far words at the right end of a roof go to the left, off the marks there."""
    under = [mark.left for mark in sheet.marks if mark.overlap(box)]
    return min(0.0, min(under) - _OFF - box.right) if under else 0.0


def _remark(sheet: Sheet) -> PlacedText | None:
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


def _hidden(sheet: Sheet) -> tuple[str, ...]:
    """Return how many kernels have no mark for want of room, and how little time each takes."""
    shown = {spot.kernel.id for spot in sheet.spots}
    rest = [p.kernel_id for p in sheet.chart.placements if p.kernel_id not in shown]
    if not rest:
        return ()
    longest = max(sheet.kernels[kernel_id].time_share or 0.0 for kernel_id in rest)
    return (f"{wording.fixed(len(rest))} more, at most {wording.share(longest)} of time each",)


def _outside(chart: Roofline, kernels: Mapping[str, KernelRecord]) -> Iterator[Outside]:
    """Yield what the chart has no mark for, by reason, as it is listed below."""
    by_reason: dict[str, list[Unplaced]] = defaultdict(list)
    for each in chart.unplaced:
        by_reason[each.reason].append(each)
    for reason, found in by_reason.items():
        yield Outside(
            heading=f"{wording.count(len(found), 'kernel')} {reason}",
            kernels=tuple(
                ListedKernel(
                    kernel_id=each.kernel_id,
                    name=kernels[each.kernel_id].full_name,
                    note=each.note,
                )
                for each in found[:_MOST_LISTED]
            ),
            more=max(0, len(found) - _MOST_LISTED),
        )


def _slope_texts(sheet: Sheet, *, minor: bool) -> tuple[PlacedText, ...]:
    frame = sheet.frame
    found = []
    wanted = [words for words in sheet.roofs.slope_texts if words.minor == minor]
    for words in sorted(wanted, key=lambda words: not words.strong):
        short = words.text.replace(f" {sheet.chart.roof}", "").split(",")[0]
        label = replace(words, text=short) if sheet.size.compact else words
        seated = seat(label, frame, sheet.taken, sheet.marks)
        if seated is None:
            continue
        at, boxes = seated
        sheet.taken.extend(boxes)
        found.append(
            PlacedText(
                text=label.text,
                x=frame.x(at[0]),
                y=frame.y(at[1]),
                strong=label.strong,
                at=at,
                angle=frame.slope(),
                dy=label.dy,
            )
        )
    return tuple(found)


def _description(sheet: Sheet) -> str:
    label = sheet.chart.label
    heads = [f"{spot.kernel.short_name}: {position(spot)}" for spot in sheet.spots[:5]]
    rest = len(sheet.chart.placements) - len(heads)
    more = [f"and {rest} more"] if rest > 0 else []
    return (
        f"Log-log. Horizontal: {label} operations per byte of DRAM traffic. Vertical: {label} "
        f"operations per second. {len(sheet.chart.placements)} kernels are placed. "
        f"{'. '.join([*heads, *more])}. The table of kernels below holds intensities over all work."
    )
