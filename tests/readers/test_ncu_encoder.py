"""The encoder's containers, taken apart by a decoder that shares nothing with the project."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest

from advisor.model import Keyed, Launch, ReferenceFinding, ReportedDevice, Session
from seed.simulation.ncu_encoder import write_report

SESSION = Session(
    profiler="ncu",
    profiler_version="2024.1.1.0",
    driver_version="550.54",
    command_line="ncu ./a",
    devices=(ReportedDevice(id=0, name="GPU Zero", attributes={"warp_size": 32.0}),),
)

Fields = list[tuple[int, int | bytes]]


def varint(data: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[position]
        number |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return number, position


def fields(data: bytes) -> Fields:
    """Decode one protobuf message: (number, integer or raw bytes) in stored order."""
    found: Fields = []
    position = 0
    while position < len(data):
        tag, position = varint(data, position)
        if tag & 7 == 0:
            content: int | bytes
            content, position = varint(data, position)
        else:
            size = 8
            if tag & 7 == 2:
                size, position = varint(data, position)
            content = data[position : position + size]
            position += size
        found.append((tag >> 3, content))
    return found


def all_of(message: Fields, number: int) -> list[bytes]:
    return [content for n, content in message if n == number and isinstance(content, bytes)]


def number_of(message: Fields, number: int) -> int | None:
    return next((c for n, c in message if n == number and isinstance(c, int)), None)


def inside(message: Fields, *path: int) -> Fields:
    """Return the first message along a path of field numbers."""
    for number in path:
        message = fields(all_of(message, number)[0])
    return message


def sized(data: bytes, position: int) -> tuple[bytes, int]:
    (size,) = struct.unpack_from("<I", data, position)
    return data[position + 4 : position + 4 + size], position + 4 + size


def blocks(data: bytes) -> list[tuple[Fields, list[bytes]]]:
    """Return header and entries of each block; every byte of the file is accounted for."""
    assert data[:4] == b"NVR\0"
    header, position = sized(data, 4)
    assert fields(header) == [(1, 7)]
    found = []
    while position < len(data):
        raw, position = sized(data, position)
        block = fields(raw)
        end = position + (number_of(block, 5) or 0)
        entries = []
        while position < end:
            entry, position = sized(data, position)
            entries.append(entry)
        assert position == end
        assert len(entries) == sum(number_of(block, kind) or 0 for kind in (1, 2, 7))
        found.append((block, entries))
    return found


def written(session: Session, *launches: Launch) -> list[tuple[Fields, list[bytes]]]:
    stream = io.BytesIO()
    write_report(stream, session, launches)
    return blocks(stream.getvalue())


def names_in(header: Fields) -> list[bytes]:
    return all_of(inside(header, 4), 1) if all_of(header, 4) else []


def test_adds_only_new_names_with_each_launch() -> None:
    first = Launch(index=0, kernel_name="k", counters={"a": 1.0, "b": 2.0})
    second = Launch(index=1, kernel_name="k", counters={"b": 3.0, "c": 4.0})
    tables = [names_in(header) for header, entries in written(SESSION, first, second) if entries]
    assert tables == [[b"a", b"b"], [b"c"]]


def test_numbers_names_through_all_tables() -> None:
    launches = [Launch(index=0, kernel_name="k", counters={name: 1.5}) for name in "abc"]
    ids = [
        number_of(fields(metric), 1) or 0
        for _, entries in written(SESSION, *launches)
        for entry in entries
        for metric in all_of(fields(entry), 13)
    ]
    assert ids == [0, 1, 2]


def test_writes_session_pieces_behind_the_first_launch() -> None:
    found = written(SESSION, Launch(index=0, kernel_name="k", process=77))
    kinds = ["launch" if entries else "session" for _, entries in found]
    assert kinds == ["session", "launch", "session", "session", "session", "session"]
    assert number_of(inside(found[0][0], 3), 1) == 77
    device = inside(found[2][0], 3, 6)
    assert (number_of(device, 1) or 0, all_of(device, 2)) == (0, [b"GPU Zero"])
    versions = [inside(header, 3, 8) for header, _ in found[3:5]]
    assert versions == [
        [(1, b"Display Driver Version"), (2, b"550.54")],
        [(1, b"Nsight Compute Target"), (2, b"2024.1.1.0")],
    ]
    assert all_of(inside(found[5][0], 3), 11) == [b"ncu ./a"]


def test_marks_a_simulated_session() -> None:
    header, _ = written(Session(profiler="ncu", simulated=True))[-1]
    assert inside(header, 3, 5, 1) == [(1, b"advisor.simulated"), (2, b"true")]
    assert all_of(inside(header, 3), 7)[0].startswith(b"Simulated:")


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (3, [(5, 3)]),
        (0, [(5, 0)]),
        (2.5, [(3, struct.pack("<d", 2.5))]),
        (0.0, [(3, struct.pack("<d", 0.0))]),
    ],
)
def test_stores_integers_as_integers(value: float, stored: Fields) -> None:
    _, entries = written(SESSION, Launch(index=0, kernel_name="k", counters={"a": value}))[1]
    assert inside(fields(entries[0]), 13, 2) == stored


def test_stores_texts_keys_and_addresses() -> None:
    launch = Launch(
        index=0,
        kernel_name="k",
        texts={"breakdown:x": "a,b"},
        keyed={"opcodes": Keyed(keys=("FFMA", "64"), values=(1.5, 2.5))},
        instructions={"inst": {0x7F10: 3.5}},
    )
    _, entries = written(SESSION, launch)[1]
    text, opcodes, inst = [fields(metric) for metric in all_of(fields(entries[0]), 13)]
    assert inside(text, 2) == [(1, b"a,b")]
    keys = [inside(fields(instance), 1) for instance in all_of(opcodes, 3)]
    assert keys == [[(1, b"FFMA")], [(5, 64)]]
    assert inside(inst, 3, 1) == [(5, 0x7F10)]
    assert inside(inst, 3, 2) == [(3, struct.pack("<d", 3.5))]


def test_stores_severity_and_estimate_as_the_profiler_does() -> None:
    finding = ReferenceFinding(
        rule="R", section="S", severity="optimization", text="t", estimate=0.25, scope="global"
    )
    launch = Launch(index=0, kernel_name="k", reference_findings=(finding,))
    _, entries = written(SESSION, launch)[1]
    item = inside(fields(entries[0]), 19, 3, 1)
    assert number_of(inside(item, 1), 2) == 4
    assert inside(item, 10) == [(1, 2), (2, struct.pack("<d", 25.0))]


@pytest.mark.parametrize(
    ("kernel_name", "function"),
    [("void scale<float>(float *, int)", b"scale"), ("ns::add(int)", b"ns::add"), ("k", b"k")],
)
def test_keeps_the_bare_name_beside_the_demangled_one(kernel_name: str, function: bytes) -> None:
    _, entries = written(SESSION, Launch(index=0, kernel_name=kernel_name))[1]
    assert all_of(fields(entries[0]), 6) == [function]
    assert all_of(fields(entries[0]), 7) == [kernel_name.encode()]


def test_writes_a_report_of_no_launch(tmp_path: Path) -> None:
    path = tmp_path / "empty.ncu-rep"
    write_report(path, SESSION, [])
    assert not any(entries for _, entries in blocks(path.read_bytes()))
