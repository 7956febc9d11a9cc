"""The container, from bytes put together by hand: no code of the project has a part in them."""

from __future__ import annotations

import itertools
import logging
import struct

import pytest

from advisor.errors import InputError
from advisor.model import Launch, Record, ReportedDevice, Session, Skipped
from advisor.readers import ReadOptions, Source
from advisor.readers.ncu import report as ncu_report

MAGIC = b"\x4e\x56\x52\x00"


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, content: bytes | int | float) -> bytes:
    """Encode one protobuf field: bytes by length, integers as varints, floats as doubles."""
    if isinstance(content, bytes):
        return varint(number << 3 | 2) + varint(len(content)) + content
    if isinstance(content, float):
        return varint(number << 3 | 1) + struct.pack("<d", content)
    return varint(number << 3) + varint(content)


def sized(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def block(header: bytes = b"", results: tuple[bytes, ...] = ()) -> bytes:
    payload = b"".join(sized(result) for result in results)
    counts = field(1, 0) + field(2, len(results)) + field(5, len(payload)) + field(7, 0)
    return sized(counts + header) + payload


def result(name: bytes, *metrics: bytes) -> bytes:
    grid = field(1, 4) + field(2, 1) + field(3, 1)
    return (
        field(6, name)
        + field(10, grid)
        + field(11, field(1, 64) + field(2, 1) + field(3, 1))
        + b"".join(field(13, metric) for metric in metrics)
        + field(14, 1_700_000_000)
        + field(22, 1)
        + field(23, 7)
    )


FILE_HEADER = sized(field(1, 7))
NAMES = block(field(4, field(1, b"launch__grid_size") + field(1, b"dram__bytes.sum")))
GRID_SIZE = field(1, 0) + field(2, field(5, 4))
BYTES = field(1, 1) + field(2, field(3, 2.5))
FIRST = block(results=(result(b"copy", GRID_SIZE, BYTES),))
SECOND = block(results=(result(b"scale", GRID_SIZE),))
DEVICE = block(field(3, field(1, 99) + field(6, field(1, 0) + field(2, b"GPU Zero"))))
REPORT = MAGIC + FILE_HEADER + NAMES + FIRST + DEVICE + SECOND
BLOCK_EDGES = list(itertools.accumulate(map(len, (MAGIC + FILE_HEADER, NAMES, FIRST, DEVICE))))


def read(data: bytes, *, allow_truncated: bool = False) -> list[Record]:
    options = ReadOptions(allow_truncated=allow_truncated)
    return list(ncu_report.read(Source(name="a.ncu-rep", content=data), options))


def test_reads_a_report_made_by_hand() -> None:
    session, first, second = read(REPORT)
    assert first == Launch(
        index=0,
        kernel_name="copy",
        grid=(4, 1, 1),
        block=(64, 1, 1),
        device=0,
        device_name="GPU Zero",
        context=1,
        stream=7,
        started_at=1_700_000_000 * 10**9,
        counters={"launch__grid_size": 4.0, "dram__bytes.sum": 2.5},
    )
    assert isinstance(second, Launch)
    assert (second.index, second.kernel_name, second.process) == (1, "scale", 99)
    assert session == Session(
        profiler="ncu",
        runtime="CUDA",
        clock_epoch="utc",
        devices=(ReportedDevice(id=0, name="GPU Zero"),),
    )


def test_passes_over_what_a_payload_holds_beyond_its_entries() -> None:
    extra = sized(b"of a later kind")
    payload = sized(result(b"copy")) + extra
    counts = field(2, 1) + field(5, len(payload)) + field(10, 1)
    records = read(MAGIC + FILE_HEADER + sized(counts) + payload + NAMES + SECOND)
    names = [record.kernel_name for record in records if isinstance(record, Launch)]
    assert names == ["copy", "scale"]


def test_reads_a_container_of_another_version_and_warns(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        records = read(MAGIC + sized(field(1, 8)) + NAMES + FIRST)
    assert len(records) == 2
    assert "container version 8" in caplog.text


@pytest.mark.parametrize("cut", range(len(REPORT)))
def test_refuses_or_takes_what_is_whole_of_a_cut_report(cut: int) -> None:
    """A cut between two blocks cannot be seen; any other names how many launches are whole."""
    whole = int(cut >= BLOCK_EDGES[2])
    data = REPORT[:cut]
    if cut in BLOCK_EDGES:
        assert sum(isinstance(record, Launch) for record in read(data)) == whole
        return
    with pytest.raises(InputError) as caught:
        read(data)
    error = caught.value
    assert error.at is not None
    assert error.at.offset is not None
    assert 0 <= error.at.offset <= len(data)
    if whole:
        assert error.problem.endswith("; 1 launch before it is whole")
        assert "--allow-truncated" in str(error.hint)
        session, launch, skipped = read(data, allow_truncated=True)
        assert isinstance(launch, Launch)
        assert isinstance(skipped, Skipped)
        assert isinstance(session, Session)
    else:
        assert "no whole launch" in str(error.hint)
        with pytest.raises(InputError):
            read(data, allow_truncated=True)


def test_names_offset_block_and_number_of_whole_launches() -> None:
    with pytest.raises(InputError) as caught:
        read(REPORT[:-10])
    start = len(REPORT) - len(sized(result(b"scale", GRID_SIZE))) + 4
    need = len(result(b"scale", GRID_SIZE))
    assert str(caught.value) == (
        f"a.ncu-rep: at byte {start}: the result 0 of block 3 needs {need} bytes and runs past "
        f"the end of the file of {len(REPORT) - 10} bytes; 1 launch before it is whole"
    )


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the first four bytes are not NVR"),
        (b"NVS\0" + REPORT[4:], "the first four bytes are not NVR"),
        (MAGIC, "size of the file header needs 4 bytes"),
        (MAGIC + b"\xff\xff\xff\xff" + REPORT[8:], "file header needs 4,294,967,295 bytes"),
        (MAGIC + FILE_HEADER + bytes(8), "header of block 0 has 0 bytes, expected 1 to"),
        (MAGIC + FILE_HEADER + sized(b"\xff\xff"), "header of block 0 is damaged"),
        (MAGIC + FILE_HEADER + block(results=(b"\x6a\x7f",)), "result of block 0 is damaged"),
        (MAGIC + FILE_HEADER + block(results=(b"",)), "result 0 of block 0 has 0 bytes"),
        (MAGIC + FILE_HEADER + sized(field(2, 1) + field(5, 0)) + NAMES, "the end of its block"),
        (MAGIC + FILE_HEADER + sized(field(1, 2**32 - 1)) + NAMES, "the end of its block"),
    ],
)
def test_refuses_what_is_no_whole_container(data: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(data)


def test_reads_nothing_by_a_size_that_the_file_cannot_hold() -> None:
    """A result that claims 4 GB is refused before any of it is asked for."""
    header = sized(field(2, 1) + field(5, 2**32 - 1))
    data = MAGIC + FILE_HEADER + header + struct.pack("<I", 2**32 - 1) + b"x" * 100
    with pytest.raises(InputError, match=r"needs 4,294,967,295 bytes and runs past the end"):
        read(data)
