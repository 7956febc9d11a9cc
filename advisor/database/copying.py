"""Copies of a database file: byte by byte, in little memory, and compared with what was read.

What was read may be damaged: every row of a copy is read before it gets its place.

The bytes are read while this process holds the database's lock, so nobody changes them. The system
takes that lock away as soon as the process closes *any* descriptor of the file: a source stays open
until its connection is closed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from advisor.database import schema
from advisor.database.connect import LOGS, opened, put, scratch_beside
from advisor.database.lake.place import refuse_lake
from advisor.database.undamaged import require_undamaged
from advisor.errors import DatabaseError, Location, LockedError
from advisor.wording import percent, size

Progress = Callable[[str], None]

_CHUNK = 4 * 1024 * 1024


def copied(path: Path, to: Path, kept: contextlib.ExitStack, progress: Progress) -> Path:
    """Copy the file ``path``, whose lock this process holds, to a place where nothing is.

    ``kept`` is to end once the connection is closed.

    Raises:
        DatabaseError: the place is taken, the database is damaged, the disk does not take the copy,
            or gives back other bytes; nothing is left of it.
    """
    if to.exists():
        hint = "name another file with --output"
        raise DatabaseError("exists already", at=Location(name=str(to)), hint=hint)
    with _failures_reported(to), scratch_beside(path.resolve(), to.resolve().parent) as folder:
        put(_verified(path, folder, kept, progress), to.resolve())
    return to


def restored(path: Path, copy: Path, wait: float, progress: Progress) -> Path | None:
    """Put a copy into the place of a database; return where that one is now, if there was one.

    Raises:
        DatabaseError: the copy is damaged or no database of this program, the database is a lake or
            locked for longer than ``wait`` seconds, or the disk does not take it; the database is
            as it was.
    """
    refuse_lake(path)
    place = path.resolve()
    with contextlib.ExitStack() as kept, opened(copy, wait=wait, read_only=True) as connection:
        schema.revision_of(connection, copy)
        schema.require_tables_only(connection, copy)
        with _failures_reported(path), scratch_beside(place) as folder:
            made = _verified(copy, folder, kept, progress)
            if not place.exists():
                put(made, place)
                return None
            with _unwritten(path, wait):
                before = place.with_name(f"{place.stem}.{stamp()}.replaced{place.suffix}")
                os.link(place, before)
                for suffix in LOGS:
                    with contextlib.suppress(FileNotFoundError):
                        Path(f"{place}{suffix}").rename(f"{before}{suffix}")
                made.replace(place)
    return before


def stamp() -> str:
    """Return the time as names of copies have it (UTC)."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")


@contextlib.contextmanager
def _unwritten(path: Path, wait: float) -> Iterator[None]:
    """Let nobody write a database, unless it is damaged, which is why it is replaced."""
    with contextlib.ExitStack() as stack:
        try:
            with opened(path, wait=wait, read_only=False):
                pass  # what a log holds of it moves into the file
            stack.enter_context(opened(path, wait=wait, read_only=True))
        except LockedError:
            raise
        except DatabaseError:
            pass
        yield


def _verified(path: Path, folder: Path, kept: contextlib.ExitStack, progress: Progress) -> Path:
    """Copy a file and its logs into ``folder``; return the copy, which is one file."""
    made = folder / "copy.duckdb"
    logs = [suffix for suffix in LOGS if Path(f"{path.resolve()}{suffix}").exists()]
    for suffix in ("", *logs):
        source, target = Path(f"{path.resolve()}{suffix}"), Path(f"{made}{suffix}")
        written = _written(source, target, kept, progress)
        if _digest(target, progress) != written:
            problem = "the disk gave back other bytes than were written"
            raise DatabaseError(problem, at=Location(name=str(path)), hint="try another disk")
    progress("comparing checksums")
    with opened(made, wait=0, read_only=not logs) as connection:
        schema.revision_of(connection, made)
        require_undamaged(connection, path)
        if logs:
            connection.execute("CHECKPOINT")
    return made


def _written(source: Path, target: Path, kept: contextlib.ExitStack, progress: Progress) -> bytes:
    """Write a file to another and to its disk; return the digest of what was read."""
    file = kept.enter_context(source.open("rb", buffering=0))
    total, done, digest = os.fstat(file.fileno()).st_size, 0, hashlib.sha256()
    with target.open("xb", buffering=0) as to:
        while chunk := file.read(_CHUNK):
            to.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            progress(f"{percent(done / total)} of {size(total)}")
        os.fsync(to.fileno())
        os.fchmod(to.fileno(), os.fstat(file.fileno()).st_mode & 0o777)
        if hasattr(os, "posix_fadvise"):  # so that it is read from the disk
            os.posix_fadvise(to.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return digest.digest()


def _digest(path: Path, progress: Progress) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            progress(f"comparing {size(file.tell())}")
    return digest.digest()


@contextlib.contextmanager
def _failures_reported(place: Path) -> Iterator[None]:
    """Report that a copy cannot be written.

    Raises:
        DatabaseError: it cannot.
    """
    try:
        yield
    except OSError as error:
        hint = "see that its folder can be written and that the disk has room"
        problem = f"cannot be made: {error.strerror}"
        raise DatabaseError(problem, at=Location(name=str(place)), hint=hint) from error
