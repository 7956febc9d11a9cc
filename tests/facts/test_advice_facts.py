"""Facts that only advice needs: how near a kernel is to what it can reach, and what holds it."""

from __future__ import annotations

import duckdb
import pytest

from tests.support.facts import Value, facts_of, vocabulary_once

# 90 GB/s of 100 for a second: at the practical roof where nobody measured the device.
STREAM: dict[str, Value] = {
    "duration": 1.0,
    "dram_bytes": 9e10,
    "peak_dram_bandwidth": 1e11,
    "global_load_bytes_per_sector": 32.0,
    "global_store_bytes_per_sector": 32.0,
    "l1_utilization": 0.3,
}
# Shared memory is at its roof, by passes of which 25 % are conflicts.
SHARED: dict[str, Value] = {
    "shared_bytes": 9.9e11, "peak_shared_bandwidth": 1e12,
    "shared_wavefronts": 100.0, "shared_wavefronts_ideal": 75.0,
}  # fmt: skip


def test_holds_memory_against_its_practical_roof_where_none_was_measured() -> None:
    assert facts_of(**STREAM)["roof_reached"] == pytest.approx(1)
    assert facts_of(**STREAM, achievable_dram_fraction=0.96)["roof_reached"] == pytest.approx(
        0.9375
    )


def test_holds_arithmetic_against_its_peak_where_nothing_was_measured() -> None:
    facts = facts_of(duration=1.0, flops_fp32=9e12, peak_fp32=1e13)
    assert facts["roof_reached"] == pytest.approx(0.9)
    assert facts["at_practical_roof"] is False


@pytest.mark.parametrize(
    ("changed", "nothing"),
    [
        ({}, True),
        ({"dram_bytes": 8.5e10}, False),  # 0.944 of the practical roof
        ({"global_load_bytes_per_sector": 25.0}, False),  # 78 % used
        ({"global_load_bytes_per_sector": 26.0}, True),
        ({"global_store_bytes_per_sector": 8.0}, False),
        ({"global_load_bytes_per_sector": None, "global_store_bytes_per_sector": None}, True),
        ({"global_l2_sectors": 100.0, "global_l2_sectors_ideal": 79.0}, False),
        ({"global_l2_sectors": 100.0, "global_l2_sectors_ideal": 81.0}, True),
        # No access pattern lowers a roof of arithmetic.
        ({"flops_fp32": 9.9e12, "peak_fp32": 1e13, "global_load_bytes_per_sector": 8.0}, True),
        ({"l1_utilization": 0.8}, True),
        ({"dram_bytes": None}, None),
        (SHARED, False),
        (SHARED | {"shared_wavefronts_ideal": 85.0}, True),
        (SHARED | {"peak_shared_bandwidth": 1e13}, True),  # device memory is the roof
    ],
)
def test_knows_when_there_is_nothing_to_win(
    changed: dict[str, Value], nothing: bool | None
) -> None:
    assert facts_of(**{**STREAM, **changed})["nothing_to_win"] is nothing


@pytest.mark.parametrize("known", ["blocks_by_warps", "blocks_by_registers"])
def test_places_for_blocks_alone_tell_nothing_of_a_kernel(known: str) -> None:
    untold = dict.fromkeys(["blocks_by_warps", "blocks_by_registers", "blocks_by_shared_memory"])
    assert of("blocks_per_sm", **untold, blocks_by_blocks=32.0) is None
    assert of("blocks_per_sm", **untold | {known: 4.0}, blocks_by_blocks=32.0) == 4
    assert of("blocks_per_sm", **untold | {known: 40.0}, blocks_by_blocks=32.0) == 32


@pytest.mark.parametrize(
    ("changed", "rereads"),
    [
        ({}, True),
        ({"named_work": None, "matrix_work": True}, True),
        ({"named_work": None}, False),
        ({"named_work": "stream"}, False),
        ({"l1_utilization": 0.79}, False),
        ({"l1_utilization": None}, False),
        ({"binding_resource": "l2"}, False),
    ],
)
def test_a_product_that_fills_l1_too_may_read_again(
    changed: dict[str, Value], rereads: bool
) -> None:
    product: dict[str, Value] = {
        "named_work": "matrix product",
        "matrix_work": None,
        "binding_resource": "dram",
        "l1_utilization": 0.8,
    }
    assert of("rereads", **product | changed) is rereads
    given = {"at_practical_roof": True, "more_than_needed": False, "accesses_are_given": False}
    assert of("nothing_to_win", **given, rereads=rereads) is not rereads


# Compute is 86 % busy, 0.956 of the 90 % that well-written kernels reach; schedulers have room.
ARITHMETIC: dict[str, Value] = {
    "compute_utilization": 0.86,
    "memory_utilization": 0.4,
    "issue_slot_utilization": 0.6,
}


SEVENTY_EIGHT: dict[str, Value] = {"pipe_tensor": 0.78, "compute_utilization": 0.78}
QUARTER_LOST: dict[str, Value] = {"predicated_threads_per_instruction": 23.0, "warp_size": 32.0}
BUSY: dict[str, Value] = {"duration": 1.0, "warp_size": 32.0, "peak_fp32": 1e12}


