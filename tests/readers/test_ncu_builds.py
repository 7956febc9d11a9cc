"""Launches of one name and shape on a page: which ran other code, though no table says how."""

from __future__ import annotations

import pytest

from advisor.model import Launch
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import text as ncu_text

REGISTERS = "launch__registers_per_thread"
RULER = "    -------------------- --------------- ------------\n"
HEAD = f"{RULER}    Metric Name              Metric Unit Metric Value\n{RULER}"
KERNEL = "  tally_rows(float *) (48, 1, 1)x(192, 1, 1), Context 1, Stream 7, Device 0, CC 8.9\n"
SLOW = {"Duration": ("us", 70), "L2 Cache Throughput": ("%", 12), "Memory Throughput": ("%", 81)}
FAST = {"Duration": ("us", 41), "L2 Cache Throughput": ("%", 25), "Memory Throughput": ("%", 50)}
HARDLY = {"Duration": ("us", 66), "L2 Cache Throughput": ("%", 25), "Memory Throughput": ("%", 77)}
MORE = {"L1/TEX Cache Throughput": ("%", 33), "DRAM Throughput": ("%", 20)}


def block(process: int, values: dict[str, tuple[str, int]], registers: int | None = None) -> str:
    rows = "".join(
        f"    {label:<24}{unit:>12}{value:>13}\n" for label, (unit, value) in values.items()
    )
    page = f"[{process}] app@127.0.0.1\n{KERNEL}    Section: GPU Speed Of Light Throughput\n"
    page += f"{HEAD}{rows}{RULER}\n"
    if registers is not None:
        told = f"    Registers Per Thread     register/thread{registers:>10}\n"
        page += f"    Section: Launch Statistics\n{HEAD}{told}{RULER}\n"
    return page


def builds(*blocks: str) -> list[int]:
    source = Source(name="a.md", content="\n".join(blocks).encode())
    records = ncu_text.read(source, ReadOptions(builds=(REGISTERS,)))
    return [record.build for record in records if isinstance(record, Launch)]


def test_values_that_are_far_apart_tell_a_build_without_registers_from_a_known_one() -> None:
    assert builds(block(11, SLOW, 40), block(12, FAST)) == [0, 1]
    assert builds(block(11, SLOW), block(12, FAST, 40)) == [0, 1]
    assert builds(block(11, SLOW), block(12, FAST), block(13, FAST), block(14, SLOW)) == [
        0,
        1,
        1,
        0,
    ]


@pytest.mark.parametrize("between", ["## Wider\n", "$ ncu --set basic ./app 7\n"])
def test_a_heading_or_a_command_parts_what_was_captured(between: str) -> None:
    assert builds(block(11, SLOW, 40), between, block(11, FAST)) == [0, 1]


def test_launches_of_one_capture_are_of_one_build() -> None:
    assert builds(block(11, SLOW), block(11, FAST), block(11, FAST)) == [0, 0, 0]
    assert builds(block(11, SLOW), block(11, FAST), block(12, FAST)) == [0, 0, 0]


def test_nothing_speaks_against_a_build_where_few_values_are_far_apart() -> None:
    assert builds(block(11, SLOW, 40), block(12, HARDLY)) == [0, 0]
    assert builds(block(11, SLOW, 40), block(12, MORE)) == [0, 0]


def test_registers_decide_where_both_tell_them() -> None:
    assert builds(block(11, SLOW, 40), block(12, FAST, 40)) == [0, 0]
