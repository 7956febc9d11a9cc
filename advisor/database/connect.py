"""Open the database file: to write, to read, or for a query of the user's own.

DuckDB lets either one process write or many read. Whoever comes second waits, then learns which
process holds the file. A file that does not exist yet is made beside its place and linked into it
whole, so that neither a crash nor a second process ever meets half a database.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb

from advisor.database import schema
from advisor.database.columns import add_pack_columns, require_pack_columns
from advisor.database.lake.place import is_lake, refuse_lake
from advisor.database.waiting import RESTORE, connected, first_line, is_damage
from advisor.errors import DatabaseError, Location, UsageError
from advisor.quoting import literal
from advisor.scratch import scratch_folder, sweep

DEFAULT_WAIT = 30.0
"""Seconds to wait for a lock that another process holds."""

DEFAULT_MEMORY = "4GB"
"""Memory that a query may take, as DuckDB writes it."""

_FULL = os.strerror(errno.ENOSPC)
_SIZE = re.compile(r"\d+(\.\d+)?\s?[KMGT]i?B", re.IGNORECASE)
_FAILURES = (
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.FatalException,
    duckdb.TransactionException,  # a commit that the disk does not take, or that another beat to it
)
FETCHES_NOTHING: dict[str, bool | int] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}
"""Settings of every connection: nothing is fetched, and SQL sees no Python variable."""

_ALONE: dict[str, bool | int] = {**FETCHES_NOTHING, "enable_external_access": False}
"""Settings of a connection that reaches no file but its own: a view in it may name another."""

LARGE: dict[str, int | str] = {
    "write_buffer_row_group_count": 1,  # a full row group goes to the disk before the commit
    "wal_autocheckpoint": "1KB",  # and what is left goes there at once, not through a log
}
"""Settings of writers: what a transaction holds in memory hardly grows with what it writes."""

GIVES_BACK: dict[str, str] = {
    "allocator_flush_threshold": "1MB",
    "allocator_bulk_deallocation_flush_threshold": "8MB",  # more than a table of groups has
}
"""Settings of writers of much: memory that is free goes back to the system, which takes time."""

BLOCK_SIZE = 32_768
"""Bytes in a block of a new file: a transaction holds so much of each column at least."""

STORAGE_VERSION = "v1.5.0"
"""Of new files: a commit keeps the descriptions of rows it left alone; older ones read them all."""

ROW_GROUP = 8192
"""Rows of which each column is described once: a transaction holds so many of a table in memory.

A command reads the description of each column that it needs, of every group of the table: with
2,048 rows, a report from 981,960 launches took half of its processor time for that.
"""

LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
"""How the names of files end that DuckDB keeps beside a database file."""

FILE = "advisor"
"""What the file is called on a connection for large transactions."""


@contextlib.contextmanager
def open_for_writing(
    path: str | Path, wait: float = DEFAULT_WAIT
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection that may write; a missing file is made, with the newest schema.

    ``wait`` is in seconds. What is not committed when the block ends is rolled back.

    Raises:
        DatabaseError: locked for longer than ``wait``, of another schema, no database, or the
            disk does not take it.
    """
    path = Path(path)
    if not path.exists():
        create(path)
    tidy(path)
    with opened(path, wait=wait, read_only=False, large=True) as connection:
        schema.require_head(connection, path)
        schema.require_tables_only(connection, path)
        require_pack_columns(connection, path)
        yield connection


