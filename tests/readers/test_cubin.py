"""Lines of the source by offset of an instruction; files and lines are worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.readers.ncu.cubin import FunctionCode, read_function
from tests.support.cubins import END, elf, line_unit, set_address, special

FILES = ("a.cu", "b.h")
PROGRAM = (
    set_address()
    + b"\x03\x09\x01"  # nine lines on; a row: offset 0, line 10
    + special(2, 3)  # offset 32, line 13
    + b"\x04\x02\x02\x01\x03\x7d\x01"  # file 2, 16 bytes on, three lines back: offset 48, line 10
    + b"\x08\x01"  # what opcode 255 advances by, (255 - 10) // 14 instructions: offset 320
    + b"\x00\x02\x90\x05"  # an opcode of the vendor's own
    + b"\x0a\x09\x10\x00"  # opcode 10 is special: 5 lines back, offset 320; then 16 bytes on
    + special(0, 5)  # offset 336, line 10
    + END
)
LINES = {0: "a.cu:10", 32: "a.cu:13", 48: "b.h:10", 320: "b.h:5", 336: "b.h:10"}


def lines_of(data: bytes, name: str) -> dict[int, str]:
    return dict(read_function(data, name).lines)


def code(program: bytes = PROGRAM, *, version: int = 2, added: bool = True, at: int = 0) -> bytes:
    unit, start = line_unit(program, files=FILES, version=version)
    return elf(unit, [(start + 3, at)], added=added)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_runs_the_line_program(version: int) -> None:
    assert lines_of(code(version=version), "k") == LINES


def test_takes_relocations_of_both_forms() -> None:
    assert lines_of(code(added=False), "k") == LINES
    assert min(lines_of(code(at=128), "k")) == 128


def test_knows_only_the_function_that_is_asked_for() -> None:
    assert lines_of(code(), "l") == {}
    assert lines_of(code(), "") == {}


def test_gives_the_code_of_the_function() -> None:
    assert read_function(code(), "k").code == bytes(64)
    assert read_function(code(), "l") == FunctionCode()


def test_gives_the_code_where_lines_are_damaged() -> None:
    assert read_function(code(set_address() + b"\x04\x03\x01"), "k") == FunctionCode(code=bytes(64))


def test_reads_every_unit() -> None:
    first, start = line_unit(set_address() + special(0, 1) + END, files=FILES)
    second, after = line_unit(set_address() + special(0, 2) + END, files=FILES)
    places = [(start + 3, 0), (len(first) + after + 3, 16)]
    assert lines_of(elf(first + second, places), "k") == {0: "a.cu:2", 16: "a.cu:3"}


def test_passes_over_units_of_a_version_that_is_not_known() -> None:
    newer, _ = line_unit(PROGRAM, files=FILES, version=5)
    known, start = line_unit(PROGRAM, files=FILES)
    assert lines_of(elf(newer + known, [(len(newer) + start + 3, 0)]), "k") == LINES


def test_takes_the_last_of_several_lines_of_an_offset() -> None:
    program = set_address() + special(0, 1) + special(0, 4) + END
    assert lines_of(code(program), "k") == {0: "a.cu:6"}


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"\x7fELF\x01\x01" + bytes(60),
        code()[:-1],
        code()[:100],
        code(set_address() + b"\x04\x03\x01"),  # a third file
        code(set_address() + b"\x04\x00\x01"),  # file 0
        code(set_address() + b"\x02" + b"\xff" * 20 + b"\x00\x01"),  # a number of 140 bits
    ],
)
def test_finds_nothing_in_what_is_damaged(damaged: bytes) -> None:
    assert lines_of(damaged, "k") == {}


def test_takes_no_more_than_a_file_can_need() -> None:
    long = "a" * 1000 + ".cu"
    unit, start = line_unit(set_address() + special(0, 1) + END, files=[long])
    (line,) = read_function(elf(unit, [(start + 3, 0)]), "k").lines.values()
    assert line == long[-255:] + ":2"
    many = set_address() + special(0, 1) * 200_001 + END
    assert lines_of(code(many), "k") == {}
    assert read_function(elf(b"", [], code=bytes(5 * 2**20)), "k") == FunctionCode()


@given(
    at=st.integers(0, len(code()) - 1),
    byte=st.integers(0, 255),
    cut=st.integers(0, len(code())),
)
def test_never_fails(at: int, byte: int, cut: int) -> None:
    whole = bytearray(code())
    whole[at] = byte
    assert isinstance(lines_of(bytes(whole[:cut]), "k"), dict)
    assert isinstance(lines_of(bytes(whole), "k"), dict)