@pytest.mark.parametrize(
    ("changed", "full"),
    [
        ({}, True),
        ({"compute_utilization": 0.85}, False),  # 0.944
        ({"compute_utilization": 0.85, "achievable_compute_fraction": 0.88}, True),
        ({"memory_utilization": 0.8}, False),  # balanced
        ({"issue_slot_utilization": 0.8}, False),  # fewer instructions help
        ({"issue_slot_utilization": None}, False),
        # Whatever is full, it leaves no time.
        ({"issue_slot_utilization": None, "compute_utilization": 0.95}, True),
        ({"issue_slot_utilization": 0.97, "compute_utilization": 0.97}, True),
        ({"issue_slot_utilization": None, "compute_utilization": 0.94}, False),
        ({"compute_utilization": 0.95, **QUARTER_LOST, "issue_slot_utilization": None}, False),
        (
            {
                "issue_slot_utilization": None,
                "compute_utilization": 0.95,
                "memory_utilization": 0.8,
            },
            False,
        ),
        ({"predicated_threads_per_instruction": 24.0, "warp_size": 32.0}, True),
        ({"predicated_threads_per_instruction": 23.0, "warp_size": 32.0}, False),
        ({"pipe_fma": 0.86}, True),
        ({"pipe_fma": 0.86, "issue_slot_utilization": 0.85}, True),  # the pipe is what is full
        ({"pipe_fma": 0.85}, True),
        ({"pipe_fma": 0.84}, False),  # something else is full
        ({"pipe_fp64": 0.86, "compute_capability": 8.0}, True),
        ({"pipe_fp64": 0.86, "compute_capability": 8.6}, False),  # single precision is faster
        ({"pipe_fma": 0.86, **BUSY, "predicated_threads_per_instruction": 23.0}, False),
        ({"pipe_fma": 0.86, **BUSY, "predicated_threads_per_instruction": 24.0}, True),
        ({"pipe_fma": 0.86, **BUSY, "fp32_unfused": 21.0, "fp32_fused": 79.0}, False),
        ({"pipe_fma": 0.86, **BUSY, "fp32_unfused": 20.0, "fp32_fused": 80.0}, True),
        # Half of the peak, and less: the pipe multiplies integers.
        ({"pipe_fma": 0.86, **BUSY, "flops_fp32": 5e11}, True),
        ({"pipe_fma": 0.86, **BUSY, "flops_fp32": 4.9e11}, False),
        ({"pipe_alu": 0.86, "pipe_tensor": 0.3}, False),
        ({"pipe_tensor": 0.86, "issue_slot_utilization": 0.85}, True),
        ({"pipe_tensor": 0.84}, False),  # something else is full
        ({"pipe_tensor": 0.8, "compute_utilization": 0.8}, True),  # products get no further
        ({"pipe_tensor": 0.79, "compute_utilization": 0.79}, False),
        ({**SEVENTY_EIGHT, "achievable_compute_fraction": 0.82}, True),
        ({**SEVENTY_EIGHT, "achievable_compute_fraction": 0.83}, False),
    ],
)
def test_knows_a_pipe_that_is_as_full_as_it_gets(changed: dict[str, Value], full: bool) -> None:
    assert facts_of(**{**ARITHMETIC, **changed})["arithmetic_at_roof"] is full


@pytest.mark.parametrize(
    ("blocks", "taken", "halves", "parts"),
    [
        # 4 places on each of 8 multiprocessors: 32 at once.
        (2.0, 2 / 32, 0.5, 0.125),
        (8.0, 8 / 32, 0.5, 0.25),
        (10.0, 10 / 32, 0.5, 1 / 3),  # 30 thirds fit
        (16.0, 0.5, 0.5, 0.5),
        (17.0, 17 / 32, 1, 5 / 8),  # 34 halves need two waves; 136 eighths make five
        (24.0, 0.75, 1, 0.75),  # 96 quarters are three waves
        (28.0, 28 / 32, 1, 7 / 8),
        (29.0, 29 / 32, 1, 1),
        (64.0, 1, 1, 1),
    ],
)
def test_parts_of_blocks_gain_while_they_fit_at_once(
    blocks: float, taken: float, halves: float, parts: float
) -> None:
    facts = facts_of(grid_size=blocks, sm_count=8.0, waves_per_sm=blocks / 32)
    said = (facts["places_taken"], facts["halves_take"], facts["parts_take"])
    assert said == pytest.approx((taken, halves, parts))


def test_one_place_each_where_the_occupancy_is_not_known() -> None:
    assert facts_of(grid_size=2.0, sm_count=8.0)["places_taken"] == pytest.approx(0.25)
    # The smallest device known has 8; a grid that is not too small for it may fill any part.
    assert facts_of(grid_size=2.0)["places_taken"] == pytest.approx(0.25)
    assert facts_of(grid_size=20.0)["places_taken"] is None


def test_the_fullest_multiprocessors_are_busier_than_the_mean() -> None:
    # 10 blocks on 8: some hold 2, where the mean is 1.25.
    facts = facts_of(grid_size=10.0, sm_count=8.0, compute_utilization=0.5)
    assert facts["fullest_busy"] == pytest.approx(0.8)


def test_lets_a_full_l1_be_where_it_is_the_roof() -> None:
    facts = facts_of(duration=1.0, l1_bytes=9.7e12, peak_l1_bandwidth=1e13, l1_utilization=0.97)
    assert facts["nothing_to_win"] is True


@pytest.mark.parametrize(
    ("values", "slow"),
    [
        ({"peak_fp64": 1e11, "peak_fp32": 6.4e12}, True),
        ({"peak_fp64": 5e12, "peak_fp32": 1e13}, False),
        ({"peak_fp64": 5e12, "peak_fp32": 1e13, "compute_capability": 8.6}, False),
        ({"compute_capability": 8.9}, True),
        ({"compute_capability": 9.0}, False),
        ({"compute_capability": 7.0}, False),
        ({}, None),
    ],
)
def test_tells_a_token_double_pipe_by_its_peak_or_the_device(
    values: dict[str, Value], slow: bool | None
) -> None:
    assert facts_of(duration=1.0, **values)["fp64_is_slow"] is slow


@pytest.mark.parametrize(
    ("values", "matrix"),
    [
        ({"tensor_instructions": 10.0}, True),
        ({"tensor_instructions": 0.0, "pipe_tensor": 0.3}, False),
        ({"compute_capability": 7.5, "pipe_tensor": 0.06}, True),
        ({"compute_capability": 7.5, "pipe_tensor": 0.01}, False),
        ({"compute_capability": 8.0, "pipe_tensor": 0.3}, None),
        ({"compute_capability": 9.0, "pipe_tensor": 0.3}, None),
    ],
)
def test_tells_matrix_work_by_the_pipe_only_where_that_is_sure(
    values: dict[str, Value], matrix: bool | None
) -> None:
    assert facts_of(duration=1.0, **values)["matrix_work"] is matrix


def test_takes_double_time_from_operations_or_the_pipe() -> None:
    busy = facts_of(duration=2.0, pipe_fp64=0.25)
    counted = facts_of(duration=2.0, pipe_fp64=0.02, flops_fp64=1e12, peak_fp64=1e13)
    assert busy["fp64_time"] == pytest.approx(0.5)
    assert counted["fp64_time"] == pytest.approx(0.1)


def test_takes_the_busiest_of_pipes_and_units() -> None:
    facts = facts_of(
        duration=1.0,
        pipe_fma=0.2,
        pipe_xu=0.4,
        issue_slot_utilization=0.5,
        memory_utilization=0.6,
        l1_data_utilization=0.9,
        lsu_utilization=0.15,
    )
    assert facts["busiest_pipe"] == pytest.approx(0.4)
    assert facts["busiest_unit"] == pytest.approx(0.6)
    assert facts["passes_per_access"] == pytest.approx(6)


