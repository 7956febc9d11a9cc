"""The arithmetic of the roofline, worked out by hand."""

from __future__ import annotations

import pytest

from tests.support.facts import facts_of, kernels_of

# 1 ms; 2 GFLOP of fp32 and 4 MB; peaks 10 TFLOP/s and 1 TB/s: work takes 0.2 ms, traffic 0.004 ms.
COMPUTE = {
    "duration": 1.0e-3,
    "flops_fp32": 2.0e9,
    "flops_fp64": 0.0,
    "flops_fp16": 0.0,
    "tensor_instructions": 0.0,
    "peak_fp32": 10.0e12,
    "peak_fp64": 5.0e12,
    "dram_bytes": 4.0e6,
    "peak_dram_bandwidth": 1.0e12,
}


def test_work_traffic_and_peaks_give_the_roof() -> None:
    facts = facts_of(**COMPUTE)
    assert facts["t_fp32"] == pytest.approx(2.0e-4)
    assert facts["t_dram"] == pytest.approx(4.0e-6)
    assert facts["t_sol"] == pytest.approx(2.0e-4)
    assert facts["binding_resource"] == "fp32"
    assert facts["roof_fraction"] == pytest.approx(0.2)
    assert facts["wasted_time"] == pytest.approx(8.0e-4)
    assert facts["performance"] == pytest.approx(2.0e12)
    assert facts["arithmetic_intensity"] == pytest.approx(500)
    assert facts["effective_peak"] == pytest.approx(10.0e12)
    assert facts["ridge_point"] == pytest.approx(10)
    assert facts["roofline_bound"] == "compute"
    assert facts["dram_fraction"] == pytest.approx(0.004)
    assert facts["fraction_fp32"] == pytest.approx(0.2)


def test_a_kernel_left_of_the_ridge_is_bound_by_memory() -> None:
    # 0.8 GB at 1 TB/s take 0.8 ms, the work 0.2 ms.
    facts = facts_of(**COMPUTE | {"dram_bytes": 8.0e8})
    assert facts["t_sol"] == pytest.approx(8.0e-4)
    assert facts["binding_resource"] == "dram"
    assert facts["roofline_bound"] == "memory"
    assert facts["arithmetic_intensity"] == pytest.approx(2.5)


def test_a_kernel_on_the_ridge_is_bound_by_compute() -> None:
    facts = facts_of(**COMPUTE | {"dram_bytes": 2.0e8})
    assert facts["arithmetic_intensity"] == pytest.approx(facts["ridge_point"])
    assert facts["roofline_bound"] == "compute"


def test_two_precisions_run_side_by_side() -> None:
    # fp32 takes 0.2 ms, fp64 1.5e9 / 5e12 = 0.3 ms; 3.5 GFLOP over 0.3 ms is 11.67 TFLOP/s.
    facts = facts_of(**COMPUTE | {"flops_fp64": 1.5e9})
    assert facts["t_compute"] == pytest.approx(3.0e-4)
    assert facts["effective_peak"] == pytest.approx(3.5e9 / 3.0e-4)
    assert facts["flops_share_fp64"] == pytest.approx(1.5 / 3.5)
    assert facts["binding_resource"] == "fp64"


def test_formats_that_share_the_matrix_pipe_add_their_times() -> None:
    # fp16: 1e9 / 100e12 = 10 µs; int8: 1e9 / 200e12 = 5 µs.
    facts = facts_of(
        duration=1.0e-4,
        tensor_instructions=1000.0,
        tensor_instructions_unknown=0.0,
        flops_fp32=0.0,
        flops_tensor_fp16=1.0e9,
        ops_tensor_int8=1.0e9,
        peak_tensor_fp16=100.0e12,
        peak_tensor_int8=200.0e12,
    )
    assert facts["t_tensor"] == pytest.approx(15.0e-6)
    assert facts["flops"] == pytest.approx(1.0e9)
    assert facts["ops_tensor_integer"] == pytest.approx(1.0e9)
    assert facts["tensor_peak_source"] == "report"


