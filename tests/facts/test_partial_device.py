"""Launches that could use a part of a device only, worked out by hand.

The device is an A100: 108 multiprocessors, 64 fused multiply-adds a cycle each, at 1 GHz; 16 of
them belong to the green context, 42 to the instance.
"""

from __future__ import annotations

import pytest

from advisor.api.querying import run_query
from advisor.api.reporting import load_report
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.knowledge.parts import load_mapping
from advisor.model import Launch, ReportedDevice, Session
from seed.simulation.ncu_encoder import write_report
from tests.support.facts import empty_database, facts_of
from tests.support.quantities import quantity_rows

MAPPING = load_mapping("ncu")
PEAK = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"
LAUNCH = {
    "gpu__time_duration.sum": 1.0e6,
    "sm__cycles_elapsed.avg.per_second": 1.0e9,
    "sm__cycles_elapsed.avg": 1.0e6,
    "device__attribute_multiprocessor_count": 108.0,
    "device__attribute_num_schedulers_per_multiprocessor": 4.0,
}
GREEN = LAUNCH | {"launch__uses_green_context": 1.0, "launch__sm_count": 16.0}


def quantities_of(counters: dict[str, float]) -> dict[str, object]:
    launch = Launch(index=0, kernel_name="k", grid=(32, 1, 1), block=(128, 1, 1), counters=counters)
    with empty_database() as connection:
        (row,) = quantity_rows(connection, MAPPING, [launch])
    return row


def test_peaks_over_the_whole_device_come_to_the_part() -> None:
    # 2 × 64 × 108 FLOP a cycle are 13.824 TFLOP/s at 1 GHz; 16 of 108 multiprocessors have 2.048.
    row = quantities_of(GREEN | {PEAK: 6912.0, "sm__cycles_elapsed.sum": 108.0e6})
    assert row["sm_count_counted"] == pytest.approx(108)
    assert row["peak_fp32"] == pytest.approx(2.048e12)
    assert row["flags"] == ["partial_device"]


def test_peaks_of_the_part_are_not_scaled_again() -> None:
    # 64 × 16 = 1,024 a cycle are those of the part already.
    row = quantities_of(GREEN | {PEAK: 1024.0, "sm__cycles_elapsed.sum": 16.0e6})
    assert row["sm_count_counted"] == pytest.approx(16)
    assert row["peak_fp32"] == pytest.approx(2.048e12)


def test_peaks_are_the_parts_where_nothing_tells_what_was_counted() -> None:
    row = quantities_of(GREEN | {PEAK: 1024.0})
    assert row["sm_count_counted"] is None
    assert row["peak_fp32"] == pytest.approx(2.048e12)


@pytest.mark.parametrize(("l2", "l1"), [(60.0, 0.9), (None, 0.9), (91.0, None)])
def test_without_cycles_l1_is_as_busy_as_memory_where_nothing_below_it_is(
    l2: float | None, l1: float | None
) -> None:
    page = {
        "l1tex__throughput.avg.pct_of_peak_sustained_active": 95.0,
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": 90.0,
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": 5.0,
    }
    page |= {} if l2 is None else {"lts__throughput.avg.pct_of_peak_sustained_elapsed": l2}
    assert quantities_of(page)["l1_utilization"] == (l1 and pytest.approx(l1))


def test_means_over_the_whole_device_come_to_the_part() -> None:
    # 12 % of 108 multiprocessors is 81 % of 16; 16 of them active for 0.9 of 10^6 cycles each
    # have a mean of 133,333 over all, and nothing is uneven among the 16.
    row = quantities_of(
        GREEN
        | {
            "sm__throughput.avg.pct_of_peak_sustained_elapsed": 12.0,
            "l1tex__throughput.avg.pct_of_peak_sustained_elapsed": 8.0,
            "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed": 10.0,
            "sm__cycles_active.avg": 16 * 9.0e5 / 108,
            "sm__cycles_active.sum": 16 * 9.0e5,
            "sm__cycles_active.max": 9.0e5,
            "sm__cycles_active.min": 0.0,
        }
    )
    assert row["compute_utilization"] == pytest.approx(0.81)
    assert row["l1_utilization"] == pytest.approx(0.54)
    assert row["sm_active_cycles"] == pytest.approx(9.0e5)
    assert row["sm_active_cycles_min"] is None
    assert row["sm_busy"] == pytest.approx(0.9)
    assert row["pipe_fma"] == pytest.approx(0.675 / 0.9)  # 10 % of 108 is 67.5 % of 16


