"""Compressed profiles and pipes → plain sources, with a bound on what they may unpack to."""

from __future__ import annotations

import gzip
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from advisor.errors import AdvisorError, InputError, Location
from advisor.readers.base import Source
from advisor.wording import size

LARGEST = 4 * 1024**3  # bytes that one archive or pipe may hold; more is taken for a bomb
MOST_MEMBERS = 10_000

_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_CHUNK = 1024 * 1024


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes."""


@contextmanager
def plain_sources(path: str, *, largest: int = LARGEST) -> Iterator[Iterator[Source]]:
    """Give the profiles in a file: itself, the content of a .gz, every member of a .zip.

    ``-`` is standard input. Unpacked files live until the context ends, one at a time.

    Raises:
        InputError: an archive is damaged, encrypted, or unpacks to more than ``largest`` bytes.
    """
    with tempfile.TemporaryDirectory(prefix="advisor-") as directory:
        yield _sources(path, Path(directory) / "unpacked", largest)


def _sources(path: str, scratch: Path, largest: int) -> Iterator[Source]:
    if path == "-":
        _copy(sys.stdin.buffer, scratch, "<stdin>", largest)
        source = Source(name="<stdin>", content=scratch)
    else:
        source = Source.from_path(Path(path))
    head = source.head(4)
    if head.startswith(_GZIP):
        yield _gunzipped(source, scratch.with_suffix(".gunzipped"), largest)
    elif head.startswith(_ZIP):
        yield from _members(source, scratch.with_suffix(".member"), largest)
    else:
        yield source


def _gunzipped(source: Source, scratch: Path, largest: int) -> Source:
    with source.open() as packed, gzip.open(packed) as file:
        try:
            _copy(file, scratch, source.name, largest)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise _damaged(source.name, error) from error
    return Source(name=source.name, content=scratch)


def _members(source: Source, scratch: Path, largest: int) -> Iterator[Source]:
    left = largest
    try:
        with source.open() as packed, zipfile.ZipFile(packed) as archive:
            members = [item for item in archive.infolist() if not item.is_dir()]
            if len(members) > MOST_MEMBERS:
                problem = f"the archive has {len(members):,} members, more than {MOST_MEMBERS:,}"
                raise InputError(problem, at=Location(name=source.name))
            for item in members:
                name = f"{source.name}!{item.filename}"
                with archive.open(item) as file:
                    left -= _copy(file, scratch, name, left)
                yield Source(name=name, content=scratch)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError) as error:
        raise _damaged(source.name, error) from error


def _copy(file: _Readable, to: Path, name: str, largest: int) -> int:
    """Copy at most ``largest`` bytes into a file and return how many there were."""
    written = 0
    try:
        with to.open("wb") as target:
            while chunk := file.read(_CHUNK):
                written += len(chunk)
                if written > largest:
                    problem = f"unpacks to more than {size(largest)}"
                    hint = "unpack it yourself and ingest the files in it"
                    raise InputError(problem, at=Location(name=name), hint=hint)
                target.write(chunk)
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise
        problem = f"cannot unpack: {error.strerror or error}"
        hint = f"unpacking needs room in {to.parent.parent}"
        raise InputError(problem, at=Location(name=name), hint=hint) from error
    return written


def _damaged(name: str, error: Exception) -> AdvisorError:
    return InputError(
        f"the archive is damaged or encrypted: {error}",
        at=Location(name=name),
        hint="copy it again, or unpack it yourself",
    )
