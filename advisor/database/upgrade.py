"""Copy a database, and bring an older one to the newest schema."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from advisor.database import schema
from advisor.database.columns import add_pack_columns, lacks_pack_columns
from advisor.database.connect import BLOCK_SIZE, DEFAULT_WAIT, opened, put
from advisor.database.write import transaction
from advisor.errors import DatabaseError, Location
from advisor.quoting import quoted


@dataclass(frozen=True, kw_only=True)
class Current:
    """The schema of a file: its revision, the newest one, and which version wrote it."""

    revision: str
    head: str
    written_by: str | None


@dataclass(frozen=True, kw_only=True)
class Upgraded:
    """What an upgrade did; ``backup`` is ``None`` where there was nothing to do.

    ``columns`` were added for what installed packs define.
    """

    before: str
    after: str
    backup: Path | None
    columns: tuple[str, ...] = ()


def current(path: str | Path, wait: float = DEFAULT_WAIT) -> Current:
    """Return which schema the file has, whatever it is.

    Raises:
        DatabaseError: missing, locked, or not a database of this program.
    """
    path = Path(path)
    with opened(path, wait=wait, read_only=True) as connection:
        return Current(
            revision=schema.revision_of(connection, path),
            head=schema.revisions()[-1],
            written_by=schema.written_by(connection),
        )


def backup(path: str | Path, to: str | Path | None = None, wait: float = DEFAULT_WAIT) -> Path:
    """Copy a database of any schema as one consistent whole; return where the copy is.

    By default it goes beside the file, named after the schema and the time (UTC).

    Raises:
        DatabaseError: as ``current``; or the copy's place is taken or cannot be written.
    """
    path = Path(path)
    with opened(path, wait=wait, read_only=True, reaches_others=True) as connection:
        return _copy(connection, path, None if to is None else Path(to))


def upgrade(
    path: str | Path, wait: float = DEFAULT_WAIT, *, scripts: Path | None = None
) -> Upgraded:
    """Bring a file to the newest schema, after a copy of it was made.

    Then it has the columns of installed packs, too. The lock is held from before the copy until
    after the last migration. ``scripts`` is the folder of the migrations, by default the one that
    comes with the program.

    Raises:
        DatabaseError: as ``backup``; newer than this program; or a migration failed, and then the
            file is as it was.
    """
    path = Path(path)
    head = schema.revisions(scripts)[-1]
    with opened(path, wait=wait, read_only=False, reaches_others=True) as connection:
        schema.require_tables_only(connection, path)
        before = schema.revision_of(connection, path)
        is_newest = before >= head
        if is_newest:
            schema.require_head(connection, path, head=head)
            if not lacks_pack_columns(connection):
                return Upgraded(before=before, after=before, backup=None)
        copy = _copy(connection, path, None)
        if not is_newest:
            schema.migrate(connection, path, scripts)
        with transaction(connection):
            columns = add_pack_columns(connection)
    return Upgraded(before=before, after=head, backup=copy, columns=columns)


def _copy(connection: duckdb.DuckDBPyConnection, path: Path, to: Path | None) -> Path:
    """Copy through the database: a copy of the file's bytes would drop this process's lock."""
    revision = schema.revision_of(connection, path)
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    to = to or path.with_name(f"{path.stem}.{revision}.{now}.backup{path.suffix}")
    place = Location(name=str(to))
    if to.exists():
        raise DatabaseError("exists already", at=place, hint="name another file with --output")
    try:
        with tempfile.TemporaryDirectory(dir=to.parent, prefix=f".{to.name}.") as folder:
            made = Path(folder) / "copy.duckdb"
            copy_into(connection, path, made)
            put(made, to)
    except OSError as error:
        hint = "see that its folder can be written and that the disk has room"
        raise DatabaseError(f"cannot be made: {error.strerror}", at=place, hint=hint) from error
    return to


def copy_into(connection: duckdb.DuckDBPyConnection, path: Path, made: Path) -> None:
    """Copy the open database of ``path`` to a file that does not exist yet.

    Raises:
        DatabaseError: the database has no name.
    """
    source = connection.execute("SELECT current_database()").fetchone()
    if source is None:
        raise DatabaseError("has no name", at=Location(name=str(path)))
    options = f"(READ_WRITE, BLOCK_SIZE {BLOCK_SIZE})"
    copy = quoted(f"copy of {source[0]}")
    connection.execute(f"ATTACH {_literal(str(made))} AS {copy} {options}")
    try:
        connection.execute(f"COPY FROM DATABASE {quoted(source[0])} TO {copy}")
        connection.execute(f"CHECKPOINT {copy}")
    finally:
        connection.execute(f"DETACH {copy}")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