@pytest.mark.parametrize(
    ("changed", "share"),
    [
        ({}, 0.72),  # schedulers issue in 90 % of the 80 % of the time in which there are blocks
        ({"sm_busy": None}, 0.9),  # at most
        ({"memory_utilization": 0.75}, 0.75),
        ({"compute_utilization": 0.76}, 0.76),
        ({"issue_slot_utilization": None, "memory_utilization": None}, 0.6),
        ({"l2_utilization": 0.77}, 0.77),
        # Some stages of L1 are no part of memory as a whole.
        ({"l1_utilization": 0.78}, 0.78),
        # Where nothing tells of the whole time, L1 may be that busy while there are blocks alone.
        ({"l1_utilization": 0.95, "sm_busy": None, "memory_utilization": None}, 0.9),
    ],
)
def test_schedulers_are_busy_only_while_there_are_blocks(
    changed: dict[str, Value], share: float
) -> None:
    measured: dict[str, Value] = {
        "sm_busy": 0.8,
        "issue_slot_utilization": 0.9,
        "memory_utilization": 0.5,
        "compute_utilization": 0.6,
    }
    assert facts_of(**{**measured, **changed})["busiest_over_time"] == pytest.approx(share)


@pytest.mark.parametrize(
    ("changed", "turns"),
    [
        ({}, True),
        ({"shared_memory_static": 128.0}, True),
        ({"shared_memory_static": 129.0}, False),
        ({"shared_memory_static": 0.0}, False),
        ({"shared_memory_dynamic": 4.0}, False),
        ({"shared_memory_dynamic": None}, True),
        ({"l1_utilization": 0.59}, False),
        ({"l1_utilization": 0.4, "sm_busy": 0.5}, True),  # 80 % while there are blocks
        ({"l2_utilization": 0.01}, False),
        ({"dram_utilization": 0.01}, False),
    ],
)
def test_knows_when_threads_take_turns_at_few_words(changed: dict[str, Value], turns: bool) -> None:
    kernel: dict[str, Value] = {
        "duration": 1.0,
        "sm_busy": 1.0,
        "l1_utilization": 0.6,
        "l2_utilization": 0.009,
        "dram_utilization": 0.009,
        "shared_memory_static": 4.0,
        "shared_memory_dynamic": 0.0,
    }
    facts = facts_of(**kernel | changed)
    assert (facts["turns_at_few_words"], facts["takes_turns"]) == (turns, turns)


@pytest.mark.parametrize(
    ("told", "stages"),
    [
        ({"shared_load_requests": 1.0}, True),
        ({"shared_load_conflicts": 1.0}, True),
        ({"shared_load_conflicts": 0.0}, None),
        ({"shared_load_requests": 0.0, "shared_memory_static": 4096.0}, False),
        ({"shared_memory_static": 4096.0}, True),
        ({"shared_memory_static": 0.0, "shared_memory_dynamic": 4096.0}, True),
        ({"shared_memory_static": 128.0}, False),
        ({"shared_memory_static": 129.0}, True),
        ({"occupancy_limit_shared_memory": 15.0, "occupancy_limit_blocks": 16.0}, True),
        ({"occupancy_limit_shared_memory": 16.0, "occupancy_limit_blocks": 16.0}, None),
        ({}, None),
    ],
)
def test_knows_what_is_staged_in_shared_memory(told: dict[str, Value], stages: bool | None) -> None:
    assert facts_of(duration=1.0, **told)["stages_in_shared"] is stages


@pytest.mark.parametrize(
    ("work", "word", "l1", "limiter", "updates"),
    [
        ("updates", 4.0, 0.6, "memory", True),
        ("counts", 4.0, 0.6, "memory", True),
        ("matrix product", 4.0, 0.6, "memory", False),
        ("updates", 4.1, 0.6, "memory", False),
        ("updates", 4.0, 0.59, "memory", False),
        ("updates", 4.0, 0.6, "compute", False),
    ],
)
def test_knows_updates_of_a_word(
    work: str, word: float, l1: float, limiter: str, updates: bool
) -> None:
    values = {
        "named_work": f"'{work}'",
        "global_store_bytes_per_sector": f"{word}::DOUBLE",
        "l1_active_utilization": f"{l1}::DOUBLE",
        "limiter": f"'{limiter}'",
    }
    formula = vocabulary_once().facts["updates_a_word"].expression
    assert formula is not None
    assert duckdb.sql(f"SELECT {formula.sql(values)}").fetchall() == [(updates,)]


def of(fact: str, **values: Value) -> Value:
    """Return a fact from those that its formula reads; what is not given is NULL."""
    formula = vocabulary_once().facts[fact].expression
    assert formula is not None
    said = {name: _literal(values.get(name)) for name in formula.names}
    (row,) = duckdb.sql(f"SELECT {formula.sql(said)}").fetchall()
    value: Value = row[0]
    return value


