"""Readers of profiles, one module per format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from advisor.errors import ConfigError, Location, UsageError
from advisor.hidden import DATA_FRAMES, unhide
from advisor.readers.base import Reader, ReadOptions, Source
from advisor.readers.ncu import report as ncu_report
from advisor.resources import named_by_packages

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "ReadOptions",
    "Reader",
    "Source",
    "reader_of",
    "readers",
]


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
    unhide(DATA_FRAMES)
    try:
        found: Reader = entry.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{entry.value} cannot be imported: {error}", at=at) from error
    for name in ("FORMAT", "COUNTERS", "accepts", "read"):
        if not hasattr(found, name):
            raise ConfigError(f"{entry.value} is no reader: it has no {name}", at=at)
    return found


def reader_of(name: str) -> Reader:
    """Return the reader of the format ``name``.

    Raises:
        UsageError: there is no such format.
    """
    for reader in readers():
        if name == reader.FORMAT:
            return reader
    raise UsageError(f"no format is called {name!r}", hint=f"known formats: {formats()}")


def formats() -> str:
    """Return the names of all formats, as a sentence lists them."""
    return ", ".join(reader.FORMAT for reader in readers())