@contextlib.contextmanager
def open_for_reading(
    path: str | Path, wait: float = DEFAULT_WAIT
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection that only reads a file or ``lake:DIR``; it can make temporary views.

    Raises:
        DatabaseError: missing, locked for longer than ``wait``, of another schema, or no database.
    """
    if is_lake(path):
        from advisor.database.lake.door import open_lake  # a file needs none

        with open_lake(path, FETCHES_NOTHING) as connection:
            yield connection
        return
    path = Path(path)
    with opened(path, wait=wait, read_only=True) as connection:
        connection.execute("SET threads = 1")  # several take longer to check what follows
        schema.require_head(connection, path)
        schema.require_tables_only(connection, path)
        require_pack_columns(connection, path)
        connection.execute("RESET threads")
        with _lacking_told(connection, path):
            yield connection


@contextlib.contextmanager
def open_for_query(
    path: str | Path, wait: float = DEFAULT_WAIT, *, memory: str = DEFAULT_MEMORY
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection for SQL that somebody else wrote.

    It reads this one file, and no other file, network, extension, Python variable or setting.
    ``memory`` is all that it may take, such as "4GB".

    Raises:
        DatabaseError: as ``open_for_reading``.
        UsageError: ``memory`` is no size.
    """
    with open_for_reading(path, wait) as connection:
        if not _SIZE.fullmatch(memory):
            problem = f"{memory!r} is no size of memory"
            raise UsageError(problem, hint="write it like 500MB or 4GB")
        connection.execute(f"SET memory_limit = {literal(memory)}")
        connection.execute("SET lock_configuration = true")
        yield connection


@contextlib.contextmanager
def opened(
    path: Path,
    *,
    wait: float,
    read_only: bool,
    large: bool = False,
    reaches_others: bool = False,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to an existing file of any schema.

    One for ``large`` transactions has no cursors: they would not see the file. One that
    ``reaches_others`` can attach other files, for copies: run no stored view in it.

    Raises:
        DatabaseError: missing, locked for longer than ``wait`` seconds, no database, or a failure
            of the disk while the block ran.
    """
    _require_file(path)

    def connect() -> duckdb.DuckDBPyConnection:
        if large:
            return _for_large(path)
        settings = FETCHES_NOTHING if reaches_others else _ALONE
        return duckdb.connect(str(path), read_only=read_only, config=dict(settings))

    connection = connected(path, wait, connect, reads=read_only)
    with failures_reported(path), contextlib.closing(connection):
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


@contextlib.contextmanager
def _lacking_told(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterator[None]:
    """Where the block finds no table or column, say so if the file should have it.

    Raises:
        DatabaseError: it should.
    """
    try:
        yield
    except (duckdb.BinderException, duckdb.CatalogException):
        schema.require_whole(connection, path)
        raise


@contextlib.contextmanager
def failures_reported(path: Path) -> Iterator[None]:
    """Report a failure of the disk while the block ran as one of ``path``.

    Raises:
        DatabaseError: there was one.
    """
    try:
        yield
    except _FAILURES as error:
        remedy = RESTORE if is_damage(error) else "see that the disk has room, then repeat it"
        raise DatabaseError(
            f"reading or writing failed: {_reason(error)}",
            at=Location(name=str(path)),
            hint=f"what was not finished is not stored; {remedy}",
        ) from error


@contextlib.contextmanager
def unattached(
    path: Path, scratch: Path, others: Sequence[Path] = ()
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to which ``attach`` can attach the file, and ``others`` by their names.

    It can read and write these and no other file; it has cursors. What does not fit in memory goes
    into the folder ``scratch``. With ``others`` it is for much.
    """
    place = str(path.resolve())
    settings: dict[str, str | bool | int | float | list[str]] = {
        **FETCHES_NOTHING,
        **LARGE,
        **(GIVES_BACK if others else {}),
        "temp_directory": str(scratch / "spilled"),
    }
    files = ", ".join(
        literal(f"{each}{suffix}") for each in (place, *others) for suffix in ("", *LOGS)
    )
    with contextlib.closing(duckdb.connect(":memory:", config=settings)) as connection:
        connection.execute(f"SET allowed_paths = [{files}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def attach(
    connection: duckdb.DuckDBPyConnection, path: Path, wait: float, *, read_only: bool
) -> None:
    """Attach the file as ``FILE``, once no other process or connection has it for itself.

    Raises:
        DatabaseError: missing, locked for longer than ``wait`` seconds, or no database.
    """
    _require_file(path)
    mode = "READ_ONLY" if read_only else "READ_WRITE"

    def attached() -> duckdb.DuckDBPyConnection:
        return _attach(connection, path.resolve(), mode)

    connected(path, wait, attached)


def create(path: Path) -> None:
    """Make the database ``path`` unless somebody else made it first.

    Raises:
        DatabaseError: the folder is missing or does not take it.
    """
    refuse_lake(path)
    place = path.resolve()  # of a link to a file that is not there yet, the file
    try:
        with scratch_beside(place) as folder:
            made = folder / "new.duckdb"
            settings: dict[str, str | bool | int | float | list[str]] = {
                **_ALONE,
                "default_block_size": BLOCK_SIZE,
                "storage_compatibility_version": STORAGE_VERSION,
            }
            with duckdb.connect(str(made), config=settings) as connection:
                schema.make(connection)
                add_pack_columns(connection)
                connection.execute("CHECKPOINT")  # closing would do it, and hide that it failed
            put(made, place)
    except _FAILURES as error:
        raise DatabaseError(
            f"cannot be made: {_reason(error)}",
            at=Location(name=str(path)),
            hint="see that the disk has room, then repeat it",
        ) from error
    except OSError as error:
        raise DatabaseError(
            f"cannot be made: {error.strerror}",
            at=Location(name=str(path)),
            hint="--db names a file in a folder that can be written",
        ) from error


@contextlib.contextmanager
def open_scratch(folder: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a new database in memory; what finds no room there goes into ``folder``."""
    settings: dict[str, str | bool | int | float | list[str]] = {
        **_ALONE,
        "temp_directory": folder,
    }
    with duckdb.connect(":memory:", config=settings) as connection:
        schema.make(connection)
        add_pack_columns(connection)
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def scratch_beside(place: Path, parent: Path | None = None) -> AbstractContextManager[Path]:
    """Return a folder for files of the database ``place``, which is resolved: beside it, usually.

    Those of the killed are removed by whoever makes one, or calls ``tidy``.
    """
    return scratch_folder(parent or place.parent, _beside(place))


def tidy(path: Path) -> None:
    """Remove what killed processes left beside a database."""
    place = path.resolve()
    sweep(place.parent, _beside(place))


def _beside(place: Path) -> str:
    return f".{place.name}"


def put(made: Path, path: Path) -> None:
    """Give ``made`` its place, without ever replacing what is there."""
    try:
        os.link(made, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not path.exists():
            made.rename(path)


def _require_file(path: Path) -> None:
    refuse_lake(path)
    if not path.is_file():
        problem = "is not a file" if path.exists() else "there is no such database"
        hint = "advisor ingest PROFILE makes one; --db names another"
        raise DatabaseError(problem, at=Location(name=str(path)), hint=hint)


def _for_large(path: Path) -> duckdb.DuckDBPyConnection:
    """Return a connection that may write; only ATTACH takes a size of row groups.

    Threads of this process that write to one file share a database in memory, which holds it. What
    does not fit in memory goes beside the file, not into the working directory.
    """
    place = str(path.resolve())
    connection = duckdb.connect(
        f":memory:{place}",
        config={**FETCHES_NOTHING, **LARGE, **GIVES_BACK, "temp_directory": f"{place}.tmp"},
    )
    try:
        _attach(connection, path, "READ_WRITE")
        connection.execute(f"USE {FILE}")
        connection.execute("SET enable_external_access = false")
    except duckdb.Error:
        connection.close()
        raise
    return connection


def _attach(
    connection: duckdb.DuckDBPyConnection, path: Path, mode: str
) -> duckdb.DuckDBPyConnection:
    options = f"(ROW_GROUP_SIZE {ROW_GROUP}, {mode})"
    return connection.execute(f"ATTACH IF NOT EXISTS {literal(str(path))} AS {FILE} {options}")


def _reason(error: duckdb.Error) -> str:
    """Return what failed; of a full disk no more than that, for DuckDB calls all invalidated."""
    return _FULL if _FULL in str(error) else first_line(error)
