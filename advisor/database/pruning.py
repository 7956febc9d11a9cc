"""Drop what is large of older runs, and give the room back to the disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from advisor.database.connect import (
    BLOCK_SIZE,
    DEFAULT_WAIT,
    GIVES_BACK,
    LARGE,
    ROW_GROUP,
    STORAGE_VERSION,
    opened,
    scratch_beside,
)
from advisor.database.planning import memory_limit
from advisor.database.read import NIGHT
from advisor.database.write import set_meta, transaction
from advisor.errors import DatabaseError, Location
from advisor.quoting import literal, quoted
from advisor.records import dataclass

_DROPPED = ("launch", "launch_keyed", "variant_instruction", "variant_place", "reference_finding")
_TO_COMPACT = "to_compact"
_MEMORY = "512MB"  # for a copy, unless rows are so large that a row group of them takes more
_SHARED = {
    "keyed_set": "SELECT keyed_set FROM launch_keyed",
    "text_set": "SELECT text_set FROM launch",
    "key_set": "SELECT counter_keys FROM launch UNION SELECT key_set FROM keyed_set",
}
_RUNS = f"""
    WITH nights AS (
        SELECT run_id, name, {NIGHT} AS moment, launches, pruned_at IS NOT NULL AS is_pruned,
            coalesce(group_id, run_id) AS execution,
            [device_names, configuration, branch, simulated::VARCHAR] AS kind
        FROM run
    ), executions AS (
        SELECT kind, execution, row_number() OVER (
            PARTITION BY kind ORDER BY min(moment) DESC, min(run_id) DESC
        ) AS place
        FROM nights GROUP BY kind, execution
    )
    SELECT run_id, name, moment, launches FROM nights
    JOIN executions ON executions.kind IS NOT DISTINCT FROM nights.kind
        AND executions.execution = nights.execution
    WHERE NOT is_pruned AND place > $keep AND ($before IS NULL OR moment < $before)
    ORDER BY moment DESC, run_id DESC
"""


@dataclass(frozen=True, kw_only=True)
class Older:
    """A run that may be pruned; ``moment`` is UTC without a zone."""

    run_id: str
    name: str | None
    moment: datetime
    launches: int


def older_runs(
    connection: duckdb.DuckDBPyConnection, *, keep: int, before: datetime | None = None
) -> list[Older]:
    """Return the runs that are not pruned yet, oldest last, but for the ``keep`` newest nights.

    So many of each device, configuration and branch are kept, of measured and of simulated runs;
    the runs of one group are one night. ``before`` leaves out those from then on (UTC without a
    zone).
    """
    rows = connection.execute(_RUNS, {"keep": keep, "before": before}).fetchall()
    return [
        Older(run_id=run_id, name=name, moment=moment, launches=launches)
        for run_id, name, moment, launches in rows
    ]


def pruned_runs(connection: duckdb.DuckDBPyConnection) -> dict[str, datetime]:
    """Return when each pruned run was pruned (UTC without a zone)."""
    query = "SELECT run_id, pruned_at FROM run WHERE pruned_at IS NOT NULL"
    return dict(connection.execute(query).fetchall())


def prune(connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> None:
    """Drop launches, counters and what was measured per instruction of runs, all or nothing.

    Variants with their facts, findings and outcomes stay.
    """
    which = f"run_id IN ({', '.join(map(literal, run_ids)) or 'NULL'})"
    with transaction(connection):
        for table in _DROPPED:
            connection.execute(f"DELETE FROM {table} WHERE {which}")
        for table, used in _SHARED.items():
            known = f"SELECT * FROM ({used}) AS used (key) WHERE key IS NOT NULL"
            connection.execute(f"DELETE FROM {table} WHERE {table} NOT IN ({known})")
        now = datetime.now(UTC).replace(tzinfo=None)
        connection.execute(f"UPDATE run SET pruned_at = ? WHERE {which}", [now])
        set_meta(connection, _TO_COMPACT, "yes")


def is_compact(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the file was rewritten since runs were pruned last."""
    query = "SELECT 1 FROM meta WHERE key = ?"
    return connection.execute(query, [_TO_COMPACT]).fetchone() is None


def compact(path: Path, wait: float = DEFAULT_WAIT) -> tuple[int, int]:
    """Rewrite the file without the room that is free in it; return the bytes before and after.

    A copy takes the file's place while nobody can write: who reads keeps the old one open, who
    waits to write gets the new one. Deleting alone only leaves room for what comes.

    Raises:
        DatabaseError: locked, or the disk has no room for the copy; the file is as it was.
    """
    before = path.stat().st_size
    try:
        with (
            scratch_beside(path.resolve()) as folder,
            opened(path, wait=wait, read_only=True, reaches_others=True) as connection,
        ):
            made = folder / path.name
            usual = memory_limit(connection)
            _spare(connection, folder)
            try:
                _copy_into(connection, path, made)
            except duckdb.OutOfMemoryException:
                made.unlink()
                connection.execute(f"SET memory_limit = {literal(usual)}")
                _copy_into(connection, path, made)
            made.chmod(path.stat().st_mode)
            with made.open("rb") as file:
                os.fsync(file.fileno())
            made.replace(path.resolve())
    except OSError as error:
        hint = "what was dropped is dropped; repeat it where the disk has room for a copy"
        problem = f"cannot be rewritten: {error.strerror}"
        raise DatabaseError(problem, at=Location(name=str(path)), hint=hint) from error
    return before, path.stat().st_size


def _spare(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Have a copy take little memory, and put what finds no room there into a folder."""
    settings = {**LARGE, **GIVES_BACK, "temp_directory": str(folder / "spilled")}
    settings |= {"memory_limit": _MEMORY, "threads": 1}
    for name, value in settings.items():
        connection.execute(f"SET {name} = {literal(str(value))}")


def _copy_into(connection: duckdb.DuckDBPyConnection, path: Path, made: Path) -> None:
    """Copy the open database of ``path`` to a file that does not exist yet.

    Raises:
        DatabaseError: the database has no name.
    """
    source = connection.execute("SELECT current_database()").fetchone()
    if source is None:
        raise DatabaseError("has no name", at=Location(name=str(path)))
    sizes = f"ROW_GROUP_SIZE {ROW_GROUP}, BLOCK_SIZE {BLOCK_SIZE}"
    options = f"(READ_WRITE, {sizes}, STORAGE_VERSION {literal(STORAGE_VERSION)})"
    copy = quoted(f"copy of {source[0]}")
    connection.execute(f"ATTACH {literal(str(made))} AS {copy} {options}")
    try:
        connection.execute(f"COPY FROM DATABASE {quoted(source[0])} TO {copy}")
        connection.execute(f"DELETE FROM {copy}.meta WHERE key = '{_TO_COMPACT}'")
        connection.execute(f"CHECKPOINT {copy}")
    finally:
        connection.execute(f"DETACH {copy}")