def test_a_report_without_matrix_peak_uses_the_rate_at_the_clock_held() -> None:
    # 1,024 a cycle on 100 multiprocessors at 1 GHz: 102.4 TFLOP/s; 1.024e9 take 10 µs.
    facts = facts_of(
        duration=1.0e-4,
        tensor_instructions=1000.0,
        tensor_instructions_unknown=0.0,
        flops_tensor_fp16=1.024e9,
        tensor_fp16_rate=1024.0,
        sm_count=100.0,
        sm_clock=1.0e9,
    )
    assert facts["t_tensor"] == pytest.approx(1.0e-5)
    assert facts["tensor_peak_source"] == "nominal rate at the held clock"


def test_matrix_work_of_unknown_shape_is_unknown() -> None:
    facts = facts_of(
        duration=1.0e-4, tensor_instructions=10.0, tensor_instructions_unknown=10.0, flops_fp32=0.0
    )
    assert facts["uses_tensor"] is True
    assert facts["flops_tensor"] is None
    assert facts["t_tensor"] is None
    assert facts["t_compute"] is None


def test_work_without_a_peak_leaves_the_compute_roof_unknown() -> None:
    facts = facts_of(**COMPUTE | {"flops_fp64": 1.0e9, "peak_fp64": None})
    assert facts["t_compute"] is None
    assert facts["roofline_bound"] is None
    assert facts["t_sol"] == pytest.approx(2.0e-4)
    assert facts["t_sol_complete"] is False
    assert facts["t_sol_known"] == "fp16, fp32, tensor, dram"


def test_an_idle_matrix_pipe_alone_is_no_roof() -> None:
    facts = facts_of(duration=1.0e-3, tensor_instructions=0.0)
    assert facts["t_tensor"] == 0
    assert facts["t_sol"] is None
    assert facts["roof_fraction"] is None
    assert facts["binding_resource"] is None
    assert facts["uses_tensor"] is False


def test_known_terms_that_are_all_zero_are_no_roof() -> None:
    facts = facts_of(duration=1.0e-3, flops_fp32=0.0, flops_fp64=1.0e9)
    assert facts["t_fp32"] == 0
    assert facts["t_sol"] is None


def test_the_stored_share_of_the_dram_peak_stands_in_for_bytes() -> None:
    facts = facts_of(duration=1.0e-3, dram_utilization=0.7)
    assert facts["t_dram"] == pytest.approx(7.0e-4)
    assert facts["dram_bandwidth"] is None
    assert facts["roof_fraction"] == pytest.approx(0.7)


def test_without_floating_point_work_there_is_no_side_of_the_ridge() -> None:
    facts = facts_of(**COMPUTE | {"flops_fp32": 0.0})
    assert facts["arithmetic_intensity"] == 0
    assert facts["roofline_bound"] is None
    assert facts["binding_resource"] == "dram"


def test_l2_counts_only_where_bytes_and_peak_are_of_one_kind() -> None:
    counted = {"duration": 1.0e-3, "l2_bytes": 1.0e9, "peak_l2_bandwidth": 2.0e12}
    assert facts_of(**counted, l2_bytes_source="sectors")["l2_fraction"] == pytest.approx(0.5)
    assert facts_of(**counted, l2_bytes_source="crossbar")["l2_fraction"] is None


def test_achievable_roofs_lie_above_profiled_ones() -> None:
    # Work 0.2 ms / 0.8 = 0.25 ms; traffic 0.18 ms / 0.9 = 0.2 ms.
    fractions = {"achievable_compute_fraction": 0.8, "achievable_dram_fraction": 0.9}
    facts = facts_of(**COMPUTE | {"dram_bytes": 1.8e8} | fractions)
    assert facts["t_sol_achievable"] == pytest.approx(2.5e-4)
    assert facts["roof_fraction_achievable"] == pytest.approx(0.25)


