"""The page of one series: its nights, why it moved, what was found when, and its newest detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor import wording
from advisor.records import dataclass
from advisor.reports.charts.nights import NightsChart
from advisor.reports.record.kernel_naming import written_shape
from advisor.reports.record.kernel_records import KernelRecord
from advisor.reports.record.records import Figure, RunRecord
from advisor.reports.site.frame import full_day, run_night
from advisor.reports.write.history_page import (
    KernelOverTime,
    MovedRow,
    OutcomeBlock,
    kernel_over_time,
    outcome_blocks,
)
from advisor.reports.write.links import Links
from advisor.reports.write.render import KernelBars, kernel_bars
from advisor.tracking.records import WORST_FIRST, Verdict

if TYPE_CHECKING:
    from advisor.database.published import FoundOver
    from advisor.reports.site.whole import Track, Whole

Titles = Mapping[str, str]
"""What rules advise, by their ids."""


@dataclass(frozen=True, kw_only=True)
class FindingOverTime:
    """A finding of a series; ``left`` and ``width`` are shares of all nights."""

    rule_id: str
    title: str
    nights: int
    first: str
    last: str
    is_now: bool
    left: float
    width: float


@dataclass(frozen=True, kw_only=True)
class TrackOutcomes:
    """The outcomes of the advice for a series, as the report's section takes them."""

    outcomes: tuple[OutcomeBlock, ...]
    open_advice: str = ""


@dataclass(frozen=True, kw_only=True)
class TrackShown:
    """A series in one history; ``detail`` is of its newest run, None where that has none of it."""

    heading: str
    about: str
    is_simulated: bool
    verdict: str
    is_worse: bool
    change: str
    note: str
    newest: str
    newest_href: str
    charts: tuple[NightsChart, ...]
    moved: tuple[MovedRow, ...]
    outcomes: TrackOutcomes
    findings: tuple[FindingOverTime, ...]
    night_count: int
    detail: KernelBars | None
    run: RunRecord


@dataclass(frozen=True, kw_only=True)
class SeriesPage:
    """Everything on the page of a series."""

    title: str
    footer: str
    links: Links
    kernel: str
    name: str
    figures: tuple[Figure, ...]
    tracks: tuple[TrackShown, ...]


def series_shown(
    found: Sequence[tuple[Whole, Track]], titles: Titles, links: Links, footer: str
) -> SeriesPage:
    """Return the page of a series that some histories have."""
    first = found[0][1].series
    return SeriesPage(
        title=first.kernel,
        footer=footer,
        links=links,
        kernel=first.kernel,
        name=first.kernel_name,
        figures=tuple(_figures(found)),
        tracks=tuple(_track(whole, track, titles, links) for whole, track in found),
    )


def _figures(found: Sequence[tuple[Whole, Track]]) -> list[Figure]:
    whole, track = found[0]
    series, kernel = track.series, _kernel(whole, track)
    latest = series.durations[-1] if series.durations else None
    newest = f"in the newest of {wording.count(len(series.nights), 'night')}"
    given = [
        ("time of a launch", wording.seconds(latest), newest),
        *(_limits(kernel) if kernel is not None else ()),
        ("device", series.device or whole.report.device, ""),
        ("configuration", series.configuration or "", ""),
        ("problem", series.problem or "", ""),
    ]
    return [
        Figure(label=label, value=value, unit="", note=note)
        for label, value, note in given
        if value
    ]


def _limits(kernel: KernelRecord) -> list[tuple[str, str, str]]:
    """Return how near to its roof a kernel is, and what limits it."""
    roof = wording.percent(kernel.roof_fraction, 1) if kernel.roof_fraction is not None else ""
    waste = "" if kernel.wasted_time is None else f"{wording.seconds(kernel.wasted_time)} wasted"
    return [
        (f"of {kernel.roof_name}", roof, waste),
        ("limiter", kernel.limiter or "undetermined", kernel.limiter_note),
    ]