def _literal(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return f"'{value}'"
    return str(value) if isinstance(value, bool) else f"{value}::DOUBLE"


COUNTS: dict[str, Value] = {
    "named_work": "counts",
    "stages_in_shared": True,
    "l1_active_utilization": 0.6,
    "l1_utilization": 0.6,
    "l2_utilization": 0.39,
    "dram_utilization": 0.2,
    "limiter": "memory",
}


@pytest.mark.parametrize(
    ("changed", "updates"),
    [
        ({}, True),
        ({"named_work": "updates"}, False),
        ({"stages_in_shared": False}, False),
        ({"l1_active_utilization": 0.59}, False),
        ({"l2_utilization": 0.41}, False),
        ({"dram_utilization": 0.41}, False),
        ({"limiter": "compute"}, False),
        ({"limiter": None}, False),
    ],
)
def test_knows_counts_in_shared_memory(changed: dict[str, Value], updates: bool) -> None:
    assert of("updates_shared", **COUNTS | changed) is updates
    assert of("takes_turns", updates_shared=updates, turns_at_few_words=False) is (updates or None)


TILE: dict[str, Value] = {
    "stages_in_shared": True,
    "many_passes": True,
    "takes_turns": False,
    "l1_utilization": 0.75,
    "l2_utilization": 0.49,
    "l1_hit_rate": 0.49,
}


@pytest.mark.parametrize(
    ("changed", "suspected"),
    [
        ({}, True),
        ({"l1_hit_rate": None}, True),
        ({"stages_in_shared": False}, False),
        ({"many_passes": False}, False),
        ({"takes_turns": True}, False),
        ({"shared_excess_share": 0.3}, False),
        ({"l2_utilization": 0.51}, False),
        ({"l1_hit_rate": 0.5}, False),
    ],
)
def test_suspects_the_banks_of_a_tile(changed: dict[str, Value], suspected: bool) -> None:
    assert of("conflicts_suspected", **TILE | changed) is suspected


@pytest.mark.parametrize(
    ("dram", "busy", "full"),
    [
        (0.63, 0.7, True),
        (0.62, 0.7, False),
        (0.8, 0.85, False),  # it is full, however long blocks run
        (0.48, 0.5, True),
        (0.48, 0.49, False),
        (0.63, None, False),
    ],
)
def test_knows_a_memory_that_is_full_while_blocks_run(
    dram: float, busy: float | None, full: bool
) -> None:
    assert of("full_while_running", dram_utilization=dram, sm_busy=busy) is full


STRAIGHT: dict[str, Value] = {
    "named_work": "transpose",
    "stages_in_shared": False,
    "shared_memory_static": 0.0,
    "l1_active_utilization": 0.4,
    "l2_utilization": 0.6,
    "dram_utilization": 0.5,
}


@pytest.mark.parametrize(
    ("changed", "straight"),
    [
        ({}, True),
        ({"named_work": "stream"}, False),
        ({"stages_in_shared": True}, True),  # L2 is the busier one all the same
        ({"shared_memory_static": None}, True),
        ({"stages_in_shared": True, "l2_utilization": 0.31, "dram_utilization": 0.25}, True),
        ({"stages_in_shared": True, "l2_utilization": 0.29, "dram_utilization": 0.2}, False),
        ({"stages_in_shared": True, "l2_utilization": 0.8, "dram_utilization": 0.1}, True),
        ({"stages_in_shared": True, "l2_utilization": 0.81, "dram_utilization": 0.1}, False),
        ({"stages_in_shared": True, "l2_utilization": None, "l1_active_utilization": 0.6}, False),
        ({"shared_memory_static": None, "l2_utilization": None}, False),
        ({"global_store_sectors": 1e6}, False),
        ({"store_efficiency": 0.25}, False),
        ({"l2_utilization": 0.59}, False),
        ({"l2_utilization": 0.59, "l1_active_utilization": 0.6}, True),
        ({"l2_utilization": 0.96, "dram_utilization": 0.8}, False),
        ({"l2_utilization": 0.96, "dram_utilization": 0.79}, True),
    ],
)
def test_knows_a_transpose_that_stages_nothing(changed: dict[str, Value], straight: bool) -> None:
    assert of("transposes_straight", **STRAIGHT | changed) is straight


@pytest.mark.parametrize(
    ("changed", "share"),
    [
        ({}, 0.3),
        ({"waves_per_sm": 1.0}, 0.3),
        ({"waves_per_sm": 1.1}, None),
        ({"waves_per_sm": None}, None),
        ({"waves_per_sm": None, "grid_size": 8.0, "sm_count": 8.0}, 0.3),
        ({"waves_per_sm": None, "grid_size": 9.0, "sm_count": 8.0}, None),
        ({"duration": 1.9e-5}, None),
    ],
)
def test_multiprocessors_without_a_block_take_no_time(
    changed: dict[str, Value], share: float | None
) -> None:
    kernel: dict[str, Value] = {
        "duration": 2e-5,
        "waves_per_sm": 0.2,
        "sm_busy": 0.3,
        "l1_utilization": 0.24,
        "compute_utilization": 0.03,
        "l2_utilization": 0.3,
        "dram_utilization": 0.1,
    }
    facts = facts_of(**kernel | changed)
    assert facts["working_share"] == (pytest.approx(share) if share else None)
    duration, busiest = (kernel | changed)["duration"], 0.8 if share else 0.3
    assert isinstance(duration, float)
    assert facts["t_units"] == pytest.approx(busiest * duration)


@pytest.mark.parametrize(
    ("l1", "stage", "passes", "many"),
    [
        (0.9, 0.9, 6.0, True),  # addresses fill L1, twice as busy as its data: 0.9 / 0.15
        (0.675, 0.675, 4.5, False),  # just one and a half times as busy
        (0.67, 0.45, 3.0, False),  # 0.45 / 0.15
        (None, 0.45, 3.0, False),
    ],
)
def test_counts_passes_of_the_stage_that_is_filled(
    l1: float | None, stage: float, passes: float, many: bool
) -> None:
    facts = facts_of(
        duration=1.0, l1_utilization=l1, l1_data_utilization=0.45, lsu_utilization=0.15
    )
    assert facts["l1_stage_utilization"] == pytest.approx(stage)
    assert facts["passes_per_access"] == pytest.approx(passes)
    assert facts["many_passes"] is many


@pytest.mark.parametrize(
    ("capability", "passes"),
    [
        (8.0, 2.0),
        (8.6, 4.0),  # 16 units take the addresses of a warp in two cycles
        (7.5, 2.0),  # and a pass takes two as well
    ],
)
def test_counts_passes_by_the_cycles_that_a_device_takes(capability: float, passes: float) -> None:
    facts = facts_of(
        duration=1.0, l1_data_utilization=0.6, lsu_utilization=0.3, compute_capability=capability
    )
    assert facts["passes_per_access"] == pytest.approx(passes)


@pytest.mark.parametrize(
    ("changed", "may"),
    [
        ({}, True),
        ({"tensor_instructions": 0.0}, False),
        ({"l2_bytes": 1.2e11}, False),
        ({"pipe_tensor": 0.6}, False),
        ({"pipe_tensor": None}, False),
        ({"l2_bytes": None}, False),
        ({"dram_bytes": 1e9, "l1_bytes": 9e11, "peak_l1_bandwidth": 1e12}, False),  # L1 binds
    ],
)
def test_knows_a_product_whose_blocks_may_share_more(
    changed: dict[str, Value | None], may: bool
) -> None:
    product = {**STREAM, "l2_bytes": 1e11, "tensor_instructions": 10.0, "pipe_tensor": 0.35}
    values = {name: value for name, value in {**product, **changed}.items() if value is not None}
    assert facts_of(**values)["may_share_more"] is may


@pytest.mark.parametrize(
    ("changed", "few"),
    [
        ({}, False),
        ({"waves_per_sm": 0.9}, True),
        ({"waves_per_sm": 0.9, "occupancy_achieved": 0.49}, True),
        ({"waves_per_sm": 0.95, "occupancy_achieved": 0.93}, False),  # nearly a whole wave
        ({"waves_per_sm": 0.9, "occupancy_achieved": 0.5}, False),
        ({"waves_per_sm": 1.0}, False),
        ({"registers_per_thread": 72.0}, True),  # 7 of 16 blocks of 4 warps
        ({"registers_per_thread": 72.0, "memory_utilization": 0.7}, False),  # memory is the limit
        ({"registers_per_thread": 64.0}, False),  # half of the warps
    ],
)
def test_knows_when_too_few_warps_can_hide_waiting(changed: dict[str, Value], few: bool) -> None:
    kernel: dict[str, Value] = {
        "duration": 1.0,
        "waves_per_sm": 2.0,
        "compute_utilization": 0.2,
        "memory_utilization": 0.3,
        "block_size": 128.0,
        "warp_size": 32.0,
        "registers_per_thread": 32.0,
        "registers_per_sm": 65536.0,
        "max_warps_per_sm": 64.0,
        "max_blocks_per_sm": 32.0,
        "schedulers_per_sm": 4.0,
        "shared_memory_static": 0.0,
        "shared_memory_dynamic": 0.0,
    }
    assert facts_of(**{**kernel, **changed})["too_few_warps"] is few


@pytest.mark.parametrize(
    ("pipes", "precision", "share", "pipe"),
    [
        ({"pipe_fma": 0.6, "pipe_fp64": 0.5}, "fp64", 0.5, 0.5),  # 0.6 × 0.25 < 0.5 × 0.5
        ({"pipe_fma": 0.9, "pipe_fp64": 0.4}, "fp32", 0.25, 0.9),  # 0.9 × 0.25 > 0.4 × 0.5
        ({"pipe_fma": 0.9}, "fp64", 0.5, None),  # a pipe that was not measured counts as busy
    ],
)
def test_names_the_precision_whose_unfused_work_takes_longer(
    pipes: dict[str, Value], precision: str, share: float, pipe: float | None
) -> None:
    # 1 of 4 single-precision and 1 of 2 double-precision instructions stand alone.
    counts: dict[str, Value] = {
        "fp32_unfused": 1.0,
        "fp32_fused": 3.0,
        "fp64_unfused": 1.0,
        "fp64_fused": 1.0,
    }
    facts = facts_of(**(counts | pipes | {"duration": 1.0}))
    found = (facts["unfused_precision"], facts["unfused_share"], facts["unfused_pipe"])
    assert found == (precision, pytest.approx(share), pipe)


def test_an_fp32_pipe_that_is_busy_with_integers_gains_nothing_by_fusing() -> None:
    counts: dict[str, Value] = {
        "fp32_unfused": 1e9, "fp32_fused": 1e9, "flops_fp32": 3e9, "peak_fp32": 6e10,
        "duration": 1.0, "pipe_fma": 0.9,
    }  # fmt: skip
    facts = facts_of(**counts)  # 3 GFLOP take 0.05 s, and 0.1 s if none of them is fused
    assert facts["unfused_pipe"] == pytest.approx(0.1)
    assert facts_of(**counts | {"pipe_fma": 0.04})["unfused_pipe"] == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("known", "busiest"),
    [
        ({"pipe_fma": 0.4, "unfused_share_told_fp32": 0.5}, None),
        ({"pipe_fma": 0.4, "unfused_share_told_fp32": 0.5, "compute_utilization": 0.43}, None),
        ({"pipe_fma": 0.4, "unfused_share_told_fp32": 0.5, "compute_utilization": 0.41}, 0.4),
        ({"pipe_fma": 0.4, "unfused_share_told_fp32": 0.5, "pipe_alu": 0.2}, 0.4),
        ({"pipe_fma": 0.4, "unfused_share_told_fp32": 0.5, "pipe_fp64": 0.0}, None),
        ({"pipe_fma": 0.4, "pipe_fp64": 0.0}, 0.4),
        ({"pipe_fp64": 0.0}, None),
        ({"pipe_fp64": 0.3}, 0.3),
        ({"pipe_fma": 0.0, "pipe_alu": 0.0}, 0.0),
    ],
)
def test_one_pipe_is_the_busiest_only_where_no_other_can_be(
    known: dict[str, float], busiest: float | None
) -> None:
    assert facts_of(duration=1.0, **known)["busiest_pipe"] == busiest


