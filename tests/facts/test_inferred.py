"""What a page leaves out and its other values, or the name of the kernel, tell all the same."""

from __future__ import annotations

import pytest

from tests.facts.test_advice_facts import of
from tests.facts.test_mapping import quantities_of
from tests.support.facts import Value, facts_of, told_by_names

MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
L1 = "l1tex__throughput.avg.pct_of_peak_sustained_active"
L2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed"


@pytest.mark.parametrize(
    ("memory", "l1", "l2", "found"),
    [
        (91.0, 56.0, 51.0, 0.91),
        (60.0, 56.0, 51.0, None),  # parts of L1 or L2 may be that busy
        (91.0, None, 51.0, None),  # L1 may be the one
        (91.0, 56.0, None, None),
    ],
)
def test_what_neither_cache_does_device_memory_does(
    memory: float, l1: float | None, l2: float | None, found: float | None
) -> None:
    page = {MEMORY: memory, L1: l1, L2: l2}
    row = quantities_of({name: value for name, value in page.items() if value is not None})
    assert row["dram_utilization"] == (None if found is None else pytest.approx(found))


def test_l1_is_at_most_as_busy_as_while_it_was_active() -> None:
    row = quantities_of({L1: 91.0, L2: 19.0})
    assert row["l1_utilization"] == pytest.approx(0.91)
    assert quantities_of({L1: 91.0, L2: 19.0, MEMORY: 19.0})["l1_utilization"] is None


def test_more_warps_than_there_is_room_for_were_counted_over_other_cycles() -> None:
    cycles = {"sm__cycles_active.avg": 58.0, "sm__cycles_elapsed.avg": 100.0}
    occupancy = "sm__warps_active.avg.pct_of_peak_sustained_active"
    assert quantities_of(cycles | {occupancy: 101.0})["sm_busy"] == pytest.approx(0.58)
    assert quantities_of(cycles | {occupancy: 124.0})["sm_busy"] is None
    assert quantities_of(cycles)["sm_busy"] == pytest.approx(0.58)


TYPES = {
    "move(double *, int)": "double",
    "void gemm<double>(T1 *)": "double",
    "mixed(float *, double)": "narrower",
    "cast(const __half *, double *)": "narrower",
    "double_buffered(int *)": None,
    "doubles(int *)": None,
    "sort(int *)": None,
}


def test_types_are_known_by_the_parameters_of_a_kernel() -> None:
    assert told_by_names("named_types", TYPES) == TYPES


WIDTHS = {
    "void vectorized_elementwise_kernel<4, silu(c10::BFloat16)>(int, c10::BFloat16)": "16 bits",
    "rms_norm(__nv_bfloat16 *, float *)": "16 bits",
    "cast(const __half *, double *)": "16 bits",
    "scale(c10::Half *)": "16 bits",
    "add(half *)": "16 bits",
    "add(half2 *)": "16 bits",
    "rmsnorm_fp16_kernel": "16 bits",
    "void scale<float>(float *)": None,
    "half_warp_sum(float *)": None,
    "halfway(float *)": None,
}


def test_widths_are_known_by_the_parameters_of_a_kernel() -> None:
    assert told_by_names("named_width", WIDTHS) == WIDTHS


@pytest.mark.parametrize(
    ("flops", "ratio"),
    [
        ({}, 4.0),
        ({"flops_tensor_fp16": 1.0}, 4.0),
        ({"flops_tensor_fp8": 1.0}, 2.0),
        ({"flops_tensor_tf32": 1.0}, 2.0),
        ({"flops_tensor_fp8": 1.0, "flops_tensor_fp16": 1.0}, 2.0),
        ({"flops_tensor_fp8": 1.0, "flops_tensor_fp16": 1.1}, 4.0),
        ({"flops_tensor_tf32": 1.0, "flops_tensor_fp16": 1.1}, 4.0),
        ({"flops_tensor_fp4": 1.0}, 1.0),
        ({"flops_tensor_fp4": 1.0, "flops_tensor_fp8": 1.1}, 2.0),
    ],
)
def test_operands_can_be_stored_as_much_narrower_as_their_type_leaves(
    flops: dict[str, Value], ratio: float
) -> None:
    assert facts_of(**flops)["operand_ratio"] == ratio


@pytest.mark.parametrize(
    ("capability", "by_design"),
    [(8.9, False), (9.0, True), (10.3, True), (11.0, False), (None, None)],
)
def test_warps_of_one_block_have_roles(capability: float | None, by_design: bool | None) -> None:
    assert of("one_block_by_design", compute_capability=capability) is by_design


DOUBLES: dict[str, Value] = {
    "duration": 2.0,
    "named_types": "double",
    "limiter": "compute",
    "compute_utilization": 0.8,
}


