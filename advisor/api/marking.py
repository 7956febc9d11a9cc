"""What users declare about series: levels accepted, noise measured, names linked."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from advisor.api.matching import SeriesWanted, describe, find_series, matching_series
from advisor.database import marks
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.night_durations import durations_of_branch
from advisor.database.nights import (
    branch_of_history,
    known_series,
    runs_of_branch,
    runs_with_both,
    series_links,
    series_of_runs,
)
from advisor.database.read import find_run
from advisor.errors import UsageError
from advisor.records import dataclass
from advisor.tracking.conditions import environment_texts
from advisor.tracking.settings import load_settings
from advisor.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from advisor.database.nights import Branch, KnownSeries, NightRun


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """The noise of a series: the relative spread of one run among ``runs`` of one commit."""

    series_id: str
    kernel: str
    runs: int
    noise: float


@dataclass(frozen=True, kw_only=True)
class ListedSeries:
    """A series as the list shows it; ``nights`` are those of the branch that is looked at."""

    series_id: str
    kernel: str
    problem: str | None
    device: str | None
    configuration: str | None
    nights: int
    continued_by: str | None


def accept(
    database: str, series: Sequence[str], *, at: str, because: str, wait: float
) -> tuple[str, dict[str, str]]:
    """Make the level that series have in a run their baseline; return the run and their kernels.

    ``series`` are ids, beginnings of ids, or patterns of kernel names, which may mean several.

    Raises:
        UsageError: no series matches, none of a name is in the run, or no reason is given.
        DatabaseError: the database cannot be opened or written.
    """
    if not because.strip():
        raise UsageError("a level is accepted for a reason", hint="say it: --because TEXT")
    with open_for_writing(database, wait) as connection:
        run = find_run(connection, at)
        known = known_series(connection)
        there = {each for _, each in series_of_runs(connection, [run.run_id])}
        chosen: set[str] = set()
        for name in series:
            found = matching_series(known, SeriesWanted(kernel=name)).keys() & there
            if not found:
                problem = f"run {run.run_id} holds nothing of series {name!r}"
                raise UsageError(problem, hint="advisor history names series and nights")
            chosen |= found
        marks.accept_levels(connection, chosen, run.run_id, because.strip())
    return run.run_id, {each: known[each].short_name for each in sorted(chosen)}


def calibrate(
    database: str, *, branch: str | None = None, store: bool = True, wait: float
) -> tuple[Calibrated, ...]:
    """Return the noise of series from nights of one commit and environment, the noisiest first.

    Raises:
        UsageError: no runs share a commit and an environment.
        DatabaseError: the database cannot be opened or written.
    """
    opened = open_for_writing if store else open_for_reading
    with opened(database, wait) as connection:
        chosen = branch_of_history(connection, branch)
        noises = {} if chosen is None else _noises(connection, chosen)
        if not noises:
            hint = "profile one commit four times on one machine; ingest each with --commit"
            raise UsageError("no nights of one commit and environment to measure noise", hint=hint)
        known = known_series(connection)
        if store:
            marks.store_noises(connection, noises)
    found = [
        Calibrated(series_id=key, kernel=known[key].short_name, runs=runs, noise=noise)
        for key, (runs, noise) in noises.items()
    ]
    return tuple(sorted(found, key=lambda each: (-each.noise, each.kernel, each.series_id)))


def _noises(
    connection: duckdb.DuckDBPyConnection, branch: Branch
) -> Mapping[str, tuple[int, float]]:
    """Return (runs, noise) of the series that enough nights of one commit and environment have."""
    freedom = load_settings().calibration_freedom
    groups = _alike(runs_of_branch(connection, branch))
    pooled: dict[str, list[list[float]]] = defaultdict(list)
    for shape in durations_of_branch(connection, branch):
        samples: dict[object, list[float]] = defaultdict(list)
        for night, duration in zip(shape.nights, shape.durations, strict=True):
            if night in groups and duration > 0:
                samples[groups[night]].append(math.log(duration))
        pooled[shape.series_id] += [each for each in samples.values() if len(each) > 1]
    return {
        series: (sum(map(len, samples)), noise)
        for series, samples in pooled.items()
        if (noise := pooled_deviation(samples, freedom)) is not None
    }


def _alike(runs: Sequence[NightRun]) -> dict[int, tuple[str, str | None]]:
    """Return commit and environment of the nights whose commit is known."""
    texts = environment_texts([run.environment for run in runs])
    return {
        run.position: (run.commit, text)
        for run, text in zip(runs, texts, strict=True)
        if run.commit is not None
    }


def pooled_deviation(samples: Sequence[Sequence[float]], least_freedom: int) -> float | None:
    """Return the relative deviation of one value, from logarithms around the mean of each sample.

    None where fewer residuals than ``least_freedom`` are free.
    """
    freedom = sum(len(each) - 1 for each in samples)
    if freedom < least_freedom:
        return None
    squares = sum((value - sum(each) / len(each)) ** 2 for each in samples for value in each)
    return math.expm1(math.sqrt(squares / freedom))


def list_series(database: str, *, branch: str | None = None, wait: float) -> list[ListedSeries]:
    """Return the series with the nights that each has, the most nights first.

    Raises:
        DatabaseError: the database cannot be opened.
    """
    with open_for_reading(database, wait) as connection:
        known = known_series(connection)
        links = series_links(connection)
        chosen = branch_of_history(connection, branch)
        nights: dict[str, set[int]] = defaultdict(set)
        if chosen is not None:
            for shape in durations_of_branch(connection, chosen):
                nights[shape.series_id].update(shape.nights)
    rows = [
        ListedSeries(
            series_id=each.series_id,
            kernel=each.short_name,
            problem=each.problem_key,
            device=each.device_name,
            configuration=each.configuration,
            nights=len(nights[each.series_id]),
            continued_by=links.get(each.series_id),
        )
        for each in known.values()
    ]
    return sorted(rows, key=lambda row: (-row.nights, row.kernel, row.series_id))


def link(
    database: str, series: str, continued_by: str, *, overlapping: bool = False, wait: float
) -> tuple[str, str]:
    """Count the nights of one series to another, which continues it; return both in words.

    A run that holds both is joined only where ``overlapping`` says so: what goes on as another
    series does not run beside it.

    Raises:
        UsageError: a name means no series or several, both are one, their devices differ, or runs
            hold both.
        DatabaseError: the database cannot be opened or written.
    """
    with open_for_writing(database, wait) as connection:
        known = known_series(connection)
        links = series_links(connection)
        old = find_series(known, series)
        new = find_series(known, continued_by)
        new = known.get(links.get(new.series_id, ""), new)
        _check_link(old, new)
        both = [] if overlapping else runs_with_both(connection, old.series_id, new.series_id)
        if both:
            problem = f"{count(len(both), 'run')} from {both[0]} on hold both {old.series_id} and"
            hint = "name the one that ended; or add --overlapping, and such a run counts their mean"
            raise UsageError(f"{problem} {new.series_id}", hint=hint)
        marks.link_series(connection, old.series_id, new.series_id)
    return _named(old), _named(new)


def unlink(database: str, series: str, *, wait: float) -> str:
    """Let a series stand for itself again; return it in words.

    Raises:
        UsageError: the name means no series or several, or it is not linked.
        DatabaseError: the database cannot be opened or written.
    """
    with open_for_writing(database, wait) as connection:
        found = find_series(known_series(connection), series)
        if not marks.unlink_series(connection, found.series_id):
            raise UsageError(f"series {found.series_id} is not linked to another")
    return _named(found)


def _check_link(old: KnownSeries, new: KnownSeries) -> None:
    if old.series_id == new.series_id:
        raise UsageError(f"{old.series_id} is one series", hint="name the one that ended first")
    if old.device_name != new.device_name:
        problem = f"{old.series_id} is of {old.device_name}, {new.series_id} of {new.device_name}"
        raise UsageError(problem, hint="times on two devices are not one series")


def _named(series: KnownSeries) -> str:
    return f"{series.series_id} ({describe(series)})"
