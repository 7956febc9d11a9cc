"""Read the nights of one branch: its runs in order, and what each series took in each of them.

Runs of one execution, such as its ranks, are one night. A series that was linked counts to the
one that continues it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import duckdb

from advisor.database.fetching import rows_of_cursor
from advisor.database.read import NIGHT
from advisor.quoting import listed
from advisor.records import dataclass

_LAST = f"""
    SELECT run_id AS last_id, label AS last_label, configuration AS last_configuration,
        device_names AS last_devices, {NIGHT} AS last_night,
        coalesce(group_id, run_id) AS last_execution
    FROM run WHERE run_id = $until
"""
_CHOSEN = f"""
    SELECT run.*, coalesce(run.group_id, run.run_id) AS execution, {NIGHT} AS night
    FROM run LEFT JOIN ({_LAST}) AS newest ON true
    WHERE branch IS NOT DISTINCT FROM $branch AND simulated = $simulated
        AND (newest.last_id IS NULL OR (
            run.label IS NOT DISTINCT FROM newest.last_label
            AND run.configuration IS NOT DISTINCT FROM newest.last_configuration
            AND run.device_names IS NOT DISTINCT FROM newest.last_devices
            AND (({NIGHT}, run.run_id) <= (newest.last_night, newest.last_id)
                OR coalesce(run.group_id, run.run_id) = newest.last_execution)
        ))
"""
NIGHTS_OF_BRANCH = f"""
    WITH chosen AS ({_CHOSEN}), executions AS (
        SELECT execution, row_number() OVER (ORDER BY first_night, first_run) - 1 AS position
        FROM (
            SELECT execution, min(night) AS first_night, min(run_id) AS first_run
            FROM chosen GROUP BY execution ORDER BY first_night DESC, first_run DESC LIMIT $nights
        )
    )
"""
"""The runs of a branch as ``chosen``, and the place of each of their nights as ``executions``."""

_RUNS = f"""
    {NIGHTS_OF_BRANCH}, named AS (
        SELECT position FROM chosen JOIN executions USING (execution)
        WHERE list_contains(string_split($near, ' '), run_id)
    )
    SELECT run_id, position, night, "commit", note, label, configuration, driver_version,
        concat_ws(' ', runtime, runtime_version) AS runtime,
        concat_ws(' ', profiler, profiler_version) AS profiler, clock_control, host,
        "partition", compiler
    FROM chosen JOIN executions USING (execution)
    WHERE $near IS NULL OR position BETWEEN
        (SELECT min(position) FROM named) - $before AND (SELECT max(position) FROM named) + $after
    ORDER BY position, rank NULLS FIRST, run_id
"""
_SERIES = """
    SELECT series_id, kernel_id, short_name, normalised_name, problem_key, device_name,
        configuration
    FROM series JOIN kernel USING (kernel_id)
    WHERE series_id IN (SELECT series_id FROM variant) ORDER BY series_id
"""
_SHARED = """
    SELECT run_id FROM variant JOIN run USING (run_id)
    LEFT JOIN series_link ON series_link.series_id = variant.series_id
    WHERE coalesce(continued_by, variant.series_id) IN (?, ?)
    GROUP BY run_id
    HAVING count(DISTINCT coalesce(continued_by, variant.series_id)) = 2
    ORDER BY any_value(coalesce(started_at, ingested_at)), run_id
"""
_NEWEST = f"SELECT branch, simulated FROM run ORDER BY {NIGHT} DESC, run_id DESC LIMIT 1"
_NEWEST_OF = f"""
    SELECT simulated FROM run WHERE branch = ? ORDER BY {NIGHT} DESC, run_id DESC LIMIT 1
"""
_OTHERS = """
    SELECT count(*) FILTER (simulated = $simulated AND branch IS NULL),
        count(*) FILTER (simulated = $simulated AND branch IS NOT NULL
            AND branch IS DISTINCT FROM $branch),
        count(*) FILTER (simulated <> $simulated)
    FROM run WHERE branch IS DISTINCT FROM $branch OR simulated <> $simulated
"""
_ACCEPTED = """
    SELECT coalesce(continued_by, accepted.series_id), run_id, because, accepted_at
    FROM accepted LEFT JOIN series_link ON series_link.series_id = accepted.series_id
    ORDER BY accepted_at, run_id
