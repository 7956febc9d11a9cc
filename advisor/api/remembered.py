"""What was worked out from files, kept between commands.

To load and compile all rules takes half a second, and gives the same every time. The result is
kept in the user's cache folder under a key of everything it rests on. A cache that cannot be
written, read or trusted is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from advisor import __version__

T = TypeVar("T")

_FOLDER = "advisor"
_KEPT = 4  # results; the oldest go
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_DAMAGED = (
    OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, KeyError,
    TypeError, ValueError,
)  # fmt: skip


def remembered(name: str, made_of: Iterable[Path], asked: str, make: Callable[[], T]) -> T:
    """Return what ``make`` returns, from the cache where nothing it rests on has changed.

    ``made_of`` are the files that it reads, ``asked`` is everything else that it depends on.
    """
    folder = cache_folder()
    if folder is None:
        return make()
    path = folder / f"{name}-{_key(made_of, asked)}.pickle"
    kept: tuple[T] | None = _read(path)
    if kept is not None:
        return kept[0]
    value = make()
    with contextlib.suppress(OSError):
        _write(path, (value,))
        _forget(folder, name)
    return value


def cache_folder() -> Path | None:
    """Return the folder for what is kept; None where ``ADVISOR_CACHE=off`` says so."""
    if os.environ.get("ADVISOR_CACHE") == "off":
        return None
    base = os.environ.get("XDG_CACHE_HOME")
    if base is None:
        home = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None
        base = home or str(Path("~/.cache").expanduser())
    return Path(base) / _FOLDER


def _key(made_of: Iterable[Path], asked: str) -> str:
    digest = hashlib.sha256(f"{__version__}\0{sys.version}\0{asked}\0".encode())
    for path in sorted(made_of):
        found = path.stat()
        digest.update(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:24]


def _read(path: Path) -> tuple[T] | None:
    """Return what is kept; None where there is nothing that this user alone can have written."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
            if not mine or found.st_mode & _OTHERS_MAY_WRITE:
                return None
            kept: tuple[T] = pickle.load(file)
    except _DAMAGED:
        return None
    return kept


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        pickle.dump(value, file, protocol=pickle.HIGHEST_PROTOCOL)
    Path(file.name).replace(path)


def _forget(folder: Path, name: str) -> None:
    kept = sorted(folder.glob(f"{name}-*.pickle"), key=lambda path: path.stat().st_mtime)
    for path in kept[:-_KEPT]:
        path.unlink(missing_ok=True)
