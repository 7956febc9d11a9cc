"""The kernels of a run over the shown nights: what tables and charts draw of each."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Literal

from advisor.database.night_kernels import OWN, take_kernels_of_series
from advisor.facts import current, kernels_select
from advisor.records import dataclass
from advisor.reports.record.layout import layout
from advisor.reports.record.moved import Move, RunVariant
from advisor.reports.record.over_time import (
    ACCEPTED,
    MENDED,
    FactNights,
    KernelNights,
    MovedSeries,
    Segment,
)
from advisor.reports.record.rows import Row, number, rows_of
from advisor.tracking.records import LEVELS, ChangeKind, Verdict

if TYPE_CHECKING:
    import duckdb

    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.history_settings import HistorySettings
    from advisor.reports.record.records import Report
    from advisor.reports.record.series_records import History, SeriesHistory
    from advisor.rules.language.words import VendorWords

_TIME, _ROOF, _BYTES = "duration", "roof_fraction", "dram_bytes"
_TABLE = "charted_nights"
_KEYS = (
    "run_id",
    "variant_id",
    "series_id",
    "launch_shape",
    "launch_count",
    "launches_excluded",
    _TIME,
    _BYTES,
)
_NORMAL = 1.96  # standard deviations that hold 95 % of a normal distribution

Charted = Literal["none", "moved", "wasteful", "every"]
"""Which kernels have charts: none, those that moved, also those that waste most, or every one."""

Facts = Mapping[tuple[str, str], Sequence[Row]]
"""The facts of the charted kernels by run and series."""


@dataclass(frozen=True, kw_only=True)
class ChartedBy:
    """What nights are charted by: facts, the file of settings, the words of the vendor.

    Where ``every`` kernel has ``charts``, none has a path.
    """

    knowledge: Knowledge
    settings: HistorySettings
    words: VendorWords
    charts: Charted


def kernel_nights(
    connection: duckdb.DuckDBPyConnection,
    history: History,
    report: Report,
    variants: Mapping[tuple[str, str], RunVariant],
    moved: Sequence[Move],
    by: ChartedBy,
) -> dict[str, KernelNights]:
    """Return the kernels of the run by variant; charts of those that moved or waste most."""
    knowledge, settings, words = by.knowledge, by.settings, by.words
    places = {
        night.run_id: place
        for place, night in enumerate(n for n in history.nights if history.is_shown(n))
    }
    of_variant = {
        variants[key].variant_id: each
        for each in history.series
        if not each.is_missing and (key := (each.series_id, each.launch_shape)) in variants
    }
    of_every = by.charts == "every"
    charted = frozenset(of_variant) if of_every else _charted_kernels(report, moved, by)
    facts_of = {move.row.variant_id: move.row.facts[0].name for move in moved if move.row.facts}
    chosen = [each for variant, each in of_variant.items() if variant in charted]
    names = sorted({*facts_of.values(), *(() if of_every else _work(knowledge))})
    facts = _facts(connection, chosen, list(places), names, knowledge) if chosen else {}
    found = {}
    for variant, each in of_variant.items():
        charts: list[FactNights] = []
        path: dict[str, tuple[tuple[int, float, float], ...]] = {}
        if variant in charted:
            rows = _rows(each, facts, places)
            wanted = [_TIME, _ROOF, *([facts_of[variant]] if variant in facts_of else [])]
            charts = [
                chart
                for name in wanted
                if (chart := _chart(name, each, rows, places, knowledge, settings, words))
            ]
            if not of_every and any(move.history is each for move in moved):
                path = _path(report, rows, places, each, settings)
        own = [move.row for move in moved if move.history is each]
        found[variant] = series_nights(each, places, own, charts, path)
    return found


def _charted_kernels(report: Report, moved: Sequence[Move], by: ChartedBy) -> frozenset[str]:
    """Return the kernels with charts: none, what moved, or also those that waste most."""
    most = by.settings.limits.kernels_charted if by.charts == "wasteful" else 0
    wasteful = [kernel.id for kernel in report.kernels[:most]]
    own = [move.row.variant_id for move in moved if move.row.variant_id is not None]
    return frozenset() if by.charts == "none" else frozenset((*wasteful, *own))


def series_nights(
    each: SeriesHistory,
    places: Mapping[str, int],
    moved: Sequence[MovedSeries],
    charts: Sequence[FactNights],
    path: Mapping[str, tuple[tuple[int, float, float], ...]] | None = None,
) -> KernelNights:
    """Return a series over the nights at ``places``; ``moved`` are its own changes."""
    own = [row for row in moved if row.state != MENDED]
    standing = [row for row in own if row.state != ACCEPTED] or own
    last = max(standing, key=lambda row: row.time, default=None)
    newest = each.result.newest
    return KernelNights(
        series_id=each.series_id,
        verdict=str(newest.verdict) if last is None else last.verdict,
        relative=newest.relative if last is None else last.relative,
        since=None if last is None else last.time,
        state=None if last is None else last.state,
        noise=each.result.noise,
        durations=tuple(_durations(each, places)),
        charts=tuple(charts),
        path=path or None,
    )


def duration_chart(
    each: SeriesHistory, places: Mapping[str, int], settings: HistorySettings
) -> FactNights:
    """Return the time of a launch over the nights at ``places``."""
    values = tuple(_durations(each, places))
    return FactNights(
        name=_TIME,
        label=settings.charts[_TIME],
        unit="s",
        values=values,
        segments=tuple(_segments(values, _edges(each, places), settings)),
    )


def _durations(each: SeriesHistory, places: Mapping[str, int]) -> Iterable[tuple[int, float]]:
    newest = slice(-len(places), None)  # those shown are the newest of all
    for night, value in zip(each.nights[newest], each.durations[newest], strict=True):
        if night.run_id in places:
            yield places[night.run_id], value


def _facts(
    connection: duckdb.DuckDBPyConnection,
    chosen: Sequence[SeriesHistory],
    runs: Sequence[str],
    names: Sequence[str],
    knowledge: Knowledge,
) -> Facts:
    vocabulary = knowledge.vocabulary
    wanted = sorted({*_KEYS, _ROOF, *names})
    select = kernels_select(vocabulary, wanted, current(connection, vocabulary, runs))
    series = [each.series_id for each in chosen]
    take_kernels_of_series(connection, _TABLE, select, runs, series)
    found = defaultdict(list)
    for row in rows_of(connection, _TABLE):
        found[str(row["run_id"]), str(row[OWN])].append(row)
    return found


def _work(knowledge: Knowledge) -> list[str]:
    """Return the facts by which paths in rooflines are drawn."""
    known = knowledge.vocabulary.symbols
    return [each.work for each in layout().precisions.values() if each.work in known]


def _rows(each: SeriesHistory, facts: Facts, places: Mapping[str, int]) -> list[tuple[int, Row]]:
    """Return the facts of a series by night, of a night with several shapes the longest one's."""
    found = []
    for run_id, place in places.items():
        rows = [
            row
            for row in facts.get((run_id, each.series_id), ())
            if (row["launch_shape"] or "") in each.launch_shapes
        ]
        if rows:
            found.append((place, max(rows, key=lambda row: number(row, _TIME) or 0.0)))
    return found


