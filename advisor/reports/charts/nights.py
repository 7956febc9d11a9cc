"""Kernels over nights: sparklines, histories and signed bars as shares of their boxes.

Everything is a share of the width or height in [0, 1], so that a page draws it at any size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from advisor import wording
from advisor.records import dataclass
from advisor.reports.record.history_words import SHORT_COMMIT, day
from advisor.reports.record.over_time import AdviceOutcome, FactNights, RunHistory, ShownNight

_LEAST_REACH = 0.07  # about the median, so that noise looks like noise
_MARGIN = 0.12  # of the height, above and below the values
_CHARACTER = 0.022  # of the width of a narrow chart, 300 pixels
_GRID_LINES = 4
_STEPS = (1, 2, 2.5, 5, 10)

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Spark:
    """A line without axes; the last point is marked. ``label`` says it in words."""

    points: tuple[Point, ...]
    label: str


@dataclass(frozen=True, kw_only=True)
class NightLevel:
    """A segment: its median from ``left`` to ``right``, and its band where there is one."""

    left: float
    right: float
    at: float
    band: tuple[float, float] | None
    label: str


@dataclass(frozen=True, kw_only=True)
class NightMark:
    """A night on which something changed: ``words`` stand above the line, where there is room."""

    at: float
    words: str
    anchor: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class GridTick:
    """A horizontal line and its value."""

    at: float
    label: str


@dataclass(frozen=True, kw_only=True)
class NightsChart:
    """One fact of a kernel over nights. ``floor`` says where the axis starts."""

    title: str
    description: str
    dots: tuple[Point, ...]
    levels: tuple[NightLevel, ...]
    marks: tuple[NightMark, ...]
    grid: tuple[GridTick, ...]
    first: str
    last: str
    floor: str


@dataclass(frozen=True, kw_only=True)
class TermBar:
    """A signed bar from the line at ``zero``; ``adds`` time or takes it away. Shares of width."""

    label: str
    start: float
    width: float
    zero: float
    adds: bool
    value: str
    total: bool = False


@dataclass(frozen=True, kw_only=True)
class PredictedBar:
    """Predicted beside achieved: shares of the width."""

    low: float
    likely: float
    high: float
    achieved: float
    description: str


def spark_of(values: Sequence[tuple[int, float]], nights: int, most: int) -> Spark | None:
    """Return the sparkline of (night, value) of the last ``most`` of so many nights."""
    begin = max(0, nights - most)
    shown = [(place, value) for place, value in values if place >= begin]
    if len(shown) < 2:
        return None
    low, high = _reach([value for _, value in shown])
    width = max(1, nights - 1 - begin)
    points = tuple(((place - begin) / width, _up(value, low, high)) for place, value in shown)
    ends = f"{wording.seconds(shown[0][1])} to {wording.seconds(shown[-1][1])}"
    return Spark(points=points, label=f"{wording.count(len(shown), 'night')}, {ends}")


def spark_text(values: Sequence[float], bars: str) -> str:
    """Return one character per value.

    >>> spark_text([1.0, 1.0, 2.0], "_.-")
    '__-'
    """
    if not values:
        return ""
    low, high = _reach(values)
    top = len(bars) - 1
    return "".join(bars[round((1 - _up(value, low, high)) * top)] for value in values)


def _reach(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis, at least 7 % off the median."""
    middle = median(values)
    low = min(*values, middle * (1 - _LEAST_REACH)) if values else 0.0
    high = max(*values, middle * (1 + _LEAST_REACH)) if values else 1.0
    return low, high


def _up(value: float, low: float, high: float) -> float:
    """Return the share of the height from the top."""
    return 1 - (value - low) / (high - low) if high > low else 0.5


def nights_chart(
    fact: FactNights, nights: Sequence[ShownNight], changes: Sequence[int]
) -> NightsChart:
    """Return the history of one fact; ``changes`` are the nights at which its level is new."""
    low, high = _axis(fact)
    last = max(1, len(nights) - 1)

    def up(value: float) -> float:
        return _up(value, low, high)

    levels = tuple(
        NightLevel(
            left=max(0.0, (each.first - 0.4) / last),
            right=min(1.0, (each.last + 0.4) / last),
            at=up(each.median),
            band=None if each.low is None or each.high is None else (up(each.high), up(each.low)),
            label=_shown(each.median, fact.unit),
        )
        for each in fact.segments
    )
    return NightsChart(
        title=fact.label,
        description=_description(fact, nights),
        dots=tuple([(place / last, _up(value, low, high)) for place, value in fact.values]),
        levels=levels,
        marks=_marks(nights, changes),
        grid=tuple(GridTick(at=up(at), label=_shown(at, fact.unit)) for at in _ticks(low, high)),
        first=day(nights[0].time),
        last=day(nights[-1].time),
        floor="" if low <= 0 else f"The axis starts at {_shown(low, fact.unit)}.",
    )


