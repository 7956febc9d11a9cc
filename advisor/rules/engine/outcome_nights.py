"""The nights that outcomes of advice rest on: all of a series, or where new ones go on from.

What was decided, and the level that advice was open at, is stored with the outcomes. So after new
nights only the newest are read whole, and those on which the advice that is open began.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, groupby
from operator import truediv
from typing import TYPE_CHECKING, Any

from advisor.database import outcomes
from advisor.records import dataclass
from advisor.tracking.outcomes import FROM_THE_FIRST, Medians, Start, first_told, settled_before

if TYPE_CHECKING:
    import duckdb

    from advisor.tracking.settings import OutcomeSettings

FEWEST = 2
"""Nights, of which one can decide on the other's advice."""

_STREAM = ("branch", "simulated", "device_names", "configuration")
_ENVIRONMENT = (
    "driver_version",
    "runtime_version",
    "profiler_version",
    "clock_control",
    "host",
    "partition",
    "compiler",
)

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Evening:
    """A series on one night: its variants, the one that takes longest first.

    ``duration`` is seconds per launch.
    """

    run_id: str
    variants: Sequence[Row]
    launches: int
    duration: float
    environment: tuple[str | None, ...]


@dataclass(frozen=True, kw_only=True)
class Followed:
    """A series over nights that have to do with each other: those that must be known, by place.

    ``starts`` are where rules go on, any other at the night ``since``; ``runs`` are of all nights.
    """

    series_id: str
    runs: Sequence[str]
    levels: Medians
    evenings: Mapping[int, Evening]
    since: int = 0
    starts: Mapping[str, Start]

    def start(self, rule_id: str) -> Start:
        """Return where a rule goes on."""
        return self.starts.get(rule_id, Start(at=self.since) if self.since else FROM_THE_FIRST)


@dataclass(frozen=True, kw_only=True)
class Continued:
    """Histories to go on with, outcomes that they replace, and series to tell from the first."""

    histories: Sequence[Followed]
    replaced: Sequence[outcomes.Key]
    whole: Set[str]


def stream(row: Row) -> tuple[object, ...]:
    """Return what nights of one history have in common."""
    return tuple(row[name] for name in _STREAM)


def whole_histories(
    connection: duckdb.DuckDBPyConnection, series: Sequence[str]
) -> Iterator[Followed]:
    """Yield the histories of series that have several nights, with all that is known of each."""
    for series_id, rows in groupby(
        outcomes.nights_of(connection, series), lambda r: r["series_id"]
    ):
        streams: dict[tuple[object, ...], list[Row]] = defaultdict(list)
        for row in rows:
            streams[stream(row)].append(row)
        if len({row["run_id"] for row in chain(*streams.values())}) < FEWEST:
            continue
        for history in streams.values():
            evenings = list(_evenings(history))
            yield Followed(
                series_id=series_id,
                runs=[evening.run_id for evening in evenings],
                levels=Medians([evening.duration for evening in evenings]),
                evenings=dict(enumerate(evenings)),
                starts={},
            )


def continued_histories(
    connection: duckdb.DuckDBPyConnection,
    series: Sequence[str],
    incoming: Sequence[str],
    settings: OutcomeSettings,
    rules: Container[str],
) -> Continued:
    """Return the histories of series that end with the runs ``incoming``, from the settled nights.

    A series that has no level to go on from, or a new night between others, is told from the first.
    """
    found: list[_Plan] = []
    whole = set(series) - outcomes.series_before(connection, series, incoming, FEWEST)
    for runs in outcomes.streams_of(connection, incoming):
        stored = _by_series(outcomes.stored_states(connection, series, runs[0]))
        nights = _by_series(outcomes.durations_of(connection, series, runs[0]))
        for series_id in (stored.keys() | nights.keys()) - whole:
            plan = _planned(nights[series_id], stored[series_id], set(runs), settings, rules)
            if plan is None:
                whole.add(series_id)
            else:
                found.append(plan)
    plans = [plan for plan in found if plan.series_id not in whole]
    return Continued(
        histories=list(_read(connection, plans, settings)),
        replaced=[key for plan in plans for key in plan.replaced],
        whole=whole,
    )


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """Where the outcomes of a series go on, over so many nights."""

    series_id: str
    runs: Sequence[str]
    durations: Sequence[float]
    since: int
    starts: Mapping[str, Start]
    replaced: Sequence[outcomes.Key]

    def told(self, settings: OutcomeSettings) -> list[int]:
        """Return the nights of which more than the duration must be known."""
        began = {night for start in self.starts.values() for night in (start.opened, start.base)}
        newest = range(first_told(self.since, settings), len(self.runs))
        return sorted({*newest, *(night for night in began if night is not None)})


