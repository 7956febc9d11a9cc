"""The instructions of a kernel, and the lines of the source that they come from.

A report carries the code that ran as an ELF file. Where it was compiled with line information, the
section ``.debug_line`` is a program that lists offsets within functions and their lines.

Source: Tool Interface Standard, Executable and Linking Format; DWARF Debugging Information Format,
versions 2 to 4, "Line Number Information"; for what an instruction holds beside its operation, Jia
et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, 2018.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import field

import numpy as np

from advisor.records import dataclass

_MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little endian
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATIONS = {".rel.debug_line": struct.Struct("<QQ"), ".rela.debug_line": struct.Struct("<QQq")}
_VERSIONS = range(2, 5)
_OPERATIONS_PER_INSTRUCTION_SINCE = 4  # a byte of the header that is 1 for processors like these
_EXTENDED, _COPY, _ADVANCE_ADDRESS, _ADVANCE_LINE, _SET_FILE = range(5)
_ADD_CONSTANT, _ADVANCE_FIXED = 8, 9
_END_OF_SEQUENCE, _SET_ADDRESS = 1, 2
_LARGEST_CODE = 255
_MOST_BITS = 64
_CODE = ".text."
_DEBUG_INFORMATION = ".debug_info"
# Of an instruction: its size in bytes, its opcode, the one that fills functions up, and in its
# second half the cycles for which the next one waits.
_INSTRUCTION, _OPCODE, _PADDING, _WAIT_FROM, _WAIT = 16, 0x1FF, 0x118, 41, 0xF
_DAMAGED = (struct.error, IndexError, OverflowError, ValueError)
_NOWHERE = -1
# What a file may hold; the largest of 82 reports have 20,000 rows and 270 kB of code.
_MOST_ROWS = 200_000
_MOST_RELOCATIONS = 100_000
_MOST_OF_SECTION = 4 * 2**20
_MOST_OF_NAME = 255

Place = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class _Header:
    """What a unit says about its opcodes, and the files that it names, from 1."""

    least: int
    base: int
    span: int
    first: int
    lengths: tuple[int, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FunctionCode:
    """The code of a function, and ``file:line`` by offset from its begin, in bytes and ascending.

    Each line holds up to the next; there are none without line information.
    """

    code: bytes = b""
    lines: Mapping[int, str] = field(default_factory=dict)


def read_function(data: bytes, name: str) -> FunctionCode:
    """Return what an ELF file says about a function, by the linker's name of it.

    What is no such file or has no such function gives no code, damaged line information no lines.
    """
    try:
        elf = _Elf(data)
        number = elf.number(_CODE + name)
        code = elf.content(number)
    except _DAMAGED:
        return FunctionCode()
    if number is None or not code:
        return FunctionCode()
    return FunctionCode(code=code, lines=_lines(elf, number))


@dataclass(frozen=True, kw_only=True)
class Build:
    """How a function was compiled.

    ``wait`` is the mean number of cycles that an instruction makes the next one wait; None where
    the code is not known.
    """

    has_debug_information: bool
    wait: float | None


def read_build(data: bytes, name: str) -> Build | None:
    """Return how an ELF file says that a function was compiled; None for what is no such file.

    The instructions must be of compute capability 7.0 or later, whose 16 bytes hold the wait.
    """
    try:
        elf = _Elf(data)
        code = elf.content(elf.number(_CODE + name))
        has_debug_information = elf.number(_DEBUG_INFORMATION) is not None
    except _DAMAGED:
        return None
    return Build(has_debug_information=has_debug_information, wait=_mean_wait(code))


def _mean_wait(code: bytes) -> float | None:
    words = np.frombuffer(code[: len(code) // _INSTRUCTION * _INSTRUCTION], "<u8")
    waits = words[1::2] >> np.uint64(_WAIT_FROM) & np.uint64(_WAIT)
    kept = waits[words[0::2] & np.uint64(_OPCODE) != _PADDING]
    return float(kept.mean()) if kept.size else None


def _lines(elf: _Elf, function: int) -> dict[int, str]:
    found: dict[int, str] = {}
    try:
        for count, (section, offset, line) in enumerate(_rows(elf)):
            if count >= _MOST_ROWS:
                return {}
            if section == function:
                found[offset] = line
    except _DAMAGED:
        return {}
    return dict(sorted(found.items()))


class _Elf:
    """The sections of an ELF file by number, and what its relocations stand for."""

    def __init__(self, data: bytes) -> None:
        if not data.startswith(_MAGIC):
            raise ValueError("no ELF file of 64 bits")
        (start,) = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        self._data = data
        self._headers = [
            _SECTION.unpack_from(data, start + _SECTION.size * at) for at in range(count)
        ]
        self._names = self.content(names)

    def number(self, name: str) -> int | None:
        """Return the number of the section of a name; None where there is none."""
        wanted = name.encode("utf-8", "surrogateescape") + b"\0"
        numbered = enumerate(header[0] for header in self._headers)
        return next((n for n, place in numbered if self._names.startswith(wanted, place)), None)

    def content(self, number: int | None) -> bytes:
        """Return the content of a section; empty without one, or where it is too large."""
        if number is None:
            return b""
        _, _, _, _, start, size, *_ = self._headers[number]
        return b"" if size > _MOST_OF_SECTION else self._data[start : start + size]

    def section(self, name: str) -> bytes:
        """Return the content of the section of a name, empty where there is none."""
        return self.content(self.number(name))

    def relocated(self) -> dict[int, Place]:
        """Return the section and offset that a place of ``.debug_line`` stands for."""
        symbols = self.section(".symtab")
        found = {}
        for name, form in _RELOCATIONS.items():
            entries = self.section(name)
            if len(entries) > _MOST_RELOCATIONS * form.size:
                raise ValueError("more relocations than functions there can be")
            for place, info, *added in form.iter_unpack(entries):
                symbol = _SYMBOL.unpack_from(symbols, _SYMBOL.size * (info >> 32))
                found[place] = (symbol[3], symbol[4] + sum(added))
        return found


class _Reader:
    """Reads numbers and texts one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    @property
    def has_more(self) -> bool:
        """Return whether the end is not reached."""
        return self.place < len(self._data)

    def take(self, form: str) -> int:
        """Return the next number, of a form of ``struct``."""
        (value,) = struct.unpack_from(f"<{form}", self._data, self.place)
        self.place += struct.calcsize(f"<{form}")
        return int(value)

    def variable(self, *, signed: bool = False) -> int:
        """Return the next number of variable length (LEB128)."""
        value = shift = 0
        byte = 0x80
        while byte & 0x80:
            byte = self.take("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > _MOST_BITS + 7:
                raise ValueError("a number of more than 64 bits")
        return value - (1 << shift) if signed and byte & 0x40 else value

    def text(self) -> str:
        """Return the text up to the next NUL."""
        found = _text(self._data, self.place)
        self.place = self._data.index(b"\0", self.place) + 1
        return found


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode("utf-8", "backslashreplace")


def _rows(elf: _Elf) -> Iterator[tuple[int, int, str]]:
    """Yield section, offset and line of every row of every unit."""
    reader, relocated = _Reader(elf.section(".debug_line")), elf.relocated()
    while reader.has_more:
        size = reader.take("I")
        end = reader.place + size
        version = reader.take("H")
        if version in _VERSIONS:
            header = _header(reader, version)
            if reader.place > end:
                raise ValueError("a header is longer than its unit")
            yield from _Program(reader, header, relocated).rows(end)
        reader.place = end


def _header(reader: _Reader, version: int) -> _Header:
    start = reader.take("I") + reader.place
    least = reader.take("B")
    if version >= _OPERATIONS_PER_INSTRUCTION_SINCE:
        reader.take("B")
    reader.take("B")  # whether rows begin a statement
    base, span, first = reader.take("b"), reader.take("B"), reader.take("B")
    if not span or not first:
        raise ValueError("a header that no line can be worked out by")
    lengths = tuple(reader.take("B") for _ in range(first - 1))
    while reader.text():
        pass  # folders
    files = []
    while name := reader.text():
        files.append(name[-_MOST_OF_NAME:])
        for _ in range(3):  # folder, time, size
            reader.variable()
    reader.place = start
    return _Header(
        least=least, base=base, span=span, first=first, lengths=lengths, files=tuple(files)
    )


class _Program:
    """Runs the line program of one unit; its state is the row that the next copy gives."""

    def __init__(self, reader: _Reader, header: _Header, relocated: Mapping[int, Place]) -> None:
        self._reader = reader
        self._header = header
        self._relocated = relocated
        self._reset()

    def rows(self, end: int) -> Iterator[tuple[int, int, str]]:
        """Yield the rows up to the place ``end``."""
        header = self._header
        while self._reader.place < end:
            code = self._reader.take("B")
            if code >= header.first:
                self._advance((code - header.first) // header.span)
                self._line += header.base + (code - header.first) % header.span
                yield self._row()
            elif code == _EXTENDED:
                self._extended()
            elif code == _COPY:
                yield self._row()
            else:
                self._standard(code)

    def _row(self) -> tuple[int, int, str]:
        if not 0 < self._file <= len(self._header.files):
            raise ValueError("a row of a file that is not named")
        return self._section, self._address, f"{self._header.files[self._file - 1]}:{self._line}"

    def _reset(self) -> None:
        self._section, self._address, self._file, self._line = _NOWHERE, 0, 1, 1

    def _advance(self, operations: int) -> None:
        self._address += operations * self._header.least

    def _extended(self) -> None:
        size = self._reader.variable()
        end = self._reader.place + size
        code = self._reader.take("B")
        if code == _END_OF_SEQUENCE:
            self._reset()
        elif code == _SET_ADDRESS:
            self._section, self._address = self._relocated.get(self._reader.place, (_NOWHERE, 0))
        self._reader.place = end

    def _standard(self, code: int) -> None:
        reader = self._reader
        if code == _ADVANCE_ADDRESS:
            self._advance(reader.variable())
        elif code == _ADVANCE_LINE:
            self._line += reader.variable(signed=True)
        elif code == _SET_FILE:
            self._file = reader.variable()
        elif code == _ADD_CONSTANT:
            self._advance((_LARGEST_CODE - self._header.first) // self._header.span)
        elif code == _ADVANCE_FIXED:
            self._address += reader.take("H")
        else:
            for _ in range(self._header.lengths[code - 1]):
                reader.variable()
