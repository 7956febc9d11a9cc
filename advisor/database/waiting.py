"""Wait for the lock of a database file, which one process has to write, or many to read.

Who reads waits for one commit: writers let waiting readers go first. Who writes queues, and waits
neither for a process of the queue that does not move, nor for ever for one that holds the file and
is stopped. Decision 0030 says why.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb

from advisor.database.turns import Turn, taking_turns
from advisor.errors import DatabaseError, Location, LockedError

Connect = Callable[[], duckdb.DuckDBPyConnection]

RESTORE = "put a backup in its place: advisor db restore COPY"
"""What to do about a damaged database."""

_SQLITE = b"SQLite format 3\0"  # how such a file begins
_LOCKED = "Could not set lock on file"
_CORRUPT = "Corrupt database file"
_HELD_HERE = "Unique file handle conflict"  # by another connection of this process
_HOLDER = re.compile(r"held in (?P<program>.+?)(?: by user \S+)? \(PID (?P<pid>\d+)\)")

_LONGEST = 120  # characters of a command line that are shown
_FIRST = (0.01, 0.05)  # seconds between two tries of the first in the queue, and of who reads
_LATER = (0.3, 0.6)  # and of those behind it, lest it be stopped
_GIVES_WAY = 1.0  # seconds that a writer waits for readers to go first, in all: one may be stopped
_STOPPED = 5.0  # seconds for which a process that holds the file may be stopped


def connected(
    path: Path, wait: float, connect: Connect, *, reads: bool = False
) -> duckdb.DuckDBPyConnection:
    """Return what ``connect`` gives, once no other process has the file for itself.

    Who ``reads`` goes before those who do not. ``wait`` is in seconds.

    Raises:
        LockedError: another process has it for longer, or is stopped while it has it.
        DatabaseError: it cannot be opened.
    """
    busy = (_LOCKED,) if reads else (_LOCKED, _HELD_HERE)
    began = time.monotonic()
    holder = _Holder(path)
    with taking_turns(path) as turn:
        if not reads:
            _give_way(turn, began + wait)
        tried = _tried(path, connect, busy)
        if isinstance(tried, duckdb.Error):
            join = turn.announce if reads else turn.queue
            join()
        while isinstance(tried, duckdb.Error):
            waited = time.monotonic() - began
            if waited >= wait or holder.is_stuck(tried):
                raise holder.error(tried, min(waited, wait)) from tried
            _pause(turn, began + wait, reads=reads)
            tried = _tried(path, connect, busy)
    return tried


def first_line(error: duckdb.Error) -> str:
    """Return what an error of the driver says first."""
    return str(error).strip().splitlines()[0]


def is_damage(error: duckdb.Error) -> bool:
    """Return whether an error of the driver says that the file is damaged."""
    return _CORRUPT in str(error)


def _pause(turn: Turn, deadline: float, *, reads: bool) -> None:
    """Wait until it is worth while to try again, at most until ``deadline``."""
    import secrets  # here and where a core is waited for: few commands wait

    chance = secrets.SystemRandom()
    if not reads and not turn.is_first:
        turn.wait(_within(chance.uniform(*_LATER), deadline))
    else:
        time.sleep(_within(chance.uniform(*_FIRST), deadline))
    if not reads:
        _give_way(turn, deadline)


def _give_way(turn: Turn, deadline: float) -> None:
    while turn.given_way < _GIVES_WAY and time.monotonic() < deadline and turn.has_readers():
        time.sleep(_FIRST[0])
        turn.given_way += _FIRST[0]


def _within(seconds: float, deadline: float) -> float:
    return max(0.0, min(seconds, deadline - time.monotonic()))


def _tried(
    path: Path, connect: Connect, busy: Sequence[str]
) -> duckdb.DuckDBPyConnection | duckdb.Error:
    """Return a connection, or the error that says that another has the lock, by its ``busy``."""
    try:
        return connect()
    except duckdb.Error as error:
        if not any(sign in str(error) for sign in busy):
            raise _unusable(path, error) from error
        return error


class _Holder:
    """The process that holds a file, as the driver's errors name it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stopped: tuple[int, float] | None = None

    def is_stuck(self, error: duckdb.Error) -> bool:
        """Return whether the same process holds the file and was stopped for too long."""
        pid = self._pid(error)
        if pid is None or not _is_stopped(pid):
            self._stopped = None
        elif self._stopped is None or self._stopped[0] != pid:
            self._stopped = (pid, time.monotonic() + _STOPPED)
        return self._stopped is not None and time.monotonic() >= self._stopped[1]

    def error(self, error: duckdb.Error, waited: float) -> LockedError:
        """Return that one waited for it in vain, for so many seconds."""
        pid, found = self._pid(error), _HOLDER.search(str(error))
        holder, hint = "another process", "let it finish, or wait longer with --wait SECONDS"
        if pid is not None and found is not None:
            holder = f"process {pid} ({_command_line(pid) or found['program']})"
            if _is_stopped(pid):
                holder += ", which is stopped"
                hint = f"`kill -CONT {pid}` lets it go on, `kill {pid}` and then that ends it"
        problem = f"locked by {holder}; waited {waited:.3g} s"
        return LockedError(problem, at=Location(name=str(self._path)), hint=hint)

    def _pid(self, error: duckdb.Error) -> int | None:
        found = _HOLDER.search(str(error))
        return None if found is None else int(found["pid"])


def _is_stopped(pid: int) -> bool:
    """Return whether a process is stopped, where the system tells (Linux)."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] in b"Tt"
    return False


def _command_line(pid: int) -> str | None:
    """Return what process ``pid`` was started as, in a line, where the system tells (Linux)."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return None
    line = " ".join(words.decode(errors="replace").split())
    if len(line) > _LONGEST:
        half = _LONGEST // 2
        line = f"{line[: half - 1]}…{line[-half:]}"
    return line or None


def _unusable(path: Path, error: duckdb.Error) -> DatabaseError:
    if _is_sqlite(path):
        problem = "is a file of SQLite, and no database that advisor made"
        return DatabaseError(
            problem, at=Location(name=str(path)), hint="choose another file with --db"
        )
    text = first_line(error)
    hint = f"choose another file with --db, or {RESTORE}"
    if "different configuration" in text or "already attached" in text:
        hint = "this process has the file open already, in another way"
    elif "Permission denied" in text or "read-only" in text.lower():
        hint = "the file or its folder cannot be written; --db names another"
    return DatabaseError(f"cannot be opened: {text}", at=Location(name=str(path)), hint=hint)


def _is_sqlite(path: Path) -> bool:
    """Return whether a file is of SQLite: the driver says that it lacks an extension for it."""
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False
