"""The container of an Nsight Compute report: a magic number, a header, then blocks of entries.

Every size in the file is compared with the file's length before anything is read by it, and only
one header or entry is in memory at a time.

Source: NVIDIA, Nsight Compute Customization Guide, "Report File Format".
"""

from __future__ import annotations

import contextlib
import logging
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal

from google.protobuf.message import DecodeError

from advisor.errors import InputError, Location
from advisor.readers.ncu import messages
from advisor.records import dataclass

MAGIC = b"NVR\0"

_KNOWN_VERSION = 7  # of the file header, in every report from 2019 to 2026
_HEADER_LIMIT = 64 * 2**20  # bytes; the largest part, a table of counter names, takes 0.1 MB
_ENTRY_LIMIT = 256 * 2**20  # bytes; a launch with values for 10,000 instructions takes 10 MB
_LENGTH = struct.Struct("<I")
_IDENTITY = 4096  # bytes of a result that hold its kernel's name, but for very long ones
_CODE_LIMIT = 32 * 2**20  # bytes; the code of one module takes up to a few MB

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block's header and where its payload lies, in bytes from the start of the file."""

    number: int
    header: Any
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PayloadEntry:
    """Where one entry of a payload lies, in bytes from the start of the file."""

    kind: Literal["source", "result", "range"]
    block: int
    start: int
    size: int


class Container:
    """Reads a report's blocks and entries one by one."""

    def __init__(self, file: BinaryIO, *, name: str, size: int) -> None:
        self._file = file
        self._name = name
        self._size = size

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in file order.

        Raises:
            InputError: a size runs past the end of the file or a header does not parse. A block
                whose payload is cut short is yielded before, so that its whole entries can be had.
        """
        position = self._after_file_header()
        number = 0
        while position < self._size:
            what = f"header of block {number}"
            start = position + _LENGTH.size
            size = self._length(position, self._size, _HEADER_LIMIT, what)
            header = self._parse(messages.BlockHeader, start, size, what)
            start += size
            end = start + header.payload_size
            yield Block(number=number, header=header, start=start, end=end)
            if end > self._size:
                raise self._cut(start, end, f"payload of block {number}")
            position = end
            number += 1

    def entries(self, block: Block) -> Iterator[PayloadEntry]:
        """Yield where the entries of ``block`` lie, without reading them.

        Raises:
            InputError: an entry runs past the end of its block.
        """
        counts: tuple[tuple[Literal["source", "result", "range"], int], ...] = (
            ("source", block.header.num_sources),
            ("result", block.header.num_results),
            ("range", block.header.num_ranges),
        )
        position = block.start
        for kind, count in counts:
            for number in range(count):
                what = f"{kind} {number} of block {block.number}"
                limit = self._size if kind == "source" else _ENTRY_LIMIT
                size = self._length(position, block.end, limit, what)
                start = position + _LENGTH.size
                yield PayloadEntry(kind=kind, block=block.number, start=start, size=size)
                position = start + size

    def result(self, entry: PayloadEntry) -> Any:
        """Return the message of a result entry, with its metrics as bytes.

        Raises:
            InputError: its bytes are no such message.
        """
        return self._result(messages.RawResult, entry)

    def identity(self, entry: PayloadEntry, *, with_ranges: bool) -> Any:
        """Return what a result entry says about its kernel and launch shape.

        That stands before its metrics, and the ranges around the launch behind them: without
        those, only the first bytes are read.

        Raises:
            InputError: its bytes are no such message.
        """
        message = messages.ResultIdentity
        if not with_ranges and entry.size > _IDENTITY:
            self._file.seek(entry.start)
            size = messages.size_before(self._file.read(_IDENTITY), messages.METRICS)
            if size is not None:
                return self._parse(message, entry.start, size, self._what(entry))
        return self._result(message, entry)

    def _result(self, message: Any, entry: PayloadEntry) -> Any:
        return self._parse(message, entry.start, entry.size, self._what(entry))

    def _what(self, entry: PayloadEntry) -> str:
        return f"{entry.kind} of block {entry.block}"

    def source(self, entry: PayloadEntry) -> Any | None:
        """Return the message of a source entry; None for what is too large or no such message."""
        if entry.size > _CODE_LIMIT:
            return None
        with contextlib.suppress(InputError):
            return self._parse(messages.Source, entry.start, entry.size, entry.kind)
        return None

    def damaged(self, offset: int, problem: str) -> InputError:
        """Return the error that says ``problem`` at ``offset``."""
        return InputError(problem, at=Location(name=self._name, offset=offset))

    def _after_file_header(self) -> int:
        self._file.seek(0)
        if self._file.read(len(MAGIC)) != MAGIC:
            raise self.damaged(0, "no Nsight Compute report: the first four bytes are not NVR")
        position = len(MAGIC)
        size = self._length(position, self._size, _HEADER_LIMIT, "file header")
        position += _LENGTH.size
        version = self._parse(messages.FileHeader, position, size, "file header").version
        if version != _KNOWN_VERSION:
            log.warning(
                "%s: container version %d, known is %d", self._name, version, _KNOWN_VERSION
            )
        return position + size

    def _length(self, position: int, end: int, limit: int, what: str) -> int:
        """Return the size written at ``position``, once what it measures is known to fit."""
        end = min(end, self._size)
        if position + _LENGTH.size > end:
            raise self._cut(position, position + _LENGTH.size, f"size of the {what}")
        self._file.seek(position)
        (size,) = _LENGTH.unpack(self._file.read(_LENGTH.size))
        start = position + _LENGTH.size
        if start + size > end:
            raise self._cut(start, start + size, what)
        if not 0 < size <= limit:
            problem = f"the {what} has {size:,} bytes, expected 1 to {limit:,}"
            raise self.damaged(position, problem)
        return int(size)

    def _cut(self, start: int, end: int, what: str) -> InputError:
        within = f"the file of {self._size:,} bytes" if end > self._size else "its block"
        problem = f"the {what} needs {end - start:,} bytes and runs past the end of {within}"
        return self.damaged(start, problem)

    def _parse(self, message: Any, start: int, size: int, what: str) -> Any:
        self._file.seek(start)
        data = self._file.read(size)
        if len(data) < size:
            raise self._cut(start, start + size, what)
        try:
            return message.FromString(data)
        except DecodeError as error:
            raise self.damaged(start, f"the {what} is damaged ({error})") from error
