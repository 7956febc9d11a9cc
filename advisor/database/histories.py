"""Every history of a database at once: its runs, and what each series took in each of its nights.

A history are the runs that are compared with one another: of one branch, label, configuration and
set of devices, as ``nights`` reads them one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb

from advisor.quoting import quoted

Columns = Mapping[str, Sequence[Any]]
"""Rows as columns of equal length, NULL as None."""

KEY = "history_id"
"""The column that tells which history a row belongs to."""

RUNS, LINKS, NIGHTS = "history_run", "history_link", "history_night"
"""Tables of runs, of series that were joined, and of durations by night."""

RUNS_SELECT = f"""
    WITH stream AS (
        SELECT run.*, coalesce(group_id, run_id) AS execution,
            coalesce(started_at, ingested_at) AS night, left(md5({{
            'branch': branch, 'simulated': simulated, 'label': label, 'as': configuration,
            'devices': device_names
        }}::VARCHAR), 12) AS {KEY}
        FROM main.run
    ), executions AS (
        SELECT {KEY}, execution, row_number() OVER (
            PARTITION BY {KEY} ORDER BY min(night), min(run_id)
        ) - 1 AS position
        FROM stream GROUP BY {KEY}, execution
    )
    SELECT {KEY}, branch, simulated, device_names, run_id, position,
        row_number() OVER (
            PARTITION BY {KEY} ORDER BY position, rank NULLS FIRST, run_id
        ) AS place,
        night, "commit", note, label, configuration, driver_version,
        concat_ws(' ', runtime, runtime_version) AS runtime,
        concat_ws(' ', profiler, profiler_version) AS profiler, clock_control, host,
        "partition", compiler, content_hash, part,
        coalesce(started_at > ingested_at + INTERVAL 1 DAY, false) AS is_ahead,
        {{'night': night, 'run': run_id}} AS dated
    FROM stream JOIN executions USING ({KEY}, execution)
"""
"""The SELECT of all runs with their histories; ``is_ahead``: dated after they were stored."""

_FOLLOWED = f"""
    CREATE OR REPLACE TEMP TABLE followed AS
    SELECT {KEY}, left(md5(concat($salt, $declared,
            string_agg(content_hash || '-' || part, ' ' ORDER BY place))), 12) AS state_id,
        any_value(branch) AS branch, any_value(label) AS label,
        any_value(configuration) AS configuration, any_value(device_names) AS device_names,
        any_value(simulated) AS simulated, arg_max(run_id, place) AS until_run,
        count(*) AS runs, max(position) + 1 AS nights
    FROM {RUNS}
    GROUP BY {KEY}
    HAVING max(position) > 0 AND ($since IS NULL OR max(night) >= $since)
"""
_DECLARED = """
    SELECT md5(concat_ws('|',
        (SELECT string_agg(accepted::VARCHAR, ' ' ORDER BY accepted::VARCHAR) FROM main.accepted),
        (SELECT string_agg(series_link::VARCHAR, ' ' ORDER BY series_link::VARCHAR)
            FROM main.series_link)))
"""
_DURATIONS = f"""
    SELECT {KEY}, coalesce(continued_by, variant.series_id) AS series_id,
        coalesce(launch_shape, '') AS shape, history.position AS night,
        min(variant.position) AS place,
        sum(duration_median * launch_count) / sum(launch_count) AS duration
    FROM {{variant}} AS variant JOIN {{runs}} AS history ON history.run_id = variant.run_id
    LEFT JOIN {{links}} AS link ON link.series_id = variant.series_id
    WHERE duration_median IS NOT NULL AND launch_count > 0
    GROUP BY {KEY}, coalesce(continued_by, variant.series_id), coalesce(launch_shape, ''),
        history.position
"""


def lacking_histories(
    connection: duckdb.DuckDBPyConnection, salt: str, since: Any = None
) -> list[str]:
    """Return the histories of several nights that nothing is kept of as they are now.

    Makes the tables ``followed`` (a row for each of them), ``RUNS`` and ``LINKS`` (their runs, and
    series that were joined). ``salt`` is what else the answer rests on; ``since`` (UTC without a
    zone) leaves out those without a night from then on.
    """
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {RUNS} AS SELECT * EXCLUDE (dated) FROM ({RUNS_SELECT})"
    )
    ((declared,),) = connection.execute(_DECLARED).fetchall()
    asked = {"salt": salt, "declared": declared, "since": since}
    connection.execute(_FOLLOWED, asked)
    connection.execute(
        f"DELETE FROM temp.followed WHERE ({KEY}, state_id) IN"
        f" (SELECT ({KEY}, state_id) FROM memory.main.followed)"
    )
    connection.execute(
        f"DELETE FROM temp.{RUNS} WHERE {KEY} NOT IN (SELECT {KEY} FROM temp.followed)"
    )
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {LINKS} AS FROM main.series_link")
    rows = connection.execute(f"SELECT {KEY} FROM temp.followed ORDER BY {KEY}").fetchall()
    return [history for (history,) in rows]


def durations_select(variant: str, runs: str, links: str) -> str:
    """Return the SELECT of durations of one launch [s] by history, series, shape and night.

    The arguments are FROM items.
    """
    return _DURATIONS.format(variant=variant, runs=runs, links=links)


def histories(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[Columns, Columns]]:
    """Yield the runs of each lacking history, and the durations of its series, one by one."""
    durations = durations_select("main.variant", f"temp.{RUNS}", f"temp.{LINKS}")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {NIGHTS} AS {durations} ORDER BY {KEY}")
    keys = connection.execute(f"SELECT {KEY} FROM temp.followed ORDER BY {KEY}").fetchall()
    for (key,) in keys:
        yield _columns(connection, RUNS, key), _columns(connection, NIGHTS, key)
    connection.execute(f"DROP TABLE temp.{NIGHTS}")


def _columns(connection: duckdb.DuckDBPyConnection, table: str, key: str) -> Columns:
    """Return the rows of a history as columns."""
    relation = connection.execute(f"FROM temp.{table} LIMIT 0")
    names = [column[0] for column in relation.description or ()]
    listed = ", ".join(f"list({quoted(name)})" for name in names)
    query = f"SELECT {listed} FROM temp.{table} WHERE {KEY} = ?"
    (row,) = connection.execute(query, [key]).fetchall()
    return {name: values or [] for name, values in zip(names, row, strict=True)}
