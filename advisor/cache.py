"""What was worked out from files, kept between commands.

To load and compile all rules takes half a second, and gives the same every time. The result is
kept in the user's cache folder under a key of everything it rests on. A cache that cannot be
written, read or trusted is ignored.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from advisor.scratch import scratch_folder
from advisor.version import __version__

T = TypeVar("T")

_CODE = Path(__file__).parent
_FOLDER = "advisor"
_KEPT = 4  # results; those go that were not used for longest
_IN_MEMORY = 16  # results, of all names
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_DIGEST = 32  # bytes of SHA-256 in front of what is kept
_OF_OTHERS = (AttributeError, ImportError, TypeError)  # a library has another version now


def remembered(name: str, made_of: Iterable[str | Path], asked: str, make: Callable[[], T]) -> T:
    """Return what ``make`` returns, from the cache where nothing it rests on has changed.

    ``made_of`` are the files that it reads beside the code, ``asked`` is everything else that it
    depends on.
    """
    with kept(name, made_of, asked) as values:
        if not values:
            with collector_off():
                values[name] = make()
        value: T = values[name]
        return value


@contextlib.contextmanager
def kept(name: str, made_of: Iterable[str | Path], asked: str) -> Iterator[dict[str, Any]]:
    """Yield what was kept of the same origin, at first nothing; what is added is kept with it."""
    folder = cache_folder()
    if folder is None:
        yield {}
        return
    path = folder / f"{name}-{_key(made_of, asked)}.pickle"
    values = _read(path)
    before = set(values)
    yield values
    if values.keys() != before:
        with contextlib.suppress(OSError):
            _write(path, values)
            _forget(folder, name)


def code_files() -> Iterator[str]:
    """Yield every file of the package's code, on which all that is kept rests."""
    yield from files_below(_CODE, ".py")


def files_below(folder: Path, ending: str) -> Iterator[str]:
    """Yield every file below a folder whose name ends so: hundreds, so not as ``Path``."""
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(ending):
                yield f"{place}{os.sep}{name}"


def cache_folder() -> Path | None:
    """Return the folder for what is kept; None where ``ADVISOR_CACHE=off`` says so."""
    if os.environ.get("ADVISOR_CACHE") == "off":
        return None
    base = os.environ.get("XDG_CACHE_HOME")
    if not base and sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    try:
        return (Path(base) if base else Path("~/.cache").expanduser()) / _FOLDER
    except RuntimeError:  # this user has no home
        return None


def _key(made_of: Iterable[str | Path], asked: str) -> str:
    import hashlib  # as where it is read and written: not where nothing is remembered

    parts = [__version__, sys.version, asked, _code(), *_states(made_of)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


@lru_cache(maxsize=1)
def _code() -> str:
    """Return the state of the code, hundreds of files: a process runs what it began with."""
    return "\0".join(_states(code_files()))


def _states(paths: Iterable[str | Path]) -> Iterator[str]:
    for path in sorted(map(str, paths)):
        try:
            found = os.stat(path)
        except OSError:  # a link that leads nowhere
            continue
        yield f"{path}\0{found.st_size}\0{found.st_mtime_ns}"


def _read(path: Path) -> dict[str, Any]:
    """Return what is kept; nothing where anybody else can have written or linked it."""
    try:
        with open(path, "rb", opener=_open_mine) as file:
            digest, data = file.read(_DIGEST), file.read()
    except OSError:
        return {}
    import hashlib

    if hashlib.sha256(data).digest() != digest:
        return {}
    try:
        values = _loaded(data)
    except _OF_OTHERS:
        return {}
    with contextlib.suppress(OSError):
        os.utime(path)  # used now
    return dict(values)


@lru_cache(maxsize=_IN_MEMORY)
def _loaded(data: bytes) -> Mapping[str, Any]:
    """Return what was pickled: once in a process that carries out many commands."""
    import pickle

    with collector_off():
        values: dict[str, Any] = pickle.loads(data)
    return values


def _open_mine(path: str, flags: int) -> int:
    """Open a file of this user's in a folder of this user's, neither through a link.

    Loading a pickle runs what it says, so a file that somebody else could have put there is none.

    Raises:
        OSError: another user owns or may write the file or its folder; one of them is a link.
    """
    if not hasattr(os, "getuid"):
        return os.open(path, flags)
    folder = _open_folder(Path(path).parent)
    try:
        file = os.open(Path(path).name, flags | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)
    return _mine(file)


def _open_folder(path: Path) -> int:
    return _mine(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))


def _mine(descriptor: int) -> int:
    """Return what is open; close it and fail where others may have written it."""
    found = os.fstat(descriptor)
    if found.st_uid != os.getuid() or found.st_mode & _OTHERS_MAY_WRITE:
        os.close(descriptor)
        raise PermissionError(errno.EPERM, "another user may have written it")
    return descriptor


@contextlib.contextmanager
def collector_off() -> Iterator[None]:
    """Look for no garbage: there is none among thousands of new objects, and all are searched."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _write(path: Path, values: Mapping[str, object]) -> None:
    import hashlib
    import pickle

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if hasattr(os, "getuid"):
        os.close(_open_folder(path.parent))
    with scratch_folder(path.parent) as folder:
        made = folder / path.name
        made.touch(mode=0o600)
        data = pickle.dumps(values, protocol=pickle.HIGHEST_PROTOCOL)
        made.write_bytes(hashlib.sha256(data).digest() + data)
        made.replace(path)


def _forget(folder: Path, name: str) -> None:
    kept = sorted(folder.glob(f"{name}-*.pickle"), key=lambda path: path.stat().st_mtime)
    for path in kept[:-_KEPT]:
        path.unlink(missing_ok=True)
