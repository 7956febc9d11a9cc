"""Readers of profiles, one module per format; formats are told by content, never by file name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import EntryPoint
from pathlib import Path

from advisor.errors import ConfigError, InputError, Location, UsageError
from advisor.profilers import load_profilers
from advisor.readers.base import Reader, ReadOptions, Source
from advisor.readers.ncu import report as ncu_report
from advisor.resources import named_by_packages, rule_dirs

__all__ = [
    "NoProfileError",
    "ReadOptions",
    "Reader",
    "Source",
    "detect",
    "looks_like_profile",
    "reader_of",
    "readers",
]

ARCHIVES = (".gz", ".zip")
_TAR = slice(257, 262)  # bytes that say "ustar", also in archives of GNU tar
_LOOKED_AT = 1024 * 1024  # bytes: a program may print a lot before the profiler's table begins


class NoProfileError(InputError):
    """Nothing in a file is a profile, nor is it called like one."""


def readers() -> Iterator[Reader]:
    """Yield the reader of every format; the first is enough for most profiles.

    Those of installed packages come last: entry points of the group ``advisor.readers``.

    Raises:
        ConfigError: an installed package names a reader that is none.
    """
    yield ncu_report
    from advisor.readers.ncu import csv as ncu_csv
    from advisor.readers.ncu import text as ncu_text

    yield ncu_csv
    yield ncu_text
    for entry in named_by_packages("advisor.readers"):
        yield _installed(entry)


def _installed(entry: EntryPoint) -> Reader:
    at = Location(name=f"entry point {entry.name} of {entry.dist.name if entry.dist else '?'}")
    try:
        found: Reader = entry.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{entry.value} cannot be imported: {error}", at=at) from error
    for name in ("FORMAT", "COUNTERS", "accepts", "read"):
        if not hasattr(found, name):
            raise ConfigError(f"{entry.value} is no reader: it has no {name}", at=at)
    return found


def detect(source: Source, as_format: str | None = None) -> Reader:
    """Return the reader for ``source``: the one named ``as_format``, else by content.

    Raises:
        InputError: no reader knows these bytes. ``NoProfileError`` where
            nothing else looks like a profile either.
        UsageError: there is no format called ``as_format``.
    """
    if as_format is not None:
        return reader_of(as_format)
    head = source.head(_LOOKED_AT)
    found = _accepting(head)
    if found is not None and head[_TAR] != b"ustar":
        return found
    is_meant = found is not None or _is_called_report(source.name)
    error = InputError if is_meant else NoProfileError
    raise error(_problem(head), at=Location(name=source.name), hint=_hint(source.name, head))


def _accepting(head: bytes) -> Reader | None:
    return next((reader for reader in readers() if reader.accepts(head)), None)


def _is_called_report(name: str) -> bool:
    return name.removesuffix(".gz").endswith(_suffixes())


def _suffixes() -> tuple[str, ...]:
    """Return what profiles of described profilers are called; content decides, this is a hint."""
    return _suffixes_of(rule_dirs())


@lru_cache(maxsize=2)
def _suffixes_of(directories: tuple[Path, ...]) -> tuple[str, ...]:
    return tuple(s for each in load_profilers(directories).values() for s in each.suffixes)


def reader_of(name: str) -> Reader:
    """Return the reader of the format ``name``.

    Raises:
        UsageError: there is no such format.
    """
    for reader in readers():
        if name == reader.FORMAT:
            return reader
    raise UsageError(f"no format is called {name!r}", hint=f"known formats: {_formats()}")


def _formats() -> str:
    return ", ".join(reader.FORMAT for reader in readers())


def _problem(head: bytes) -> str:
    if not head:
        return "the file is empty"
    if head[_TAR] == b"ustar":
        return "a tar archive, which is not opened"
    return "not a profile of a known format"


def _hint(name: str, head: bytes) -> str:
    if head.startswith(b"version https://git-lfs"):
        return "this is a Git LFS pointer, not the profile itself; run: git lfs pull"
    if head[_TAR] == b"ustar":
        return "unpack it and ingest the files in it, or pack them as .zip"
    if _is_called_report(name):
        return (
            "it lost its start or is something else (a report of Nsight Compute begins with "
            "4e 56 52 00, NVR): copy or export it again"
        )
    return f"known formats: {_formats()}; --as FORMAT overrides what the content says"


def looks_like_profile(source: Source) -> bool:
    """Return whether a file below a directory is meant to be ingested: by content, or by name."""
    head = source.head(_LOOKED_AT)
    is_called_so = source.name.endswith((*_suffixes(), *ARCHIVES))
    return is_called_so or _accepting(head) is not None
