"""Damaged reports: only an InputError or plain values may come of them."""

from __future__ import annotations

import io
import math
import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.model import Keyed, Launch, Record, ReferenceFinding, ReportedDevice, Session
from advisor.readers import ReadOptions, Source
from advisor.readers.ncu import report as ncu_report
from seed.simulation.ncu_encoder import write_report

OPTIONS = ReadOptions(keyed=frozenset({"opcodes"}), instructions=frozenset({"inst_executed"}))
TAKING_WHAT_IS_WHOLE = ReadOptions(
    allow_truncated=True, keyed=OPTIONS.keyed, instructions=OPTIONS.instructions
)


def sample() -> bytes:
    session = Session(
        profiler="ncu",
        profiler_version="2024.1.1.0",
        command_line="ncu ./a",
        devices=(ReportedDevice(id=0, name="G", attributes={"warp_size": 32.0}),),
    )
    launches = [
        Launch(
            index=index,
            kernel_name=f"kernel{index}(int)",
            grid=(4, 1, 1),
            block=(32, 1, 1),
            nvtx=("step",),
            clock_locked=True,
            counters={"launch__grid_size": 4, "launch__device_id": 0, f"extra{index}": 1.5},
            texts={"breakdown:t": "a,b"},
            keyed={"opcodes": Keyed(keys=("FFMA",), values=(2.0,))},
            instructions={"inst_executed": {0x7F10: 3.0}},
            reference_findings=(
                ReferenceFinding(rule="R", text="t", estimate=0.5, focus=(("extra0", 1.5),)),
            ),
        )
        for index in range(3)
    ]
    stream = io.BytesIO()
    write_report(stream, session, launches)
    return stream.getvalue()


REPORT = sample()


def size_fields(data: bytes) -> list[int]:
    """Return where the sizes of headers and results stand, found without the reader.

    A size is followed by that many bytes and then by another size or the end; the sample holds
    nothing else outside its messages.
    """
    position = 4
    found = []
    while position < len(data):
        found.append(position)
        (size,) = struct.unpack_from("<I", data, position)
        position += 4 + size
    assert position == len(data)
    return found


def read(data: bytes, options: ReadOptions) -> list[Record] | None:
    try:
        return list(ncu_report.read(Source(name="x", content=data), options))
    except InputError:
        return None


def check(data: bytes) -> None:
    """Read ``data`` twice; whatever is accepted has only values that a database can take."""
    for options in (OPTIONS, TAKING_WHAT_IS_WHOLE):
        records = read(data, options)
        if records is not None:
            assert [type(record) for record in records].count(Session) == 1
            assert isinstance(records[0], Session)
            for record in records:
                if isinstance(record, Launch):
                    assert_plain(record)


def assert_plain(launch: Launch) -> None:
    lists = [keyed.values for keyed in launch.keyed.values()]
    lists += [tuple(values.values()) for values in launch.instructions.values()]
    numbers = [*launch.counters.values(), *(number for values in lists for number in values)]
    assert all(math.isfinite(number) for number in numbers)
    sizes = [*(launch.grid or ()), *(launch.block or ()), launch.device or 0]
    assert all(0 <= size < 2**32 for size in sizes)
    texts = [launch.kernel_name, *launch.texts.values(), *launch.texts, *launch.counters]
    assert all("\0" not in text and text.encode() is not None for text in texts)
    assert launch.kernel_name


positions = st.integers(0, len(REPORT) - 1)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(positions, st.integers(0, 255)), min_size=1, max_size=8))
def test_survives_changed_bytes(changes: list[tuple[int, int]]) -> None:
    data = bytearray(REPORT)
    for position, byte in changes:
        data[position] = byte
    check(bytes(data))


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(size_fields(REPORT)),
    st.one_of(st.integers(0, 2**32 - 1), st.integers(0, len(REPORT))),
)
def test_survives_any_size(position: int, size: int) -> None:
    data = bytearray(REPORT)
    struct.pack_into("<I", data, position, size)
    check(bytes(data))


@settings(max_examples=100, deadline=None)
@given(positions, positions, st.integers(0, len(REPORT)))
def test_survives_parts_moved_and_repeated(start: int, end: int, target: int) -> None:
    part = REPORT[min(start, end) : max(start, end)]
    check(REPORT[:target] + part + REPORT[target:])


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_survives_any_bytes_after_the_file_header(tail: bytes) -> None:
    check(REPORT[:10] + tail)


def test_survives_every_block_edge_in_another_order() -> None:
    edges = [10, *size_fields(REPORT)[1:], len(REPORT)]
    for first, second in zip(edges, edges[2:], strict=False):
        check(REPORT[:first] + REPORT[second:])
