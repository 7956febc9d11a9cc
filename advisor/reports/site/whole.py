"""What a site says about one history: its runs, its newest report, and each series of all nights.

A history are the runs that are compared with one another: of one branch, label, configuration and
set of devices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from advisor.database.night_kernels import variants_of_run
from advisor.database.published import FoundOver, findings_over
from advisor.database.read import StoredRun, list_runs
from advisor.records import dataclass
from advisor.reports.record.history_settings import load_history_settings
from advisor.reports.record.kernel_nights import duration_chart, series_nights
from advisor.reports.record.run_history import NightsAsked, history_of_run, nights_of_run
from advisor.rules.engine.evaluate import run_words

if TYPE_CHECKING:
    import duckdb

    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.over_time import KernelNights, MovedSeries, RunHistory
    from advisor.reports.record.records import Report
    from advisor.reports.record.series_records import History, SeriesHistory
    from advisor.rules.language.words import VendorWords

ReportOf = Callable[[StoredRun], "Report"]
"""Returns the report of a run as it was on its night."""


@dataclass(frozen=True, kw_only=True)
class Track:
    """One series with one launch shape; ``nights`` is None where there was only one.

    ``variant_id`` is what the newest run has of it, None where it has none.
    """

    series: SeriesHistory
    variant_id: str | None
    nights: KernelNights | None
    moved: tuple[MovedSeries, ...]
    found: tuple[FoundOver, ...]


@dataclass(frozen=True, kw_only=True)
class Whole:
    """One history. ``runs`` are the oldest first, ``report`` is that of the newest one.

    ``history`` is the history over all nights, None where there is one.
    """

    runs: tuple[StoredRun, ...]
    report: Report
    history: RunHistory | None
    tracks: tuple[Track, ...]
    words: VendorWords

    @property
    def newest(self) -> StoredRun:
        """The newest run."""
        return self.runs[-1]


def histories(connection: duckdb.DuckDBPyConnection) -> list[tuple[StoredRun, ...]]:
    """Return the runs of each history, oldest first; the history of the newest run comes first."""
    found: dict[object, list[StoredRun]] = defaultdict(list)
    for run in list_runs(connection):
        key = (run.branch, run.simulated, run.label, run.configuration, run.device_names)
        found[key].append(run)
    return [tuple(reversed(runs)) for runs in found.values()]


def whole_history(
    connection: duckdb.DuckDBPyConnection,
    runs: Sequence[StoredRun],
    report: Report,
    knowledge: Knowledge,
) -> Whole:
    """Return everything over all nights of one history; ``report`` is that of its newest run."""
    newest = runs[-1]
    settings = knowledge.compiled.of_kernels.settings
    words = run_words(connection, [newest.run_id], settings)[newest.run_id]
    nights = nights_of_run(connection, newest, runs[0].night)
    asked = NightsAsked(since=runs[0].night, history=nights, charts="every")
    history = history_of_run(connection, report, newest, knowledge, words, asked)
    return Whole(
        runs=tuple(runs),
        report=report,
        history=history,
        tracks=tuple(_tracks(connection, runs, nights, history, report)),
        words=words,
    )


def _tracks(
    connection: duckdb.DuckDBPyConnection,
    runs: Sequence[StoredRun],
    nights: History,
    history: RunHistory | None,
    report: Report,
) -> list[Track]:
    found: dict[tuple[str, str], list[FoundOver]] = defaultdict(list)
    for each in findings_over(connection, [run.run_id for run in runs]):
        found[each.series_id, each.shape].append(each)
    variants = _variants(connection, report, runs[-1].run_id)
    places = {night.run_id: place for place, night in enumerate(nights.nights)}
    tracks = []
    for series in nights.series:
        key = series.series_id, series.launch_shape
        variant = None if series.is_missing else variants.get(key)
        own = _own(series, variant, history)
        tracks.append(
            Track(
                series=series,
                variant_id=variant,
                nights=_nights(series, variant, history, own, places),
                moved=tuple(own),
                found=tuple(
                    each
                    for shape in series.launch_shapes
                    for each in found.get((series.series_id, shape), ())
                ),
            )
        )
    return tracks


def _variants(
    connection: duckdb.DuckDBPyConnection, report: Report, run_id: str
) -> dict[tuple[str, str], str]:
    known = {kernel.id for kernel in report.kernels}
    return {
        (series, shape): variant
        for series, shape, variant, _ in variants_of_run(connection, run_id)
        if variant in known
    }


def _own(
    series: SeriesHistory, variant: str | None, history: RunHistory | None
) -> list[MovedSeries]:
    """Return the changes of a series; one that ended is known by the nights it had."""
    rows = [] if history is None else [r for r in history.moved if r.series_id == series.series_id]
    if variant is not None:
        return [row for row in rows if row.variant_id == variant]
    nights = {night.run_id for night in series.nights}
    return [row for row in rows if row.variant_id is None and row.run_id in nights]


def _nights(
    series: SeriesHistory,
    variant: str | None,
    history: RunHistory | None,
    own: Sequence[MovedSeries],
    places: dict[str, int],
) -> KernelNights | None:
    if history is None:
        return None
    if variant is not None and variant in history.kernels:
        return history.kernels[variant]
    chart = duration_chart(series, places, load_history_settings())
    return series_nights(series, places, own, [chart] if chart.values else [])