def _track(whole: Whole, track: Track, titles: Titles, links: Links) -> TrackShown:
    series, night = track.series, track.series.newest_night
    over = over_time(whole, track, charts=True)
    kernel = _kernel(whole, track)
    shape = written_shape(series.launch_shape) or "unknown shape"
    return TrackShown(
        heading=f"{whole.newest.branch or 'Nights'}, {shape}",
        about=_about(whole, track),
        is_simulated=whole.newest.simulated,
        verdict=str(series.result.newest.verdict) if over is None else over.verdict,
        is_worse=over is not None and over.is_worse,
        change="" if over is None else over.change,
        note="" if over is None else over.note,
        newest=full_day(night.time),
        newest_href=links.run(night.run_id),
        charts=() if over is None else over.charts,
        moved=() if over is None else over.moved,
        outcomes=TrackOutcomes(outcomes=_outcomes(whole, track)),
        findings=tuple(_findings(whole, track, titles)),
        night_count=len(series.nights),
        detail=None if kernel is None else kernel_bars(kernel),
        run=whole.report.run,
    )


def over_time(whole: Whole, track: Track, *, charts: bool) -> KernelOverTime | None:
    """Return what is drawn of a series over all nights; None where there is one night.

    A list needs no ``charts``, and to draw years of nights takes a while.
    """
    if whole.history is None or track.nights is None:
        return None
    nights = track.nights if charts else replace(track.nights, charts=())
    return kernel_over_time(nights, list(track.moved), whole.history)


def _about(whole: Whole, track: Track) -> str:
    nights = track.series.nights
    span = f"{full_day(nights[0].time)} to {full_day(nights[-1].time)}"
    label = f"{whole.newest.label}, " if whole.newest.label else ""
    ended = "; the newest night has none of it" if track.series.is_missing else ""
    return f"{label}{wording.count(len(nights), 'night')}, {span}{ended}"


def _kernel(whole: Whole, track: Track) -> KernelRecord | None:
    known = (kernel for kernel in whole.report.kernels if kernel.id == track.variant_id)
    return next(known, None) if track.variant_id is not None else None


def _outcomes(whole: Whole, track: Track) -> tuple[OutcomeBlock, ...]:
    if whole.history is None:
        return ()
    own = [each for each in whole.history.outcomes if each.series_id == track.series.series_id]
    return outcome_blocks(own)


def _findings(whole: Whole, track: Track, titles: Titles) -> list[FindingOverTime]:
    """Return what was found, what is found now first, then the longest."""
    places = {night.run_id: place for place, night in enumerate(track.series.nights)}
    newest = None if track.series.is_missing else track.series.newest_night.run_id
    times = {run.run_id: run for run in whole.runs}
    last = max(1, len(places) - 1)
    shown = []
    for each in _merged(track.found, places):
        first, end = places.get(each.first, 0), places.get(each.last, len(places) - 1)
        shown.append(
            FindingOverTime(
                rule_id=each.rule_id,
                title=titles.get(each.rule_id, each.rule_id),
                nights=each.runs,
                first=run_night(times[each.first]),
                last=run_night(times[each.last]),
                is_now=each.last == newest,
                left=first / (last + 1),
                width=(end - first + 1) / (last + 1),
            )
        )
    shown.sort(key=lambda one: (not one.is_now, -one.nights, one.rule_id))
    return shown


def _merged(found: Sequence[FoundOver], places: Mapping[str, int]) -> list[FoundOver]:
    """Return findings by rule: shapes that follow one another are one series."""
    by_rule: dict[str, list[FoundOver]] = {}
    for each in found:
        by_rule.setdefault(each.rule_id, []).append(each)
    merged = []
    for rule, several in by_rule.items():
        first = min(several, key=lambda one: places.get(one.first, 0))
        last = max(several, key=lambda one: places.get(one.last, 0))
        merged.append(
            type(first)(
                series_id=first.series_id,
                shape=last.shape,
                rule_id=rule,
                runs=sum(one.runs for one in several),
                first=first.first,
                last=last.last,
            )
        )
    return merged


def worst_first(over: KernelOverTime | None, track: Track) -> tuple[int, float, str]:
    """Return what sorts series: what became slower first."""
    verdict = track.series.result.newest.verdict if over is None else Verdict(over.verdict)
    return WORST_FIRST.index(verdict), -abs(0.0 if over is None else over.sort), track.series.kernel
