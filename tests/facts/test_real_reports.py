"""Real reports: the published worked examples, and what must hold in every launch of them."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import yaml

Kernels = duckdb.DuckDBPyConnection


def rows(real_launches: Kernels, query: str, *values: object) -> list[dict[str, object]]:
    result = real_launches.execute(query, list(values))
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def kernel(real_launches: Kernels, report: str, launch: int) -> dict[str, object]:
    query = "select * from kernel_rows where contains(run_id, ?) and variant_id = ?"
    (row,) = rows(real_launches, query, report, str(launch))
    return row


def printed(figure: str) -> object:
    """Return what a printed figure stands for: within a unit of its last digit.

    The last digit was rounded or cut.
    """
    mantissa, _, exponent = figure.partition("e")
    digits = len(mantissa.partition(".")[2])
    return pytest.approx(float(figure), rel=0, abs=10.0 ** (int(exponent or 0) - digits))


# Recomputed by the vendor's chart formulas from the stored metrics, as printed.
@pytest.mark.real
@pytest.mark.parametrize(
    ("report", "launch", "expected"),
    [
        (
            "AlpriElse__cs599k/2025-04-21_v1",
            0,
            {
                "performance_fp32": "1.662e12",
                "fraction_fp32": "0.0516",
                "peak_fp32": "32.19e12",
                "dram_bandwidth": "1.368e12",
                "dram_fraction": "0.6711",
                "arithmetic_intensity": "1.215",
                "roof_fraction": "0.671",
            },
        ),
        (
            "AlpriElse__cs599k/2025-04-21-77_06-MT",
            0,
            {
                "performance_fp32": "3.222e12",
                "fraction_fp32": "0.2136",
                "peak_fp32": "15.08e12",
                "dram_bandwidth": "1.198e12",
                "dram_fraction": "0.7706",
                "arithmetic_intensity": "2.689",
                "roof_fraction": "0.771",
            },
        ),
        (
            "NCAR__GPU_workshop/MW_Baseline",
            3,
            {
                "performance_fp32": "0.083e12",
                "fraction_fp32": "0.0063",
                "peak_fp32": "13.25e12",
                "performance_fp64": "1.084e12",
                "fraction_fp64": "0.1637",
                "peak_fp64": "6.63e12",
                "dram_bandwidth": "665.6e9",
                "dram_fraction": "0.7403",
                "arithmetic_intensity_fp64": "1.629",
                "roof_fraction": "0.740",
            },
        ),
        (
            "armleth__cuda-mlp-inference/report_v4_8_per_thread",
            0,
            {
                "performance_fp32": "0.0066e12",
                "fraction_fp32": "0.0023",
                "peak_fp32": "2.84e12",
                "dram_bandwidth": "136.1e9",
                "dram_fraction": "0.4480",
                "arithmetic_intensity": "0.0485",
            },
        ),
        (
            "bwd29__self-join-MiSTIC/ilpProf",
            0,
            {
                "performance_fp64": "0.622e12",
                "fraction_fp64": "0.1175",
                "peak_fp64": "5.29e12",
                "dram_bandwidth": "43.9e9",
                "dram_fraction": "0.0282",
                "arithmetic_intensity": "14.17",
            },
        ),
    ],
)
def test_the_worked_examples_come_out(
    real_launches: Kernels, report: str, launch: int, expected: dict[str, str]
) -> None:
    found = kernel(real_launches, report, launch)
    assert {name: found[name] for name in expected} == {
        name: printed(value) for name, value in expected.items()
    }


@pytest.mark.real
def test_a_v100_kernel_has_an_intensity_per_precision_and_in_all(real_launches: Kernels) -> None:
    # (0.083 + 1.084) TFLOP/s over 665.6 GB/s; the first has two digits.
    found = kernel(real_launches, "NCAR__GPU_workshop/MW_Baseline", 3)
    assert found["arithmetic_intensity"] == pytest.approx((0.083 + 1.084) / 0.6656, rel=1e-3)
    assert found["arithmetic_intensity_fp32"] == pytest.approx(0.083 / 0.6656, rel=1e-2)
    assert found["roofline_bound"] == "memory"


@pytest.mark.real
def test_packed_half_constants_are_no_work_of_a_single_precision_kernel(
    real_launches: Kernels,
) -> None:
    found = kernel(real_launches, "2025-04-21-77_06-MT", 0)
    assert (found["flops_fp16"], found["flops_fp16_source"]) == (0, "constants")


@pytest.mark.real
def test_an_int8_product_counts_two_n_cubed(real_launches: Kernels) -> None:
    found = kernel(real_launches, "panjd123__cutlass/report-s8", 0)
    assert found["ops_tensor_int8"] == 2 * 384**3
    assert found["flops_tensor"] == 0


@pytest.mark.real
def test_the_dram_fraction_equals_the_stored_throughput(real_launches: Kernels) -> None:
    query = (
        "select run_id, variant_id, dram_bytes / duration / peak_dram_bandwidth as recomputed,"
        " dram_utilization as stored from kernel_rows"
        " where recomputed is not null and stored is not null"
    )
    found = rows(real_launches, query)
    assert len(found) > 100
    assert [row for row in found if abs(row["recomputed"] - row["stored"]) > 1e-6] == []


@pytest.mark.real
def test_the_peak_that_the_report_stores_is_the_one_it_divides_by(real_launches: Kernels) -> None:
    # Bytes a cycle times the clock, not the percentage turned round: two sources of one number.
    query = (
        "select dram_bytes / duration / (counters['dram__bytes.sum.peak_sustained']"
        " * counters['dram__cycles_elapsed.avg.per_second']) as recomputed,"
        " dram_utilization as stored from launches where recomputed is not null"
    )
    found = rows(real_launches, query)
    assert len(found) > 90
    assert [row for row in found if abs(row["recomputed"] - row["stored"]) > 1e-6] == []


@pytest.mark.real
def test_theoretical_occupancy_equals_the_stored_one(real_launches: Kernels) -> None:
    query = (
        "select run_id, variant_id, occupancy_theoretical, occupancy_theoretical_reported,"
        " occupancy_mismatch from kernel_rows where occupancy_theoretical_reported is not null"
    )
    found = rows(real_launches, query)
    assert len(found) == 736
    assert [row for row in found if row["occupancy_mismatch"] is not False] == []


@pytest.mark.real
def test_each_limit_equals_the_stored_one(real_launches: Kernels) -> None:
    for ours, stored in (
        ("blocks_by_warps", "occupancy_limit_warps"),
        ("blocks_by_registers", "occupancy_limit_registers"),
        ("blocks_by_blocks", "occupancy_limit_blocks"),
    ):
        query = f"select {ours}, {stored} from kernel_rows where {ours} <> {stored}"
        assert rows(real_launches, query) == [], ours


@pytest.mark.real
def test_the_limit_of_shared_memory_is_that_of_the_carve_out_in_force_or_the_largest(
    real_launches: Kernels,
) -> None:
    # Reports differ by version in which of the two they divide.
    query = (
        "select blocks_by_shared_memory, occupancy_limit_shared_memory as stored,"
        " floor(shared_memory_per_sm / shared_per_block) as largest, run_id from kernel_rows"
        " where stored not in (blocks_by_shared_memory, largest)"
    )
    assert rows(real_launches, query) == []


@pytest.mark.real
def test_nothing_measured_lies_above_the_roof(real_launches: Kernels) -> None:
    query = "select run_id, variant_id, roof_fraction from kernel_rows where measured_above_roof"
    assert rows(real_launches, query) == []
    levels = ("dram", "l2", "l1", "shared")
    largest = ", ".join(f"max({level}_fraction) as {level}" for level in levels)
    (row,) = rows(real_launches, f"select {largest} from kernel_rows")
    assert all(value <= 1 for value in row.values()), row


@pytest.mark.real
def test_counters_of_whole_devices_cover_all_their_multiprocessors(real_launches: Kernels) -> None:
    query = (
        "select count(*) as told, count(*) filter (abs(sm_count_counted - sm_count) > 0.01) as"
        " others, count(*) filter (partial_device) as parts from kernel_rows"
        " where sm_count_counted is not null"
    )
    (found,) = rows(real_launches, query)
    assert found == {"told": 190, "others": 0, "parts": 0}


@pytest.mark.real
def test_the_default_set_of_sections_still_gives_limiter_unit_and_occupancy(
    real_launches: Kernels,
) -> None:
    query = (
        "select limiter, limiting_unit, occupancy_theoretical, waves from kernel_rows"
        " where evidence_level = 3"
    )
    found = rows(real_launches, query)
    assert len(found) > 400
    assert [row for row in found if None in row.values()] == []


@pytest.mark.real
def test_launches_that_failed_are_flagged_and_left_out(real_launches: Kernels) -> None:
    query = "select variant_id, duration, launches_excluded from kernel_rows where duration is null"
    found = rows(real_launches, query)
    flagged = rows(real_launches, "select * from launch where list_contains(flags, 'no_duration')")
    assert len(found) == len(flagged) == 22
    assert {row["launches_excluded"] for row in found} == {1}


@pytest.mark.real
def test_hand_judged_limiters_agree(real_launches: Kernels) -> None:
    judged = Path(__file__).parents[2] / "docs" / "judged" / "limiter.yaml"
    cases = yaml.safe_load(judged.read_text())["judged"]
    expected = {(c["report"], c["launch"]): (c["limiter"], c["roofline_bound"]) for c in cases}
    found = {}
    for report, launch in expected:
        row = kernel(real_launches, report, launch)
        found[report, launch] = (row["limiter"], row["roofline_bound"])
    assert found == expected
