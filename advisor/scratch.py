"""Folders for what is written and then moved: gone when the block ends, or soon after a kill.

Who is killed cannot tidy up. So a folder is locked while it is in use, the system gives back the
lock of whoever dies, and who makes a folder removes those beside it that nobody holds any more.
Where folders cannot be locked (Windows, some network file systems), those of the killed stay.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_MARK = ".advisor-scratch-"
_NAME = re.compile(r"-scratch-[a-z0-9_]{8}$")  # as tempfile writes it


@contextlib.contextmanager
def scratch_folder(parent: Path | str | None = None, of: str = "") -> Iterator[Path]:
    """Give a new folder in ``parent``, or where temporary files are; ``of`` begins its name.

    Raises:
        OSError: it cannot be made.
    """
    import tempfile  # seldom needed

    place = Path(tempfile.gettempdir() if parent is None else parent)
    sweep(place, of)
    with contextlib.ExitStack() as stack:
        while True:
            made = tempfile.TemporaryDirectory(
                dir=place, prefix=f"{of}{_MARK}", ignore_cleanup_errors=True
            )
            folder = Path(stack.enter_context(made))
            descriptor = _locked(folder, wait=True)
            if descriptor is not None:
                stack.callback(os.close, descriptor)
            if folder.exists():  # else somebody took it for one of the dead, before it was locked
                break
        yield folder


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a place to write what becomes ``path`` when the block ends: whole, or not at all.

    A link stays one and its target is replaced; a device or a pipe is written to as it is.

    Raises:
        OSError: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def sweep(parent: Path, of: str = "") -> None:
    """Remove the folders that ``scratch_folder`` made there for processes that were killed."""
    import shutil

    with contextlib.suppress(OSError):
        for folder in list(parent.iterdir()):
            if folder.name.startswith(f"{of}{_MARK}") and _NAME.search(folder.name):
                descriptor = _locked(folder, wait=False)
                if descriptor is not None:
                    shutil.rmtree(folder, ignore_errors=True)
                    os.close(descriptor)


def _locked(folder: Path, *, wait: bool) -> int | None:
    """Return a descriptor that locks a folder of this user's; None where that cannot be."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(descriptor).st_uid == os.getuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return descriptor
    except OSError:  # held, or no lock there
        pass
    os.close(descriptor)
    return None