def test_an_achievable_fraction_above_one_does_not_raise_a_profiled_peak() -> None:
    facts = facts_of(**COMPUTE, achievable_compute_fraction=1.2)
    assert facts["t_sol_achievable"] == pytest.approx(facts["t_sol"])


@pytest.mark.parametrize(
    ("values", "achievable", "practical"),
    [
        # Work takes 0.2 ms, traffic 4 µs.
        ({}, None, 2.0e-4),
        ({"achievable_dram_fraction": 0.8}, None, 2.0e-4),
        # Traffic takes 0.4 ms; in practice 0.9 of the peak is reached.
        ({"dram_bytes": 4.0e8}, None, 4.0e-4 / 0.9),
        ({"dram_bytes": 4.0e8, "achievable_compute_fraction": 0.8}, None, 4.0e-4 / 0.9),
        ({"dram_bytes": 4.0e8, "achievable_dram_fraction": 0.8}, 5.0e-4, 5.0e-4),
        # L1 takes 0.5 ms; nobody measured what of its peak can be reached.
        ({"l1_bytes": 1.0e9, "peak_l1_bandwidth": 2.0e12}, None, 5.0e-4),
    ],
)
def test_a_roof_is_achievable_only_where_that_was_measured(
    values: dict[str, float], achievable: float | None, practical: float
) -> None:
    facts = facts_of(**COMPUTE | values)
    assert facts["t_sol_achievable"] == (achievable and pytest.approx(achievable))
    assert facts["t_sol_practical"] == pytest.approx(practical)
    assert facts["roof_reached"] == pytest.approx(practical / 1.0e-3)
    known = achievable is not None
    assert (facts["roof_fraction_achievable"] is not None) == known


def test_the_busiest_unit_sets_the_least_time_where_the_roof_is_incomplete() -> None:
    # Memory was 80 % busy: at least 0.8 of 1 ms; at 90 % of the peak that is 0.8889 ms.
    busy = {"duration": 1.0e-3, "dram_utilization": 0.8, "compute_utilization": 0.3}
    facts = facts_of(**busy)
    assert facts["t_least"] == pytest.approx(8.0e-4)
    assert facts["t_least_practical"] == pytest.approx(8.0e-4 / 0.9)
    # Compute units were the busier ones; what they did was not counted.
    facts = facts_of(**busy | {"compute_utilization": 0.85, "achievable_compute_fraction": 0.95})
    assert (facts["t_sol"], facts["t_least"]) == pytest.approx((8.0e-4, 8.5e-4))
    assert facts["t_least_practical"] == pytest.approx(8.5e-4 / 0.95)
    whole = {"l2_bytes": 4.0e6, "l2_bytes_source": "sectors", "peak_l2_bandwidth": 1.0e12}
    facts = facts_of(**COMPUTE | whole, compute_utilization=0.9)
    assert facts["t_sol_complete"] is True
    assert facts["t_least"] == facts["t_sol"]


@pytest.mark.parametrize(("traffic", "above"), [(1.02e9, False), (1.03e9, True)])
def test_traffic_above_the_roof_is_told(traffic: float, above: bool) -> None:
    facts = facts_of(duration=1.0e-3, dram_bytes=traffic, peak_dram_bandwidth=1.0e12)
    assert facts["measured_above_roof"] is above
    assert facts["dram_fraction"] == pytest.approx(traffic / 1.0e9)


@pytest.mark.parametrize(("dram", "violated"), [(1.0e9, False), (1.11e9, True)])
def test_more_bytes_below_than_above_violate_the_hierarchy(dram: float, violated: bool) -> None:
    assert facts_of(duration=1.0, dram_bytes=dram, l2_bytes=1.0e9)["hierarchy_violated"] is violated


def test_evidence_falls_from_a_roofline_to_the_launch() -> None:
    counted = COMPUTE | {"flops_fp32_source": "rate"}
    assert facts_of(**counted)["evidence_level"] == 1
    assert facts_of(**counted | {"flops_fp32_source": "opcodes"})["evidence_level"] == 2
    busy = {"compute_utilization": 0.1, "memory_utilization": 0.1}
    assert facts_of(duration=1.0e-3, **busy)["evidence_level"] == 3
    assert facts_of(grid_size=1.0)["evidence_level"] == 4


