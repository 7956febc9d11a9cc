"""The outcome of advice: the nights it rests on, and the rows of the table ``outcome``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import duckdb

from advisor.database.fetching import rows_of_cursor
from advisor.database.rows import OutcomeRow
from advisor.database.write import insert_rows
from advisor.quoting import listed

if TYPE_CHECKING:
    from advisor.tracking.settings import OutcomeSettings

Row = dict[str, Any]
Key = tuple[str, str, str]
"""Series, rule and the run that opened it: the key of an outcome."""

_OF_SERIES = """
    SELECT DISTINCT series_id FROM variant
    WHERE run_id IN ({runs}) AND series_id IN (
        SELECT series_id FROM variant GROUP BY series_id HAVING count(DISTINCT run_id) > 1
    )
"""
_LEFT_OUT = """
    SELECT DISTINCT series_id FROM outcome JOIN run AS opened ON opened.run_id = opened_run
    JOIN run AS incoming ON incoming.run_id IN ({runs})
        AND {incoming} = {opened}
    WHERE state IN ('open', 'gone') AND series_id NOT IN (
        SELECT series_id FROM variant WHERE run_id IN ({runs})
    )
"""
_PER_NIGHT = 4  # runs of a history in which a series is looked for, times the nights wanted
_UNSETTLED = """
    WITH placed AS (
        SELECT run_id, run_number, {stream} AS stream, run_id IN ({runs}) AS is_new,
            coalesce(started_at, ingested_at) AS moment
        FROM run
    ), looked AS (
        SELECT * FROM placed WHERE stream IN (SELECT stream FROM placed WHERE is_new)
        QUALIFY is_new OR $runs >= row_number() OVER (
            PARTITION BY stream ORDER BY moment DESC, run_id DESC
        )
    ), night AS (
        SELECT series_id, run_id, run_number, stream, is_new, moment,
            list(variant_id) AS variants,
            sum(duration) / sum(launch_count - coalesce(launches_excluded, 0)) AS duration
        FROM variant JOIN looked USING (run_number, run_id)
        WHERE duration IS NOT NULL AND launch_count > coalesce(launches_excluded, 0)
        GROUP BY ALL
    ), aged AS (
        SELECT *, row_number() OVER history AS age,
            abs(lag(duration) OVER history - duration) > $change * duration AS differs
        FROM night
        WINDOW history AS (PARTITION BY series_id, stream ORDER BY moment DESC, run_id DESC)
    ), said AS (
        SELECT series_id, run_id, rule_id, sum(gain_likely) > 0 AS promises
        FROM (
            SELECT series_id, run_id, run_number, unnest(variants) AS variant_id
            FROM aged WHERE age <= $nights OR is_new
        ) JOIN finding USING (run_number, run_id, variant_id)
        WHERE outcome = 'fires' AND subject = 'kernel' GROUP BY ALL
    ), told AS (
        SELECT series_id, run_id, list_sort(list((rule_id, promises))) AS rules
        FROM said GROUP BY ALL
    ), unsettled AS (
        SELECT series_id FROM aged LEFT JOIN told USING (series_id, run_id)
        GROUP BY series_id, stream
        HAVING bool_or(is_new) AND NOT (
            bool_and(is_new = (age = 1)) AND count(*) >= $nights
            AND bool_and(NOT differs) FILTER (age BETWEEN 2 AND $nights)
            AND count(DISTINCT coalesce(rules, [])) FILTER (age <= $nights) = 1
        )
    )
    SELECT series_id FROM variant SEMI JOIN unsettled USING (series_id)
    WHERE series_id IN (
        SELECT series_id FROM outcome UNION SELECT series_id FROM said WHERE promises
    )
    GROUP BY series_id HAVING min(run_id) < max(run_id)
    UNION
    SELECT series_id FROM outcome JOIN variant USING (series_id)
    WHERE state = 'gone' AND run_id IN ({runs})
"""
_VANISHED = """
    WITH aged AS (
        SELECT run_id, {stream} AS stream, row_number() OVER (
            PARTITION BY stream ORDER BY coalesce(started_at, ingested_at) DESC, run_id DESC
        ) AS age FROM run
    ), seen AS (
        SELECT DISTINCT stream, series_id FROM aged JOIN variant USING (run_id)
        WHERE age <= $gone AND duration IS NOT NULL
            AND launch_count > coalesce(launches_excluded, 0)
    )
    SELECT DISTINCT series_id FROM outcome JOIN aged ON run_id = opened_run
    WHERE state = 'open' AND stream IN (SELECT stream FROM aged WHERE run_id IN ({runs}))
        AND (stream, series_id) NOT IN (FROM seen)
"""
_PROMISED = """
    SELECT DISTINCT series_id FROM variant
    JOIN finding USING (run_id, variant_id)
    WHERE outcome = 'fires' AND gain_likely > 0 AND variant.series_id IN ({series})