@pytest.mark.parametrize(
    ("changed", "seconds"),
    [
        ({}, 1.6),
        ({"named_types": "narrower"}, None),
        ({"named_types": None}, None),
        ({"busiest_pipe": 0.1}, None),  # pipes were told apart
        ({"limiter": "balanced"}, None),
        ({"pipe_fp64": 0.25}, 0.5),
        ({"pipe_fp64": 0.25, "sm_busy": 0.5}, 0.25),
        ({"pipe_fp64": 0.25, "t_fp64": 0.0}, 0.5),  # comparisons count as no operation
        ({"pipe_fp64": 0.25, "t_fp64": 0.6}, 0.6),
    ],
)
def test_all_parameters_are_doubles(changed: dict[str, Value], seconds: float | None) -> None:
    found = of("fp64_time", **DOUBLES | changed)
    assert found == (None if seconds is None else pytest.approx(seconds))


ALONE: dict[str, Value] = {
    "duration": 1.0,
    "occupancy_limit_shared_memory": 1.0,
    "registers_per_thread": 128.0,
    "shared_memory_dynamic": 65536.0,
}


@pytest.mark.parametrize(
    ("changed", "alone"),
    [
        ({}, True),
        ({"occupancy_limit_shared_memory": 2.0}, False),
        ({"occupancy_limit_shared_memory": None}, False),
        ({"registers_per_thread": 127.0}, False),
        ({"shared_memory_dynamic": 65535.0}, False),
        ({"shared_memory_dynamic": 65535.0, "shared_memory_static": 1.0}, True),
        ({"pipe_tensor": 0.7}, False),
    ],
)
def test_a_block_is_alone_by_its_size(changed: dict[str, Value], alone: bool) -> None:
    assert facts_of(**{**ALONE, **changed})["alone_by_size"] is alone


PRODUCT: dict[str, Value] = {
    "named_work": "matrix product",
    "l1_utilization": 0.9,
    "passes_per_access": 6.0,
}


@pytest.mark.parametrize(
    ("changed", "many"),
    [
        ({"compute_utilization": 0.44}, True),
        ({"compute_utilization": 0.45}, False),  # arithmetic keeps up
        ({"compute_utilization": 0.45, "named_work": None}, True),
    ],
)
def test_a_product_whose_arithmetic_keeps_up_has_wide_accesses(
    changed: dict[str, Value], many: bool
) -> None:
    assert of("many_passes", **PRODUCT | changed) is many


@pytest.mark.parametrize(
    ("top_stall", "many"),
    [
        (None, True),
        ("long_scoreboard", True),
        ("mio_throttle", False),
        ("short_scoreboard", False),
    ],
)
def test_warps_that_wait_for_shared_memory_do_not_scatter(
    top_stall: str | None, many: bool
) -> None:
    page: dict[str, Value] = {"l1_utilization": 0.6, "l2_utilization": 0.1, "passes_at_least": 3.0}
    assert of("many_passes", top_stall=top_stall, **page) is many


@pytest.mark.parametrize(
    ("values", "share"),
    [
        ({"l1_active_utilization": 0.8, "l1_utilization": 0.4, "working_share": 0.5}, 0.8),
        ({"l1_active_utilization": 0.6, "l1_utilization": 0.6}, 0.6),
        ({"l1_active_utilization": 0.59, "l1_utilization": 0.5, "l2_utilization": 0.2}, 0.75),
        ({"l1_active_utilization": 0.3, "l1_utilization": 0.2, "l2_utilization": 0.6}, 0.8),
        ({"l1_utilization": 0.7}, 0.7),
        ({"l1_stage_utilization": 0.9, "l1_active_utilization": 0.5, "l1_utilization": 0.5}, 0.9),
        ({"l1_active_utilization": 1.0, "l1_utilization": 0.7, "working_share": 0.5}, 1.0),
    ],
)
def test_threads_wait_for_passes_below_a_full_l1(values: dict[str, Value], share: float) -> None:
    assert of("passes_share", **values) == pytest.approx(share)


