"""What the code in a report says about instructions; codes, offsets and lines are set by hand."""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.errors import InputError
from advisor.model import Launch, Place
from advisor.readers import ReadOptions, Source
from advisor.readers.ncu import messages as ncu_messages
from advisor.readers.ncu import report as ncu_report
from advisor.readers.ncu.code import load_opcodes
from seed.simulation.ncu_encoder import ReportWriter
from tests.support.cubins import END, elf, line_unit, set_address, special

BASE = 0x7F00  # where the function stood: a multiple of 128
LDG, STG, UNKNOWN = 0x981, 0x986, 0x1FF
AMPERE, FUTURE = 8 << 16, 99 << 16

WANTED = ReadOptions(instructions=frozenset({"executed", "sectors"}))


def cubin(*codes: int, with_lines: bool = True) -> bytes:
    """Return the code of function ``k``: from offset 16 on line 7 of a.cu, from 48 on line 9."""
    program = set_address() + special(1, 6) + special(2, 2) + END
    unit, start = line_unit(program if with_lines else b"", files=["a.cu"])
    instructions = b"".join(code.to_bytes(2, "little") + bytes(14) for code in codes)
    return elf(unit, [(start + 3, 0)] if with_lines else [], code=instructions)


def source(code: bytes, reference: int = 1, revision: int = AMPERE) -> bytes:
    message = ncu_messages.Source(reference=reference, code=code, revision=revision)
    return bytes(message.SerializeToString())


def report(
    *sources: bytes, executed: dict[int, int], reference: int = 1, name: bytes = b"k"
) -> list[Launch]:
    """Return the launches of a report with these sources in blocks of their own."""
    stream = io.BytesIO()
    writer = ReportWriter(stream)
    for each in sources:
        writer.block(sources=[each])
    metric: Any = ncu_messages.InstancedMetric(name_id=writer.name_id("executed"))
    for address, value in executed.items():
        metric.instances.add(key={"u64": address}, value={"u64": value})
    result = ncu_messages.Result(mangled=name, source={"reference": reference})
    result.metrics.add().MergeFromString(metric.SerializeToString())
    writer.block(results=[result.SerializeToString()])
    found = ncu_report.read(Source(name="a.ncu-rep", content=stream.getvalue()), WANTED)
    return [record for record in found if isinstance(record, Launch)]


EXECUTED = {BASE: 9, BASE + 16: 4, BASE + 48: 0, BASE + 64: 2}
CODE = cubin(LDG, STG, LDG, UNKNOWN, LDG)


def waiting(*cycles: int, opcode: int = LDG) -> bytes:
    """Return instructions that make the next one wait, in bits 41 to 44 of their second half."""
    halves = (opcode.to_bytes(8, "little") + (each << 41).to_bytes(8, "little") for each in cycles)
    return b"".join(halves)


PADDING = waiting(0, 0, opcode=0x118)


@pytest.mark.parametrize(
    ("code", "revision", "expected"),
    [
        (elf(b"", [], code=waiting(15, 13, 14) + PADDING), AMPERE, {"information": 0, "wait": 14}),
        (
            elf(b"", [], code=waiting(2, 5), debug=True),
            AMPERE,
            {"information": 1, "wait": 3.5},
        ),
        # Before Volta, what waits is told elsewhere; without the kernel's code, nothing is.
        (elf(b"", [], code=waiting(2, 5), debug=True), 6 << 16, {}),
        (elf(b"", [], code=b"", debug=True), AMPERE, {}),
        (b"no ELF file", AMPERE, {}),
    ],
)
def test_tells_how_code_was_compiled(
    code: bytes, revision: int, expected: dict[str, float]
) -> None:
    (launch,) = report(source(code, revision=revision), executed={})
    told = {name: value for name, value in launch.counters.items() if name.startswith("code:")}
    names = {"information": "code:debug_information", "wait": "code:wait"}
    assert told == {names[name]: value for name, value in expected.items()}


def named(launch: Launch) -> dict[int, Place]:
    """Return what the instructions are, without the digest of their function."""
    return {address: replace(place, code=None) for address, place in launch.places.items()}


def test_names_the_instructions_that_have_values() -> None:
    (launch,) = report(source(CODE), executed=EXECUTED)
    assert named(launch) == {
        BASE: Place(opcode="LDG", line=None),
        BASE + 16: Place(opcode="STG", line="a.cu:7"),
        BASE + 64: Place(opcode="LDG", line="a.cu:9"),
    }


def test_digests_the_whole_function_operands_included() -> None:
    def digests(code: bytes) -> set[str | None]:
        (launch,) = report(source(code), executed={BASE: 1, BASE + 16: 1})
        return {place.code for place in launch.places.values()}

    body = LDG.to_bytes(2, "little") + bytes(14) + STG.to_bytes(2, "little") + bytes(14)
    assert digests(cubin(LDG, STG)) == {hashlib.blake2b(body, digest_size=16).hexdigest()}
    assert digests(cubin(LDG, STG, with_lines=False)) == digests(cubin(LDG, STG))
    operand = 1 << 12  # beside the bits that tell the instruction
    assert digests(cubin(LDG, STG | operand)) != digests(cubin(LDG, STG))