"""
_NIGHTS = """
    SELECT variant.series_id, run_id, variant_id, launch_shape, duration,
        launch_count - coalesce(launches_excluded, 0) AS launches,
        coalesce(run.started_at, run.ingested_at) AS moment, branch, simulated,
        {devices} AS device_names, run.configuration,
        driver_version, runtime_version, profiler_version, clock_control, host, run."partition",
        compiler
    FROM variant JOIN run USING (run_id)
    WHERE series_id IN ({series}) AND {which} AND duration IS NOT NULL AND launches > 0
    ORDER BY series_id, moment, run_id, duration DESC, variant_id
"""
_LIKE = """
    SELECT run.run_id, coalesce(run.started_at, run.ingested_at) AS moment
    FROM run JOIN run AS other ON other.run_id = '{run}' AND {stream} = {other}
"""
_DURATIONS = """
    SELECT series_id, run_id, duration, launch_count - coalesce(launches_excluded, 0) AS launches
    FROM variant JOIN ({like}) USING (run_id)
    WHERE series_id IN ({series}) AND duration IS NOT NULL AND launches > 0
    ORDER BY series_id, moment, run_id, duration DESC, variant_id
"""
_STATES = """
    SELECT series_id, rule_id, opened_run, decided_run, level_run
    FROM outcome JOIN ({like}) ON run_id = opened_run WHERE series_id IN ({series})
"""
_BEFORE = """
    SELECT series_id FROM variant
    WHERE series_id IN ({series}) AND run_id NOT IN ({runs})
        AND duration IS NOT NULL AND launch_count > coalesce(launches_excluded, 0)
    GROUP BY series_id HAVING count(DISTINCT run_id) >= $fewest
"""
_REMOVED = """
    DELETE FROM outcome USING (
        SELECT unnest($series) AS series, unnest($rules) AS rule, unnest($opened) AS opened
    ) AS removed WHERE series_id = series AND rule_id = rule AND opened_run = opened
"""
_FINDINGS = """
    WITH said AS (
        SELECT series_id, variant_id, rule_id, outcome, gain_low, gain_likely, gain_high
        FROM finding JOIN variant USING (run_number, run_id, variant_id)
        WHERE series_id IN ({series}) AND {which} AND subject = 'kernel'
    ), promised AS (
        SELECT DISTINCT series_id, rule_id FROM said WHERE outcome = 'fires' AND gain_likely > 0
    )
    SELECT variant_id, rule_id, outcome, gain_low, gain_likely, gain_high
    FROM said SEMI JOIN promised USING (series_id, rule_id)
"""
_NEWEST = """
    SELECT run_id, coalesce(started_at, ingested_at) AS moment, branch, simulated, configuration,
        {devices} AS device_names
    FROM run
    QUALIFY $runs >= row_number() OVER (
        PARTITION BY {stream} ORDER BY moment DESC, run_id DESC
    )
"""
_LISTED = """
    SELECT outcome.*, kernel.short_name,
        coalesce(opened.started_at, opened.ingested_at) AS opened_at,
        coalesce(decided.started_at, decided.ingested_at) AS decided_at,
        opened.simulated, opened.branch
    FROM outcome JOIN series USING (series_id) JOIN kernel USING (kernel_id)
    JOIN run AS opened ON opened.run_id = opened_run
    LEFT JOIN run AS decided ON decided.run_id = decided_run
    {which} ORDER BY rule_id, opened_at, series_id
"""


_DECIDED = """
    SELECT rule_id, state, predicted_likely, achieved
    FROM outcome JOIN run ON run.run_id = decided_run
    WHERE simulated = ? AND (?::VARCHAR IS NULL OR coalesce(started_at, ingested_at) < (
        SELECT coalesce(started_at, ingested_at) FROM run AS newest WHERE newest.run_id = ?
    ))