def test_schedulers_set_the_least_time_where_compute_was_not_counted() -> None:
    busy = {"duration": 1e-3, "issue_slot_utilization": 0.75, "sm_busy": 0.8}
    facts = facts_of(**busy)
    assert facts["t_units"] == pytest.approx(7.5e-4)  # of a multiprocessor that has blocks
    assert facts["t_least"] == pytest.approx(6.0e-4)
    assert facts["t_least_practical"] == pytest.approx(6.0e-4 / 0.9)
    counted = facts_of(**busy, compute_utilization=0.4)
    assert counted["t_units"] == pytest.approx(4.0e-4)
    assert counted["t_least"] == pytest.approx(4.0e-4)


def test_least_times_add_over_launches() -> None:
    # Launch 1: work 0.2 ms over traffic 0.004 ms; launch 2: traffic 0.8 ms over work 0.2 ms.
    (kernel,) = kernels_of([COMPUTE, COMPUTE | {"dram_bytes": 8.0e8}])
    assert kernel["t_sol"] == pytest.approx(1.0e-3)
    assert kernel["duration"] == pytest.approx(2.0e-3)
    assert kernel["roof_fraction"] == pytest.approx(0.5)
    assert kernel["arithmetic_intensity"] == pytest.approx(4.0e9 / 8.04e8)


def test_a_ratio_is_taken_over_the_launches_that_know_both() -> None:
    # The second launch has no byte count: its work must not count either.
    (kernel,) = kernels_of([COMPUTE, COMPUTE | {"dram_bytes": None, "flops_fp32": 8.0e9}])
    assert kernel["arithmetic_intensity"] == pytest.approx(500)
    assert kernel["flops"] == pytest.approx(10.0e9)
    assert kernel["coverage"] == {"dram_bytes": 1}


def test_no_launch_is_shorter_than_an_empty_one() -> None:
    # Two launches of 1.5 µs and of 1 ms: the one is all start, the other starts in 1.6 µs.
    short, long = {"duration": 1.5e-6, "compute_capability": 8.6}, {"duration": 1e-3}
    (kernel,) = kernels_of([short, {**long, "compute_capability": 8.6}])
    assert kernel["t_launch"] == pytest.approx(3.1e-6)
    assert kernel["t_least"] == pytest.approx(3.1e-6)
    assert facts_of(duration=1e-3, compute_capability=7.5)["t_launch"] == pytest.approx(1.4e-6)
    assert facts_of(duration=1e-3)["t_launch"] is None
    # A page that names no device still tells that warps have 32 threads: the shorter start holds.
    assert facts_of(duration=1e-3, warp_size=32)["t_launch"] == pytest.approx(1.4e-6)
    assert facts_of(duration=1e-3, warp_size=64)["t_launch"] is None


def test_the_least_time_says_what_it_is_made_of() -> None:
    bytes_ = {"dram_bytes": 1e6, "peak_dram_bandwidth": 1e12}  # 1 µs
    assert facts_of(duration=1e-5, **bytes_)["binding_resource"] == "dram"
    start = facts_of(duration=1e-5, compute_capability=8.6, **bytes_)
    assert (start["binding_resource"], start["t_least"]) == ("launch", pytest.approx(1.6e-6))
    busy = facts_of(duration=1e-5, compute_utilization=0.5, **bytes_)
    assert (busy["binding_resource"], busy["t_least"]) == ("units", pytest.approx(5e-6))
    assert busy["roof_fraction"] == pytest.approx(0.5)
    assert busy["wasted_time"] == pytest.approx(5e-6)


def test_launches_without_a_roof_are_as_near_to_it_as_the_others() -> None:
    known = {"duration": 2e-5, "dram_bytes": 1e7, "peak_dram_bandwidth": 1e12}  # 10 of 20 µs
    (kernel,) = kernels_of([known, {"duration": 2e-5}])
    assert kernel["t_least"] == pytest.approx(2e-5)
    assert kernel["roof_fraction"] == pytest.approx(0.5)