def test_names_nothing_by_a_code_that_is_not_known() -> None:
    (launch,) = report(source(CODE), executed={BASE: 1, BASE + 48: 1})
    assert named(launch)[BASE + 48] == Place(opcode=None, line="a.cu:9")


def test_names_no_opcode_of_a_device_whose_code_is_not_known() -> None:
    (launch,) = report(source(CODE, revision=FUTURE), executed=EXECUTED)
    assert named(launch)[BASE + 16] == Place(opcode=None, line="a.cu:7")


def test_needs_no_line_information() -> None:
    (launch,) = report(source(cubin(LDG, STG, with_lines=False)), executed={BASE: 1, BASE + 16: 1})
    assert [place.opcode for place in launch.places.values()] == ["LDG", "STG"]
    assert {place.line for place in launch.places.values()} == {None}


def test_takes_the_entry_that_has_code() -> None:
    # The profiler may write an entry again with nothing in it.
    (launch,) = report(source(CODE), source(b""), executed=EXECUTED)
    assert len(launch.places) == 3


@pytest.mark.parametrize(
    ("sources", "name"),
    [
        ([], b"k"),
        ([source(CODE, reference=2)], b"k"),
        ([source(CODE)], b"other"),
        ([source(b"no ELF file")], b"k"),
        ([b"\xff no message"], b"k"),
    ],
)
def test_knows_no_place_without_the_code(sources: list[bytes], name: bytes) -> None:
    (launch,) = report(*sources, executed=EXECUTED, name=name)
    assert launch.places == {}


def test_names_nothing_where_other_functions_were_called() -> None:
    # The function ends at 80: what lies behind it may as well lie before it.
    (launch,) = report(source(CODE), executed={BASE: 1, BASE + 80: 1})
    assert launch.places == {}


def test_trusts_no_begin_that_cannot_be_one() -> None:
    (launch,) = report(source(CODE), executed={BASE + 16: 1})
    assert launch.places == {}


def test_names_each_code_once() -> None:
    opcodes = load_opcodes()
    assert opcodes.majors == {7, 8, 9}
    assert {opcodes.names[code & 0x1FF] for code in (0x381, LDG)} == {"LDG"}
    assert all(0 <= code <= 0x1FF for code in opcodes.names)


HISTOGRAM, COUNTED = "sass__inst_executed_per_opcode", "inst_executed"


@pytest.mark.real
def test_counts_opcodes_as_the_profiler_does(real_data: Path) -> None:
    options = ReadOptions(keyed=frozenset({HISTOGRAM}), instructions=frozenset({COUNTED}))
    agree, differ = 0, set()
    for path in sorted((real_data / "ncu-rep").rglob("*")):
        try:
            records = list(ncu_report.read(Source.from_path(path), options))
        except InputError:
            continue
        for launch in records:
            if not isinstance(launch, Launch) or not launch.places:
                continue
            if HISTOGRAM in launch.keyed:
                keyed = launch.keyed[HISTOGRAM]
                is_same = counted(launch) == dict(zip(keyed.keys, keyed.values, strict=True))
                agree += is_same
                differ |= set() if is_same else {path.name}
    print(f"\n{agree} launches agree; others are in {differ}")
    assert agree > 100
    assert differ == set()


def counted(launch: Launch) -> dict[str | None, float]:
    found: dict[str | None, float] = {}
    for address, value in launch.instructions[COUNTED].items():
        place = launch.places.get(address)
        name = None if place is None else place.opcode
        found[name] = found.get(name, 0.0) + value
    return found


def texts_of(path: Path) -> dict[str, list[str]]:
    """Return the lines of the sources in a report, by file: a name, then tag, size and text."""
    data = path.read_bytes()
    found = {}
    for match in re.finditer(rb"/([\w.]+\.cu)\x12", data):
        size, at, shift = 0, match.end(), 0
        while True:
            size |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                break
        found[match[1].decode()] = data[at : at + size].decode(errors="replace").splitlines()
    return found


@pytest.mark.real
def test_finds_lines_that_access_arrays(real_data: Path) -> None:
    # Independent of the line program: the reports hold the text of the sources, too.
    options = ReadOptions(instructions=frozenset({COUNTED}))
    found = []
    for path in sorted((real_data / "ncu-rep" / "Lashi0812__CudaProgramming").rglob("*.ncu-rep")):
        texts = texts_of(path)
        for launch in ncu_report.read(Source.from_path(path), options):
            if isinstance(launch, Launch):
                found += [
                    texts[file][int(line) - 1]
                    for place in launch.places.values()
                    if place.line
                    for file, _, line in [place.line.rpartition(":")]
                    if file in texts and place.opcode in ("LDG", "STG", "LDS", "STS")
                ]
    assert len(found) >= 20
    assert all("[" in line for line in found)