"""


def affected_series(connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> list[str]:
    """Return series with advice that runs may have decided: of several nights, or left out."""
    runs = listed(run_ids)
    found = [name for (name,) in connection.execute(_OF_SERIES.format(runs=runs)).fetchall()]
    if found:
        query = _PROMISED.format(series=listed(found))
        found = [name for (name,) in connection.execute(query).fetchall()]
    streams = {name: _stream(name) for name in ("incoming", "opened")}
    gone = connection.execute(_LEFT_OUT.format(runs=runs, **streams)).fetchall()
    return sorted({*found, *(name for (name,) in gone)})


def moved_series(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str], settings: OutcomeSettings
) -> list[str]:
    """Return series whose stored outcomes new runs may change; of all others they stay the same.

    An outcome rests on nights around a change, each on the median of those that settle it. So
    where the newest nights of a series, twice as many, say the same as the new one does, nothing
    is left to decide; and of a series that the runs lack, it can only be that it is gone. A series
    for which no outcome is stored was promised nothing before those nights.
    """
    words = {"runs": listed(run_ids), "stream": _stream()}
    nights = 2 * settings.settle_nights
    limits = {"nights": nights, "runs": _PER_NIGHT * nights, "change": settings.smallest_change}
    rows = connection.execute(_UNSETTLED.format(**words), limits).fetchall()
    gone = {"gone": settings.gone_nights}
    rows += connection.execute(_VANISHED.format(**words), gone).fetchall()
    return sorted({name for (name,) in rows})


def series_of_outcomes(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[str]:
    """Return the series of a run for which advice is followed."""
    query = "SELECT DISTINCT series_id FROM outcome JOIN variant USING (series_id) WHERE run_id = ?"
    return [name for (name,) in connection.execute(query, [run_id]).fetchall()]


def nights_of(
    connection: duckdb.DuckDBPyConnection, series: Sequence[str], runs: Sequence[str] | None = None
) -> list[Row]:
    """Return the variants of series with what their runs say, by series and time."""
    return rows_of_cursor(
        connection.execute(
            _NIGHTS.format(series=listed(series), which=_of_runs(runs), devices=_devices())
        )
    )


def findings_of(
    connection: duckdb.DuckDBPyConnection, series: Sequence[str], runs: Sequence[str] | None = None
) -> list[Row]:
    """Return what fired and was ruled out for the variants of series, gains in seconds.

    Only of rules that promised time for the series in any of the ``runs``: others are not followed.
    """
    return rows_of_cursor(
        connection.execute(_FINDINGS.format(series=listed(series), which=_of_runs(runs)))
    )


def newest_runs(connection: duckdb.DuckDBPyConnection, number: int) -> list[Row]:
    """Return when and of what runs are: so many of each history, the newest."""
    query = _NEWEST.format(devices=_devices(), stream=_stream())
    return rows_of_cursor(connection.execute(query, {"runs": number}))


def streams_of(connection: duckdb.DuckDBPyConnection, runs: Sequence[str]) -> list[list[str]]:
    """Return runs by the history of which they are nights."""
    query = f"SELECT list(run_id) FROM run WHERE {_of_runs(runs)} GROUP BY {_stream()}"
    return [found for (found,) in connection.execute(query).fetchall()]


def durations_of(
    connection: duckdb.DuckDBPyConnection, series: Sequence[str], run: str
) -> list[tuple[Any, ...]]:
    """Return series, run, seconds and launches of variants in the history of a run, by time."""
    query = _DURATIONS.format(series=listed(series), like=_like(run))
    return connection.execute(query).fetchall()


def stored_states(
    connection: duckdb.DuckDBPyConnection, series: Sequence[str], run: str
) -> list[tuple[Any, ...]]:
    """Return the keys of outcomes in the history of a run, the runs that decided, and of levels."""
    query = _STATES.format(series=listed(series), like=_like(run))
    return connection.execute(query).fetchall()


def series_before(
    connection: duckdb.DuckDBPyConnection, series: Sequence[str], runs: Sequence[str], fewest: int
) -> set[str]:
    """Return those of series that have so many nights without those of ``runs``."""
    query = _BEFORE.format(series=listed(series), runs=listed(runs))
    return {name for (name,) in connection.execute(query, {"fewest": fewest}).fetchall()}


def replace_outcomes(
    connection: duckdb.DuckDBPyConnection,
    series: Sequence[str],
    rows: Sequence[OutcomeRow],
    keys: Sequence[Key] = (),
) -> None:
    """Store outcomes in place of all that series had, and of those with ``keys``."""
    if series:
        connection.execute(f"DELETE FROM outcome WHERE series_id IN ({listed(series)})")
    if keys:
        names = ("series", "rules", "opened")
        connection.execute(
            _REMOVED, dict(zip(names, map(list, zip(*keys, strict=True)), strict=True))
        )
    insert_rows(connection, "outcome", rows)


def stored_outcomes(
    connection: duckdb.DuckDBPyConnection, *, rule: str | None = None, run_id: str | None = None
) -> list[Row]:
    """Return outcomes with kernel and times: all, of a rule, or of the series of a run."""
    which = "WHERE true"
    asked: list[str] = []
    if rule is not None:
        which, asked = f"{which} AND rule_id = ?", [rule]
    if run_id is not None:
        of_run = "(SELECT series_id FROM variant WHERE run_id = ?)"
        which, asked = f"{which} AND series_id IN {of_run}", [*asked, run_id]
    return rows_of_cursor(connection.execute(_LISTED.format(which=which), asked))


def decided_outcomes(
    connection: duckdb.DuckDBPyConnection, *, simulated: bool, until: str | None = None
) -> list[Row]:
    """Return rule, state and seconds of the advice that was decided, of measured runs or others.

    Before the night of the run ``until``: what one night alone decided was still open then.
    """
    return rows_of_cursor(connection.execute(_DECIDED, [simulated, until, until]))


def _of_runs(runs: Sequence[str] | None) -> str:
    """Return the condition that a row is of runs; of any, where it is None."""
    return "true" if runs is None else f"run_id IN ({listed(runs)})"


def _like(run: str) -> str:
    """Return a SELECT of the nights in the history of a run."""
    return _LIKE.format(run=run, stream=_stream(), other=_stream("other"))


def _devices(run: str = "run") -> str:
    """Return by what runs belong together: where no device is named, a label has to tell."""
    return f"coalesce({run}.device_names, {run}.label, {run}.run_id)"


def _stream(run: str = "run") -> str:
    """Return what nights of one history have in common."""
    devices = _devices(run)
    return (
        f"{{'branch': {run}.branch, 'simulated': {run}.simulated, 'devices': {devices},"
        f" 'as': {run}.configuration}}"
    )
