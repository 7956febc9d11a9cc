"""Open a lake as a database that can only be read: every question above works on it unchanged."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb

from advisor.database.lake.place import folder_of
from advisor.database.lake.scan import Lake, scan, warning_of
from advisor.database.lake.tables import Columns, make_shape
from advisor.database.lake.views import create_tables
from advisor.errors import DatabaseError, Location
from advisor.quoting import literal
from advisor.scratch import scratch_folder

log = logging.getLogger(__name__)

READ_ONCE: Mapping[str, bool] = {"enable_external_file_cache": False}
"""Settings for who reads all of a lake: what was read of files is not kept."""

_HINT = "advisor lake verify names the damaged files; repeat this where somebody compacted"


@contextlib.contextmanager
def open_lake(
    path: str | Path, settings: Mapping[str, bool | int]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection on which the tables of the schema are views over a lake.

    It reaches the files below the lake and no other. What of the lake is left out is logged.

    Raises:
        DatabaseError: there is no lake, or one of its files cannot be read.
    """
    lake = scan(folder_of(path).resolve())
    if warning := warning_of(lake):
        log.warning("%s; advisor lake status names all", warning)
    with damage_reported(path), opened_over(lake, settings, hold=True) as (connection, _):
        yield connection


@contextlib.contextmanager
def damage_reported(path: str | Path) -> Iterator[None]:
    """Report a file of a lake that cannot be read as a failure of the lake.

    Raises:
        DatabaseError: there was one.
    """
    try:
        yield
    except (
        duckdb.IOException,
        duckdb.InvalidInputException,
        duckdb.SerializationException,
    ) as error:
        text = str(error)
        if not isinstance(error, duckdb.IOException) and ".parquet" not in text:
            raise
        first = text.strip().splitlines()[0]
        problem = f"a file cannot be read: {first}"
        raise DatabaseError(problem, at=Location(name=str(path)), hint=_HINT) from error


@contextlib.contextmanager
def opened_over(
    lake: Lake, settings: Mapping[str, bool | int], *, hold: bool = False
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Columns]]:
    """Yield a connection over a lake that was scanned, and the columns of its tables.

    Where small tables are to ``hold``, they are read now, and what files say about their columns is
    kept; of all other tables views are made.
    """
    with opened_beside(lake, settings) as (connection, columns):
        # what files say about their 500 columns would be read again by every statement
        connection.execute(f"SET parquet_metadata_cache = {hold}")
        create_tables(connection, lake, columns, hold=hold)
        yield connection, columns


@contextlib.contextmanager
def opened_beside(
    lake: Lake, settings: Mapping[str, bool | int]
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Columns]]:
    """Yield a connection that reaches the files of a lake, without tables, and their columns."""
    with (
        scratch_folder() as folder,
        contextlib.closing(
            duckdb.connect(":memory:", config={**settings, "temp_directory": str(folder)})
        ) as connection,
    ):
        connection.execute(f"SET allowed_directories = [{literal(str(lake.root))}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET TimeZone = 'UTC'")
        # in a process of a pool DuckDB takes standard output for a user's
        connection.execute("SET enable_progress_bar = false")
        yield connection, make_shape(connection)
