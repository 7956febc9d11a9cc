"""Which schema a file has, which is the newest, and how one becomes the other.

Telling them apart costs one read; alembic and SQLAlchemy are imported only to change a schema. A
new file gets the newest from the SQL that ``migrations.freeze`` keeps of it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import duckdb

from advisor.errors import DatabaseError, Location
from advisor.resources import data_dir
from advisor.version import __version__
from advisor.wording import one_line, printable

NEWEST = "newest.sql"
"""The file beside the migrations that holds what they make."""

_WRITTEN_BY = "schema_written_by"
_WRITE_VERSION = "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = EXCLUDED.value"
_STORED_SQL = """
SELECT 'the view', view_name FROM duckdb_views() WHERE NOT internal AND NOT temporary
UNION ALL
SELECT 'the macro', function_name FROM duckdb_functions()
WHERE function_type IN ('macro', 'table_macro') AND NOT internal
LIMIT 1
"""
COLUMNS = """
SELECT table_name, column_name FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = current_schema()
"""
"""Asks for the columns of all tables of the open file."""


def revisions(scripts: Path | None = None) -> tuple[str, ...]:
    """Return the revisions of the folder ``scripts``, oldest first, from their file names."""
    scripts = scripts or data_dir("migrations")
    return tuple(sorted(p.name.split("_")[0] for p in (scripts / "versions").glob("[0-9]*.py")))


def revision_of(connection: duckdb.DuckDBPyConnection, path: Path) -> str:
    """Return the revision of an open file.

    Raises:
        DatabaseError: the file was not made by this program.
    """
    try:
        rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    except duckdb.CatalogException as error:
        raise _foreign(path) from error
    if len(rows) != 1 or not str(rows[0][0]).isdigit():
        raise _foreign(path)
    return str(rows[0][0])


def require_head(
    connection: duckdb.DuckDBPyConnection, path: Path, head: str | None = None
) -> None:
    """Check that an open file has the newest schema, or that of the revision ``head``.

    Raises:
        DatabaseError: it is older, newer, or no database of this program; says what to do.
    """
    revision = revision_of(connection, path)
    head = head or revisions()[-1]
    if revision < head:
        raise DatabaseError(
            f"has schema {revision}, this version works with {head}",
            at=Location(name=str(path)),
            hint=f"run: advisor --db {path} db upgrade",
        )
    if revision > head:
        writer = written_by(connection)
        needed = "a newer version" if writer is None else f"advisor {writer} or newer"
        raise DatabaseError(
            f"has schema {revision}; advisor {__version__} knows {head} at most",
            at=Location(name=str(path)),
            hint=f"install {needed}",
        )


def require_whole(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Check that an open file of the newest schema has each of its columns.

    A revision that is not released yet may change, so a file can have its number and not its
    columns. Costs a database in memory: for when a statement found a table or column missing.

    Raises:
        DatabaseError: it lacks one.
    """
    with duckdb.connect(":memory:") as newest:
        newest.execute((data_dir("migrations") / NEWEST).read_text(encoding="utf-8"))
        wanted = newest.execute(COLUMNS).fetchall()
    with contextlib.suppress(duckdb.TransactionException):  # there is none
        connection.rollback()
    known = set(connection.execute(COLUMNS).fetchall())
    lacking = [f"{table}.{column}" for table, column in wanted if (table, column) not in known]
    if lacking:
        others = len(lacking) - 1
        more = f" and {others:,} other column{'s' * (others > 1)}" if others else ""
        raise DatabaseError(
            f"has schema {revisions()[-1]} as it was before its release: "
            f"no {printable(lacking[0])}{more}",
            at=Location(name=str(path)),
            hint="ingest its profiles into a new file; no release wrote this one",
        )


def require_tables_only(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Check that an open file stores no view and no macro: this program stores none.

    They would run whenever their names are used, in place of tables and functions.

    Raises:
        DatabaseError: it stores one.
    """
    found = connection.execute(_STORED_SQL).fetchone()
    if found is not None:
        raise DatabaseError(
            f"stores {found[0]} {printable(one_line(found[1]))!r}, which advisor did not make",
            at=Location(name=str(path)),
            hint="do not trust this file; ingest its profiles into a new one",
        )


def written_by(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return the version of the program that made or last upgraded the schema."""
    query = "SELECT value FROM meta WHERE key = ?"
    row = connection.execute(query, [_WRITTEN_BY]).fetchone()
    return None if row is None else str(row[0])


def make(connection: duckdb.DuckDBPyConnection) -> None:
    """Give an empty database the newest schema."""
    connection.begin()
    connection.execute((data_dir("migrations") / NEWEST).read_text(encoding="utf-8"))
    connection.execute(_WRITE_VERSION, (_WRITTEN_BY, __version__))
    connection.commit()


def migrate(connection: duckdb.DuckDBPyConnection, path: Path, scripts: Path | None = None) -> None:
    """Bring an open file, which may be empty, to the newest schema in one transaction.

    ``path`` is what messages call it; ``scripts`` is the folder of the migrations.

    Raises:
        DatabaseError: a migration failed; the file is as before.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError
    from duckdb_sqlalchemy import ConnectionWrapper
    from sqlalchemy import create_engine
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import NullPool

    config = Config()
    location = str(scripts or data_dir("migrations")).replace("%", "%%")
    config.set_main_option("script_location", location)
    engine = create_engine(
        "duckdb://", creator=lambda: ConnectionWrapper(connection.cursor()), poolclass=NullPool
    )
    try:
        with engine.begin() as migrating:
            config.attributes["connection"] = migrating
            command.upgrade(config, "head")
            migrating.exec_driver_sql(_WRITE_VERSION, (_WRITTEN_BY, __version__))
    except (DBAPIError, CommandError) as error:
        problem = error.orig if isinstance(error, DBAPIError) else error
        raise DatabaseError(
            f"cannot be brought to the newest schema: {problem}", at=Location(name=str(path))
        ) from error
    finally:
        engine.dispose()


def _foreign(path: Path) -> DatabaseError:
    return DatabaseError(
        "is a DuckDB file, but not one that advisor made",
        at=Location(name=str(path)),
        hint="choose another file with --db",
    )
