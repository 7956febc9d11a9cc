"""Take turns at a database file, and at the processor.

Writers queue for a file, and see whether somebody waits to read.

DuckDB's lock knows no order, and to try it takes milliseconds of processor time: where many wait,
trying alone keeps the machine busy, and one that has no luck waits for ever. So writers queue for
one byte of a file that each user has in the temporary folder, and readers that wait share another;
the system forgets whoever dies. This is a courtesy, the lock stays DuckDB's. Where nobody can queue
(another user or machine, a system without such locks), everybody is the first.

In a crowd, whoever holds a file would get a small share of the processor, and all wait for it. So
no more processes prepare what they will write than there are cores, where each can have one soon.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

_READERS = 2**32  # how far behind the byte of a file's queue that of its readers is
_CORES = 2**33  # the first of the bytes that stand for cores
_FEWEST = 2  # processes that may prepare at once: one of them may be stopped
_PATIENCE = 30.0  # seconds that one waits for a core: all who have one may be stopped
_PAUSE = (0.05, 0.15)  # seconds between two looks for one


class Turn:
    """A place among those who want a file; ``given_way`` is in seconds."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO | None = None
        self._place = zlib.crc32(os.fsencode(path.resolve()))
        self._first, self._done = threading.Event(), threading.Event()
        self.given_way = 0.0

    @property
    def is_first(self) -> bool:
        """Whether all who queued before are through."""
        return self._first.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait to be the first for so long; return whether it is."""
        return self._first.wait(min(seconds, threading.TIMEOUT_MAX))

    def queue(self) -> None:
        """Go behind those who queue."""
        file = self._opened(make=True)
        if file is None:
            self._first.set()
            return
        # A thread, because waiting for a lock of the system cannot be given an end.
        copy = os.fdopen(os.dup(file.fileno()), "r+b", buffering=0)
        threading.Thread(target=self._queue, args=(copy,), daemon=True).start()

    def announce(self) -> None:
        """Show writers that somebody waits to read, until the turn ends."""
        if self._opened(make=True) is not None:
            self._locks("LOCK_SH", self._place + _READERS)

    def has_readers(self) -> bool:
        """Return whether somebody waits to read."""
        if self._opened(make=False) is None:
            return False
        free = self._locks("LOCK_EX", self._place + _READERS)
        if free:
            self._locks("LOCK_UN", self._place + _READERS)
        return not free

    def has_core(self) -> bool:
        """Take a core that no other process has taken; return False where there is none."""
        if self._opened(make=True) is None:
            return True
        most = max(_FEWEST, cores())
        return any(self._locks("LOCK_EX", _CORES + number) for number in range(most))

    def close(self) -> None:
        """Give the place back."""
        self._done.set()
        if self._file is not None:
            self._file.close()

    def _opened(self, *, make: bool) -> BinaryIO | None:
        if self._file is None:
            self._file = _opened(make=make)
        return self._file

    def _locks(self, how: str, place: int) -> bool:
        """Lock a byte unless others have; return False where they have."""
        if sys.platform != "win32" and self._file is not None:
            at_once = 0 if how == "LOCK_UN" else fcntl.LOCK_NB
            try:
                fcntl.lockf(self._file, getattr(fcntl, how) | at_once, 1, place)
            except OSError:
                return False
        return True

    def _queue(self, file: BinaryIO) -> None:
        """Wait for the byte, tell so, and keep it until it is done; closing gives it back."""
        if sys.platform != "win32":
            with file, contextlib.suppress(OSError):
                fcntl.lockf(file, fcntl.LOCK_EX, 1, self._place)
                self._first.set()
                self._done.wait()
        self._first.set()


@contextlib.contextmanager
def taking_turns(path: Path) -> Iterator[Turn]:
    """Give a place among those who want the file ``path``, until the block ends."""
    with contextlib.closing(Turn(path)) as turn:
        yield turn


@contextlib.contextmanager
def taking_a_core(patience: float = _PATIENCE) -> Iterator[None]:
    """Begin the block when one of the cores is free of such blocks, or after ``patience`` [s]."""
    import secrets

    chance = secrets.SystemRandom()
    until = time.monotonic() + patience
    with taking_turns(Path(os.sep)) as turn:  # the working directory may be gone
        while not turn.has_core() and time.monotonic() < until:
            time.sleep(chance.uniform(*_PAUSE))
        yield


def cores() -> int:
    """Return how many processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _opened(*, make: bool) -> BinaryIO | None:
    """Return the file whose bytes stand for databases; None where there is none, or can be none."""
    if sys.platform == "win32":
        return None
    import tempfile  # as little as chance is it needed where nobody waits

    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_CREAT if make else 0)
    try:
        path = Path(tempfile.gettempdir()) / f"advisor-{os.getuid()}.turns"
        file = os.fdopen(os.open(path, flags, mode=0o600), "r+b", buffering=0)
    except OSError:
        return None
    if os.fstat(file.fileno()).st_uid != os.getuid():
        file.close()
        return None
    return file
