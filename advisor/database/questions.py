"""Questions about a whole fleet, as views beside those that ``facts`` makes.

Each has a row per thing asked about and ``run_ids``, the runs behind it, oldest first. Times are
seconds, of all launches unless a name says otherwise; measured and simulated runs are never put
together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb

from advisor.database.fetching import rows_of_cursor
from advisor.database.histories import RUNS_SELECT
from advisor.quoting import quoted
from advisor.records import dataclass


def _runs(dated: str) -> str:
    """Return the column of runs behind a row, oldest first, from a list of structs of them."""
    return f"list_transform(list_sort(list_distinct({dated})), lambda each: each.run) AS run_ids"


_VARIANTS = """
    SELECT kernels.run_id, simulated, host, "commit", device_name, series_id, kernel_name,
        coalesce(launch_shape, '') AS shape, launch_count AS launches, duration_median AS own,
        night, dated, driver_version AS driver, compiler,
        {'runtime': runtime, 'profiler': profiler, 'clock': clock_control, 'part': "partition"}
            AS environment
    FROM kernels JOIN fleet_runs USING (run_id)
    WHERE duration_median > 0 AND launch_count > 0
"""
_KERNELS = f"""
    SELECT simulated, kernel_id, any_value(kernel_name) AS kernel_name,
        any_value(short_name) AS short_name, arg_max(series_id, duration) AS series_id,
        count(DISTINCT run_id) AS runs, sum(launch_count)::BIGINT AS launches,
        sum(duration) AS duration, sum(wasted_time) AS wasted_time,
        sum(duration) FILTER (wasted_time IS NOT NULL) AS judged_time,
        {_runs("list(dated)")}
    FROM kernels JOIN (SELECT run_id, simulated, dated FROM fleet_runs) AS run USING (run_id)
    GROUP BY simulated, kernel_id
    ORDER BY wasted_time DESC NULLS LAST, kernel_id
"""
_FINDINGS = f"""
    SELECT simulated, rule_id, any_value(severity) AS severity, count(*) AS findings,
        count(DISTINCT run_id) AS runs, count(DISTINCT kernel_id) AS kernels,
        sum(duration) AS duration, sum(gain_likely) AS gain_likely,
        {_runs("list(dated)")}
    FROM findings JOIN (SELECT run_id, simulated, dated FROM fleet_runs) AS run USING (run_id)
    LEFT JOIN (SELECT run_id, variant_id, duration FROM kernels) AS kernel
        USING (run_id, variant_id)
    WHERE outcome = 'fires'
    GROUP BY simulated, rule_id
    ORDER BY duration DESC NULLS LAST, rule_id
"""
_DEVICES = f"""
    WITH own AS (
        SELECT simulated, device_name, series_id, shape, "commit", environment, driver, compiler,
            host, median(own) AS own, sum(launches) AS launches, list(dated) AS runs
        FROM fleet_variants WHERE host IS NOT NULL GROUP BY ALL
    ), placed AS (
        SELECT *, median(own) OVER kind AS usual, count(*) OVER kind AS hosts
        FROM own WINDOW kind AS (
            PARTITION BY simulated, device_name, series_id, shape, "commit", environment, driver,
                compiler
        )
    )
    SELECT simulated, device_name, host, sum(own * launches) / sum(usual * launches) AS ratio,
        count(DISTINCT (series_id, shape)) AS kernels, max(hosts) AS hosts,
        {_runs("flatten(list(runs))")}
    FROM placed WHERE hosts >= getvariable('fewest_hosts')
    GROUP BY simulated, device_name, host
    ORDER BY ratio DESC, host
"""
_ENVIRONMENTS = f"""
    WITH told AS (
        SELECT 'driver' AS what, driver AS value, compiler AS other, * FROM fleet_variants
        UNION ALL SELECT 'compiler', compiler, driver, * FROM fleet_variants
    ), own AS (
        SELECT what, value, simulated, device_name, series_id, shape, "commit", environment, other,
            median(own) AS own, sum(launches) AS launches, list(dated) AS runs
        FROM told WHERE value IS NOT NULL GROUP BY ALL
    ), first AS (
        SELECT what, value, min(night) AS night FROM told WHERE value IS NOT NULL GROUP BY ALL
    )
    SELECT base.simulated, base.what, base.device_name, base.value AS base, head.value AS head,
        sum(head.own * base.launches) / sum(base.own * base.launches) AS ratio,
        count(DISTINCT (base.series_id, base.shape)) AS kernels,
        {_runs("flatten(list(base.runs || head.runs))")}
    FROM own AS base JOIN own AS head ON head.what = base.what
        AND head.simulated = base.simulated AND head.series_id = base.series_id
        AND head.shape = base.shape AND head.environment = base.environment
        AND head.device_name IS NOT DISTINCT FROM base.device_name
        AND head."commit" IS NOT DISTINCT FROM base."commit"
        AND head.other IS NOT DISTINCT FROM base.other
    JOIN first AS old ON old.what = base.what AND old.value = base.value
    JOIN first AS new ON new.what = head.what AND new.value = head.value
    WHERE (old.night, old.value) < (new.night, new.value)
    GROUP BY ALL
    ORDER BY abs(ln(ratio)) DESC, base.what, base, head