def _by_series(rows: Iterable[Sequence[Any]]) -> dict[str, list[Sequence[Any]]]:
    found: dict[str, list[Sequence[Any]]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(row)
    return found


def _planned(
    nights: Sequence[Sequence[Any]],
    stored: Sequence[Sequence[Any]],
    incoming: Set[str],
    settings: OutcomeSettings,
    rules: Container[str],
) -> _Plan | None:
    """Return where the outcomes of a series go on; None where nothing tells it.

    ``nights`` are the runs of the series with seconds and launches, by variant and time; ``stored``
    are outcomes with the runs that opened and decided them, and that of their level.
    """
    runs, durations = _by_night(nights)
    places = {run_id: place for place, run_id in enumerate(runs)}
    number = len(runs) - sum(run_id in places for run_id in incoming)
    since = settled_before(number, settings)
    starts, replaced = {}, []
    if any(places.get(run_id, number) < number for run_id in incoming):
        return None
    for series_id, rule_id, opened_run, decided_run, level_run in stored:
        opened, base = places.get(opened_run), places.get(level_run)
        decided = None if decided_run is None else places.get(decided_run, -1)
        if opened is None or decided == -1 or rule_id not in rules:
            return None
        if decided is not None and decided < since:
            continue
        replaced.append((series_id, rule_id, opened_run))
        if opened < since:
            if base is None or base >= since:
                return None
            starts[rule_id] = Start(at=since, opened=opened, base=base)
    return _Plan(
        series_id=(nights or stored)[0][0],
        runs=runs,
        durations=durations,
        since=since,
        starts=starts,
        replaced=replaced,
    )


def _by_night(rows: Sequence[Sequence[Any]]) -> tuple[list[str], list[float]]:
    """Return the runs of rows that are sorted by run, and seconds per launch in each."""
    runs: list[str] = []
    seconds: list[float] = []
    launches: list[int] = []
    for _, run_id, duration, count in rows:
        if runs and runs[-1] == run_id:
            seconds[-1] += duration
            launches[-1] += count
        else:
            runs.append(run_id)
            seconds.append(duration)
            launches.append(count)
    return runs, list(map(truediv, seconds, launches))


def _read(
    connection: duckdb.DuckDBPyConnection, plans: Sequence[_Plan], settings: OutcomeSettings
) -> Iterator[Followed]:
    """Yield the histories of plans, with what must be known of their nights."""
    if not plans:
        return
    series = sorted({plan.series_id for plan in plans})
    runs = {plan.runs[night] for plan in plans for night in plan.told(settings)}
    rows = outcomes.nights_of(connection, series, sorted(runs))
    known: dict[tuple[str, str], Evening] = {}
    for series_id, of_series in groupby(rows, lambda row: row["series_id"]):
        known |= {(series_id, each.run_id): each for each in _evenings(of_series)}
    for plan in plans:
        nights = plan.told(settings)
        if nights:
            yield Followed(
                series_id=plan.series_id,
                runs=plan.runs,
                levels=Medians(plan.durations),
                evenings={night: known[plan.series_id, plan.runs[night]] for night in nights},
                since=plan.since,
                starts=plan.starts,
            )


def _evenings(rows: Iterable[Row]) -> Iterator[Evening]:
    """Yield the nights of rows that are sorted by run."""
    for run_id, found in groupby(rows, lambda row: row["run_id"]):
        variants = list(found)
        launches = sum(each["launches"] for each in variants)
        yield Evening(
            run_id=run_id,
            variants=variants,
            launches=launches,
            duration=float(sum(each["duration"] for each in variants)) / launches,
            environment=tuple(variants[0][name] for name in _ENVIRONMENT),
        )