def _chart(
    name: str,
    each: SeriesHistory,
    rows: Sequence[tuple[int, Row]],
    places: Mapping[str, int],
    knowledge: Knowledge,
    settings: HistorySettings,
    words: VendorWords,
) -> FactNights | None:
    vocabulary = knowledge.vocabulary
    if name == _TIME:
        time = duration_chart(each, places, settings)
        return time if time.values else None
    adds_up = vocabulary.adds_up(name)
    values = [
        (place, v) for place, row in rows if (v := _of_launch(row, name, adds_up)) is not None
    ]
    if not values:
        return None
    share = name in layout().shares
    return FactNights(
        name=name,
        label=settings.charts.get(name) or words.name(name).text,
        unit="share" if share else (vocabulary.unit(name) or "1"),
        values=tuple(values),
        segments=tuple(_segments(values, _edges(each, places), settings)),
    )


def _of_launch(row: Row, name: str, adds_up: bool) -> float | None:
    value = number(row, name)
    if value is None or not adds_up:
        return value
    launches = (number(row, "launch_count") or 0) - (number(row, "launches_excluded") or 0)
    return value / launches if launches else None


def _edges(each: SeriesHistory, places: Mapping[str, int]) -> list[int]:
    """Return the places of nights at which a new level of the series begins."""
    nights = list(each.splits)
    for change in each.result.changes:
        if change.kind in LEVELS:
            nights.append(change.index)
        if change.kind is ChangeKind.DRIFT:
            nights.append(change.end_index)
    newest = each.result.newest
    if newest.verdict is Verdict.INCONCLUSIVE and newest.index is not None:
        nights.append(newest.index)
    runs = (each.nights[night].run_id for night in nights)
    return sorted({places[run] for run in runs if run in places})