def test_names_the_busiest_pipe_beside_the_products() -> None:
    facts = facts_of(duration=1.0, pipe_xu=0.2, pipe_alu=0.5, pipe_fma=0.4, pipe_tensor=0.9)
    assert (facts["beside_products"], facts["beside_products_busy"]) == ("integer", 0.5)
    assert facts_of(duration=1.0, pipe_tensor=0.9)["beside_products"] is None


# One of twenty multiprocessors works, and one of four warps on it, for a tenth of a second.
SERIAL: dict[str, Value] = {
    "block_size": 128.0,
    "warp_size": 32.0,
    "duration": 0.1,
    "grid_size": 40.0,
    "sm_count": 20.0,
    "sm_busy": 0.05,
    "active_warps": 0.25,
    "schedulers_per_sm": 4.0,
}
# The busiest multiprocessor has a block for half of the time.
BUSIEST: dict[str, Value] = {"sm_active_cycles_max": 5e6, "sm_elapsed_cycles": 1e7}


@pytest.mark.parametrize(
    ("changed", "few"),
    [
        ({}, True),
        ({"sm_busy": 0.49}, True),
        ({"sm_busy": 0.5}, False),  # as many as the unluckiest number of equal blocks leaves
        ({"grid_size": 20.0}, True),
        ({"grid_size": 3.0}, True),  # of 15 % that three blocks could keep busy, 5 are
        ({"grid_size": 2.0}, False),  # half of what two could
        ({"duration": 2e-5}, True),
        ({"duration": 1.9e-5}, False),  # the start of the launch counts
        ({"sm_busy": None}, None),
        ({"sm_count": None}, None),
        # Two blocks for each multiprocessor, by waves and by what fits on one.
        ({"sm_count": None, "waves_per_sm": 0.4, "occupancy_limit_warps": 5.0}, True),
        ({"sm_count": None, "waves_per_sm": 0.01, "occupancy_limit_warps": 5.0}, False),
        # Whole blocks: none may have run for long, unless so many multiprocessors had one.
        ({"active_warps": 1.0}, False),
        ({"active_warps": 0.5}, False),
        ({"active_warps": 0.49}, True),
        ({"active_warps": None}, False),
        ({"active_warps": 1.0, "sm_busy": 0.1}, True),
        ({"active_warps": 1.0, **BUSIEST}, True),
        ({**BUSIEST, "sm_active_cycles_max": 4.9e6}, False),
    ],
)
def test_tells_when_few_of_many_blocks_work(changed: dict[str, Value], few: bool | None) -> None:
    assert facts_of(**{**SERIAL, **changed})["few_blocks_work"] is few


