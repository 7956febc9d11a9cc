"""A roofline at the levels of memory: all of one kernel's on a line, or every kernel at one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from advisor.reports.charts.drawing import LevelMarks, LevelTick, LevelView
from advisor.reports.charts.labels import (
    LINE_HEIGHT,
    Box,
    Surroundings,
    crossed,
    text_box,
    text_width,
)
from advisor.reports.charts.marks import MOST_AGAIN, MarkSpot, coordinates, log_spot, name_marks
from advisor.reports.charts.roofs import Line, level_roof
from advisor.reports.charts.scales import Frame
from advisor.reports.charts.sheet import (
    Sheet,
    area_under,
    intensity_title,
    ridge_text,
    second_line,
    stroke,
    surroundings,
)

_TICK = 8.0
_ASCENT = 8.0
_GAP = 4.0


def draw_views(sheet: Sheet) -> Iterator[LevelView]:
    """Yield the kernels that waste most at each other level of memory, under its roof."""
    labels = {at.level: at.label for spot in sheet.spots for at in spot.placement.levels}
    taken = tuple(sheet.taken)
    for level, label in labels.items():
        at_level = replace(sheet, taken=[*taken], spots=tuple(_spots(sheet, level)))
        lines, ridge = level_roof(sheet.chart, level)
        others = [line for line in sheet.roofs.lines if line.style != "bind"]
        drawn_ridge = ridge_text(at_level, ridge)
        around = surroundings(at_level, [*others, *lines])
        yield LevelView(
            level=level,
            label=label,
            x_title=intensity_title(sheet, label, again=True),
            roof=tuple(stroke(line, sheet.frame) for line in lines),
            area=area_under(lines, sheet.frame),
            ridge=drawn_ridge,
            marks=name_marks(
                at_level.spots, around, sheet.size, second_line(sheet.size), coordinates
            ),
        )


def _spots(sheet: Sheet, level: str) -> Iterator[MarkSpot]:
    """Yield the marks at a level; with as much work and time, they differ in their intensity."""
    for spot in sheet.spots[:MOST_AGAIN]:
        x = next((at.x for at in spot.placement.levels if at.level == level), None)
        if x is not None:
            placement = replace(spot.placement, x=x)
            yield log_spot(placement, spot.kernel, sheet.frame, sheet.size)


def draw_levels(sheet: Sheet, selected: str | None) -> Iterator[LevelMarks]:
    """Yield what shows the same work at all levels, for the kernels that waste most."""
    around = surroundings(sheet, sheet.roofs.lines)
    for spot in sheet.spots[:MOST_AGAIN]:
        yield _level_marks(sheet, spot, around, selected=spot.kernel.id == selected)


def _level_marks(
    sheet: Sheet, spot: MarkSpot, around: Surroundings, *, selected: bool
) -> LevelMarks:
    """Return the ticks at other levels on one line with the mark, and the drop to its roof."""
    frame, placement = sheet.frame, spot.placement
    y = spot.at[1]
    ticks = tuple(
        _level_tick(each.label, math.log10(each.x), spot, frame) for each in placement.levels
    )
    ticks = tuple(_named(sheet, tick, around) for tick in _apart(ticks))
    if selected:
        sheet.taken.extend(_name_box(tick) for tick in ticks if tick.name)
        sheet.taken.extend(Box(t.x - 2, t.y - 7, t.x + 2, t.y + 7) for t in ticks)
        drawn = [tick.x for tick in ticks]
        if drawn:  # words keep off the line that joins them
            sheet.taken.append(Box(min(drawn), spot.y - 1, max(*drawn, spot.x), spot.y + 1))
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
    return _box_beside(tick, tick.name_x, tick.name_y)


def _box_beside(tick: LevelTick, x: float, y: float) -> Box:
    return text_box(tick.x + x, tick.y + y, tick.name, "middle")


def _named(sheet: Sheet, tick: LevelTick, around: Surroundings) -> LevelTick:
    """Return the tick with its name where lines cross it least; without where nothing is free.

    Above or below comes first, then beside its upper or lower half.
    """
    if not tick.name:
        return tick
    beside = text_width(tick.name) / 2 + _GAP
    spots = [(0.0, tick.name_y), (0.0, _ASCENT - tick.name_y)]
    spots += [(x, y) for x in (beside, -beside) for y in (-_GAP, _GAP + _TICK)]
    free = [
        (crossed(box, around), x, y) for x, y in spots if sheet.free(box := _box_beside(tick, x, y))
    ]
    if not free:
        return replace(tick, name="")
    _, x, y = min(free, key=lambda one: one[0])
    return replace(tick, name_x=x, name_y=y)


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
    """Join the names of ticks that are too close for two names."""
    found: list[LevelTick] = []
    named: LevelTick | None = None
    for tick in sorted(ticks, key=lambda each: each.x):
        if named is None or tick.x - named.x >= 2 * LINE_HEIGHT:
            found.append(tick)
            named = tick
            continue
        place = found.index(named)
        named = found[place] = replace(named, name=f"{named.name} {tick.name}")
        found.append(replace(tick, name=""))
    return tuple(found)