ASKED = [
    ({"dram__bytes_op_read.sum": 100.0, "dram__bytes_op_write.sum": 20.0}, "dram_bytes", 120),
    ({"dram__sectors_op_read.sum": 3.0, "dram__sectors_op_write.sum": 1.0}, "dram_bytes", 128),
    ({"dram__cycles_active.avg.pct_of_peak_sustained_elapsed": 40.0}, "dram_utilization", 0.4),
    ({"lts__t_bytes.sum": 64.0}, "l2_bytes", 64),
    ({"l1tex__t_bytes.sum": 96.0}, "l1_bytes", 96),
    ({"l1tex__t_sectors.sum": 2.0}, "l1_bytes", 64),
    ({"gpu__time_duration.max": 2000.0}, "duration", 2e-6),
    ({"gpu__time_active.avg": 2000.0}, "duration", 2e-6),
    ({"sm__cycles_active.avg.pct_of_peak_sustained_elapsed": 75.0}, "sm_busy", 0.75),
    ({"smsp__inst_executed.avg.per_cycle_active": 0.5}, "issue_slot_utilization", 0.5),
    (
        {"smsp__issue_inst0.avg.pct_of_peak_sustained_active": 96.0},
        "issue_slot_utilization",
        0.04,
    ),
    (
        {
            "sm__inst_executed.avg.per_cycle_active": 2.0,
            "device__attribute_num_schedulers_per_multiprocessor": 4.0,
        },
        "issue_slot_utilization",
        0.5,
    ),
    ({"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active": 30.0}, "pipe_fma", 0.3),
    ({"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active": 30.0}, "pipe_alu", 0.3),
    (
        {"sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active": 30.0},
        "pipe_tensor",
        0.3,
    ),
    (
        {"message:fp32_worth": 12.0, "message:fp32_fused": 40.0, "message:fp32_unfused": 60.0},
        "pipe_fma",
        0.4,
    ),
    ({"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": 0.0}, "shared_load_conflicts", 0),
    ({"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": 0.0}, "shared_store_conflicts", 0),
    ({"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": 9.0}, "shared_load_conflicts", None),
]


@pytest.mark.parametrize(("counters", "quantity", "value"), ASKED)
def test_counters_that_people_ask_for_by_name_are_read(
    counters: dict[str, float], quantity: str, value: float | None
) -> None:
    found = quantities_of(counters)[quantity]
    assert found == (value if value is None else pytest.approx(value))


@pytest.mark.parametrize("unit", ["sm", "smsp"])
def test_work_is_counted_per_multiprocessor_or_scheduler(unit: str) -> None:
    # 7 multiply-adds, 3 additions and 2 multiplications: 19 operations; of packed halves, twice.
    counts = {"fma": 7.0, "add": 3.0, "mul": 2.0}
    named = f"{unit}__sass_thread_inst_executed_op_"
    for letter, quantity, work in (("f", "fp32", 19), ("d", "fp64", 19), ("h", "fp16", 38)):
        counters = {f"{named}{letter}{op}_pred_on.sum": n for op, n in counts.items()}
        assert quantities_of(counters)[f"flops_{quantity}"] == work


@pytest.mark.parametrize(
    ("facts", "share", "limiter", "is_done"),
    [
        ({}, 0.9, "memory", True),  # 604.8 of 672 GB/s
        ({"compute_utilization": 0.2}, 0.9, "memory", True),
        ({"dram_bytes": 5.04e8}, 0.75, None, False),
        ({"dram_bytes": 1e9}, 1.0, "memory", True),  # as fast as rated at most
        ({"dram_utilization": 0.5}, None, None, False),  # measured
        ({"peak_dram_bandwidth": 1.2e12}, None, None, False),  # the profile's own peak
        ({"duration": None}, None, None, None),
        # Of what was read or written alone it is at least so much: 605 MB in 1 ms of 672 GB/s.
        ({"dram_bytes": None, "dram_read_bytes": 6.048e8}, 0.9, "memory", True),
        ({"dram_bytes": None, "dram_write_bytes": 6.048e8}, 0.9, "memory", True),
        (
            {"dram_bytes": None, "dram_read_bytes": 6.048e8, "peak_dram_bandwidth": 1.2096e12},
            0.5,
            None,
            False,
        ),
    ],
)
def test_bytes_are_held_against_the_rated_bandwidth_where_nothing_else_tells(
    facts: dict[str, Value], share: float | None, limiter: str | None, is_done: bool | None
) -> None:
    given = {"dram_bytes": 6.048e8, "duration": 1e-3, "nominal_dram_bandwidth": 6.72e11, **facts}
    found = facts_of(**given)
    assert found["rated_share"] == (share if share is None else pytest.approx(share))
    assert found["limiter"] == limiter
    assert found["at_practical_roof"] is is_done


@pytest.mark.parametrize(
    ("facts", "busiest"),
    [
        ({"compute_utilization": 0.3, "memory_utilization": 0.7}, 0.7),
        ({"compute_utilization": 0.3, "dram_utilization": 0.5}, 0.5),
        ({"compute_utilization": 0.59}, 0.59),
        ({"compute_utilization": 0.6}, None),  # a limit, and what else is busy is not known
        ({"dram_utilization": 0.3, "l2_utilization": 0.61}, None),
        ({"issue_slot_utilization": 0.75, "memory_utilization": 0.3}, 0.75),
        ({"issue_slot_utilization": 0.75, "memory_utilization": 0.3, "sm_busy": 0.96}, 0.72),
        ({"issue_slot_utilization": 0.59, "memory_utilization": 0.3}, None),
        ({}, None),
    ],
)
def test_the_busiest_unit_of_those_that_are_known_is_told_while_none_is_a_limit(
    facts: dict[str, Value], busiest: float | None
) -> None:
    assert facts_of(**facts)["told_busiest"] == busiest