def _axis(fact: FactNights) -> tuple[float, float]:
    values = [value for _, value in fact.values]
    low, high = _reach(values)
    if not high > low:
        low, high = low - 0.5, high + 0.5
    margin = _MARGIN * (high - low)
    floor = low - margin
    return (0.0 if low >= 0 > floor else floor), high + margin


def _ticks(low: float, high: float) -> list[float]:
    """Return a few round values between two others."""
    raw = (high - low) / _GRID_LINES
    scale = 10 ** math.floor(math.log10(raw))
    step = next(each * scale for each in _STEPS if each * scale >= raw * 0.999)
    first = math.ceil(low / step)
    return [n * step for n in range(first, math.floor(high / step) + 1)]


def _marks(nights: Sequence[ShownNight], changes: Sequence[int]) -> tuple[NightMark, ...]:
    """Return the dashed lines: changes of level with their commit, and of the environment."""
    last = max(1, len(nights) - 1)
    found = []
    for place, night in enumerate(nights):
        if place in changes and place:
            is_new = night.commit is not None and night.commit != nights[place - 1].commit
            commit = f" {(night.commit or '')[:SHORT_COMMIT]}" if is_new else ""
            found.append((place, f"{day(night.time)}{commit}", "change"))
        elif night.changed and place:
            found.append((place, night.changed[0].partition(" ")[0], "environment"))
    placed = _worded([((place - 0.5) / last, words, kind) for place, words, kind in found])
    return tuple(sorted(placed, key=lambda mark: mark.at))


def _worded(found: Sequence[tuple[float, str, str]]) -> Iterator[NightMark]:
    """Yield marks with their words where these cover no others; changes come first."""
    taken: list[tuple[float, float]] = []
    for at, words, kind in sorted(found, key=lambda one: (one[2] != "change", -one[0])):
        width = len(words) * _CHARACTER
        places = (("start", at, at + width), ("end", at - width, at))
        anchor = next(
            (
                anchor
                for anchor, left, right in places
                if left >= 0
                and right <= 1
                and not any(left < end and start < right for start, end in taken)
            ),
            None,
        )
        if anchor is not None:
            taken += [(left, right) for name, left, right in places if name == anchor]
        yield NightMark(at=at, words=words if anchor else "", anchor=anchor or "start", kind=kind)


def _description(fact: FactNights, nights: Sequence[ShownNight]) -> str:
    parts = [
        f"{day(nights[each.first].time)} to {day(nights[each.last].time)}: "
        f"median {_shown(each.median, fact.unit)}"
        for each in fact.segments
    ]
    return f"{fact.label} over {wording.count(len(fact.values), 'night')}. {'. '.join(parts)}."


def _shown(value: float, unit: str) -> str:
    if unit == "s":
        return wording.seconds(value)
    if unit == "share":
        return wording.percent(value, 1)
    return wording.si(value, "" if unit == "1" else unit)


def term_bars(terms: Mapping[str, float], history: RunHistory) -> tuple[TermBar, ...]:
    """Return terms that are not 0 as bars about one zero line, the total last.

    Terms are natural logarithms; what is written are the factors' changes.
    """
    labels, least = history.term_labels, history.limits.smallest_term
    total = math.fsum(terms.values())
    shown = {name: value for name, value in terms.items() if abs(value) >= least}
    if not shown:
        return ()
    low = min(0.0, total, *shown.values())
    high = max(0.0, total, *shown.values())
    span = high - low or 1.0
    rows = [(labels.get(name, name), value, False) for name, value in shown.items()]
    return tuple(
        TermBar(
            label=label,
            start=(min(0.0, value) - low) / span,
            width=abs(value) / span,
            zero=-low / span,
            adds=value > 0,
            value=wording.signed_percent(math.expm1(value), 1),
            total=is_total,
        )
        for label, value, is_total in [*rows, ("total", total, True)]
    )


def predicted_bar(each: AdviceOutcome, largest: float) -> PredictedBar | None:
    """Return predicted and achieved as shares of ``largest`` seconds; None where one is unknown."""
    if each.low is None or each.likely is None or each.high is None or each.achieved is None:
        return None
    span = largest or 1.0
    low, high = wording.seconds(each.low), wording.seconds(each.high)
    predicted = f"predicted {wording.seconds(each.likely)} ({low} to {high})"
    return PredictedBar(
        low=each.low / span,
        likely=each.likely / span,
        high=each.high / span,
        achieved=max(0.0, each.achieved) / span,
        description=f"{predicted}, achieved {wording.seconds(each.achieved)} per launch",
    )