@pytest.mark.parametrize(
    ("changed", "none"),
    [
        ({}, False),
        ({"active_warps": 1.0}, True),
        ({"active_warps": 1.0, "sm_busy": 0.1}, False),
        # A single block keeps one of twenty busy at most.
        ({"active_warps": 1.0, "grid_size": 1.0}, False),
        ({"active_warps": 1.0, "duration": 1.9e-5}, False),
        ({"active_warps": 1.0, "sm_busy": None}, None),
        (BUSIEST, False),
        ({**BUSIEST, "sm_active_cycles_max": 4.9e6}, True),
        # One of 25 throughout, but for a thousandth of the time; or 1.003 of 25.
        ({"active_warps": 1.0, "sm_active_cycles": 39_996.0, "sm_elapsed_cycles": 1e6}, False),
        ({"active_warps": 1.0, "sm_active_cycles": 40_004.0, "sm_elapsed_cycles": 1e6}, False),
        ({"active_warps": 1.0, "sm_active_cycles": 40_120.0, "sm_elapsed_cycles": 1e6}, True),
    ],
)
def test_tells_when_no_block_ran_for_most_of_the_time(
    changed: dict[str, Value], none: bool | None
) -> None:
    assert facts_of(**{**SERIAL, **changed})["mostly_without_blocks"] is none


def test_counts_what_works_at_a_time() -> None:
    facts = facts_of(**SERIAL)
    assert facts["busy_multiprocessors"] == pytest.approx(1)
    assert facts["working_warps"] == pytest.approx(1)


PRODUCT: dict[str, Value] = {
    "duration": 1.0,
    "tensor_instructions": 5.0,
    "pipe_tensor": 0.15,
    "memory_utilization": 0.9,
    "dram_bytes": 100.0,
    "l2_bytes": 400.0,
    "l2_utilization": 0.8,
    "compute_utilization": 0.4,
}


def test_products_far_below_the_ridge_have_room() -> None:
    assert facts_of(**PRODUCT)["reuse_room"] == pytest.approx(6)
    assert facts_of(**{**PRODUCT, "dram_bytes": None})["reuse_room"] == pytest.approx(6)
    # L2 passes on each byte once, or there is no product: nothing says that a byte is used again.
    assert facts_of(**{**PRODUCT, "l2_bytes": 119.0})["reuse_room"] is None
    assert facts_of(**{**PRODUCT, "tensor_instructions": 0.0})["reuse_room"] is None


def test_l2_delivers_each_byte_at_least_once_and_no_faster_than_it_is_used() -> None:
    assert facts_of(**PRODUCT)["l2_room"] == pytest.approx(2)  # 0.8 / 0.4
    assert facts_of(**{**PRODUCT, "compute_utilization": 0.1})["l2_room"] == pytest.approx(4)
    assert facts_of(**{**PRODUCT, "l2_bytes": None})["l2_room"] is None


def test_what_crosses_a_split_l2_tells_nothing_of_reuse() -> None:
    split = {**PRODUCT, "l2_bytes": 119.0, "compute_capability": 9.0, "compute_utilization": 0.1}
    assert facts_of(**split)["l2_room"] is None
    assert facts_of(**split)["reuse_room"] == pytest.approx(6)
    asked = {**split, "l2_read_bytes": 200.0, "l2_write_bytes": 100.0}
    assert facts_of(**asked)["l2_room"] == pytest.approx(3)


@pytest.mark.parametrize(
    ("changed", "share"),
    [
        ({}, 0.6),  # 60 GB of 100 GB/s, in a second
        ({"l2_read_bytes": None}, 0.9 * 0.8),  # of 90 GB the fifth that hit L1 asked for nothing
        ({"l2_read_bytes": 1e11}, 1.0),
        ({"l2_read_bytes": 1.1e11}, None),  # more than device memory gives: L2 had it
        ({"dram_utilization": 0.2}, None),  # measured: nothing to conclude
        ({"peak_dram_bandwidth": None, "nominal_dram_bandwidth": 2e11}, 0.3),
    ],
)
def test_takes_what_memory_does_from_bytes_over_time_where_nothing_else_tells(
    changed: dict[str, Value], share: float | None
) -> None:
    asked: dict[str, Value] = {
        "duration": 1.0,
        "l2_read_bytes": 6e10,
        "l1_bytes": 9e10,
        "l1_hit_rate": 0.2,
        "peak_dram_bandwidth": 1e11,
    }
    found = facts_of(**{**asked, **changed})
    expected = None if share is None else pytest.approx(share)
    assert found["supply_share"] == expected
    assert found["busiest_unit"] == expected


@pytest.mark.parametrize(
    ("changed", "share"),
    [
        ({}, 0.15),  # a quarter of 60 of 100 GB/s
        ({"l2_read_hit_rate": 0.5}, 0.3),  # that of reads is nearer
        ({"l2_hit_rate": None}, None),
        ({"l2_read_bytes": 9e11}, 1.0),  # never more than all of the time
        ({"dram_utilization": 0.2}, None),  # measured
        ({"dram_bytes": 1e9}, None),
        ({"compute_capability": 8.0}, None),  # the other half of L2 may have them
        ({"compute_capability": 9.0}, None),
        ({"compute_capability": 10.0}, None),
        ({"peak_dram_bandwidth": None, "nominal_dram_bandwidth": 2e11}, 0.075),
    ],
)
def test_reads_from_device_memory_what_l2_did_not_have(
    changed: dict[str, Value], share: float | None
) -> None:
    asked: dict[str, Value] = {
        "duration": 1.0,
        "compute_capability": 8.7,
        "l2_read_bytes": 6e10,
        "l2_hit_rate": 0.75,
        "peak_dram_bandwidth": 1e11,
    }
    found = facts_of(**{**asked, **changed})
    assert found["missed_share"] == (None if share is None else pytest.approx(share))
    if share is not None:
        assert found["busiest_unit"] == pytest.approx(share)
        assert found["t_least"] == pytest.approx(share)
        assert found["t_least_practical"] == pytest.approx(share / 0.9)


THREE_PASSES: dict[str, Value] = {"l1_utilization": 0.6, "compute_utilization": 0.2}