MATRIX_WORK = {"duration": 40e-6, "tensor_instructions": 1e6, "tensor_instructions_unknown": 0.0}


def test_int4_has_the_roof_of_its_device_at_the_clock_held() -> None:
    # Rated 1,248 TOP/s at 1.41 GHz, held at 0.705 GHz: 624 TOP/s; 6.24 G operations take 10 µs.
    rated = {"nominal_tensor_int4": 1248e12, "nominal_sm_clock": 1.41e9, "sm_clock": 0.705e9}
    facts = facts_of(**MATRIX_WORK, ops_tensor_int4=6.24e9, **rated)
    assert facts["t_tensor"] == pytest.approx(10e-6)
    assert facts["fraction_tensor"] == pytest.approx(0.25)


def test_integer_matrix_work_is_placed_by_its_operations_not_by_the_epilogue() -> None:
    # 8 G operations over 4 MB are 2,000 a byte; 8e9 / 400e12 = 20 µs of work, 4e6 / 1e12 = 4 µs of
    # traffic; ridge 400e12 / 1e12 = 400. The epilogue's 4 M FLOP would be 1 a byte.
    matrix = {**MATRIX_WORK, "ops_tensor_int8": 8e9, "peak_tensor_int8": 400e12}
    epilogue = {"flops_fp32": 4e6, "peak_fp32": 20e12}
    facts = facts_of(**matrix, **epilogue, dram_bytes=4e6, peak_dram_bandwidth=1e12)
    assert facts["arithmetic_intensity_integer"] == pytest.approx(2000)
    assert facts["ridge_point_integer"] == pytest.approx(400)
    assert facts["roofline_bound"] == "compute"
    assert facts["integer_work"] is True
    assert facts["roofline_work"] == pytest.approx(8e9)
    assert facts["arithmetic_intensity"] == pytest.approx(2000)
    assert facts["effective_peak"] == pytest.approx(400e12)
    assert facts["ridge_point"] == pytest.approx(400)
    # 8e9 in 40 µs: half of the roof.
    assert facts["performance"] == pytest.approx(200e12)
    assert facts["compute_roof_share"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "other",
    [
        # 4e8 / 10e12 is 40 µs of fp32, longer than 20 µs of integer products.
        {"flops_fp32": 4e8, "peak_fp32": 10e12},
        # Products of both kinds share the pipe: their times add, their operations do not.
        {"flops_fp32": 0.0, "flops_tensor_fp16": 4e8, "peak_tensor_fp16": 200e12},
        # No integer product at all.
        {"flops_fp32": 4e8, "peak_fp32": 100e12, "ops_tensor_int8": 0.0},
    ],
)
def test_floating_point_work_is_never_mixed_with_integer_work(other: dict[str, float]) -> None:
    counted = {
        "duration": 50e-6,
        "ops_tensor_int8": 8e9,
        "tensor_instructions": 1.0e6,
        "tensor_instructions_unknown": 0.0,
        "peak_tensor_int8": 400e12,
        "dram_bytes": 4e6,
        "peak_dram_bandwidth": 1e12,
    }
    facts = facts_of(**{**counted, **other})
    assert facts["integer_work"] is False
    # 400 M FLOP over 4 MB, in 50 µs.
    assert facts["arithmetic_intensity"] == pytest.approx(100)
    assert facts["performance"] == pytest.approx(8e12)


def test_integer_matrix_work_alone_has_a_side_of_its_ridge() -> None:
    facts = facts_of(
        duration=40e-6,
        ops_tensor_int8=1e8,
        tensor_instructions=1.0e6,
        tensor_instructions_unknown=0.0,
        peak_tensor_int8=400e12,
        dram_bytes=4e6,
        peak_dram_bandwidth=1e12,
    )
    assert facts["roofline_bound"] == "memory"
