"""Which launches of a report are read in detail, and what is read of the others."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest

from advisor.errors import InputError
from advisor.model import Keyed, Launch, ReferenceFinding, Session
from advisor.readers import ReadOptions, Source
from advisor.readers.ncu import messages
from advisor.readers.ncu import report as ncu_report
from advisor.readers.ncu.sampling import spread
from seed.simulation.ncu_encoder import write_report

OPCODES, CURVE, WARPS = "opcodes", "curve", "inst_executed"
SAID = ReferenceFinding(rule="Occupancy", text="limited by registers", severity="warning")
LAUNCH = Launch(
    index=0,
    kernel_name="scale(float *)",
    grid=(3, 2, 1),
    block=(32, 4, 1),
    counters={"gpu__time_duration.sum": 5000.0, WARPS: 30.0},
    keyed={
        OPCODES: Keyed(keys=("FFMA",), values=(20.0,)),
        CURVE: Keyed(keys=("32", "64"), values=(16.0, 8.0)),
    },
    instructions={WARPS: {0x7F10: 20.0, 0x7F20: 10.0}},
    reference_findings=(SAID,),
)


def written(launches: Sequence[Launch]) -> bytes:
    stream = io.BytesIO()
    session = Session(profiler="ncu", profiler_version="2024.1.1.0")
    write_report(stream, session, [replace(x, index=i) for i, x in enumerate(launches)])
    return stream.getvalue()


def read(data: bytes, detailed: int | None, **more: bool) -> list[Launch]:
    options = ReadOptions(
        keyed=frozenset({OPCODES, CURVE}),
        curves=frozenset({CURVE}),
        instructions=frozenset({WARPS}),
        detailed=detailed,
        **more,
    )
    records = ncu_report.read(Source(name="a.ncu-rep", content=data), options)
    return [record for record in records if isinstance(record, Launch)]


def in_detail(launches: Sequence[Launch], most: int) -> list[int]:
    return [each.index for each in read(written(launches), most) if each.detailed]


@pytest.mark.parametrize(
    ("count", "most", "expected"),
    [
        (0, 3, []),
        (3, 3, [0, 1, 2]),
        (4, 3, [0, 1, 3]),  # steps of 1.5: 0, 1.5, 3
        (11, 3, [0, 5, 10]),
        (697, 4, [0, 232, 464, 696]),
        (5, 1, [0]),
    ],
)
def test_spreads_over_the_run(count: int, most: int, expected: list[int]) -> None:
    assert [*spread(range(count), most)] == expected


def test_reads_a_sample_of_each_kernel() -> None:
    other = replace(LAUNCH, kernel_name="add(float *)")
    # scale stands at 0, 1, 2, 3, 4 and 6, add at 5 and 7.
    launches = [LAUNCH, LAUNCH, LAUNCH, LAUNCH, LAUNCH, other, LAUNCH, other]
    assert in_detail(launches, 2) == [0, 5, 6, 7]


def test_reads_a_sample_of_each_launch_shape() -> None:
    wide, tall = replace(LAUNCH, grid=(9, 2, 1)), replace(LAUNCH, block=(32, 8, 1))
    assert in_detail([LAUNCH, wide, LAUNCH, tall, LAUNCH], 1) == [0, 1, 3]


def test_reads_a_sample_of_each_range() -> None:
    inside = replace(LAUNCH, nvtx=("forward",))
    behind = replace(LAUNCH, nvtx=("backward",))
    assert in_detail([inside, inside, behind, inside, behind], 1) == [0, 2]


def test_tells_kernels_apart_whose_metrics_fill_the_entry() -> None:
    # Beyond 4096 bytes only the first ones are read to tell the kernel.
    many = {f"counter_{number}": float(number) for number in range(800)}
    big = replace(LAUNCH, counters={**LAUNCH.counters, **many})
    other = replace(big, kernel_name="add(float *)")
    assert in_detail([big, other, big, other, big], 2) == [0, 1, 3, 4]


def test_tells_kernels_apart_by_names_longer_than_what_is_read_first() -> None:
    one = replace(LAUNCH, kernel_name=f"{'long' * 2000}<1>()")
    other = replace(LAUNCH, kernel_name=f"{'long' * 2000}<2>()")
    assert in_detail([one, other, one, other], 1) == [0, 1]


def test_reads_counters_and_opcodes_of_every_launch() -> None:
    counted = [replace(LAUNCH, counters={WARPS: float(n)}) for n in range(5)]
    whole = read(written(counted), None)
    for launch, of_all in zip(read(written(counted), 2), whole, strict=True):
        assert launch.counters == of_all.counters
        assert launch.keyed[OPCODES] == of_all.keyed[OPCODES]
        assert launch.detailed == (launch.index in (0, 4))
        if launch.detailed:
            assert launch == of_all
        else:
            assert (launch.instructions, launch.reference_findings) == ({}, ())
            assert CURVE not in launch.keyed


def test_reads_no_detail_where_none_is_wanted() -> None:
    launches = read(written([LAUNCH]), 0)
    assert [(each.detailed, each.instructions) for each in launches] == [(False, {})]


def test_says_what_is_damaged_as_without_a_sample() -> None:
    data = written([LAUNCH] * 5)
    cut = data[: len(data) - len(data) // 3]
    errors = []
    for detailed in (None, 1):
        with pytest.raises(InputError) as error:
            read(cut, detailed)
        errors.append(str(error.value))
    assert errors[0] == errors[1]
    kept = read(cut, 1, allow_truncated=True)
    assert [each.index for each in kept if each.detailed] == [0]


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"\x08\x05\x6a\x00", 2),  # 1: 5, then 13
        (b"\x0a\x02ab\x6a\x00", 4),  # 1: two bytes, then 13
        (b"\x09" + b"\xff" * 8 + b"\x0d" + b"\xff" * 4 + b"\x6a\x00", 14),  # eight bytes, four
        (b"\x08\x80\x01\x6a\x00", 3),  # 1: 128 in two bytes
        (b"\x0a\x7fab", None),  # runs past the end
        (b"\x08\x05", None),  # nothing else
        (b"\x0b\x6a", None),  # a group, which is in no report
        (b"\x80\x80", None),  # a tag without an end
        (b"", None),
    ],
)
def test_finds_the_first_field_of_a_number(data: bytes, size: int | None) -> None:
    assert messages.size_before(data, messages.METRICS) == size
