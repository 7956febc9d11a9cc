"""Copy a database, put a copy in its place, and bring an older one to the newest schema."""

from __future__ import annotations

import contextlib
from pathlib import Path

import duckdb

from advisor.database import schema
from advisor.database.columns import add_pack_columns, lacks_pack_columns
from advisor.database.connect import DEFAULT_WAIT, opened
from advisor.database.copying import Progress, copied, restored, stamp
from advisor.database.write import transaction
from advisor.records import dataclass


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


def backup(
    path: str | Path,
    to: str | Path | None = None,
    wait: float = DEFAULT_WAIT,
    progress: Progress = lambda _: None,
) -> Path:
    """Copy a database of any schema as one consistent whole; return where the copy is.

    By default it goes beside the file, named after the schema and the time (UTC).

    Raises:
        DatabaseError: as ``current``; or the copy's place is taken or cannot be written.
    """
    path = Path(path)
    with contextlib.ExitStack() as kept, opened(path, wait=wait, read_only=True) as connection:
        place = Path(to) if to is not None else _beside(connection, path)
        return copied(path, place, kept, progress)


def restore(
    path: str | Path,
    copy: str | Path,
    wait: float = DEFAULT_WAIT,
    progress: Progress = lambda _: None,
) -> Path | None:
    """Put a copy that ``backup`` made into the place of a database; the copy stays.

    Return where the database of before is now, None where there was none.

    Raises:
        DatabaseError: the copy is none, the database is locked for too long, or the disk does not
            take it; the database is as it was.
    """
    return restored(Path(path), Path(copy), wait, progress)


def upgrade(
    path: str | Path,
    wait: float = DEFAULT_WAIT,
    *,
    scripts: Path | None = None,
    progress: Progress = lambda _: None,
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
    with contextlib.ExitStack() as kept, opened(path, wait=wait, read_only=False) as connection:
        schema.require_tables_only(connection, path)
        before = schema.revision_of(connection, path)
        is_newest = before >= head
        if is_newest:
            schema.require_head(connection, path, head=head)
            if scripts is None:
                schema.require_whole(connection, path)
            if not lacks_pack_columns(connection):
                return Upgraded(before=before, after=before, backup=None)
        copy = copied(path, _beside(connection, path), kept, progress)
        progress("migrating")
        if not is_newest:
            schema.migrate(connection, path, scripts)
        with transaction(connection):
            columns = add_pack_columns(connection)
    return Upgraded(before=before, after=head, backup=copy, columns=columns)


def _beside(connection: duckdb.DuckDBPyConnection, path: Path) -> Path:
    """Return where a copy goes that nobody gave a place."""
    revision = schema.revision_of(connection, path)
    return path.with_name(f"{path.stem}.{revision}.{stamp()}.backup{path.suffix}")
