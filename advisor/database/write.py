"""Write runs: all of one or nothing of it.

Everything happens on a driver connection of ``connect.open_for_writing``. Small tables take lists
as parameters; launches take the way through arrays (``launches.py``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import duckdb

from advisor.database.records import insert_records
from advisor.database.rows import FindingRow, KernelRow, Row, SeriesRow
from advisor.quoting import quoted

log = logging.getLogger(__name__)

_MERGED = "runs_when_merged"
_UNMERGED_RUNS = 32
_PARTS_OF_RUNS = """
    SELECT table_name, column_name
    FROM duckdb_columns() JOIN duckdb_tables() USING (table_oid, table_name)
    WHERE column_name IN ('run_id', 'run_number')
      AND duckdb_tables.database_name = current_database()
      AND duckdb_tables.schema_name = 'main' AND NOT temporary
    ORDER BY table_name
"""


DATA_ERRORS = (
    duckdb.DataError,
    duckdb.IntegrityError,
    duckdb.InvalidInputException,
    ArithmeticError,
    ValueError,
)
"""What goes wrong where values that a profile holds cannot be stored, or computed with."""


@contextlib.contextmanager
def transaction(connection: duckdb.DuckDBPyConnection, *, keep: bool = True) -> Iterator[None]:
    """Store everything that the block writes, or nothing if it raises or the process dies.

    Nothing is stored either where it is not to ``keep``.
    """
    connection.begin()
    try:
        yield
    except BaseException:
        with contextlib.suppress(duckdb.Error):  # what broke the transaction is the news
            connection.rollback()
        raise
    if keep:
        connection.commit()
    else:
        connection.rollback()


def tables_of_runs(connection: duckdb.DuckDBPyConnection) -> dict[str, bool]:
    """Return the tables of the current database whose rows are of a run, ``run`` itself too.

    And whether they have its ``run_number``: those hold what a draft gives; what users declare has
    none.
    """
    found = connection.execute(_PARTS_OF_RUNS).fetchall()
    numbered = {table for table, column in found if column == "run_number"}
    return {table: table in numbered for table, column in found if column == "run_id"}


@contextlib.contextmanager
def second_transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Have a second transaction open, which does nothing.

    A transaction that is alone when it commits merges small row groups, and holds them in memory
    with every column on top of what it has written itself.
    """
    (database,) = connection.execute("SELECT current_database()").fetchall()[0]
    with connection.cursor() as other:
        other.begin()
        other.execute(f"FROM {quoted(database)}.main.meta LIMIT 1").fetchall()
        try:
            yield
        finally:
            with contextlib.suppress(duckdb.Error):  # where the disk failed, as the commit reported
                other.rollback()


def merge_row_groups(connection: duckdb.DuckDBPyConnection) -> None:
    """Merge small row groups, of which each transaction beside a second one leaves one, in time.

    The runs are stored by then, so a failure is logged and retried with the next one.
    """
    (runs,) = connection.execute("SELECT count(*) FROM run").fetchall()[0]
    known = connection.execute("SELECT value FROM meta WHERE key = ?", [_MERGED]).fetchone()
    if abs(runs - int(known[0] if known else 0)) >= _UNMERGED_RUNS:
        try:
            set_meta(connection, _MERGED, str(runs))  # a commit that is alone merges
        except duckdb.Error as error:
            log.warning("row groups were not merged, the runs are stored: %s", error)


def has_run(connection: duckdb.DuckDBPyConnection, run_id: str) -> bool:
    """Return whether the run is stored."""
    query = "SELECT 1 FROM run WHERE run_id = ?"
    return connection.execute(query, [run_id]).fetchone() is not None


def upsert_kernels(connection: duckdb.DuckDBPyConnection, kernels: Iterable[KernelRow]) -> None:
    """Store kernels that are not there yet; the first spelling of a name stays."""
    unique = {row.kernel_id: row for row in kernels}
    insert_rows(connection, "kernel", [unique[key] for key in sorted(unique)], known="keep")


def upsert_series(connection: duckdb.DuckDBPyConnection, series: Iterable[SeriesRow]) -> None:
    """Store series that are not there yet."""
    unique = {row.series_id: row for row in series}
    insert_rows(connection, "series", [unique[key] for key in sorted(unique)], known="keep")


def insert_findings(
    connection: duckdb.DuckDBPyConnection, run_id: str, findings: Sequence[FindingRow]
) -> None:
    """Store the findings of a run in place of those it had."""
    connection.execute("DELETE FROM finding WHERE run_id = ?", [run_id])
    found = connection.execute("SELECT run_number FROM run WHERE run_id = ?", [run_id]).fetchone()
    insert_rows(connection, "finding", findings, also={"run_number": found[0] if found else 0})


def set_device(
    connection: duckdb.DuckDBPyConnection, run_id: str, device_id: str, ordinal: int | None
) -> None:
    """Set the device of launches of a run: those of the profile's number ``ordinal``, or all."""
    connection.execute(
        "UPDATE launch SET device_id = $device WHERE run_id = $run"
        " AND ($ordinal IS NULL OR device_ordinal = $ordinal)",
        {"device": device_id, "run": run_id, "ordinal": ordinal},
    )


def remove_run(connection: duckdb.DuckDBPyConnection, run_id: str) -> bool:
    """Remove a run with all its data; return whether there was one.

    What has a ``run_id`` belongs to that run, whichever table it is in. Kernels and series stay:
    other runs may share them, and they carry no measurement.
    """
    if not has_run(connection, run_id):
        return False
    with transaction(connection):
        for table in tables_of_runs(connection):
            connection.execute(f"DELETE FROM {quoted(table)} WHERE run_id = ?", [run_id])
    return True


def set_meta(connection: duckdb.DuckDBPyConnection, key: str, value: str) -> None:
    """Store a fact about the file."""
    statement = "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = EXCLUDED.value"
    connection.execute(statement, [key, value])


def insert_rows(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    rows: Sequence[Row],
    *,
    known: Literal["keep", "replace"] | None = None,
    also: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Insert records, whose fields are columns of ``table``, by one statement.

    ``also`` is what else each of the rows has.
    ``known`` is what to do with a key that is there: keep or replace its row, or None to fail.
    """
    if rows:
        names = [field.name for field in dataclasses.fields(rows[0])]
        records = [{**{name: getattr(row, name) for name in names}, **also} for row in rows]
        insert_records(connection, table, records, known=known)
