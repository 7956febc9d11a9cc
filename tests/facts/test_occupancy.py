"""Occupancy, worked out by hand from the published limits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from advisor.resources import data_dir
from tests.support.facts import facts_of

# Compute capability 8.0: 64 warps, 32 blocks, 65,536 registers in 4 parts, 1 KiB a block reserved.
A100 = {
    "warp_size": 32.0,
    "max_warps_per_sm": 64.0,
    "max_blocks_per_sm": 32.0,
    "registers_per_sm": 65536.0,
    "sub_partitions": 4.0,
    "register_allocation_unit": 256.0,
    "shared_allocation_unit": 128.0,
    "shared_reserved_per_block": 1024.0,
    "shared_memory_configured": 102400.0,
    "shared_memory_static": 0.0,
    "shared_memory_dynamic": 0.0,
    "sm_count": 108.0,
}


def test_warp_slots_limit_a_light_kernel() -> None:
    facts = facts_of(**A100, block_size=256.0, registers_per_thread=32.0)
    assert facts["warps_per_block"] == 8
    assert facts["blocks_by_warps"] == 8
    assert facts["blocks_by_registers"] == 8
    assert facts["blocks_per_sm"] == 8
    assert facts["occupancy_theoretical"] == 1
    assert facts["occupancy_limiter"] == "warps"


def test_registers_limit_by_warps_of_a_partition() -> None:
    # 72 × 32 = 2,304 registers a warp; 16,384 / 2,304 = 7 warps a part, 28 in all, 3 blocks of 8.
    facts = facts_of(**A100, block_size=256.0, registers_per_thread=72.0)
    assert facts["registers_per_warp"] == 2304
    assert facts["blocks_by_registers"] == 3
    assert facts["occupancy_theoretical"] == pytest.approx(24 / 64)
    assert facts["occupancy_limiter"] == "registers"


def test_registers_of_a_warp_are_rounded_up() -> None:
    # 33 × 32 = 1,056, allocated 1,280; 16,384 / 1,280 = 12 warps a partition, 48 in all.
    facts = facts_of(**A100, block_size=128.0, registers_per_thread=33.0)
    assert facts["registers_per_warp"] == 1280
    assert facts["blocks_by_registers"] == 12


def test_shared_memory_counts_the_reserve_and_is_rounded_up() -> None:
    # 20,000 + 1,024 = 21,024 → 21,120; 102,400 / 21,120 = 4 blocks.
    launch = A100 | {"shared_memory_static": 20000.0}
    facts = facts_of(**launch, block_size=128.0, registers_per_thread=32.0)
    assert facts["shared_per_block"] == 21120
    assert facts["blocks_per_sm"] == 4
    assert facts["occupancy_limiter"] == "shared memory"
    assert facts["occupancy_theoretical"] == pytest.approx(0.25)


def test_sizes_that_a_page_rounds_hold_as_many_blocks() -> None:
    # 16 KiB and the driver's 1 KiB a block, printed as 16.38 and 1.02 Kbyte: 16 blocks, not 15.
    launch = A100 | {"shared_memory_driver": 1020.0, "shared_memory_configured": 16380.0}
    facts = facts_of(**launch, block_size=32.0, registers_per_thread=16.0)
    assert facts["blocks_by_shared_memory"] == 16


def test_a_limit_that_is_printed_stands_where_the_size_in_force_is_unknown() -> None:
    launch = A100 | {"shared_memory_static": 40_000.0, "occupancy_limit_shared_memory": 1.0}
    launch |= {"shared_memory_configured": None, "shared_memory_per_sm": None}
    facts = facts_of(**launch, block_size=128.0, registers_per_thread=32.0)
    assert facts["blocks_by_shared_memory"] == 1


def test_clusters_reach_a_part_of_the_places() -> None:
    # 16,384 / (8 × 32 × 72 / 4) allows 3 blocks, so 324 places; 36 clusters of 8 take 288 of them.
    launch = {**A100, "block_size": 256.0, "registers_per_thread": 72.0}
    facts = facts_of(**launch, cluster_size=8.0, clusters_at_once=36.0)
    assert facts["cluster_places"] == 288
    assert facts["cluster_reach"] == pytest.approx(288 / 324)
    assert facts_of(**launch, cluster_size=1.0, clusters_at_once=36.0)["cluster_places"] is None
    assert facts_of(**launch, cluster_size=0.0)["cluster_reach"] is None


def test_block_slots_limit_tiny_blocks() -> None:
    facts = facts_of(**A100, block_size=32.0, registers_per_thread=16.0)
    assert facts["blocks_per_sm"] == 32
    assert facts["occupancy_limiter"] == "blocks"
    assert facts["occupancy_theoretical"] == pytest.approx(0.5)


def test_unknown_rounding_of_shared_memory_leaves_occupancy_unknown() -> None:
    launch = A100 | {"shared_memory_static": 1000.0, "shared_allocation_unit": None}
    facts = facts_of(**launch, block_size=128.0, registers_per_thread=32.0)
    assert facts["occupancy_theoretical"] is None


@pytest.mark.parametrize(
    ("achieved", "theoretical"), [(0.11, 0.125), (0.1, 0.125), (0.098, None), (0.05, None)]
)
def test_as_many_blocks_as_registers_allow_leave_no_lower_limit(
    achieved: float, theoretical: float | None
) -> None:
    # 255 registers leave 2 warps a partition, 4 blocks of 2 warps. Above 6 of 64 warps on the mean,
    # 0.094 and half a percent, four blocks were there at a time.
    launch = A100 | {"shared_memory_static": None, "shared_memory_dynamic": None}
    facts = facts_of(
        **launch, block_size=64.0, registers_per_thread=255.0, occupancy_achieved=achieved
    )
    assert facts["blocks_by_registers"] == 4
    assert facts["occupancy_theoretical"] == theoretical
    warps = facts_of(**launch, block_size=64.0, registers_per_thread=16.0, occupancy_achieved=0.99)
    assert warps["occupancy_theoretical"] is None  # warps allow least, and shared memory may


@pytest.mark.parametrize(
    ("reported", "limiter"), [(0.1875, "registers"), (0.25, None), (None, None)]
)
def test_registers_of_a_warp_tell_the_limit_where_blocks_are_unknown(
    reported: float | None, limiter: str | None
) -> None:
    # 150 × 32 = 4,800, allocated 4,864; 16,384 / 4,864 = 3 warps a partition, 12 of 64.
    launch = {**A100, "registers_per_thread": 150.0, "occupancy_theoretical_reported": reported}
    assert facts_of(**launch)["occupancy_limiter"] == limiter
    full = {**A100, "registers_per_thread": 16.0, "occupancy_theoretical_reported": 1.0}
    assert facts_of(**full)["occupancy_limiter"] is None


def test_a_device_without_limits_uses_what_the_report_says() -> None:
    facts = facts_of(
        warp_size=32.0,
        max_warps_per_sm=64.0,
        schedulers_per_sm=4.0,
        registers_per_sm=65536.0,
        occupancy_limit_blocks=32.0,
        shared_memory_static=0.0,
        shared_memory_dynamic=0.0,
        block_size=512.0,
        registers_per_thread=16.0,
    )
    assert facts["blocks_by_registers"] == 8
    assert facts["occupancy_theoretical"] == 1


@pytest.mark.parametrize(("stored", "mismatch"), [(1.0, False), (0.996, False), (0.98, True)])
def test_a_stored_occupancy_that_differs_is_told(stored: float, mismatch: bool) -> None:
    launch = A100 | {"occupancy_theoretical_reported": stored}
    facts = facts_of(**launch, block_size=256.0, registers_per_thread=32.0)
    assert facts["occupancy_mismatch"] is mismatch


@pytest.mark.parametrize(
    ("achieved", "disagree"), [(0.75, False), (0.787, False), (0.788, True), (1.3, True)]
)
def test_more_warps_than_fit_tell_that_passes_disagree(achieved: float, disagree: bool) -> None:
    facts = facts_of(occupancy_theoretical_reported=0.75, occupancy_achieved=achieved)
    assert facts["passes_disagree"] is disagree


@pytest.mark.parametrize(
    ("active", "occupancy", "disagree"),
    [
        (1021.0, 0.8, True),
        (1019.0, 0.8, False),  # as much as passes usually differ
        (900.0, 1.3, True),
        (1021.0, None, True),
        (1019.0, None, False),
        (None, 1.3, True),
    ],
)
def test_more_active_than_elapsed_cycles_tell_that_passes_disagree(
    active: float | None, occupancy: float | None, disagree: bool
) -> None:
    given = {"sm_active_cycles": active, "occupancy_achieved": occupancy}
    values = {name: value for name, value in given.items() if value is not None}
    assert facts_of(sm_elapsed_cycles=1000.0, **values)["passes_disagree"] is disagree


def test_no_launch_holds_more_than_all_warps() -> None:
    assert facts_of(occupancy_achieved=1.04)["passes_disagree"] is False
    assert facts_of(occupancy_achieved=1.06)["passes_disagree"] is True
    assert facts_of(occupancy_theoretical_reported=1.0)["passes_disagree"] is None


def test_the_gap_is_theoretical_less_achieved() -> None:
    facts = facts_of(occupancy_theoretical_reported=0.75, occupancy_achieved=0.5)
    assert facts["occupancy_gap"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("waves", "full", "tail"), [(1.25, 1, 0.375), (1.0, 1, 0.0), (0.25, 0, 0.75), (3.5, 3, 0.125)]
)
def test_the_last_wave_leaves_slots_empty(waves: float, full: float, tail: float) -> None:
    facts = facts_of(waves_per_sm=waves)
    assert facts["full_waves"] == full
    assert facts["tail_share"] == pytest.approx(tail)


def test_waves_follow_from_the_grid_where_the_report_has_none() -> None:
    # 8 blocks × 108 multiprocessors = 864 at once; 1,080 blocks are 1.25 waves.
    facts = facts_of(**A100, block_size=256.0, registers_per_thread=32.0, grid_size=1080.0)
    assert facts["waves"] == pytest.approx(1.25)
    assert facts["blocks_per_multiprocessor_of_grid"] == 10


@pytest.mark.parametrize(
    ("waves", "told", "taken"),
    # 1.5 waves take all places; waves printed as 0.00 tell nothing, 20 blocks on 80 SMs do.
    [
        (0.25, {}, 0.25),
        (1.5, {}, 1.0),
        (0.0, {}, None),
        (0.0, {"sm_count": 80.0, "grid_size": 20.0}, 0.25),
    ],
)
def test_places_are_those_of_one_wave(
    waves: float, told: dict[str, float], taken: float | None
) -> None:
    assert facts_of(waves_per_sm=waves, **told)["places_taken"] == taken


@pytest.mark.parametrize(
    ("blocks", "threads", "known", "small"),
    [
        (64.0, 32.0, {}, True),  # one warp for each of 16 x 4 schedulers
        (65.0, 32.0, {}, False),
        (15.0, 1024.0, {}, True),
        (16.0, 1024.0, {}, False),
        (15.0, 1024.0, {"sm_count": 8.0}, False),
        (64.0, 32.0, {"waves_per_sm": 2.0}, False),
    ],
)
def test_a_grid_is_too_small_for_the_smallest_device(
    blocks: float, threads: float, known: dict[str, float], small: bool
) -> None:
    facts = facts_of(
        grid_size=blocks, block_size=threads, warp_size=32.0, sub_partitions=4.0,
        fewest_sm_count=16.0, **known,
    )  # fmt: skip
    assert facts["small_anywhere"] is small


def test_a_device_without_a_name_has_as_many_as_the_smallest_known() -> None:
    limits = yaml.safe_load((data_dir("seed") / "occupancy-limits.yaml").read_text())
    known = [each["fewest_multiprocessors"] for each in _with(limits, "fewest_multiprocessors")]
    facts = facts_of(grid_size=min(known) - 1.0, block_size=64.0)
    assert (facts["least_sm_count"], facts["small_anywhere"]) == (min(known), True)
    assert facts["places_taken"] == pytest.approx(1 - 1 / min(known))
    assert facts_of(grid_size=float(min(known)), block_size=64.0)["small_anywhere"] is False


def _with(node: object, key: str) -> Iterator[dict[str, float]]:
    if isinstance(node, dict):
        if key in node:
            yield node
        for each in node.values():
            yield from _with(each, key)


def test_a_block_of_33_threads_wastes_31_lanes_of_64() -> None:
    facts = facts_of(block_size=33.0, warp_size=32.0)
    assert facts["partial_warp_share"] == pytest.approx(31 / 64)


@pytest.mark.parametrize(("threads", "balance"), [(32, 0.25), (128, 1), (160, 0.625), (384, 1)])
def test_a_warp_too_many_loads_one_scheduler_more(threads: float, balance: float) -> None:
    # Five warps on four schedulers are 2, 1, 1, 1: 1.25 on the mean one of at most 2.
    assert facts_of(**A100, block_size=threads)["scheduler_balance"] == balance


@pytest.mark.parametrize(("blocks", "at_once"), [(100, 1), (108, 1), (109, 2), (10_000, 8)])
def test_no_more_blocks_are_at_once_than_fit_or_than_there_are(
    blocks: float, at_once: float
) -> None:
    facts = facts_of(**A100, block_size=256.0, registers_per_thread=32.0, grid_size=blocks)
    assert facts["blocks_at_once"] == at_once


def test_the_next_step_of_occupancy_fits() -> None:
    # 4 blocks of 8 warps: 64 registers × 32 = 2,048 a warp, 8 warps in each quarter of 65,536.
    # One block more is 40 warps, 10 a quarter: 16,384 / 10 = 1,638, in units of 256 that is 1,536,
    # which is 48 a thread.
    facts = facts_of(
        block_size=256.0,
        warp_size=32.0,
        registers_per_thread=64.0,
        registers_per_sm=65536.0,
        max_warps_per_sm=64.0,
        max_blocks_per_sm=32.0,
        schedulers_per_sm=4.0,
        shared_memory_static=0.0,
        shared_memory_dynamic=0.0,
    )
    assert (facts["blocks_per_sm"], facts["next_blocks"]) == (4, 5)
    assert facts["next_registers"] == 48
    assert facts["next_occupancy"] == pytest.approx(40 / 64)
    assert facts["finest_occupancy"] == pytest.approx(0.5)


def test_idle_slots_are_what_was_measured() -> None:
    # Busy for 80 % of the time with three quarters of the warps: 40 % of the slots stood empty.
    measured = {"sm_busy": 0.8, "occupancy_achieved": 0.6, "occupancy_theoretical_reported": 0.8}
    assert facts_of(**measured)["idle_slots"] == pytest.approx(0.4)
    assert facts_of(sm_busy=0.8)["idle_slots"] == pytest.approx(0.2)
    assert facts_of(occupancy_achieved=0.6)["idle_slots"] is None


@pytest.mark.parametrize(("threads", "blocks"), [(32, 432), (64, 216), (128, 108), (1024, 108)])
def test_blocks_are_enough_where_each_scheduler_has_a_warp(threads: int, blocks: int) -> None:
    # 108 multiprocessors of 4 schedulers: 432 warps.
    assert facts_of(**A100, block_size=float(threads))["enough_blocks"] == blocks


@pytest.mark.parametrize(("capability", "may"), [(8.9, False), (9.0, True), (None, None)])
def test_a_launch_may_start_early_from_capability_9_on(
    capability: float | None, may: bool | None
) -> None:
    assert facts_of(compute_capability=capability)["may_start_early"] is may
