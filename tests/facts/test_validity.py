"""What makes a profile meaningless: each sign, and each edge, by hand."""

from __future__ import annotations

import pytest

from tests.support.facts import facts_of

# A thousand instructions of warps, 32,000 of threads: 20 % integer, 10 % branches, 10 % loads.
MIX = {
    "duration": 1e-3,
    "thread_instructions": 32000.0,
    "instructions_executed": 1000.0,
    "integer_instructions": 6400.0,
    "fp32_fused": 0.0,
    "fp32_unfused": 0.0,
    "branch_instructions": 100.0,
    "global_load_requests": 60.0,
    "global_store_requests": 40.0,
    "tensor_instructions": 0.0,
}
BUSY = {
    **MIX,
    "integer_instructions": 16000.0,
    "local_load_sectors": 0.0,
    "local_store_sectors": 0.0,
    "l1_bytes": 1.0,
    "registers_per_thread": 20.0,
}
PRIVATE = {"local_load_sectors": 50.0, "local_store_sectors": 0.0, "l1_bytes": 6400.0}


def test_what_neither_computes_nor_moves_data_copies() -> None:
    assert facts_of(**MIX)["move_share"] == pytest.approx(0.6)
    assert facts_of(**{**MIX, "tensor_instructions": 5.0})["move_share"] is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"stall_wait": 13.0, **MIX}, True),
        ({"stall_wait": 10.0, **MIX}, True),
        ({"stall_wait": 9.9, **MIX}, False),
        ({"stall_wait": 13.0}, True),
        # Few copies, and no variable in local memory: something else waits.
        ({**BUSY, "stall_wait": 13.0}, False),
        # Without stalls, copies and variables in local memory together tell; either alone does not.
        ({**MIX, **PRIVATE, "registers_per_thread": 20.0}, True),
        ({**MIX, **PRIVATE, "registers_per_thread": 64.0}, None),
        ({}, None),
        # The code tells where no stall was counted: it waits as the slowest instruction, or never.
        ({"code_wait": 14.4, "code_debug_information": 1.0}, True),
        ({"code_wait": 0.0, "code_debug_information": 1.0}, True),
        ({"code_wait": 0.5, "code_debug_information": 1.0}, False),
        # Debug information alone is none: some compilers' release builds have it.
        ({"code_wait": 3.0, "code_debug_information": 1.0}, False),
        ({**MIX, "code_debug_information": 1.0}, True),
        ({**MIX, "code_debug_information": 0.0}, None),
        ({**BUSY, "code_wait": 14.4, "code_debug_information": 1.0}, True),
        ({**BUSY, "code_wait": 14.4, "code_debug_information": 0.0}, False),
    ],
)  # fmt: skip
def test_two_signs_tell_a_build_for_debugging(
    values: dict[str, float], expected: bool | None
) -> None:
    assert facts_of(**values)["debug_build"] is expected


def test_a_kernel_that_stores_nothing_and_ends_at_once_does_no_work() -> None:
    ends = {"instructions_executed": 80.0, "grid_size": 4.0, "block_size": 64.0, "warp_size": 32.0}
    nothing = {**ends, "duration": 1e-5, "global_store_requests": 0.0, "global_atomics": 0.0}
    assert facts_of(**nothing)["instructions_per_warp"] == pytest.approx(10)
    assert facts_of(**nothing)["work_was_removed"] is True
    assert facts_of(**{**nothing, "global_store_requests": 1.0})["work_was_removed"] is False
    assert facts_of(**{**nothing, "global_atomics": 1.0})["work_was_removed"] is False
    assert facts_of(**{**nothing, "instructions_executed": 160.0})["work_was_removed"] is False
    assert facts_of(**{**nothing, "global_atomics": None})["work_was_removed"] is None
    assert facts_of(**ends, duration=1e-5)["work_was_removed"] is None


def test_one_thread_is_one_thread() -> None:
    assert facts_of(grid_size=1.0, block_size=1.0)["single_thread"] is True
    assert facts_of(grid_size=2.0, block_size=1.0)["single_thread"] is False
    assert facts_of(grid_size=1.0)["single_thread"] is None