def test_memory_is_shared_as_a_whole_by_green_contexts() -> None:
    row = quantities_of(
        GREEN
        | {
            "sm__cycles_elapsed.sum": 108.0e6,
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": 20.0,
            "dram__bytes.sum.peak_sustained": 1280.0,
            "dram__cycles_elapsed.avg.per_second": 1.2e9,
        }
    )
    assert row["dram_utilization"] == pytest.approx(0.2)
    assert row["peak_dram_bandwidth"] == pytest.approx(1.536e12)
    facts = facts_of(sm_count=16.0, sm_count_device=108.0, green_context=1.0)
    assert facts["memory_share"] == 1


def test_a_green_context_of_unknown_size_has_no_count() -> None:
    row = quantities_of(LAUNCH | {"launch__uses_green_context": 1.0})
    assert row["sm_count"] is None
    assert quantities_of(LAUNCH)["sm_count"] == 108


def test_waves_and_idle_units_are_those_of_the_part() -> None:
    # 32 blocks, 2 on each of 16 multiprocessors: one wave; of 108 they would leave 76 empty.
    whole = facts_of(grid_size=32.0, block_size=1024.0, warp_size=32.0, max_warps_per_sm=64.0,
                     registers_per_thread=16.0, registers_per_sm=65536.0, sub_partitions=4.0,
                     sm_count=16.0, sm_count_device=108.0)  # fmt: skip
    assert whole["blocks_per_sm"] == 2
    assert whole["waves"] == 1
    assert whole["idle_sm_share"] == 0
    assert whole["partial_device"] is True
    assert whole["sm_share"] == pytest.approx(16 / 108)


def test_a_whole_device_is_no_part() -> None:
    facts = facts_of(sm_count=108.0, sm_count_device=108.0)
    assert facts["partial_device"] is False
    assert facts["sm_share"] == 1
    assert facts_of()["partial_device"] is None


def test_a_breakdown_over_idle_units_does_not_name_the_limiting_one() -> None:
    busy: dict[str, float | str] = {
        "dram_utilization": 0.2,
        "compute_utilization": 0.81,
        "limiting_unit_reported": "DRAM",
    }
    assert facts_of(**busy, sm_count=16.0, sm_count_counted=108.0)["limiting_unit"] == (
        "multiprocessor"
    )
    assert facts_of(**busy, sm_count=16.0, sm_count_counted=16.0)["limiting_unit"] == "DRAM"
    assert facts_of(**busy)["limiting_unit"] == "DRAM"


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a database with a launch on an instance of 42 multiprocessors, half the memory."""
    folder = tmp_path_factory.mktemp("instance")
    attributes: dict[str, float | str] = {
        "compute_capability_major": 8.0,
        "compute_capability_minor": 0.0,
        "multiprocessor_count": 42.0,
        "global_memory_bus_width": 2560.0,
        "l2_cache_size": 20971520.0,
    }
    device = ReportedDevice(id=0, name="NVIDIA A100-SXM4-40GB MIG 3g.20gb", attributes=attributes)
    counters = LAUNCH | {"device__attribute_multiprocessor_count": 42.0, PEAK: 2688.0}
    launch = Launch(
        index=0, kernel_name="k", grid=(42, 1, 1), block=(128, 1, 1), counters=counters, device=0
    )
    write_report(folder / "mig.ncu-rep", Session(profiler="ncu", devices=(device,)), [launch])
    database = str(folder / "test.duckdb")
    results = list(
        ingest_paths(database, [str(folder / "mig.ncu-rep")], labels=RunLabels(), wait=0)
    )
    assert [result.status for result in results] == ["new"]
    return database


def test_an_instance_has_its_share_of_the_rated_ceilings(instance: str) -> None:
    # 42 of 108 multiprocessors, and half of the 5,120 bits and of the 40 MiB of L2.
    names = "sm_share, memory_share, nominal_fp32, nominal_dram_bandwidth, peak_fp32"
    with run_query(instance, f"select {names} from kernels", wait=0) as answer:
        ((units, memory, fp32, dram, peak),) = list(answer.rows)
    assert units == pytest.approx(42 / 108)
    assert memory == pytest.approx(0.5)
    assert fp32 == pytest.approx(19.5e12 * 42 / 108)
    assert dram == pytest.approx(1.555e12 / 2)
    assert peak == pytest.approx(2 * 64 * 42 * 1e9)


def test_the_report_says_that_the_device_is_a_part(instance: str) -> None:
    (part,) = (
        condition
        for condition in load_report(instance, "latest", wait=0).conditions
        if condition.label == "part of the device"
    )
    assert part.departs
    assert part.value.replace("\N{NO-BREAK SPACE}", " ") == "42 SMs, 39 %"
    assert "50" in part.note
    assert "roofs are those of this part" in part.note
