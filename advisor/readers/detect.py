"""Files and pipes → the profiles in them, each with its reader.

Archives and pipes are unpacked, with a bound on what they may unpack to. The content decides which
reader takes a profile, never the name of the file.
"""

from __future__ import annotations

import gzip
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, BinaryIO, Protocol

from advisor.errors import InputError, Location
from advisor.profilers import load_profilers
from advisor.readers import formats, reader_of, readers
from advisor.readers.base import Reader, Source
from advisor.resources import rule_dirs
from advisor.scratch import scratch_folder
from advisor.wording import one_line, size

ARCHIVES = (".gz", ".zip")
LARGEST = 4 * 1024**3  # bytes that one archive or pipe may hold; more is taken for a bomb
MOST_MEMBERS = 10_000

_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # the second begins an archive of nothing
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what unpacks piece by piece
_UNBOUNDED = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "LZMA"}
_CHUNK = 1024 * 1024
_TAR = slice(257, 262)  # bytes that say "ustar", also in archives of GNU tar
_LOOKED_AT = 1024 * 1024  # bytes: a program may print a lot before the profiler's table begins
# What the standard library raises over bytes that are no archive, or one it cannot read.
_DAMAGE = (
    EOFError, OSError, OverflowError, RuntimeError, ValueError, struct.error, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip


class NoProfileError(InputError):
    """Nothing in a file is a profile, nor is it called like one."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes."""


@contextmanager
def plain_sources(path: str, *, largest: int = LARGEST) -> Iterator[Iterator[Source | InputError]]:
    """Give the profiles in a file: itself, the content of a .gz, the members of a .zip.

    ``-`` is standard input. Of a .zip with several members only those that look like profiles are
    given; archives inside archives are not opened. Unpacked files live until the context ends, one
    at a time. In the place of what cannot be had stands the error that says why: an archive or a
    member is damaged or encrypted, or an archive unpacks to more than ``largest`` bytes; no member
    is a profile; there is no room to unpack.
    """
    with ExitStack() as stack:
        yield _with_errors(_sources(path, _Scratch(stack), largest))


def _with_errors(sources: Iterator[Source | InputError]) -> Iterator[Source | InputError]:
    try:
        yield from sources
    except InputError as error:
        yield error


class _DamagedError(InputError):
    """An archive, or one member of it, cannot be unpacked; other members may be whole."""


class _Room:
    """How many bytes an archive or pipe may still hold."""

    def __init__(self, largest: int) -> None:
        self._largest = self._left = largest

    def take(self, count: int, name: str) -> None:
        """Take so many bytes of it.

        Raises:
            InputError: there are not as many.
        """
        self.require(count, name)
        self._left -= count

    def require(self, count: int, name: str) -> None:
        """Refuse what has more bytes than there is room for.

        Raises:
            InputError: it has.
        """
        if count > self._left:
            problem = f"holds more than {size(self._largest)}"
            hint = "unpack it yourself and ingest the files in it"
            raise InputError(problem, at=Location(name=name), hint=hint)


class _Scratch:
    """A directory for what is unpacked, made when it is needed first."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._directory: Path | None = None

    def file(self, name: str) -> Path:
        """Return the path of a file that may be written.

        Raises:
            InputError: there is no directory for such files.
        """
        if self._directory is None:
            try:
                self._directory = self._stack.enter_context(scratch_folder())
            except OSError as error:
                raise _no_room(name, error) from error
        return self._directory / name


def _sources(path: str, scratch: _Scratch, largest: int) -> Iterator[Source | InputError]:
    source = _standard_input(scratch, largest) if path == "-" else Source.from_path(Path(path))
    head = source.head(4)
    if head.startswith(_GZIP):
        yield _gunzipped(source, scratch.file("gunzipped"), _Room(largest))
    elif head.startswith(_ZIP):
        yield from _members(source, scratch.file("member"), _Room(largest))
    else:
        yield source


def _standard_input(scratch: _Scratch, largest: int) -> Source:
    name = "<stdin>"
    if sys.stdin is None:
        hint = "give the profile by a pipe or by its name"
        raise InputError("there is no standard input", at=Location(name=name), hint=hint)
    content = scratch.file("stdin")
    _copy(sys.stdin.buffer, content, name, _Room(largest))
    return Source(name=name, content=content)


def _gunzipped(source: Source, to: Path, room: _Room) -> Source:
    with source.open() as packed, gzip.open(packed) as file:
        _copy(file, to, source.name, room)
    return Source(name=source.name, content=to)


def _members(source: Source, to: Path, room: _Room) -> Iterator[Source | InputError]:
    given = 0
    with source.open() as packed, _opened(packed, source.name) as archive:
        members = [item for item in archive.infolist() if not item.is_dir()]
        if len(members) > MOST_MEMBERS:
            problem = f"the archive has {len(members):,} members, more than {MOST_MEMBERS:,}"
            hint = "unpack it yourself and ingest the files in it"
            raise InputError(problem, at=Location(name=source.name), hint=hint)
        for item in members:
            member = Source(name=f"{source.name}!{one_line(item.filename)}", content=to)
            try:
                room.require(item.file_size, member.name)  # no more than it says is unpacked
                with _member(archive, item, member.name) as file:
                    _copy(file, to, member.name, room)
            except _DamagedError as error:
                given += 1
                yield error
                continue
            if len(members) == 1 or looks_like_profile(member):
                given += 1
                yield member
    if not given:
        problem = f"none of the {len(members):,} files in the archive is a profile"
        hint = f"known formats: {formats()}; unpack it and ingest others with --as FORMAT"
        raise NoProfileError(problem, at=Location(name=source.name), hint=hint)


def _opened(packed: BinaryIO, name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(packed)
    except _DAMAGE as error:
        raise _damaged(name, error) from error


def _member(archive: zipfile.ZipFile, item: zipfile.ZipInfo, name: str) -> IO[bytes]:
    if item.compress_type not in _PACKED:
        kind = _UNBOUNDED.get(item.compress_type, f"method {item.compress_type}")
        problem = f"packed with {kind}, which is not unpacked here: its memory has no bound"
        hint = "unpack it yourself, or pack it with deflate"
        raise _DamagedError(problem, at=Location(name=name), hint=hint)
    try:
        return archive.open(item)
    except _DAMAGE as error:
        raise _damaged(name, error) from error


def _copy(file: _Readable, to: Path, name: str, room: _Room) -> None:
    try:
        with to.open("wb") as target:
            while chunk := _read(file, name):
                room.take(len(chunk), name)
                target.write(chunk)
    except OSError as error:
        raise _no_room(name, error) from error


def _read(file: _Readable, name: str) -> bytes:
    try:
        return file.read(_CHUNK)
    except _DAMAGE as error:
        raise _damaged(name, error) from error


def _no_room(name: str, error: OSError) -> InputError:
    return InputError(
        f"cannot be unpacked: {error.strerror or error}",
        at=Location(name=name),
        hint="unpacking needs room for temporary files; TMPDIR names another directory for them",
    )


def _damaged(name: str, error: Exception) -> _DamagedError:
    return _DamagedError(
        f"the archive is damaged, encrypted or of an unknown kind: {error}",
        at=Location(name=name),
        hint="copy it again, or unpack it yourself",
    )


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
    return f"known formats: {formats()}; --as FORMAT overrides what the content says"


def looks_like_profile(source: Source) -> bool:
    """Return whether a file below a directory is meant to be ingested: by content, or by name."""
    head = source.head(_LOOKED_AT)
    is_called_so = source.name.endswith((*_suffixes(), *ARCHIVES))
    return is_called_so or _accepting(head) is not None