@pytest.mark.parametrize(
    ("changed", "passes", "many"),
    [
        # L1 59 % busy beside 2 % of all compute units: at least 29.5 passes for each access.
        ({}, 29.5, True),
        ({"compute_utilization": 0.59 / 4}, 4.0, False),  # 16 bytes a thread
        ({"compute_utilization": 0.59 / 4.1}, 4.1, True),
        (
            {"lsu_utilization": 0.1},
            5.9,
            True,
        ),  # L1 as a whole, and the pipes of memory instructions
        ({"lsu_utilization": 0.15}, 59 / 15, False),
        ({"lsu_utilization": 0.1, "l1_data_utilization": 0.49}, 4.9, False),
        ({"lsu_utilization": 0.1, "l1_data_utilization": 0.5}, 5.0, True),
        ({"l1_utilization": None}, None, None),
        # Little of it comes from below L1: no stream, so no wide accesses of a stream.
        ({**THREE_PASSES, "l2_utilization": 0.2, "dram_utilization": 0.39}, 3.0, True),
        ({**THREE_PASSES, "l2_utilization": 0.2, "dram_utilization": 0.41}, 3.0, False),
        ({**THREE_PASSES, "l2_utilization": 0.41, "dram_utilization": 0.2}, 3.0, False),
        ({**THREE_PASSES, "l2_utilization": None, "dram_utilization": 0.39}, 3.0, True),
        ({**THREE_PASSES, "l2_utilization": 0.1, "l1_hit_rate": 0.5}, 3.0, True),
        ({**THREE_PASSES, "l2_utilization": 0.1, "l1_hit_rate": 0.49}, 3.0, False),
        ({**THREE_PASSES, "compute_utilization": 0.3, "l2_utilization": 0.2}, 2.0, False),
        ({**THREE_PASSES, "compute_utilization": 0.29, "l2_utilization": 0.2}, 60 / 29, True),
    ],
)
def test_tells_passes_from_whole_units_where_nothing_else_was_measured(
    changed: dict[str, Value], passes: float | None, many: bool | None
) -> None:
    page: dict[str, Value] = {"l1_utilization": 0.59, "compute_utilization": 0.02}
    found = facts_of(**{"duration": 1.0, **page, **changed})
    assert found["access_passes"] == (None if passes is None else pytest.approx(passes))
    assert found["many_passes"] is many


@pytest.mark.parametrize(
    ("changed", "before"),
    [
        ({}, True),
        ({"pipe_tensor": None}, False),
        ({"pipe_tensor": 0.01}, False),
        ({"compute_utilization": 0.3}, False),  # no more passes than accesses of 8 bytes a thread
        ({"compute_utilization": 0.29}, True),
    ],
)
def test_tells_where_matrix_units_wait_for_an_access_pattern(
    changed: dict[str, Value], before: bool
) -> None:
    page: dict[str, Value] = {"l1_utilization": 0.6, "compute_utilization": 0.2, "pipe_tensor": 0.1}
    found = facts_of(**{"duration": 1.0, "compute_capability": 8.6, **page, **changed})
    assert found["pattern_before_operands"] is before


def test_tells_how_full_l1_is_while_there_are_blocks() -> None:
    # 59 % of all cycles are 98 % of the 60 % in which a multiprocessor had a block.
    found = facts_of(duration=1.0, l1_utilization=0.588, sm_busy=0.6)
    assert found["l1_active_utilization"] == pytest.approx(0.98)
    assert facts_of(duration=1.0, l1_utilization=0.61, sm_busy=0.6)["l1_active_utilization"] == 1


@pytest.mark.parametrize(
    ("hits", "dram", "l2", "passes_on"),
    [
        (0.1, 0.65, 0.68, True),
        (0.5, 0.65, 0.68, False),  # half of it was in L2
        (0.49, 0.65, 0.68, True),
        (0.1, 0.4, 0.5, True),
        (0.1, 0.39, 0.5, False),  # L2 does more than it passes on
        (None, 0.65, 0.68, None),
    ],
)
def test_sees_one_stream_through_l2_and_device_memory(
    hits: float | None, dram: float, l2: float, passes_on: bool | None
) -> None:
    facts = facts_of(l2_hit_rate=hits, dram_utilization=dram, l2_utilization=l2)
    assert facts["l2_passes_on"] is passes_on


# 32 warps of 20 instructions each stream from device memory.
STREAMED: dict[str, Value] = {
    "duration": 1.0,
    "instructions_executed": 640.0,
    "grid_size": 8.0,
    "block_size": 128.0,
    "warp_size": 32.0,
    "dram_utilization": 0.5,
    "l2_utilization": 0.6,
    "l1_utilization": 0.3,
    "compute_utilization": 0.2,
}


@pytest.mark.parametrize(
    ("changed", "streams"),
    [
        ({}, True),
        ({"instructions_executed": 32 * 127.0}, True),
        ({"instructions_executed": 32 * 128.0}, False),
        ({"instructions_executed": None}, False),
        ({"dram_utilization": 0.3, "l2_utilization": 0.3}, True),
        ({"dram_utilization": 0.29, "l2_utilization": 0.2}, False),
        ({"l2_utilization": 0.63}, False),  # device memory at less than 80 % of that
        ({"l1_utilization": 0.51}, False),
        ({"compute_utilization": 0.51}, False),
    ],
)
def test_knows_threads_that_only_wait_for_device_memory(
    changed: dict[str, Value], streams: bool
) -> None:
    assert facts_of(**{**STREAMED, **changed})["streams"] is streams


@pytest.mark.parametrize(
    "known",
    [
        {"instructions_executed": 640.0},
        # 4 schedulers of 2 multiprocessors issue in 16 % of 500 cycles.
        {"sm_count": 2.0},
        # As many multiprocessors as 8 blocks in one wave of 4 on each.
        {"waves_per_sm": 1.0, "occupancy_limit_warps": 4.0},
    ],
)
def test_tells_instructions_from_issue_slots_where_nobody_counted_them(
    known: dict[str, Value],
) -> None:
    slots: dict[str, Value] = {
        "issue_slot_utilization": 0.16,
        "sm_active_cycles": 500.0,
        "schedulers_per_sm": 4.0,
    }
    shape: dict[str, Value] = {"grid_size": 8.0, "block_size": 128.0, "warp_size": 32.0}
    slots["duration"] = 1.0
    found = facts_of(**{**slots, **shape, **known})
    assert found["instructions_per_warp"] == pytest.approx(20)


