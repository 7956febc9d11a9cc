"""What readers have in common: where bytes come from, what may be asked, what a reader is."""

from __future__ import annotations

import io
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from advisor.errors import InputError, Location
from advisor.model import Record, Skipped
from advisor.records import dataclass
from advisor.units import Dimension

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


State = tuple[int, int, int]
"""Of a file: its size in bytes, when it was written [ns], and its number on the disk."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A profile's bytes and the name that messages call it by.

    ``content`` is the file's path, or the bytes themselves where they came through a pipe.
    """

    name: str
    content: Path | bytes

    @classmethod
    def from_path(cls, path: Path) -> Source:
        """Return the file ``path`` as a source; it is not opened yet."""
        return cls(name=str(path), content=path)

    @classmethod
    def from_stream(cls, stream: BinaryIO, name: str = "<stdin>") -> Source:
        """Return all that ``stream`` still holds: readers need to seek and pipes cannot."""
        return cls(name=name, content=stream.read())

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.state()[0]

    def open(self) -> BinaryIO:
        """Return a seekable binary file at its start, for the caller to close.

        Raises:
            InputError: the path is missing, forbidden, or no regular file.
        """
        if isinstance(self.content, bytes):
            return io.BytesIO(self.content)
        try:
            if stat.S_ISREG(self.content.stat().st_mode):
                return io.BufferedReader(_File(self.content, self._unreadable))
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from error
        raise InputError(
            "not a regular file",
            at=Location(name=self.name),
            hint="name the files in a directory; to read a pipe, use -",
        )

    def state(self) -> State:
        """Return what differs once the file was written or replaced; of bytes, that never does.

        Raises:
            InputError: the file cannot be looked at.
        """
        if isinstance(self.content, bytes):
            return len(self.content), 0, 0
        try:
            found = self.content.stat()
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from error
        return found.st_size, found.st_mtime_ns, found.st_ino

    def head(self, length: int = 4096) -> bytes:
        """Return the first ``length`` bytes, or fewer where there are no more."""
        with self.open() as file:
            return file.read(length)

    def _unreadable(self, error: OSError | ValueError) -> InputError:
        return InputError(
            f"cannot be read: {getattr(error, 'strerror', None) or error}",
            at=Location(name=self.name),
            hint="check the path and its permissions",
        )


class _File(io.FileIO):
    """A file that reports what fails in reading it as ``unreadable`` does: a disk, a server."""

    def __init__(self, path: Path, unreadable: Callable[[OSError], InputError]) -> None:
        super().__init__(path)
        self._unreadable = unreadable

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise self._unreadable(error) from error

    def readall(self) -> bytes:
        try:
            return super().readall()
        except OSError as error:
            raise self._unreadable(error) from error


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What is wanted from a profile.

    ``allow_truncated`` takes what is whole of a damaged profile. ``keyed`` and ``instructions``
    name the counters whose values per key (opcode, block size …) and per instruction address are
    kept; ``curves`` are those of the keyed ones that show a launch parameter's other values.
    ``measures`` says what the unit measures that a page prints a counter in, if it is known, and
    ``builds`` names the counters that tell how a kernel was compiled.

    ``detailed`` is how many launches of a kernel with one launch shape are read in detail, None for
    all: of the others, values per instruction, curves and the vendor's findings may be left out.
    """

    allow_truncated: bool = False
    detailed: int | None = None
    keyed: frozenset[str] = frozenset()
    curves: frozenset[str] = frozenset()
    instructions: frozenset[str] = frozenset()
    measures: Mapping[str, frozenset[Dimension]] = field(default_factory=dict)
    builds: tuple[str, ...] = ()


def left_out(
    problem: str, at: Location, options: ReadOptions, *, then: str = "its launch is left out"
) -> Skipped:
    """Return the record about a launch of which a part is missing, where that is allowed.

    Raises:
        InputError: they are not.
    """
    if not options.allow_truncated:
        hint = "copy the file again, or take what is whole with --allow-truncated"
        raise InputError(problem, at=at, hint=hint)
    return Skipped(place=str(at), reason=f"{problem}; {then}", cut=True)


class Reader(Protocol):
    """A module that reads one format.

    ``FORMAT`` is its name on the command line; ``COUNTERS`` names the file of ``rules/counters/``
    that says what its counters mean.
    """

    FORMAT: str
    COUNTERS: str

    def accepts(self, head: bytes) -> bool:
        """Detect by a file's first bytes whether it has this format."""

    def read(self, source: Source, options: ReadOptions) -> Iterator[Record]:
        """Yield launches and what was skipped in file order, and first or last of all one session.

        Raises:
            InputError: the profile is damaged or no profile of this format.
        """
