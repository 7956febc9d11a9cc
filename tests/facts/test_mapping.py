"""Counters of made-up launches become quantities, through the shipped files and small ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import duckdb
import pytest

from advisor.counters.mapping import load_mapping
from advisor.counters.staging import Mapping
from advisor.errors import RuleError
from advisor.model import Keyed, Launch
from tests.support.quantities import quantity_rows

SHAPES = "sass__inst_executed_per_opcode_with_modifier_all"
THREADS = "sass__thread_inst_executed_true_per_opcode"


@cache
def shipped() -> Mapping:
    return load_mapping("ncu")


def quantities_of(
    counters: dict[str, float] | None = None,
    texts: dict[str, str] | None = None,
    **histograms: dict[str, float],
) -> dict[str, object]:
    """Return the quantities of one launch; histograms are ``shapes`` and ``threads``."""
    names = {"shapes": SHAPES, "threads": THREADS, "plain": "sass__inst_executed_per_opcode"}
    launch = Launch(
        index=0,
        kernel_name="k",
        grid=(4, 2, 1),
        block=(32, 4, 1),
        counters=counters or {},
        texts=texts or {},
        keyed={
            names[name]: Keyed(keys=tuple(values), values=tuple(values.values()))
            for name, values in histograms.items()
        },
    )
    with duckdb.connect(":memory:") as connection:
        (row,) = quantity_rows(connection, shipped(), [launch])
    return row


def test_base_units_become_si() -> None:
    row = quantities_of({"gpu__time_duration.sum": 2500.0, "l1tex__t_sector_hit_rate.pct": 75.0})
    assert row["duration"] == pytest.approx(2.5e-6)
    assert row["l1_hit_rate"] == pytest.approx(0.75)


def test_names_of_2019_are_understood() -> None:
    row = quantities_of({"gpu__time_duration": 1000.0, "sm__sol_pct": 30.0, "fbpa__sol_pct": 60.0})
    assert row["duration"] == pytest.approx(1.0e-6)
    assert row["compute_utilization"] == pytest.approx(0.3)
    assert row["dram_utilization"] == pytest.approx(0.6)


def test_what_was_not_collected_is_null() -> None:
    row = quantities_of()
    numbers = {name: row[name] for name in shipped().quantities.quantities}
    assert numbers.pop("thread_count") == 8 * 128
    assert numbers.pop("warp_size") == 32  # of every device of the vendor
    assert set(numbers.values()) == {None}


def test_what_no_launch_counted_is_not_planned() -> None:
    launch = Launch(index=0, kernel_name="k", counters={"dram__bytes_read.sum": 100.0})
    staged = shipped().stage([launch])
    assert "dram__bytes_write.sum" not in staged
    found = shipped().sql("staging", staged)
    assert "dram__bytes_read.sum" in found
    assert "smsp__inst_executed" not in found
    assert {"dram_read_bytes"} <= shipped().known(staged)
    assert shipped().known(staged).isdisjoint({"dram_bytes", "dram_bytes_source", "flops_fp32"})


def test_launches_with_other_counters_have_the_quantities_that_each_has_alone() -> None:
    reading = Launch(index=0, kernel_name="k", counters={"dram__bytes_read.sum": 100.0})
    timed = Launch(index=1, kernel_name="k", counters={"gpu__time_duration.sum": 1000.0})
    with duckdb.connect(":memory:") as connection:
        together = quantity_rows(connection, shipped(), [reading, timed])
        alone = [quantity_rows(connection, shipped(), [each])[0] for each in (reading, timed)]
    assert [row | {"row": 0} for row in together] == alone
    assert together[0]["duration"] is None
    assert together[1]["duration"] == pytest.approx(1.0e-6)


def test_the_first_alternative_that_is_known_wins_and_is_remembered() -> None:
    counted = {"dram__bytes_read.sum": 100.0, "dram__bytes_write.sum": 20.0}
    row = quantities_of(counted)
    assert (row["dram_bytes"], row["dram_bytes_source"]) == (120, "counted")
    # 1 GB/s over 1 µs.
    rate = {"dram__bytes.sum.per_second": 1.0e9, "gpu__time_duration.sum": 1000.0}
    row = quantities_of(counted | rate)
    assert row["dram_bytes"] == pytest.approx(1000)
    assert row["dram_bytes_source"] == "rate"


def test_shared_memory_traffic_is_that_of_its_own_instructions() -> None:
    data = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
    # The whole counts more than shared memory: 18 million in a kernel that has none.
    none = {f"{data}.sum": 18e6, f"{data}_op_ld.sum": 0.0, f"{data}_op_st.sum": 0.0}
    assert quantities_of(none)["shared_bytes"] == 0
    used = {f"{data}_op_ld.sum": 10.0, f"{data}_op_st.sum": 4.0, f"{data}_op_atom.sum": 2.0}
    copied = {f"smsp__sass_{data.replace('__', '_')}_op_ldgsts.sum": 3.0}
    assert quantities_of(none | used)["shared_bytes"] == 128 * 16
    assert quantities_of(none | used | copied)["shared_bytes"] == 128 * 19
    assert quantities_of({f"{data}.sum": 18e6})["shared_bytes"] is None


@pytest.mark.parametrize(
    ("told", "schedulers"),
    [
        ({"device__attribute_compute_capability_major": 7.0}, 4),
        ({"device__attribute_compute_capability_major": 6.0}, None),
        ({"smsp__cycles_elapsed.sum": 799.0, "sm__cycles_elapsed.sum": 400.0}, 2),
    ],
)
def test_multiprocessors_are_schedulers_that_executed_instructions(
    told: dict[str, float], schedulers: int | None
) -> None:
    counted = {"smsp__inst_executed.sum": 6000.0, "smsp__inst_executed.avg": 50.0}
    row = quantities_of({**counted, **told})
    assert row["schedulers_per_sm"] == schedulers
    assert row["sm_count"] == (schedulers and 120 / schedulers)
    green = quantities_of({**counted, **told, "launch__uses_green_context": 1.0})
    assert green["sm_count"] is None


@pytest.mark.parametrize(("kind", "access"), [("load", "ld"), ("store", "st")])
def test_passes_of_shared_memory_have_two_names(kind: str, access: str) -> None:
    counter = f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{access}.sum"
    assert quantities_of({counter: 70.0})[f"shared_{kind}_wavefronts"] == 70


def test_the_width_of_accesses_is_known_where_none_is_to_shared_memory() -> None:
    inst = "smsp__sass_inst_executed_op_"
    widths = {f"{inst}memory_{bits}b.sum": 0.0 for bits in (8, 16, 64)}
    widths |= {f"{inst}memory_32b.sum": 300.0, f"{inst}memory_128b.sum": 100.0}
    shared = {f"{inst}shared_ld.sum": 0.0, f"{inst}shared_st.sum": 0.0}
    for counters in (widths, widths | shared):
        assert quantities_of(counters)["load_bytes_per_instruction"] == pytest.approx(7)
    for some in shared:
        found = quantities_of(widths | shared | {some: 1.0})
        assert found["load_bytes_per_instruction"] is None


def test_atomics_of_the_busiest_slice_are_measured_or_all_on_one() -> None:
    entered = "lts__d_atomic_input_cycles_active.{}.pct_of_peak_sustained_elapsed"
    slices = {"device__attribute_l2s_count": 80.0}
    mean = {entered.format("avg"): 0.9} | slices
    assert quantities_of(mean)["atomic_slice_utilization"] == pytest.approx(0.72)
    busiest = {entered.format("max"): 33.0}
    assert quantities_of(mean | busiest)["atomic_slice_utilization"] == pytest.approx(0.33)
    several = {entered.format("avg"): 1.3} | slices  # 104 % of one slice
    assert quantities_of(several)["atomic_slice_utilization"] is None


def test_atomics_and_clusters_are_what_the_report_says() -> None:
    sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
    row = quantities_of(
        {
            sectors.format("atom"): 30.0,
            sectors.format("red"): 12.0,
            "smsp__inst_executed_op_shared_atom.sum": 5.0,
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum": 15.0,
            "launch__cluster_size": 2.0,
            "launch__cluster_max_active": 66.0,
        }
    )
    assert row["global_atomic_sectors"] == 42
    assert (row["shared_atomics"], row["shared_atomic_wavefronts"]) == (5, 15)
    assert (row["cluster_size"], row["clusters_at_once"]) == (2, 66)
    none = quantities_of({"launch__cluster_size": 0.0, "launch__cluster_max_active": 0.0})
    assert (none["cluster_size"], none["clusters_at_once"]) == (0, None)


def test_shares_of_stalls_are_cycles_where_resident_warps_and_issues_tell_how_many() -> None:
    share = {"smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct": 60.0}
    assert quantities_of(share)["stall_long_scoreboard"] is None
    rates = {"smsp__warps_active.avg.per_cycle_active": 8.0}
    rates |= {"smsp__issue_active.avg.per_cycle_active": 0.4}
    row = quantities_of(share | rates)
    assert row["warp_latency"] == pytest.approx(20)  # 8 warps, and one of them every 2.5 cycles
    assert row["stall_long_scoreboard"] == pytest.approx(12)
    told = {"smsp__average_warp_latency_per_inst_issued.ratio": 21.0}
    assert quantities_of(rates | told)["warp_latency"] == pytest.approx(21)


def test_a_page_tells_load_store_instructions_by_the_pipes_of_memory_instructions() -> None:
    pipes = {"sm__memory_throughput.avg.pct_of_peak_sustained_elapsed": 70.0}
    assert quantities_of(pipes)["lsu_utilization"] == pytest.approx(0.7)
    unit = {"l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed": 40.0}
    assert quantities_of(pipes | unit)["lsu_utilization"] == pytest.approx(0.4)


def test_a_page_tells_how_busy_memory_is_by_its_two_throughputs() -> None:
    section = {
        "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed": 48.0,
        "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed": 80.0,
    }
    assert quantities_of(section)["memory_utilization"] == pytest.approx(0.8)
    first = {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": 81.0}
    assert quantities_of(section | first)["memory_utilization"] == pytest.approx(0.81)


def test_device_memory_is_as_busy_as_its_reads_and_writes_together() -> None:
    name = "dram__bytes_{}.sum.pct_of_peak_sustained_elapsed"
    shares = {name.format("read"): 50.0, name.format("write"): 37.0}
    assert quantities_of(shares)["dram_utilization"] == pytest.approx(0.87)


def test_thread_instructions_per_cycle_become_work() -> None:
    # (10 + 20 + 2 × 30) a cycle × 1 GHz × 1 ms.
    per_cycle = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum.per_cycle_elapsed"
    row = quantities_of(
        {
            per_cycle.format("fadd"): 10.0,
            per_cycle.format("fmul"): 20.0,
            per_cycle.format("ffma"): 30.0,
            "smsp__cycles_elapsed.avg.per_second": 1.0e9,
            "gpu__time_duration.sum": 1.0e6,
        }
    )
    assert row["flops_fp32"] == pytest.approx(9.0e7)
    assert row["flops_fp32_source"] == "rate"
    assert row["fp32_fused"] == pytest.approx(3.0e7)


def test_opcodes_give_the_work_where_no_counter_does() -> None:
    row = quantities_of(threads={"FADD": 5.0, "FFMA": 10.0, "DMUL": 3.0, "MUFU": 9.0})
    assert (row["flops_fp32"], row["flops_fp32_source"]) == (25, "opcodes")
    assert row["flops_fp64"] == 3
    assert row["flops_fp16"] == 0


def test_packed_half_instructions_count_two_values() -> None:
    row = quantities_of(threads={"HADD2": 10.0, "HMUL2": 20.0, "HFMA2": 30.0})
    assert row["flops_fp16"] == 2 * 10 + 2 * 20 + 4 * 30


def test_half_multiply_adds_beside_single_precision_load_constants() -> None:
    row = quantities_of(threads={"HFMA2": 30.0, "FFMA": 10.0})
    assert (row["flops_fp16"], row["flops_fp16_source"]) == (0, "constants")


@pytest.mark.parametrize(("share", "work"), [(0.019, 0.0), (0.02, 0.08)])
def test_a_few_half_multiply_adds_load_constants(share: float, work: float) -> None:
    row = quantities_of({"thread_inst_executed_true": 1.0}, threads={"HFMA2": share, "IADD3": 0.5})
    assert row["flops_fp16"] == pytest.approx(work)


@pytest.mark.parametrize(
    ("opcode", "quantity", "operations"),
    [
        ("HMMA.884.F32.F32", "flops_tensor_fp16", 2 * 8 * 8 * 4),
        ("HMMA.1688.F16", "flops_tensor_fp16", 2 * 16 * 8 * 8),
        ("HMMA.16816.F32.BF16", "flops_tensor_fp16", 2 * 16 * 8 * 16),
        ("HMMA.1688.F32.TF32", "flops_tensor_tf32", 2 * 16 * 8 * 8),
        ("HMMA.1684.F32.TF32", "flops_tensor_tf32", 2 * 16 * 8 * 4),
        ("DMMA.884", "flops_tensor_fp64", 2 * 8 * 8 * 4),
        ("IMMA.16832.S8.S8.SAT", "ops_tensor_int8", 2 * 16 * 8 * 32),
        ("IMMA.16864.S4.S4", "ops_tensor_int4", 2 * 16 * 8 * 64),
        ("BMMA.168256.XOR.POPC", "ops_tensor_int1", 2 * 16 * 8 * 256),
        ("QMMA.16832.F32.E4M3.E4M3", "flops_tensor_fp8", 2 * 16 * 8 * 32),
        ("HGMMA.64x128x16.F32", "flops_tensor_fp16", 2 * 64 * 128 * 16 / 4),
        ("HGMMA.64x64x8.F32.TF32", "flops_tensor_tf32", 2 * 64 * 64 * 8 / 4),
        ("QGMMA.64x256x32.F32.E4M3.E4M3", "flops_tensor_fp8", 2 * 64 * 256 * 32 / 4),
        ("IGMMA.64x32x32.S8.S8", "ops_tensor_int8", 2 * 64 * 32 * 32 / 4),
        ("HMMA.SP.16832.F32", "flops_tensor_fp16", 2 * 16 * 8 * 32 / 2),
    ],
)
def test_a_matrix_opcode_counts_its_shape(opcode: str, quantity: str, operations: float) -> None:
    row = quantities_of(shapes={opcode: 10.0, "FFMA": 99.0})
    work = {
        name: row[name] for name in row if "tensor_" in name and name.startswith(("flops", "ops"))
    }
    others = {v for name, v in work.items() if name != quantity and not name.endswith("_source")}
    assert row[quantity] == 10 * operations
    assert others == {0}
    assert row["tensor_instructions"] == 10
    assert row["tensor_instructions_unknown"] == 0


def test_the_wmma_product_of_side_4096_counts_two_n_cubed() -> None:
    n = 4096
    row = quantities_of(shapes={"HMMA.1688.F32": n**3 / (16 * 8 * 8)})
    assert row["flops_tensor_fp16"] == 2 * n**3


@pytest.mark.parametrize("opcode", ["HMMA.99999.F32", "UTCHMMA", "HGMMA.SP.64x64x32.F32", "OMMA.1"])
def test_a_matrix_opcode_of_unknown_shape_is_no_guess(opcode: str) -> None:
    row = quantities_of(shapes={opcode: 10.0, "HMMA.16816.F32": 5.0})
    assert row["tensor_instructions_unknown"] == 10
    assert row["tensor_instructions"] == 15
    assert row["flops_tensor_fp16"] is None


def test_a_packed_multiply_add_is_no_matrix_instruction() -> None:
    row = quantities_of(shapes={"HFMA2.MMA": 10.0})
    assert row["tensor_instructions"] == 0
    assert row["flops_tensor_fp16"] == 0


def test_an_idle_matrix_pipe_means_no_matrix_work() -> None:
    idle = {
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": 0.0,
        "device__attribute_compute_capability_major": 8.0,
    }
    row = quantities_of(idle)
    assert (row["flops_tensor_fp16"], row["flops_tensor_fp16_source"]) == (0, "idle_pipe")
    busy = dict.fromkeys(idle, 8.0)
    assert quantities_of(busy)["flops_tensor_fp16"] is None
    other = idle | {"device__attribute_compute_capability_major": 10.0}
    assert quantities_of(other)["flops_tensor_fp16"] is None


def test_sparse_paths_count_the_half_that_is_multiplied() -> None:
    path = "sm__ops_path_tensor_src_int8_sparsity_{}.sum"
    row = quantities_of({path.format("off"): 100.0, path.format("on"): 50.0})
    assert (row["ops_tensor_int8"], row["ops_tensor_int8_source"]) == (125, "paths")


@pytest.mark.parametrize(
    ("opcode", "rate"), [("HMMA.16816.F32", 360448), ("HGMMA.64x64x16.F32", 540672)]
)
def test_the_matrix_peak_is_that_of_the_instructions_used(opcode: str, rate: float) -> None:
    path = "sm__ops_path_tensor_op_{}_sparsity_off.sum.peak_sustained"
    counters = {
        path.format("hmma_src_fp16_dst_fp32"): 360448.0,
        path.format("hgmma_src_fp16"): 540672.0,
        "sm__cycles_elapsed.avg.per_second": 1.0e9,
    }
    row = quantities_of(counters, shapes={opcode: 1.0})
    assert row["peak_tensor_fp16"] == pytest.approx(rate * 1.0e9)


def test_l2_peak_follows_from_the_stored_percentage() -> None:
    # 1,000 sectors in 1 µs are 32 GB/s; that was a quarter of the peak.
    row = quantities_of(
        {
            "lts__t_sectors.sum": 1000.0,
            "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": 25.0,
            "gpu__time_duration.sum": 1000.0,
        }
    )
    assert row["l2_bytes"] == 32000
    assert row["peak_l2_bandwidth"] == pytest.approx(128.0e9)


def test_a_limit_of_nought_is_no_limit() -> None:
    row = quantities_of({"launch__occupancy_limit_shared_mem": 0.0})
    assert row["occupancy_limit_shared_memory"] is None


MEMORY = "breakdown:gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
COMPUTE = "breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed"


def test_the_largest_member_of_the_breakdowns_names_the_unit() -> None:
    texts = {
        MEMORY: "dram__cycles_active.x, lts__t_sectors.x",
        COMPUTE: "sm__pipe_fma_cycles_active.x",
    }
    members = {"dram__cycles_active.x": 40.0, "lts__t_sectors.x": 60.0}
    assert quantities_of(members, texts)["limiting_unit_reported"] == "L2"
    members["sm__pipe_fma_cycles_active.x"] = 70.0
    assert quantities_of(members, texts)["limiting_unit_reported"] == "FMA pipe"


def test_a_largest_member_that_nobody_named_is_unknown() -> None:
    members = {"dram__cycles_active.x": 40.0, "new__unit.x": 60.0}
    row = quantities_of(members, {MEMORY: ",".join(members)})
    assert row["limiting_unit_reported"] is None


def test_breakdowns_of_an_idle_launch_name_nothing() -> None:
    row = quantities_of({"dram__cycles_active.x": 0.0}, {MEMORY: "dram__cycles_active.x"})
    assert row["limiting_unit_reported"] is None


def test_what_is_odd_is_flagged() -> None:
    assert quantities_of({"gpu__time_duration.sum": 5.0})["flags"] == []
    assert quantities_of()["flags"] == ["no_duration", "failed_counters"]


def test_a_row_is_the_place_of_its_launch() -> None:
    launches = [
        Launch(index=index, kernel_name="k", counters={"gpu__time_duration.sum": 1000.0 * index})
        for index in (2, 0, 1)
    ]
    with duckdb.connect(":memory:") as connection:
        rows = quantity_rows(connection, shipped(), launches)
    assert [row["row"] for row in rows] == [0, 1, 2]
    assert [row["duration"] for row in rows] == pytest.approx([2.0e-6, 0, 1.0e-6])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("instruction_views: []", r"x\.yaml:2:20.*called instructions\.yaml"),
        ("quantities:\n  duraton: [{from: a, formula: '1'}]", r"x\.yaml:3:12.*'duraton'"),
        ("quantities:\n  duration: [{from: a, formula: '\"c\" +'}]", r"x\.yaml:3"),
        ("quantities:\n  duration: [{from: a, formula: '\"bytes\"'}]", r"x\.yaml:3"),
        ("quantities:\n  duration: []", r"x\.yaml:3:13: duration has no alternative"),
        ("quantities:\n  duration: [{form: a}]", r"x\.yaml:3:15: unknown key 'form'"),
        ("quantities:\n  sm_clock: [{from: a, formula: nope}]", r"x\.yaml:3.*nope"),
        (
            "opcodes:\n  o: {counter: c, weights: [{match: '(', weight: 1}]}",
            r"x\.yaml:3:37: not a reg",
        ),
        ("opcodes:\n  o: {counter: c, weights: [], except: [p]}", r"x\.yaml:3:3: 'p' is no column"),
        (
            "helpers:\n  a: {unit: s, alternatives: [{from: x, formula: b}]}\n"
            "  b: {unit: s, alternatives: [{from: x, formula: a}]}",
            r"need each other: a, b",
        ),
        ("something: 1", r"x\.yaml:2:1: unknown key 'something'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, content: str, message: str) -> None:
    units = "units: [{match: '*bytes*', unit: B}, {match: '*', unit: ns}]"
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "x.yaml").write_text(f"profiler: x\n{content}\n{units}\n")
    with pytest.raises(RuleError) as caught:
        load_mapping("x", [tmp_path])
    assert caught.match(message)


def test_a_name_in_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    for name in ("x", "y"):
        (tmp_path / "x" / f"{name}.yaml").write_text(
            "profiler: x\nconstants: {c: {value: 1, source: s}}\n"
        )
    with pytest.raises(RuleError, match=r"y\.yaml:2:13: 'c' is defined twice"):
        load_mapping("x", [tmp_path])


def test_profilers_whose_names_begin_alike_do_not_meet(tmp_path: Path) -> None:
    units = "units: [{match: '*', unit: ns}]"
    for name in ("roc", "rocprof"):
        (tmp_path / name).mkdir()
        formula = f"quantities: {{duration: [{{from: {name}, formula: '\"{name} time\"'}}]}}"
        (tmp_path / name / "all.yaml").write_text(f"profiler: {name}\n{units}\n{formula}\n")
    assert load_mapping("roc", [tmp_path]).counters == ("roc time",)
    assert load_mapping("rocprof", [tmp_path]).counters == ("rocprof time",)


def test_a_profiler_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"there is no file nothing/\*\.yaml"):
        load_mapping("nothing", [tmp_path])


@pytest.mark.parametrize(("precision", "operation"), [("fp32", "ffma"), ("fp64", "dfma")])
def test_operations_of_multiply_adds_are_two_of_each(precision: str, operation: str) -> None:
    name = f"sass_thread_inst_executed_op_{operation}_pred_on_x2"
    row = quantities_of(
        {
            "gpu__time_duration.sum": 2_000.0,
            "gpc__cycles_elapsed.avg.per_second": 1.5e9,
            f"derived__smsp__{name}": 400.0,
            f"derived__sm__{name}": 5_000.0,
        }
    )
    assert row[f"{precision}_fused"] == pytest.approx(200 * 1.5e9 * 2e-6)
    assert row[f"peak_{precision}"] == pytest.approx(5_000 * 1.5e9)


@pytest.mark.parametrize(("operation", "access"), [("ld", "global_load"), ("st", "global_store")])
def test_the_mean_of_sectors_completes_sectors_and_requests(operation: str, access: str) -> None:
    of = f"pipe_lsu_mem_global_op_{operation}"
    mean = {f"l1tex__average_t_sectors_per_request_{of}.ratio": 2.5}
    for counted in ({f"l1tex__t_sectors_{of}.sum": 500.0}, {f"l1tex__t_requests_{of}.sum": 200.0}):
        row = quantities_of({**mean, **counted})
        assert (row[f"{access}_sectors"], row[f"{access}_requests"]) == (500, 200)


@pytest.mark.parametrize(("operation", "access"), [("ld", "global_load"), ("st", "global_store")])
def test_what_threads_ask_for_and_its_sectors_tell_the_bytes_used(
    operation: str, access: str
) -> None:
    counters = {
        f"message:global_{operation}_bytes": 8.0,
        f"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{operation}.ratio": 12.8,
    }
    assert quantities_of(counters)[f"{access}_bytes_per_sector"] == pytest.approx(20)


@pytest.mark.parametrize(("operation", "access"), [("ld", "local_load"), ("st", "local_store")])
def test_the_mean_of_sectors_completes_those_of_local_memory(operation: str, access: str) -> None:
    of = f"pipe_lsu_mem_local_op_{operation}"
    counters = {
        f"l1tex__average_t_sectors_per_request_{of}.ratio": 2.5,
        f"l1tex__t_requests_{of}.sum": 200.0,
    }
    assert quantities_of(counters)[f"{access}_sectors"] == 500


@pytest.mark.parametrize(
    ("printed", "others", "elapsed"),
    [
        (
            0.80,
            {"memory": 0.40},
            0.80,
        ),  # twice the busiest stage, which is a share of elapsed cycles
        (0.80, {"memory": 0.39, "data": 0.40}, 0.80),
        (0.80, {"memory": 0.39, "data": 0.2, "crossbar": 0.40}, 0.80),
        (0.8001, {"memory": 0.40005}, 0.8001),  # as pages round
        (0.8003, {"memory": 0.40}, 0.8003 * 0.9),
        (0.80, {"memory": 0.72}, 0.72),  # of active cycles: memory is this times their share
        (0.80, {}, 0.72),
        (0.80, {"memory": 0.40, "active": 505.0}, 0.404),  # either, so the smaller one
        (0.80, {"memory": 0.40, "active": None}, 0.80),
    ],
)
def test_a_stage_of_l1_that_is_measured_in_elapsed_cycles_is_left_so(
    printed: float, others: dict[str, float | None], elapsed: float
) -> None:
    given = {"active": 900.0, **others}
    counters = {
        "sm__cycles_active.avg": given["active"],
        "sm__cycles_elapsed.avg": 1000.0,
        "l1tex__throughput.avg.pct_of_peak_sustained_active": 100 * printed,
    }
    for name, counter in (
        ("memory", "gpu__compute_memory_throughput"),
        ("data", "l1tex__data_pipe_lsu_wavefronts"),
        ("crossbar", "l1tex__m_l1tex2xbar_req_cycles_active"),
    ):
        if given.get(name) is not None:
            counters[f"{counter}.avg.pct_of_peak_sustained_elapsed"] = 100 * (given[name] or 0)
    row = quantities_of({name: value for name, value in counters.items() if value is not None})
    assert row["l1_utilization"] == pytest.approx(elapsed)


@pytest.mark.parametrize(("minor", "rate"), [(0.0, 1.0), (5.0, 0.5), (None, 1.0)])
def test_a_wavefront_takes_turing_two_cycles(minor: float | None, rate: float) -> None:
    counters = {
        "device__attribute_compute_capability_major": 7.0,
        "launch__sm_count": 10.0,
        "sm__cycles_elapsed.avg.per_second": 1e9,
        "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": 48.0,
    }
    if minor is not None:
        counters["device__attribute_compute_capability_minor"] = minor
    row = quantities_of(counters)
    assert row["l1_data_utilization"] == pytest.approx(0.48 / rate)
    assert row["peak_l1_bandwidth"] == pytest.approx(128 * 10 * 1e9 * rate)
    assert row["peak_shared_bandwidth"] == pytest.approx(128 * 10 * 1e9 * rate)


def test_no_multiprocessor_is_active_for_longer_than_the_launch() -> None:
    cycles = {"sm__cycles_active.avg": 1070.0, "sm__cycles_elapsed.avg": 1000.0}
    throughput = {"l1tex__throughput.avg.pct_of_peak_sustained_active": 30.0}
    row = quantities_of(cycles | throughput)
    assert (row["sm_busy"], row["l1_utilization"]) == (1, pytest.approx(0.3))
    assert row["sm_active_cycles"] == 1070
    share = {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed": 101.0}
    assert quantities_of(share)["sm_busy"] == 1


def test_the_busiest_multiprocessor_follows_from_what_a_message_says() -> None:
    told = {"sm__cycles_active.avg": 300.0, "message:sm_imbalance.pct": 25.0}
    assert quantities_of(told)["sm_active_cycles_max"] == pytest.approx(400)
    assert quantities_of(told | {"sm__cycles_active.max": 410.0})["sm_active_cycles_max"] == 410
