"""Find runs, and a few facts about the file, on a driver connection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import duckdb

from advisor.database.records import storable
from advisor.errors import UsageError
from advisor.suggest import did_you_mean

LATEST = "latest"
_HINT = "advisor runs list shows the runs"
_COLUMNS = (
    'run_id, name, label, configuration, branch, "commit", note, compiler, group_id, rank, tags,'
    " step_time, started_at,"
    " ingested_at, status, simulated, profiler, profiler_version, device_names, launches,"
    " skipped, content_hash"
)
_VENDORS = """
    SELECT run_id, min(vendor), any_value(profiler)
    FROM main.run LEFT JOIN main.launch USING (run_id) LEFT JOIN main.device USING (device_id)
    WHERE list_contains($wanted, run_id) GROUP BY run_id
"""
_NEWEST_FIRST = "ORDER BY ingested_at DESC, run_id DESC"


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one needs to know to choose a run; times are UTC without a zone."""

    run_id: str
    name: str | None
    label: str | None
    configuration: str | None
    branch: str | None
    commit: str | None
    note: str | None
    compiler: str | None
    group_id: str | None
    rank: int | None
    tags: list[str] | None
    step_time: float | None
    started_at: datetime | None
    ingested_at: datetime
    status: str
    simulated: bool
    profiler: str | None
    profiler_version: str | None
    device_names: str | None
    launches: int
    skipped: int
    content_hash: str


def list_runs(connection: duckdb.DuckDBPyConnection, limit: int | None = None) -> list[Run]:
    """Return the runs, the one ingested last first, at most ``limit`` of them."""
    return _runs(connection, "LIMIT $limit", {"limit": limit})


def get_runs(connection: duckdb.DuckDBPyConnection, run_ids: Iterable[str]) -> dict[str, Run]:
    """Return those of the runs that are stored, by their ids."""
    wanted = "WHERE list_contains(string_split($wanted, ' '), run_id)"
    return {run.run_id: run for run in _runs(connection, wanted, {"wanted": " ".join(run_ids)})}


def get_vendors(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the maker of each run's device and the profiler, as far as they are known."""
    rows = connection.execute(_VENDORS, {"wanted": list(run_ids)}).fetchall()
    return {run_id: (vendor, profiler) for run_id, vendor, profiler in rows}


def find_run(connection: duckdb.DuckDBPyConnection, wanted: str = LATEST) -> Run:
    """Return the run that ``wanted`` names: ``latest``, a label, or the beginning of an id.

    Of several runs with one label, the one ingested last.

    Raises:
        UsageError: there is none, or several ids begin so.
    """
    if wanted == LATEST:
        found = list_runs(connection, limit=1)
        if not found:
            hint = "advisor ingest PROFILE stores one"
            raise UsageError("the database holds no run", hint=hint)
        return found[0]
    name = {"wanted": storable(wanted)}
    by_id = _runs(connection, "WHERE starts_with(run_id, $wanted)", name)
    exact = [run for run in by_id if run.run_id == wanted]
    by_label = _runs(connection, "WHERE label = $wanted", name)
    if found := exact or by_label or by_id:
        if len(found) > 1 and found is by_id:
            ids = ", ".join(run.run_id for run in found[:5])
            raise UsageError(f"several runs begin with {wanted!r}: {ids}", hint=_HINT)
        return found[0]
    raise UsageError(f"there is no run {wanted!r}", hint=_did_you_mean(connection, wanted))


def run_details(connection: duckdb.DuckDBPyConnection, run_id: str) -> dict[str, object]:
    """Return every column of a run by name, in the order of the table.

    Raises:
        UsageError: there is no such run.
    """
    cursor = connection.execute("SELECT * FROM run WHERE run_id = ?", [run_id])
    row = cursor.fetchone()
    if row is None:
        raise UsageError(f"there is no run {run_id!r}", hint=_HINT)
    return dict(zip((column[0] for column in cursor.description or ()), row, strict=True))


def get_meta(connection: duckdb.DuckDBPyConnection, key: str) -> str | None:
    """Return a fact about the file, ``None`` where it is not known."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchone()
    return None if row is None else str(row[0])


def _runs(
    connection: duckdb.DuckDBPyConnection, clause: str, parameters: Mapping[str, object]
) -> list[Run]:
    order = (clause, _NEWEST_FIRST) if clause.startswith("WHERE") else (_NEWEST_FIRST, clause)
    query = " ".join(("SELECT", _COLUMNS, "FROM run", *order))
    cursor = connection.execute(query, dict(parameters))
    names = [column[0] for column in cursor.description or ()]
    return [Run(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]


def _did_you_mean(connection: duckdb.DuckDBPyConnection, wanted: str) -> str:
    known = [name for run in list_runs(connection) for name in (run.run_id, run.label) if name]
    near = did_you_mean(wanted, known)
    return f"{near} {_HINT}" if near else _HINT
