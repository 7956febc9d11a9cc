"""The history of a run for its report: what moved, why, and the outcomes of advice until then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from advisor import wording
from advisor.database.night_kernels import variants_of_run
from advisor.database.nights import Branch, known_series
from advisor.records import dataclass
from advisor.reports.record.charted import NightPath
from advisor.reports.record.history_settings import HistorySettings, load_history_settings
from advisor.reports.record.history_words import day, history_sentence, quiet_words
from advisor.reports.record.kernel_nights import Charted, ChartedBy, kernel_nights
from advisor.reports.record.moved import RunVariant, moves, older_open
from advisor.reports.record.moved_why import explained
from advisor.reports.record.outcomes_shown import outcomes_until
from advisor.reports.record.over_time import (
    EnvironmentStep,
    MovedSeries,
    RunHistory,
    ShownNight,
)
from advisor.reports.record.records import Figure
from advisor.reports.record.series_history import read_history
from advisor.reports.record.series_records import History, HistoryNight, SeriesHistory
from advisor.tracking.records import QUIET, WORST_FIRST, Verdict
from advisor.tracking.settings import TrackingSettings, load_settings

if TYPE_CHECKING:
    import duckdb

    from advisor.database.read import StoredRun
    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.charted import Roofline
    from advisor.reports.record.records import Report, RunVerdict
    from advisor.rules.language.words import VendorWords

_FEWEST = 2  # nights, of which one can be compared with the other


@dataclass(frozen=True, kw_only=True)
class NightsAsked:
    """Which nights are shown, and how much of each kernel.

    ``since`` is a number of nights or a moment, ``None`` the default: what is shown, the detector
    sees every night up to that of the run. ``baseline`` is the run that it begins with, where the
    user named one. ``history`` is what ``nights_of_run`` gave, where that is known already.
    """

    since: int | datetime | None = None
    baseline: str | None = None
    history: History | None = None
    charts: Charted = "wasteful"


def history_of_run(
    connection: duckdb.DuckDBPyConnection,
    report: Report,
    run: StoredRun,
    knowledge: Knowledge,
    words: VendorWords,
    asked: NightsAsked | None = None,
) -> RunHistory | None:
    """Return what a report tells over nights; None where the run is the first one."""
    asked = asked or NightsAsked()
    settings, tracking = load_history_settings(), load_settings()
    history = asked.history or nights_of_run(connection, run, asked.since)
    shown = [night for night in history.nights if history.is_shown(night)]
    if len(history.nights) < _FEWEST or not shown:
        return None
    variants = _variants(connection, report, run.run_id)
    found = moves(history, variants, tracking)
    rows = explained(connection, found, knowledge, settings, words)
    moved = [replace(move, row=row) for move, row in zip(found, rows, strict=True)]
    advice = outcomes_until(connection, history, run.run_id, variants, knowledge, words)
    kernels = kernel_nights(
        connection,
        history,
        report,
        variants,
        moved,
        ChartedBy(knowledge=knowledge, settings=settings, words=words, charts=asked.charts),
    )
    return RunHistory(
        since=shown[0].time,
        nights=tuple(_night(night) for night in shown),
        previous=history.nights[-2].run_id,
        baseline=asked.baseline or shown[0].run_id,
        sentence=_sentence(history, rows, len(shown), settings, tracking),
        moved=tuple(rows),
        quiet=quiet_words(kernels.values(), tracking.least_nights, settings),
        environment=_environment(history),
        outcomes=tuple(advice.decided),
        open_advice=advice.open,
        kernels=kernels,
        missing=_missing(history),
        limits=settings.limits,
        term_labels=settings.terms,
        state_labels=settings.states,
    )


def nights_of_run(
    connection: duckdb.DuckDBPyConnection, run: StoredRun, since: int | datetime | None = None
) -> History:
    """Return what every series did up to a run, on the nights that have something of it.

    ``since`` as in ``NightsAsked``. Of a history that is longer than ``judged_nights``, only the
    newest are read where no more are asked for.
    """
    limits = load_history_settings().limits
    window = limits.nights if since is None else since
    most = max(window, limits.judged_nights) if isinstance(window, int) else None
    branch = Branch(name=run.branch, simulated=run.simulated, until=run.run_id, nights=most)
    found = read_history(connection, branch, known_series(connection), since=window)
    return _with_series_of_run(found, window)


def _sentence(
    history: History,
    rows: Sequence[MovedSeries],
    nights: int,
    settings: HistorySettings,
    tracking: TrackingSettings,
) -> str:
    return history_sentence(
        rows,
        older=older_open(history, tracking),
        since=history.nights[-nights].time,
        nights=nights,
        missing=_missing(history),
        too_few=_too_few(history, tracking),
        settings=settings,
    )


def with_paths(chart: Roofline, history: RunHistory) -> Roofline:
    """Return a roofline with the earlier places of the kernels that moved."""
    nights = history.nights
    placed = {placement.kernel_id for placement in chart.placements}
    paths = tuple(
        NightPath(
            kernel_id=variant,
            points=tuple((x, y) for _, x, y in points),
            first=day(nights[points[0][0]].time),
        )
        for variant, each in history.kernels.items()
        if variant in placed and (points := (each.path or {}).get(chart.id))
    )
    return replace(chart, paths=paths)


def with_nights(verdict: RunVerdict, history: RunHistory) -> RunVerdict:
    """Return the verdict with a figure that counts what moved in the shown nights."""
    told = {row.variant_id for row in history.moved}
    counts = Counter(
        each.verdict if variant in told or each.verdict in QUIET else str(Verdict.UNCHANGED)
        for variant, each in history.kernels.items()
    )
    words = [f"{counts[word]:,} {word}" for word in WORST_FIRST if counts[word]]
    moved = sum(counts[word] for word in WORST_FIRST if word not in QUIET)
    is_known = counts[Verdict.INSUFFICIENT] < len(history.kernels)
    figure = Figure(
        label=f"moved in {wording.count(len(history.nights), 'night')}",
        value=wording.fixed(moved) if is_known else wording.UNKNOWN,
        unit=f"of {wording.count(len(history.kernels), 'kernel')}",
        note=", ".join(words),
    )
    return replace(verdict, figures=(*verdict.figures, figure))


def _with_series_of_run(history: History, window: int | datetime) -> History:
    """Return the history without the nights that have nothing in common with the newest one."""
    if not history.nights:
        return history
    own = {id(each.nights): each.nights for each in history.series if not each.is_missing}
    shared = {night.run_id for nights in own.values() for night in nights}  # most share them
    nights = tuple(night for night in history.nights if night.run_id in shared)
    since = history.shown_since
    if isinstance(window, int) and nights:
        since = nights[max(0, len(nights) - window)].time
    return replace(history, nights=nights, shown_since=since)


def _variants(
    connection: duckdb.DuckDBPyConnection, report: Report, run_id: str
) -> dict[tuple[str, str], RunVariant]:
    """Return the variants of the run by series and launch shape."""
    names = {kernel.id: kernel.full_name for kernel in report.kernels}
    return {
        (series, shape): RunVariant(variant_id=variant, name=names[variant], launches=launches)
        for series, shape, variant, launches in variants_of_run(connection, run_id)
        if variant in names
    }


def _missing(history: History) -> tuple[str, ...]:
    """Return the kernels that the night before had and the newest one has not."""
    last = history.nights[-2].run_id
    gone = {each.series_id for each in history.series if each.is_missing}
    gone -= {each.series_id for each in history.series if not each.is_missing}
    return tuple(
        dict.fromkeys(
            each.kernel
            for each in history.series
            if each.series_id in gone and each.newest_night.run_id == last
        )
    )


def _too_few(history: History, tracking: TrackingSettings) -> int | None:
    """Return how many nights a verdict needs where no series of the run has so many."""
    own: list[SeriesHistory] = [each for each in history.series if not each.is_missing]
    enough = any(each.result.newest.verdict is not Verdict.INSUFFICIENT for each in own)
    return None if enough else tracking.least_nights


def _environment(history: History) -> tuple[EnvironmentStep, ...]:
    return tuple(
        EnvironmentStep(run_id=night.run_id, time=night.time, what=what, base=base, head=head)
        for night in history.nights[1:]
        if history.is_shown(night)
        for what, base, head in night.differs
    )


def _night(night: HistoryNight) -> ShownNight:
    return ShownNight(
        run_id=night.run_id,
        time=night.time,
        commit=night.commit,
        note=night.note,
        changed=night.changed,
    )