def _segments(
    values: Sequence[tuple[int, float]], edges: Sequence[int], settings: HistorySettings
) -> Iterable[Segment]:
    bounds = [-math.inf, *edges, math.inf]
    for low, high in pairwise(bounds):
        inside = [(place, value) for place, value in values if low <= place < high]
        if inside:
            numbers = sorted(value for _, value in inside)
            band = _band(numbers, settings.limits.least_band)
            yield Segment(
                first=inside[0][0],
                last=inside[-1][0],
                median=median(numbers),
                low=band[0],
                high=band[1],
            )


def _band(ranked: Sequence[float], least: int) -> tuple[float | None, float | None]:
    """Return the order statistics that enclose the median with a chance of 95 %.

    Source: Conover, Practical Nonparametric Statistics, 1999, section 3.2.
    """
    n = len(ranked)
    if n < least:
        return None, None
    half = _NORMAL * math.sqrt(n) / 2
    low = max(0, math.floor(n / 2 - half))
    high = min(n - 1, math.ceil(n / 2 + half) - 1)
    return ranked[low], ranked[high]


def _path(
    report: Report,
    rows: Sequence[tuple[int, Row]],
    places: Mapping[str, int],
    each: SeriesHistory,
    settings: HistorySettings,
) -> dict[str, tuple[tuple[int, float, float], ...]]:
    """Return earlier places of a kernel in each chart; the newest night is the chart's own mark."""
    found = {}
    for chart in report.rooflines:
        points = []
        for place, row in rows:
            work, time = number(row, layout().precisions[chart.id].work), number(row, _TIME)
            traffic = number(row, _BYTES)
            if work and time and traffic and place != len(places) - 1:
                points.append((place, work / traffic, work / time))
        kept = _thinned(points, _edges(each, places), settings.limits.path_dots)
        if kept:
            found[chart.id] = tuple(kept)
    return found


def _thinned(
    points: Sequence[tuple[int, float, float]], edges: Sequence[int], most: int
) -> list[tuple[int, float, float]]:
    """Return at most so many points: the first, those beside changes, the others evenly."""
    if len(points) <= most:
        return list(points)
    beside = {place for edge in edges for place in (edge - 1, edge)}
    kept = [point for point in points if point[0] in beside][-(most - 1) :]
    kept_places = {points[0][0], *(point[0] for point in kept)}
    others = [point for point in points if point[0] not in kept_places]
    left = most - len(kept_places)
    step = len(others) / left if left else 0.0
    chosen = {others[int(n * step)][0] for n in range(left)}
    return [point for point in points if point[0] in kept_places | chosen]
