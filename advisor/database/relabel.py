"""Change what the user calls runs, and the series that their launches belong to with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import duckdb

from advisor.database import ids
from advisor.database.fetching import rows_of_cursor
from advisor.database.records import insert_records
from advisor.database.rows import SeriesRow
from advisor.database.write import upsert_series
from advisor.quoting import literal, quoted

CHANGEABLE = (
    *("label", "configuration", "commit", "branch", "note", "compiler"),
    *("tags", "started_at"),
)
"""Columns of ``run`` that the user may change."""

_HANGING = ("launch", "variant")
_OF_SERIES = ("series_link", "calibration")
_REKEYED = "rekeyed"
_VARIANTS = """
    SELECT variant.run_id, variant_id, variant.kernel_id, variant.series_id,
        series.problem_key, series.device_name, ranges, run.label, run.configuration
    FROM variant JOIN run USING (run_id) JOIN series ON series.series_id = variant.series_id
    LEFT JOIN (
        SELECT run_id, variant_id, any_value(nvtx) AS ranges FROM launch
        WHERE run_id IN ({which}) GROUP BY ALL
    ) USING (run_id, variant_id)
    WHERE run_id IN ({which}) ORDER BY ALL
"""


def relabel_runs(
    connection: duckdb.DuckDBPyConnection, run_ids: Collection[str], changes: Mapping[str, Any]
) -> int:
    """Change columns of runs and give their launches the series that they would have had.

    The caller has a transaction open, so that all of it happens or nothing. Returns how many
    variants are in another series now. Variants keep their ids, and so do findings, which belong to
    them. Where launches were removed, their ranges are known only if the run had no label.
    """
    which = ", ".join(map(literal, run_ids))
    before = rows_of_cursor(connection.execute(_VARIANTS.format(which=which)))
    names = [name for name in CHANGEABLE if name in changes]
    values = ", ".join(f"{quoted(name)} = ?" for name in names)
    connection.execute(
        f"UPDATE run SET {values} WHERE run_id IN ({which})", [changes[name] for name in names]
    )
    moved = _moved(before, changes)
    if moved:
        _rekey(connection, moved)
    return len(moved)


def _moved(before: Sequence[dict[str, Any]], changes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the variants whose series is another one now, with its key."""
    moved = []
    for row in before:
        named = {name: changes.get(name, row[name]) for name in ("label", "configuration")}
        if row["ranges"] is not None:
            ranges = ids.ranges_key(row["ranges"])
        else:
            ranges = "" if row["label"] else row["problem_key"] or ""
        problem = named["label"] or ranges
        series = SeriesRow(
            series_id=ids.series_id(
                row["kernel_id"], problem, row["device_name"], named["configuration"]
            ),
            kernel_id=row["kernel_id"],
            problem_key=problem,
            device_name=row["device_name"],
            configuration=named["configuration"],
        )
        if series.series_id != row["series_id"]:
            moved.append(row | {"series": series})
    return moved


def _rekey(connection: duckdb.DuckDBPyConnection, moved: Sequence[dict[str, Any]]) -> None:
    upsert_series(connection, [row["series"] for row in moved])
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {_REKEYED}"
        " (run_id VARCHAR, variant_id VARCHAR, old VARCHAR, series_id VARCHAR)"
    )
    records = [
        {
            "run_id": row["run_id"],
            "variant_id": row["variant_id"],
            "old": row["series_id"],
            "series_id": row["series"].series_id,
        }
        for row in moved
    ]
    insert_records(connection, _REKEYED, records)
    for table in _HANGING:
        connection.execute(
            f"UPDATE {table} SET series_id = {_REKEYED}.series_id FROM {_REKEYED}"
            f" WHERE {table}.run_id = {_REKEYED}.run_id"
            f" AND {table}.variant_id = {_REKEYED}.variant_id"
        )
    _move_accepted(connection)
    _move_marks(connection)
    connection.execute(f"DROP TABLE {_REKEYED}")


def _move_accepted(connection: duckdb.DuckDBPyConnection) -> None:
    """Let levels accepted at a run of these belong to the series that the run has now."""
    pairs = f"SELECT DISTINCT run_id, old, series_id FROM {_REKEYED}"
    connection.execute(
        "INSERT INTO accepted BY NAME"
        " SELECT now.series_id, run_id, because, accepted_at"
        f" FROM accepted JOIN ({pairs}) AS now USING (run_id) WHERE accepted.series_id = old"
        " ON CONFLICT DO NOTHING"
    )
    connection.execute(
        f"DELETE FROM accepted WHERE (run_id, series_id) IN (SELECT (run_id, old) FROM {_REKEYED})"
    )


def _move_marks(connection: duckdb.DuckDBPyConnection) -> None:
    """Move what users declared about a series without launches to its only successor."""
    gone = connection.execute(
        f"SELECT old, min(series_id) FROM {_REKEYED}"
        " WHERE old NOT IN (SELECT series_id FROM variant)"
        " GROUP BY old HAVING count(DISTINCT series_id) = 1 ORDER BY old"
    ).fetchall()
    for old, new in gone:
        for table in _OF_SERIES:
            known = f"SELECT 1 FROM {table} WHERE series_id = $new"
            statement = f"UPDATE {table} SET series_id = $new WHERE series_id = $old"
            statement += f" AND NOT EXISTS ({known})"
            connection.execute(statement, {"old": old, "new": new})
        connection.execute(
            "UPDATE series_link SET continued_by = $new WHERE continued_by = $old",
            {"old": old, "new": new},
        )
    connection.execute("DELETE FROM series_link WHERE series_id = continued_by")