"""
_WEEK = """
    WITH sound AS (FROM fleet_runs WHERE NOT is_ahead),
    week AS (SELECT max(night) - to_days(getvariable('fleet_days')) AS began FROM sound),
    history AS (
        SELECT history_id, simulated, any_value(branch) AS branch, any_value(label) AS label,
            any_value(device_names) AS device_names, min(night) AS oldest,
            max(position) AS newest, arg_max(run_id, place) AS newest_run
        FROM sound GROUP BY history_id, simulated HAVING max(position) > 0
    ), seen AS (
        SELECT history_id, 'kernel' AS kind, coalesce(continued_by, variant.series_id) AS id,
            run_id, sound.position, place, night
        FROM main.variant JOIN sound USING (run_id)
        LEFT JOIN main.series_link ON series_link.series_id = variant.series_id
        UNION ALL
        SELECT history_id, 'advice', rule_id, run_id, sound.position, place, night
        FROM main.finding JOIN sound USING (run_id) WHERE outcome = 'fires'
    ), spans AS (
        SELECT history_id, kind, id, min(night) AS came, max(position) AS last,
            arg_min(run_id, place) AS first_run, arg_max(run_id, place) AS last_run,
            max(night) AS went
        FROM seen GROUP BY ALL
    ), told AS (
        SELECT history_id, 'came' AS what, kind, id, came AS night, first_run AS run_id,
            NULL AS base_run, NULL AS base, NULL AS head, NULL AS relative
        FROM spans JOIN history USING (history_id), week WHERE came > began AND came > oldest
        UNION ALL
        SELECT history_id, 'went', kind, id, went, newest_run, last_run, NULL, NULL, NULL
        FROM spans JOIN history USING (history_id), week WHERE went > began AND last < newest
        UNION ALL
        SELECT moved.history_id, verdict, 'kernel', series_id, night, moved.run_id, base_run, base,
            head, relative
        FROM memory.main.moved JOIN sound USING (run_id), week
        WHERE night > began AND moved.state <> 'accepted'
    )
    SELECT simulated, branch, label, device_names, what, kind,
        coalesce(normalised_name, id) AS name, coalesce(short_name, id) AS short_name, id,
        night, base, head, relative,
        list_filter([base_run, told.run_id], lambda run: run IS NOT NULL) AS run_ids
    FROM told JOIN history USING (history_id)
    LEFT JOIN main.series ON kind = 'kernel' AND series.series_id = id
    LEFT JOIN main.kernel USING (kernel_id)
    ORDER BY what, abs(relative) DESC NULLS LAST, night DESC, name, id
"""

QUESTIONS: Mapping[str, str] = {
    "fleet_runs": RUNS_SELECT,
    "fleet_variants": _VARIANTS,
    "fleet_kernels": _KERNELS,
    "fleet_findings": _FINDINGS,
    "fleet_devices": _DEVICES,
    "fleet_environments": _ENVIRONMENTS,
    "fleet_week": _WEEK,
}
"""The SELECT of each view, in an order in which they can be made; they need those of facts."""


_ASKED = "asked_rows"
_TOTALS = """
    WITH of_runs AS (
        SELECT count(*) AS runs, count(*) FILTER (is_ahead) AS ahead FROM fleet_runs
    ), of_kernels AS (
        SELECT simulated, sum(judged_time) AS judged, sum(wasted_time) AS wasted
        FROM fleet_kernels GROUP BY simulated ORDER BY simulated LIMIT 1
    )
    SELECT runs, ahead, judged, wasted FROM of_runs LEFT JOIN of_kernels ON true
"""


@dataclass(frozen=True, kw_only=True)
class FleetTotals:
    """Sums over a lake: times [s] of measured runs, and of simulated ones where no other are.

    ``ahead`` are the runs dated after they were stored: clocks of machines disagree.
    """

    runs: int
    ahead: int
    judged_time: float
    wasted_time: float


@dataclass(frozen=True, kw_only=True)
class AskedRows:
    """The first rows of a view, by the names of its columns, and how many there are in all."""

    rows: tuple[Mapping[str, Any], ...]
    total: int


def create_questions(
    connection: duckdb.DuckDBPyConnection, fewest_hosts: int, fleet_days: int
) -> None:
    """Make the views of a lake on a connection that has those of facts.

    A host is compared where so many ran the same; so many days before the newest night are news.
    """
    connection.execute(f"SET VARIABLE fewest_hosts = {fewest_hosts}")
    connection.execute(f"SET VARIABLE fleet_days = {fleet_days}")
    for name, query in QUESTIONS.items():
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {query}")


def ask(
    connection: duckdb.DuckDBPyConnection, view: str, most: int, where: str = "true"
) -> AskedRows:
    """Return at most so many rows of a view, in its order, of those of which ``where`` is true."""
    query = f"SELECT * FROM {quoted(view)} WHERE {where}"
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {_ASKED} AS {query}")  # kept in its order
    ((total,),) = connection.execute(f"SELECT count(*) FROM {_ASKED}").fetchall()
    rows = tuple(rows_of_cursor(connection.execute(f"FROM {_ASKED} LIMIT {most}")))
    connection.execute(f"DROP TABLE {_ASKED}")
    return AskedRows(rows=rows, total=total)


def totals(connection: duckdb.DuckDBPyConnection) -> FleetTotals:
    """Return the sums over a lake, unknown times counted as none."""
    ((runs, ahead, judged, wasted),) = connection.execute(_TOTALS).fetchall()
    return FleetTotals(runs=runs, ahead=ahead, judged_time=judged or 0.0, wasted_time=wasted or 0.0)


def looked_at(connection: duckdb.DuckDBPyConnection) -> str:
    """Return a digest of which histories the detector looked at, and in which state."""
    query = "SELECT string_agg(state_id, ' ' ORDER BY state_id) FROM memory.main.followed"
    ((states,),) = connection.execute(query).fetchall()
    return states or ""
