"""Write what users declare about series: accepted levels, links, and measured noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import duckdb

from advisor.database.records import insert_records
from advisor.database.write import transaction


def accept_levels(
    connection: duckdb.DuckDBPyConnection, series: Iterable[str], run_id: str, because: str
) -> None:
    """Store that the level of each series is the baseline from a run on."""
    now = _now()
    records = [
        {"series_id": each, "run_id": run_id, "because": because, "accepted_at": now}
        for each in sorted(series)
    ]
    with transaction(connection):
        insert_records(connection, "accepted", records, known="replace")


def link_series(connection: duckdb.DuckDBPyConnection, series: str, continued_by: str) -> None:
    """Store that a series goes on as another one; those that went on as it follow."""
    with transaction(connection):
        connection.execute(
            "UPDATE series_link SET continued_by = ? WHERE continued_by = ?",
            [continued_by, series],
        )
        record = {"series_id": series, "continued_by": continued_by, "linked_at": _now()}
        insert_records(connection, "series_link", [record], known="replace")


def unlink_series(connection: duckdb.DuckDBPyConnection, series: str) -> bool:
    """Remove the link of a series; return whether there was one."""
    query = "DELETE FROM series_link WHERE series_id = ? RETURNING series_id"
    return connection.execute(query, [series]).fetchone() is not None


def store_noises(
    connection: duckdb.DuckDBPyConnection, noises: Mapping[str, tuple[int, float]]
) -> None:
    """Store (runs, noise) of series in place of what was measured before."""
    now = _now()
    records = [
        {"series_id": series, "runs": runs, "noise": noise, "measured_at": now}
        for series, (runs, noise) in sorted(noises.items())
    ]
    with transaction(connection):
        insert_records(connection, "calibration", records, known="replace")


def _now() -> str:
    return datetime.now(UTC).replace(tzinfo=None).isoformat(sep=" ")