"""


@dataclass(frozen=True, kw_only=True)
class NightRun:
    """One run of a branch. ``position`` counts its nights from 0; ``night`` is in UTC."""

    run_id: str
    position: int
    night: datetime
    commit: str | None
    note: str | None
    label: str | None
    configuration: str | None
    driver_version: str | None
    runtime: str | None
    profiler: str | None
    clock_control: str | None
    host: str | None
    partition: str | None
    compiler: str | None

    @property
    def environment(self) -> dict[str, str | None]:
        """What it ran on, in the words of messages; beside the key of series, never in it."""
        return {
            "driver": self.driver_version,
            "runtime": self.runtime,
            "profiler": self.profiler,
            "clock control": self.clock_control,
            "host": self.host,
            "partition": self.partition,
            "compiler": self.compiler,
        }

    @property
    def measured_by(self) -> dict[str, str | None]:
        """What must be the same where times are compared."""
        return {"profiler": self.profiler, "clock control": self.clock_control}


@dataclass(frozen=True, kw_only=True)
class Branch:
    """Which runs are compared: of one branch, None where the runs tell none.

    With ``until``, a run, only those up to its night that have its label, configuration and
    devices. With ``nights``, only the newest so many.
    """

    name: str | None
    simulated: bool
    until: str | None = None
    nights: int | None = None

    @property
    def asked(self) -> dict[str, object]:
        """Return the parameters of a statement."""
        return {
            "branch": self.name,
            "simulated": self.simulated,
            "until": self.until,
            "nights": self.nights,
        }


@dataclass(frozen=True, kw_only=True)
class Around:
    """The nights from so many ``before`` the first of some runs to ``after`` the last of them."""

    run_ids: tuple[str, ...] | None = None
    before: int = 0
    after: int = 0

    @property
    def asked(self) -> dict[str, object]:
        """Return the parameters of a statement."""
        near = None if self.run_ids is None else " ".join(self.run_ids)
        return {"near": near, "before": self.before, "after": self.after}


@dataclass(frozen=True, kw_only=True)
class KnownSeries:
    """What a series is of."""

    series_id: str
    kernel_id: str
    short_name: str
    normalised_name: str
    problem_key: str | None
    device_name: str | None
    configuration: str | None


@dataclass(frozen=True, kw_only=True)
class ShapeNights:
    """The nights of a series with one launch shape; durations are of one launch [s].

    ``place`` is where in a run the shape stands, by its first launch.
    """

    series_id: str
    shape: str
    place: int
    nights: tuple[int, ...]
    durations: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """A level that the user took for the baseline, from a run on."""

    series_id: str
    run_id: str
    because: str
    accepted_at: datetime


@dataclass(frozen=True, kw_only=True)
class BranchNights:
    """What the detector reads of a branch: its runs, the oldest night first, and their series.

    ``accepted`` and ``noises`` are what users declared and measured, of any series.
    """

    runs: Sequence[NightRun]
    shapes: Sequence[ShapeNights]
    accepted: Sequence[Accepted]
    noises: Mapping[str, float]


def branch_of_history(connection: duckdb.DuckDBPyConnection, name: str | None) -> Branch | None:
    """Return the branch of the newest run, or the one called ``name``; None where it has no run."""
    if name is not None:
        found = connection.execute(_NEWEST_OF, [name]).fetchone()
        return None if found is None else Branch(name=name, simulated=bool(found[0]))
    found = connection.execute(_NEWEST).fetchone()
    return None if found is None else Branch(name=found[0], simulated=bool(found[1]))


def runs_of_branch(
    connection: duckdb.DuckDBPyConnection, branch: Branch, around: Around | None = None
) -> list[NightRun]:
    """Return the runs of a branch, the oldest night first; all, or those ``around`` some."""
    asked = {**branch.asked, **(around or Around()).asked}
    return [NightRun(**row) for row in rows_of_cursor(connection.execute(_RUNS, asked))]


def other_runs(connection: duckdb.DuckDBPyConnection, branch: Branch) -> tuple[int, int, int]:
    """Return how many runs have no branch, have another one, or are simulated or measured else."""
    asked = {"branch": branch.name, "simulated": branch.simulated}
    without, of_others, unlike = connection.execute(_OTHERS, asked).fetchall()[0]
    return without, of_others, unlike


def chains_of(shapes: Sequence[ShapeNights]) -> list[list[ShapeNights]]:
    """Return the launch shapes of each series that follow one another, oldest first.

    A changed shape is a change of the series. Shapes that a run holds side by side are apart; one
    that is new goes on with that which ended last, of several the one at the nearest place.
    """
    chains: dict[str, list[list[ShapeNights]]] = defaultdict(list)
    for each in sorted(shapes, key=lambda one: (one.series_id, one.nights[0], one.place)):
        ended = [one for one in chains[each.series_id] if one[-1].nights[-1] < each.nights[0]]
        if ended:
            place = each.place
            min(ended, key=lambda one: (-one[-1].nights[-1], abs(one[-1].place - place))).append(
                each
            )
        else:
            chains[each.series_id].append([each])
    return [chain for found in chains.values() for chain in found]


def known_series(connection: duckdb.DuckDBPyConnection) -> dict[str, KnownSeries]:
    """Return the series that have launches, by their ids."""
    return {
        row["series_id"]: KnownSeries(**row)
        for row in rows_of_cursor(connection.execute(_SERIES, {}))
    }


def accepted_levels(connection: duckdb.DuckDBPyConnection) -> list[Accepted]:
    """Return the levels that the user took for baselines, in the order of their acceptance."""
    names = ("series_id", "run_id", "because", "accepted_at")
    rows = connection.execute(_ACCEPTED).fetchall()
    return [Accepted(**dict(zip(names, row, strict=True))) for row in rows]


def calibrated_noises(connection: duckdb.DuckDBPyConnection) -> dict[str, float]:
    """Return the noise that was measured from runs of one commit and environment, by series."""
    return dict(connection.execute("SELECT series_id, noise FROM calibration").fetchall())


def series_links(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the series that continues each series that the user linked."""
    return dict(connection.execute("SELECT series_id, continued_by FROM series_link").fetchall())


def runs_with_both(connection: duckdb.DuckDBPyConnection, one: str, other: str) -> list[str]:
    """Return the runs that hold two series, links followed, in the order of their nights."""
    rows = connection.execute(_SHARED, [one, other]).fetchall()
    return [run_id for (run_id,) in rows]


def series_of_runs(
    connection: duckdb.DuckDBPyConnection, run_ids: Iterable[str]
) -> set[tuple[str, str]]:
    """Return (run, series) of runs, links followed."""
    query = (
        "SELECT DISTINCT run_id, coalesce(continued_by, variant.series_id) FROM variant"
        " LEFT JOIN series_link ON series_link.series_id = variant.series_id"
        f" WHERE run_id IN ({listed(run_ids)})"
    )
    return set(connection.execute(query).fetchall())
