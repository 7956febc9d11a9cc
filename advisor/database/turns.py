"""Take turns at a database file: of all processes that wait for it, only the first one tries.

DuckDB's lock knows no order, and to try it takes milliseconds of processor time: where many wait,
trying alone keeps the machine busy, and one that has no luck waits for ever. So they queue for one
byte of a file that each user has in the temporary folder; the system keeps their order and forgets
whoever dies. This is a courtesy, the lock stays DuckDB's. Where nobody can queue (another user or
machine, a system without such locks), all of them try.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl


@contextlib.contextmanager
def turn(path: Path, wait: float) -> Iterator[None]:
    """Run the block once all who came before are through; after ``wait`` seconds in any case."""
    with contextlib.ExitStack() as stack:
        file = _opened()
        if file is not None:
            first, done = threading.Event(), threading.Event()
            # A thread, because waiting for a lock of the system cannot be given an end.
            threading.Thread(target=_queue, args=(file, path, first, done), daemon=True).start()
            stack.callback(done.set)
            first.wait(min(wait, threading.TIMEOUT_MAX))
        yield


def _opened() -> BinaryIO | None:
    """Return the file whose bytes stand for databases; None where there can be none."""
    if sys.platform == "win32":
        return None
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        path = Path(tempfile.gettempdir()) / f"advisor-{os.getuid()}.turns"
        file = os.fdopen(os.open(path, flags, mode=0o600), "r+b", buffering=0)
    except OSError:
        return None
    if os.fstat(file.fileno()).st_uid != os.getuid():
        file.close()
        return None
    return file


def _queue(file: BinaryIO, path: Path, first: threading.Event, done: threading.Event) -> None:
    """Wait for the byte of ``path``, tell so, and keep it until ``done``; closing gives it back."""
    if sys.platform != "win32":
        place = zlib.crc32(os.fsencode(path.resolve()))
        with file, contextlib.suppress(OSError):
            fcntl.lockf(file, fcntl.LOCK_EX, 1, place)
            first.set()
            done.wait()
    first.set()
