"""A draft of a database: where runs are made whole before the file is locked.

DuckDB lets nobody read a file while somebody writes it. So profiles are read, derived and judged in
a database of their own, and the file is locked for as long as it takes to copy the rows of the
runs and to commit them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb

from advisor.database import schema
from advisor.database.columns import require_pack_columns
from advisor.database.connect import (
    BLOCK_SIZE,
    FILE,
    LARGE,
    ROW_GROUP,
    attach,
    create,
    failures_reported,
    scratch_beside,
    unattached,
)
from advisor.database.planning import memory_limit, release_blocks
from advisor.database.write import tables_of_runs
from advisor.errors import DatabaseError, Location
from advisor.quoting import literal

_DRAFT = "draft"
_NEEDED = ("alembic_version", "meta", "device", "ceiling", "occupancy_limit")
"""Tables whose rows a draft begins with."""

_SHARED = ("occupancy_limit", "kernel", "series", "key_set", "text_set", "keyed_set")
"""Tables whose rows runs share; ids are made of what they hold, so equal keys are equal rows."""

_BY_LAUNCH = ("launch", "launch_keyed", "reference_finding")
_CHECKPOINT, _WITHOUT_LOG = "wal_autocheckpoint", "auto_checkpoint_skip_wal_threshold"
"""Settings: the size of a log, and that of a commit without one, from which a file is written."""

_NEXT_NUMBER = "SELECT coalesce(max(run_number), 0) + 1 FROM run"
_AT_ONCE = 4096  # launches whose rows are copied by one statement


class DraftDatabase:
    """A connection on which a draft is the current database, and the file that it is for."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path, wait: float) -> None:
        self.connection = connection
        self._path = path
        self._wait = wait

    @contextlib.contextmanager
    def beginning(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Let the block read the file, and the draft begin with its schema and devices.

        Raises:
            DatabaseError: locked for too long, of another schema, or no database.
        """
        with self._attached(read_only=True):
            schema.require_head(self.connection, self._path)
            schema.require_tables_only(self.connection, self._path)
            require_pack_columns(self.connection, self._path)
            self.connection.execute(f"COPY FROM DATABASE {FILE} TO {_DRAFT} (SCHEMA)")
            for table in _NEEDED:
                _copy(self.connection, table)
            yield self.connection

    @contextlib.contextmanager
    def locked(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Let the block write the file, which is the current database; nobody else may read it.

        Raises:
            DatabaseError: locked for too long, of another schema since, or the disk does not take
                what is written.
        """
        self.connection.execute(f"SET {_CHECKPOINT} = '{LARGE[_CHECKPOINT]}'")
        self.connection.execute(f"RESET {_WITHOUT_LOG}")
        with self._attached(read_only=False):
            schema.require_head(self.connection, self._path)  # what it stores was checked before
            yield self.connection

    @contextlib.contextmanager
    def _attached(self, *, read_only: bool) -> Iterator[None]:
        attach(self.connection, self._path, self._wait, read_only=read_only)
        try:
            self.connection.execute(f"USE {FILE}")
            yield
        finally:
            with contextlib.suppress(duckdb.Error):  # what failed before is the news
                self.connection.execute(f"USE {_DRAFT}")
                self.connection.execute(f"DETACH {FILE}")


@contextlib.contextmanager
def open_draft(path: str | Path, wait: float, *, large: bool) -> Iterator[DraftDatabase]:
    """Yield a draft of a database, which is made where there is none; ``wait`` is in seconds.

    A ``large`` one is a file beside the database, any other is in memory.

    Raises:
        DatabaseError: the file cannot be made, or the disk does not take the draft.
    """
    path = Path(path)
    if not path.exists():
        create(path)
    with contextlib.ExitStack() as stack:
        stack.enter_context(failures_reported(path))
        folder = stack.enter_context(_folder_beside(path))
        files = [folder / "draft.duckdb"] if large else []
        connection = stack.enter_context(unattached(path, folder, files))
        for file in files:
            _attach_draft(connection, file)
            stack.callback(_detached, connection)
        if not files:
            connection.execute(f"ATTACH ':memory:' AS {_DRAFT}")
        connection.execute(f"USE {_DRAFT}")
        yield DraftDatabase(connection, path, wait)


@contextlib.contextmanager
def _folder_beside(path: Path) -> Iterator[Path]:
    """Yield a folder beside the database, for a draft of it.

    Raises:
        DatabaseError: it cannot be made.
    """
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch_beside(path.resolve()))
        except OSError as error:
            raise DatabaseError(
                f"its folder cannot be written: {error.strerror or error}",
                at=Location(name=str(path)),
                hint="see that its disk has room and can be written; --db names another file",
            ) from error
        yield folder


def is_new(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the file has no devices yet: ``publish`` gives it all that the draft has."""
    return connection.execute("SELECT device_id FROM device LIMIT 1").fetchone() is None


def publish(connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> None:
    """Copy runs from the draft into the file, which is locked and has none of them."""
    if is_new(connection):
        _publish(connection, "meta", "ON CONFLICT DO NOTHING")
    known = "device_id NOT IN (SELECT device_id FROM device)"
    for table in ("ceiling", "device"):  # the first profile that reports a device decides
        _publish(connection, table, f"WHERE {known}")
    for table in _SHARED:
        _publish(connection, table, "ON CONFLICT DO NOTHING")
    limit = memory_limit(connection)
    of_runs = f"WHERE run_id IN ({', '.join(map(literal, run_ids))})"
    (number,) = connection.execute(_NEXT_NUMBER).fetchall()[0]
    (most,) = connection.execute(f"SELECT max(launch_index) FROM {_DRAFT}.launch").fetchall()[0]
    for table, is_numbered in tables_of_runs(connection).items():
        columns = f"* REPLACE ({number} AS run_number)" if is_numbered else "*"
        if table not in _BY_LAUNCH or most is None or most < _AT_ONCE:
            _publish(connection, table, of_runs, columns)
            continue
        for first in range(0, most + 1, _AT_ONCE):
            last = first + _AT_ONCE - 1
            some = f"{of_runs} AND launch_index BETWEEN {first} AND {last}"
            _publish(connection, table, some, columns)
            release_blocks(connection, limit)


def _publish(
    connection: duckdb.DuckDBPyConnection, table: str, rest: str, columns: str = "*"
) -> None:
    rows = f"SELECT {columns} FROM {_DRAFT}.{table} {rest}"
    connection.execute(f"INSERT INTO {FILE}.{table} BY NAME {rows}")


def _copy(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    connection.execute(f"INSERT INTO {_DRAFT}.{table} FROM {FILE}.{table}")


def _attach_draft(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Attach a file as the draft, which is removed in the end: its last rows stay in memory."""
    options = f"ROW_GROUP_SIZE {ROW_GROUP}, BLOCK_SIZE {BLOCK_SIZE}, RECOVERY_MODE no_wal_writes"
    connection.execute(f"ATTACH {literal(str(file))} AS {_DRAFT} ({options})")
    connection.execute(f"SET {_CHECKPOINT} = '1TB'")
    connection.execute(f"SET {_WITHOUT_LOG} = {2**40}")


def _detached(connection: duckdb.DuckDBPyConnection) -> None:
    """Detach a draft that is a file, which is removed next."""
    with contextlib.suppress(duckdb.Error):
        connection.execute("USE memory")
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        connection.execute(f"DETACH {_DRAFT}")