@pytest.mark.parametrize(
    ("name", "known", "value"),
    [
        ("block_time", {"duration": 1.0, "waves_per_sm": 4.0, "sm_busy": 0.5}, 0.125),
        ("block_time", {"duration": 1.0, "waves_per_sm": 4.0}, 0.25),
        ("brief_blocks", {"duration": 4.9e-6, "waves_per_sm": 1.0}, True),
        ("brief_blocks", {"duration": 5e-6, "waves_per_sm": 1.0}, False),
        ("uneven_blocks", {"sm_active_cycles": 94.0, "sm_active_cycles_max": 100.0}, True),
        ("uneven_blocks", {"sm_active_cycles": 96.0, "sm_active_cycles_max": 100.0}, False),
        ("uneven_blocks", {"sm_busy": 0.96}, False),
        ("uneven_blocks", {"sm_busy": 0.94}, None),
        ("partial_wave", {"waves_per_sm": 2.6}, True),
        ("partial_wave", {"waves_per_sm": 2.8}, False),
        ("conversions_lead", {"conversion_instructions": 33.0, "warp_size": 32.0,
                              "special_function_instructions": 1.0}, True),
        ("conversions_lead", {"conversion_instructions": 32.0, "warp_size": 32.0,
                              "special_function_instructions": 1.0}, False),
        ("conversions_lead", {"conversion_instructions": 33.0, "warp_size": 32.0}, None),
        ("whole_numbers", {"pipe_alu": 0.4, "pipe_fma": 0.2}, True),
        ("whole_numbers", {"pipe_alu": 0.39, "pipe_fma": 0.2}, False),
        ("conflicts_counted", {"shared_wavefronts": 100.0, "shared_wavefronts_ideal": 89.0}, True),
        ("conflicts_counted", {"shared_wavefronts": 100.0, "shared_wavefronts_ideal": 90.0}, False),
        ("loads_once", {"global_load_sectors": 12.0, "global_load_bytes_per_sector": 32.0,
                        "dram_read_bytes": 320.0}, True),
        ("loads_once", {"global_load_sectors": 13.0, "global_load_bytes_per_sector": 32.0,
                        "dram_read_bytes": 320.0}, False),
        ("registers_can_rise", {"registers_per_thread": 72.0, "block_size": 768.0,
                                "warp_size": 32.0, "registers_per_sm": 65536.0}, True),
        ("registers_can_rise", {"registers_per_thread": 80.0, "block_size": 768.0,
                                "warp_size": 32.0, "registers_per_sm": 65536.0}, False),
        ("registers_can_rise", {"registers_per_thread": 248.0}, False),
        ("registers_can_rise", {"registers_per_thread": 240.0}, None),
        ("memory_waits", {"stall_long_scoreboard": 6.0, "warp_latency": 10.0,
                          "dram_utilization": 0.79, "compute_utilization": 0.1}, True),
        ("memory_waits", {"stall_long_scoreboard": 6.0, "warp_latency": 10.0,
                          "dram_utilization": 0.8, "compute_utilization": 0.1}, False),
        ("memory_waits", {"stall_long_scoreboard": 5.0, "warp_latency": 10.0,
                          "dram_utilization": 0.1, "compute_utilization": 0.1}, False),
        ("memory_waits", {}, False),
        ("load_path_busy", {"l2_utilization": 0.8, "l1_hit_rate": 0.75,
                            "dram_utilization": 0.6, "l2_hit_rate": 0.5}, 0.2),
        ("load_path_busy", {"l2_utilization": 0.25, "l1_hit_rate": 0.0,
                            "dram_utilization": 0.6, "l2_hit_rate": 0.5}, 0.3),
        ("load_path_busy", {"l2_utilization": 0.4, "dram_utilization": 0.6}, 0.6),
    ],
)  # fmt: skip
def test_knows_which_causes_the_profile_refutes(
    name: str, known: dict[str, Value], value: float | bool | None
) -> None:
    assert facts_of(**{"duration": 1.0} | known)[name] == value


@pytest.mark.parametrize(
    ("duration", "grid", "idle"),
    [
        (6e-6, 1.0, 0.6),  # one of eight multiprocessors for 0.4 of the launch
        (6e-6, 2.0, 0.8),
        (6e-6, 8.0, 0.95),
        (6e-6, 9.0, None),  # two blocks share one
        (1.1e-5, 1.0, None),  # not very short
    ],
)
def test_tells_for_how_long_no_block_of_a_short_launch_runs(
    duration: float, grid: float, idle: float | None
) -> None:
    facts = facts_of(
        duration=duration,
        grid_size=grid,
        sm_count=8.0,
        sm_busy=0.05,
    )
    assert facts["idle_of_launch"] == (None if idle is None else pytest.approx(idle))


@pytest.mark.parametrize(
    ("known", "idle"),
    [
        ({"waves_per_sm": 0.75}, 0.6),  # two blocks where others have one
        ({"waves_per_sm": 1.25}, None),
        ({"waves_per_sm": 0.75, "sm_active_cycles_max": 3000.0}, 0.7),
        ({"waves_per_sm": 0.75, "sm_active_cycles_max": 3000.0, "duration": 1e-4}, 0.7),
        ({"waves_per_sm": 0.75, "duration": 1e-4}, None),
    ],
)
def test_the_busiest_multiprocessor_bounds_the_time_in_which_no_block_runs(
    known: dict[str, Value], idle: float | None
) -> None:
    launch = {"grid_size": 12.0, "sm_count": 8.0, "sm_busy": 0.3, "duration": 5e-6}
    facts = facts_of(**{**launch, "sm_elapsed_cycles": 10000.0, **known})
    assert facts["idle_of_launch"] == (None if idle is None else pytest.approx(idle))


@pytest.mark.parametrize(
    ("known", "counts"),
    [
        # An empty launch takes 1.6 µs under the profiler from compute capability 8.0 on.
        ({"duration": 5.3e-6, "compute_capability": 8.0}, True),
        ({"duration": 5.4e-6, "compute_capability": 8.0}, False),
        # No block runs for half of the launch.
        ({"duration": 8e-6, "grid_size": 1.0, "sm_count": 8.0, "sm_busy": 0.0625}, True),
        ({"duration": 8e-6, "grid_size": 1.0, "sm_count": 8.0, "sm_busy": 0.0635}, False),
        ({"duration": 8e-6}, False),
    ],
)
def test_tells_whether_the_start_of_a_launch_counts(known: dict[str, Value], counts: bool) -> None:
    assert facts_of(**known)["start_counts"] is counts
