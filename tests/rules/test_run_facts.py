from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from advisor.errors import RuleError
from advisor.facts import Vocabulary
from advisor.facts.pairs import load_kinds
from advisor.facts.runs import load_run_facts
from advisor.rules import EvaluationSettings

Facts = dict[str, float | str | None]

LAUNCHES = "SELECT 'r1' AS run_id, 0 AS launch_index, 1 AS stream, 'v1' AS variant_id"


def row(
    settings: EvaluationSettings,
    kernels: str,
    launches: str = LAUNCHES,
    *,
    step_time: float | None = None,
    cache_control: str | None = None,
) -> Facts:
    """Return the facts of a run from rows of kernels; columns not given are NULL, of any type."""
    run = settings.run
    with duckdb.connect(":memory:") as connection:
        given = connection.execute(f"DESCRIBE {kernels}").fetchall()
        missing = run.kernel_columns - {name for name, *_ in given}
        nulls = "".join(f", NULL AS {name}" for name in sorted(missing))
        connection.execute(f"CREATE VIEW facts AS SELECT 'r1' AS run_id, *{nulls} FROM ({kernels})")
        connection.execute("CREATE TABLE run (run_id TEXT, step_time DOUBLE, cache_control TEXT)")
        connection.execute("INSERT INTO run VALUES ('r1', ?, ?)", [step_time, cache_control])
        connection.execute(
            "CREATE VIEW launch AS"
            f" SELECT *, 1 AS process, 0 AS device_ordinal, 1 AS context FROM ({launches})"
        )
        every = facts_of(connection, run.select("facts"))
        asked = run.select("facts", holds=lambda q: connection.execute(q).fetchall() == [(True,)])
        found = facts_of(connection, asked)
        of_equals = {"largest_kernel": every.get("largest_kernel")}  # any of those that tie
        assert found | of_equals == every | of_equals
        return every


def facts_of(connection: duckdb.DuckDBPyConnection, query: str) -> Facts:
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description or ()]
    found = cursor.fetchall()
    return dict(zip(names, found[0], strict=True)) if found else {}


KERNELS = """
    SELECT * FROM (VALUES
        ('k1', 'gemm', 6.0, 100.0, 1.0, false, 1.0),
        ('k1', 'gemm', 1.0,   4.0, 0.5, false, 3.0),
        ('k2', 'scan', 3.0,  50.0, 2.0, true,  NULL))
    AS t(kernel_id, short_name, duration, launch_count, wasted_time, very_short, evidence_level)
"""


def test_asks_for_no_pairs_where_there_are_none(settings: EvaluationSettings) -> None:
    whole = settings.run.select("facts")
    asked: list[str] = []
    alone = settings.run.select("facts", holds=lambda query: bool(asked.append(query)))
    assert len(asked) == len(settings.run.pairs) == 2
    assert len(alone) < 0.6 * len(whole)


def test_adds_counts_and_names_over_the_kernels(settings: EvaluationSettings) -> None:
    found = row(settings, KERNELS)
    assert (found["duration"], found["launches"]) == (10, 154)
    assert (found["variants"], found["functions"], found["shapes_per_function"]) == (3, 2, 1.5)
    assert (found["largest_kernel"], found["largest_share"]) == ("gemm", 0.6)
    assert (found["wasted_kernel"], found["wasted_kernel_duration"]) == ("scan", 3)
    assert found["wasted_share"] == pytest.approx(2 / 3.5)
    assert (found["short_launches"], found["short_duration"]) == (50, 3)


def test_counts_no_waste_where_nothing_is_left_to_win(settings: EvaluationSettings) -> None:
    some = """
        SELECT * FROM (VALUES ('stream', 9.0, 3.0, true), ('scan', 2.0, 1.0, false),
            ('sort', 1.0, 0.5, NULL))
        AS t(short_name, duration, wasted_time, nothing_to_win)
    """
    found = row(settings, some)
    assert (found["wasted_kernel"], found["wasted_kernel_duration"]) == ("scan", 2)
    assert (found["wasted_total"], found["wasted_share"]) == (1.5, pytest.approx(1 / 1.5))
    assert (found["largest_kernel"], found["largest_to_win"]) == ("stream", 0)
    assert row(settings, f"{some} WHERE nothing_to_win")["wasted_share"] == 0


def test_puts_no_kernel_at_its_roof_whose_advice_lowers_it(settings: EvaluationSettings) -> None:
    some = """
        SELECT * FROM (VALUES (9.0, true, false), (1.0, true, true), (2.0, NULL, NULL))
        AS t(duration, at_practical_roof, nothing_to_win)
    """
    assert row(settings, some)["roof_duration"] == 1


def test_device_memory_limits_only_kernels_that_keep_it_busy(settings: EvaluationSettings) -> None:
    some = """
        SELECT * FROM (VALUES ('memory', 0.6, 4.0), ('memory', 0.59, 2.0), ('memory', NULL, 1.0),
            ('latency', NULL, 3.0), (NULL, 0.9, 5.0))
        AS t(limiter, dram_utilization, duration)
    """
    found = row(settings, some)
    assert (found["dram_duration"], found["memory_duration"], found["judged_duration"]) == (
        4,
        7,
        10,
    )
    assert found["dram_share"] == 0.4
    assert row(settings, f"{some} WHERE limiter = 'memory' AND duration = 1")["dram_share"] is None


def test_device_memory_is_the_limit_where_it_is_full_or_busier_than_the_others(
    settings: EvaluationSettings,
) -> None:
    some = """
        SELECT * FROM (VALUES (0.7, 0.71, NULL, 1.0), (0.7, 0.69, 0.7, 2.0), (0.7, NULL, 0.72, 4.0),
            (0.81, 0.9, 0.3, 8.0), (0.79, 0.9, 0.3, 16.0), (0.6, NULL, NULL, 32.0))
        AS t(dram_utilization, l1_utilization, compute_utilization, duration)
    """
    found = row(settings, f"SELECT 'memory' AS limiter, * FROM ({some})")
    assert found["dram_duration"] == 42


def test_knows_no_shares_of_a_run_of_which_most_is_not_judged(settings: EvaluationSettings) -> None:
    some = """
        SELECT * FROM (VALUES ('latency', 2.0), (NULL, {})) AS t(limiter, duration)
    """
    assert row(settings, some.format(1.9))["latency_share"] == 1
    assert row(settings, some.format(2.0))["latency_share"] is None


def test_a_higher_clock_leaves_device_memory_as_slow_as_it_is(settings: EvaluationSettings) -> None:
    found = row(
        settings,
        """
        SELECT * FROM (VALUES
            ('k1', 1.0, 0.5,  0.75),  -- the memory binds at the rated clock
            ('k2', 2.0, 0.5,  0.25),  -- the clock does
            ('k3', 4.0, 0.5,  NULL),  -- bytes were not counted
            ('k4', 8.0, 0.5,  8.5),   -- more than the peak was measured
            ('k5', 9.0, NULL, 5.0))   -- its clock is not known
        AS t(kernel_id, duration, clock_of_boost, t_dram)
        """,
    )
    assert found["held_clock"] == 0.5
    assert found["clocked_duration"] == 15
    assert found["least_at_boost"] == 0.75 + 1 + 2 + 8


def test_counts_what_is_not_known_nowhere(settings: EvaluationSettings) -> None:
    found = row(settings, KERNELS)
    # Only the kernel of level 3 is known not to have a roofline.
    assert (found["unplaced_duration"], found["unplaced_kernels"]) == (1, 1)


def test_counts_what_keeps_kernels_off_the_roofline(settings: EvaluationSettings) -> None:
    some = """
        SELECT * FROM (VALUES (3.0, NULL, 8.0), (3.0, 5.0, NULL), (4.0, NULL, NULL),
            (1.0, NULL, NULL))
        AS t(evidence_level, work_done, dram_bytes)
    """
    found = row(settings, some)
    assert (found["unplaced_by_work"], found["unplaced_by_bytes"]) == (2, 2)


def test_has_no_row_for_a_run_without_kernels(settings: EvaluationSettings) -> None:
    assert row(settings, f"SELECT * FROM ({KERNELS}) WHERE false") == {}


def test_compares_kernel_time_with_the_step(settings: EvaluationSettings) -> None:
    found = row(settings, KERNELS, step_time=25.4)
    # The step takes 15.4 s longer than the 10 s of kernels, 0.1 s for each of 154 launches.
    assert (found["elapsed"], found["idle_time"]) == (25.4, pytest.approx(15.4))
    assert found["mean_gap"] == pytest.approx(0.1)
    assert found["idle_share"] == pytest.approx(15.4 / 25.4)


def test_knows_no_idle_time_without_a_step(settings: EvaluationSettings) -> None:
    found = row(settings, KERNELS)
    assert (found["elapsed"], found["idle_time"], found["idle_share"]) == (10, None, None)


def test_finds_no_idle_time_where_kernels_take_longer_than_the_step(
    settings: EvaluationSettings,
) -> None:
    found = row(settings, KERNELS, step_time=5.0)
    assert (found["elapsed"], found["idle_time"], found["mean_gap"]) == (10, 0, 0)


KINDS = """
    SELECT name AS kernel_id, name AS short_name, name AS kernel_name, duration, launch_count,
        grid_size, 100.0 AS sm_count
    FROM (VALUES ('transpose', 4.0, 2.0, 10.0), ('cast_fp16', 1.0, 3.0, 500.0),
        ('sgemm', 2.0, 5.0, 99.0), ('hgemm', 1.0, 7.0, 100.0), ('flash_fwd', 2.0, 4.0, 25.0))
    AS t(name, duration, launch_count, grid_size)
"""


def test_adds_up_kernels_by_what_their_names_tell(settings: EvaluationSettings) -> None:
    found = row(settings, KINDS)
    assert (found["layout_duration"], found["layout_launches"]) == (4, 2)
    assert (found["layout_names"], found["layout_share"]) == ("transpose", 0.4)
    assert found["layout_of_products"] == pytest.approx(4 / 3)
    assert (found["copy_duration"], found["copy_launches"]) == (1, 3)
    assert (found["copy_names"], found["copy_share"]) == ("cast_fp16", 0.1)
    # 99 blocks on 100 multiprocessors are too few, 100 are not.
    assert (found["small_product_launches"], found["small_product_share"]) == (5, 0.2)
    # Three quarters of the device without a block, for 2 s.
    assert (found["small_attention_launches"], found["small_attention_share"]) == (4, 0.2)
    assert found["small_attention_idle"] == 1.5


# -- kernels that follow each other ------------------------------------------------------------

# Three functions that stream 1 GB in and 1 GB out per launch at 1 TB/s, twice each, and a product.
CHAIN = """
    SELECT v AS variant_id, v AS kernel_id, name AS short_name, name AS kernel_name,
        2.0 AS launch_count, 0.005 AS duration, 0.9 AS dram_utilization, 2e9 AS dram_read_bytes,
        2e9 AS dram_write_bytes, 4e9 AS dram_bytes, 0.004 AS t_dram, 4e7 AS l2_size
    FROM (VALUES ('v1', 'mul'), ('v2', 'add_kernel'), ('v3', 'relu'), ('v4', 'sgemm'))
    AS t(v, name)
"""


# Before mul, a reduction that reads as much as it does.
NORM = f"""
    SELECT * REPLACE (
        CASE WHEN variant_id = 'v4' THEN 'row_reduce' ELSE short_name END AS short_name,
        CASE WHEN variant_id = 'v4' THEN 'row_reduce' ELSE kernel_name END AS kernel_name,
        CASE WHEN variant_id = 'v4' THEN 1e3 ELSE dram_write_bytes END AS dram_write_bytes)
    FROM ({CHAIN})
"""


def launched(*variants: str, stream: str = "1") -> str:
    rows = ", ".join(f"('r1', {at}, '{variant}')" for at, variant in enumerate(variants))
    return (
        f"SELECT *, {stream} AS stream FROM (VALUES {rows}) AS t(run_id, launch_index, variant_id)"
    )


def changed(what: str, variant: str = "v2") -> str:
    """Return the chain in which one kernel has another value: ``0.1 AS dram_utilization``."""
    value, _, name = what.rpartition(" AS ")
    kept = f"CASE WHEN variant_id = '{variant}' THEN {value} ELSE {name} END AS {name}"
    return f"SELECT * REPLACE ({kept}) FROM ({CHAIN})"


def test_finds_what_one_launch_passes_on_to_the_next(settings: EvaluationSettings) -> None:
    found = row(settings, CHAIN, launched("v1", "v2", "v3", "v1", "v2", "v3"))
    # mul and add twice, add and relu twice, relu and mul once: 1 GB each. A launch takes 2 ms at
    # the memory peak for 2 GB, so to write or to read 1 GB takes 1 ms.
    assert (found["fusable_launches"], found["fusable_bytes"]) == (5, 5e9)
    assert found["fusable_read_time"] == pytest.approx(0.005)
    assert found["fusable_write_time"] == pytest.approx(0.005)
    assert found["fusable_share"] == pytest.approx(0.01 / 0.02)
    assert (
        found["fusable_names"] == "add_kernel → relu (2x), mul → add_kernel (2x), relu → mul (1x)"
    )


def test_weighs_neighbours_that_move_data_by_the_shorter(settings: EvaluationSettings) -> None:
    kernels = f"SELECT *, 'memory' AS limiter FROM ({changed('duration / 100 AS duration')})"
    short = row(settings, kernels, launched("v1", "v2"))["neighbours_duration"]
    equal = row(settings, kernels, launched("v1", "v3"))["neighbours_duration"]
    assert isinstance(short, float)
    assert equal == pytest.approx(100 * short)
    # The same function again passes nothing on to another one.
    assert row(settings, kernels, launched("v1", "v1"))["neighbours_duration"] == 0
    waits = f"SELECT * REPLACE ('latency' AS limiter) FROM ({kernels})"
    assert row(settings, waits, launched("v1", "v3"))["neighbours_duration"] == 0


@pytest.mark.parametrize(
    ("what", "read", "written"),
    [
        ("2e9 AS dram_write_bytes", 0.00125, 0.001),  # 1 of the 2 GB that a launch moves in 2.5 ms
        ("2e3 AS dram_write_bytes", 0.00125, 1e-9),  # both read the same, and little is passed on
        ("1e9 AS dram_read_bytes", 0.00125, 0.001),  # half as much, and all that was written
        ("4e9 AS l2_size", 0, 0),  # it may have stayed in L2
        ("0.5 AS dram_utilization", 0, 0),
        ("NULL AS dram_utilization", None, None),
    ],
)
def test_times_what_neighbours_that_move_data_can_share(
    settings: EvaluationSettings, what: str, read: float | None, written: float | None
) -> None:
    place = "v2" if "l2_size" in what else "v1"
    kernels = f"SELECT *, 'memory' AS limiter FROM ({changed(what, place)})"
    found = row(settings, kernels, launched("v1", "v2"))
    assert found["neighbours_read_time"] == (None if read is None else pytest.approx(read))
    assert found["neighbours_write_time"] == (None if written is None else pytest.approx(written))


def test_shares_what_fits_in_a_cache_that_was_left_as_it_was(settings: EvaluationSettings) -> None:
    kernels = f"SELECT *, 'memory' AS limiter FROM ({changed('4e9 AS l2_size')})"
    found = row(settings, kernels, launched("v1", "v2"), cache_control="none")
    assert found["neighbours_read_time"] == pytest.approx(0.00125)


def test_finds_element_wise_work_on_a_product(settings: EvaluationSettings) -> None:
    found = row(settings, CHAIN, launched("v4", "v3", "v4", "v1", "v4"))
    # relu and mul after the product, 1 GB each; the product after mul is none of it.
    assert (found["attachable_launches"], found["attachable_bytes"]) == (2, 2e9)
    assert found["attachable_read_time"] == pytest.approx(0.002)
    assert found["attachable_share"] == pytest.approx(0.004 / 0.02)
    assert found["attachable_names"] == "sgemm → mul (1x), sgemm → relu (1x)"
    assert found["fusable_launches"] == 0


def test_ends_no_product_with_a_norm_or_with_what_fits_in_the_cache(
    settings: EvaluationSettings,
) -> None:
    for kernels in (changed("'rms_norm' AS kernel_name"), changed("2e9 AS l2_size")):
        assert row(settings, kernels, launched("v4", "v2"))["attachable_launches"] == 0


@pytest.mark.parametrize(
    ("kernels", "launches"),
    [
        pytest.param(CHAIN, launched("v1", "v4", "v2"), id="a product in between"),
        pytest.param(CHAIN, launched("v1", "v1", "v1"), id="the same function again"),
        pytest.param(CHAIN, launched("v1", "v2", stream="launch_index"), id="other streams"),
        pytest.param(CHAIN, launched("v1"), id="a single launch"),
        pytest.param(changed("0.5 AS dram_utilization"), launched("v1", "v2"), id="no streaming"),
        pytest.param(changed("1e9 AS dram_read_bytes"), launched("v1", "v2"), id="reads half"),
        pytest.param(changed("1e9 AS dram_write_bytes"), launched("v1", "v2"), id="writes half"),
        pytest.param(changed("2e9 AS l2_size"), launched("v1", "v2"), id="fits in L2"),
        pytest.param(changed("'fused_add' AS kernel_name"), launched("v1", "v2"), id="fused"),
        pytest.param(changed("'stencil' AS kernel_name"), launched("v1", "v2"), id="unknown name"),
        pytest.param(
            changed("'softmax' AS kernel_name", "v1"), launched("v1", "v2"), id="after a reduction"
        ),
    ],
)
def test_fuses_nothing(kernels: str, launches: str, settings: EvaluationSettings) -> None:
    found = row(settings, kernels, launches)
    assert (found["fusable_launches"], found["fusable_bytes"], found["fusable_share"]) == (0, 0, 0)
    assert not found["fusable_names"]


def test_trusts_small_arrays_where_caches_were_kept(settings: EvaluationSettings) -> None:
    kernels, launches = changed("2e9 AS l2_size"), launched("v1", "v2")
    assert row(settings, kernels, launches, cache_control="none")["fusable_launches"] == 1
    assert row(settings, kernels, launches, cache_control="all")["fusable_launches"] == 0


@pytest.mark.parametrize(("read", "launches"), [("2e9", 1), ("3e9", 0)])
def test_puts_work_before_a_reduction_that_reads_just_that(
    read: str, launches: int, settings: EvaluationSettings
) -> None:
    # A norm that reads what was written, and one that reads half as much again from elsewhere.
    norm = f"'rms_norm' AS kernel_name, {read} AS dram_read_bytes, 1e3 AS dram_write_bytes"
    kernels = (
        f"SELECT * REPLACE ({norm}) FROM ({CHAIN} WHERE v = 'v2')"
        f" UNION ALL SELECT * FROM ({CHAIN} WHERE v <> 'v2')"
    )
    found = row(settings, kernels, launched("v1", "v2"))
    assert found["fusable_launches"] == launches


def test_does_not_know_where_traffic_was_not_counted(settings: EvaluationSettings) -> None:
    found = row(settings, changed("NULL AS dram_read_bytes"), launched("v1", "v2"))
    assert (found["fusable_launches"], found["fusable_share"]) == (None, None)


def test_puts_no_unknown_name_among_the_kinds(settings: EvaluationSettings) -> None:
    found = row(settings, KINDS.replace("'transpose'", "CAST(NULL AS TEXT)"))
    assert (found["layout_launches"], found["copy_launches"]) == (0, 3)
    assert row(settings, KERNELS)["layout_share"] is None
    without = f"SELECT * FROM ({KINDS}) WHERE kernel_name NOT LIKE '%gemm'"
    assert row(settings, without)["layout_of_products"] == 0


def test_reads_an_array_again_after_its_reduction(settings: EvaluationSettings) -> None:
    # The reduction reads 1 GB per launch; mul reads and writes as much.
    found = row(settings, NORM, launched("v4", "v1", "v4", "v1"))
    assert (found["norm_launches"], found["norm_bytes"]) == (2, 2e9)
    # A launch of 1 GB in and 1 GB out takes 2 ms at the memory peak: 1 ms to read.
    assert found["norm_read_time"] == pytest.approx(0.002)
    assert found["norm_share"] == pytest.approx(0.002 / 0.02)
    assert found["norm_names"] == "row_reduce → mul (2x)"


@pytest.mark.parametrize(
    ("change", "variant"),
    [
        ("0.5 AS dram_utilization", "v1"),
        ("0.5 AS dram_utilization", "v4"),
        ("1e9 AS dram_read_bytes", "v1"),
        ("4e9 AS dram_read_bytes", "v1"),
        ("1e9 AS dram_write_bytes", "v1"),
        ("2e9 AS l2_size", "v1"),
        ("'reduce_b' AS kernel_name", "v1"),
        ("'sgemm' AS kernel_name", "v4"),
    ],
)
def test_finds_no_norm(change: str, variant: str, settings: EvaluationSettings) -> None:
    kernels = changed(change, variant).replace(f"({CHAIN})", f"({NORM})")
    found = row(settings, kernels, launched("v4", "v1"))
    assert (found["norm_launches"], found["norm_share"]) == (0, 0)


def test_finds_a_softmax_whose_result_a_product_reads(settings: EvaluationSettings) -> None:
    kernels = changed("'softmax_forward' AS kernel_name", "v1")
    found = row(settings, kernels, launched("v4", "v1", "v4", "v1", "v2"))
    # Once, not before the add: 1 GB passed on, 1 ms to read; the softmax takes 2 ms for its 2 GB.
    assert (found["scores_launches"], found["scores_bytes"]) == (1, 1e9)
    assert found["scores_read_time"] == pytest.approx(0.001)
    assert found["scores_softmax_time"] == pytest.approx(0.002)
    assert found["scores_share"] == pytest.approx(0.003 / 0.02)
    assert found["scores_names"] == "mul → sgemm (1x)"


@pytest.mark.parametrize(
    "change", ["1e9 AS dram_read_bytes", "2e9 AS l2_size", "'add' AS kernel_name"]
)
def test_finds_no_attention(change: str, settings: EvaluationSettings) -> None:
    softmax = changed("'softmax_forward' AS kernel_name", "v1")
    kernels = changed(change, "v4").replace(f"({CHAIN})", f"({softmax})")
    assert row(settings, kernels, launched("v1", "v4"))["scores_launches"] == 0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
            "elementwise",
        ),
        ("triton_poi_fused_add_relu_0", "fused"),
        ("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128", "product"),
        ("void cudnn::winograd_nonfused::winogradForwardFilter4x4", "fused"),
        ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", "reduction"),
        ("void (anonymous namespace)::softmax_warp_forward<float>", "softmax"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "communication"),
        ("flash_fwd_kernel", "attention"),
        ("DeviceRadixSortOnesweepKernel", "order"),
        ("silu_kernel(float*, float*, int)", "elementwise"),
        ("saxpy(int, float, float*, float*)", "elementwise"),
        ("matrixAdd(float*, float*)", "elementwise"),
        ("transposeSmem(float*, float*)", "layout"),
        ("convert_fp16(half*)", "copy"),
        ("conv2d_forward", "product"),
        ("distribution_elementwise_grid_stride_kernel<float>", "fill"),
        ("direct_copy_kernel_cuda", "copy"),
        ("padded_address(int*)", "other"),
        ("simulate(Body*)", "other"),
    ],
)
def test_tells_the_kind_of_a_kernel_by_its_name(
    name: str, kind: str, settings: EvaluationSettings
) -> None:
    sql = settings.run.kinds.sql("$name")
    with duckdb.connect(":memory:") as connection:
        assert connection.execute(f"SELECT {sql}", {"name": name}).fetchall() == [(kind,)]


def test_refuses_a_pattern_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "kinds.yaml"
    path.write_text("kinds:\n  x: {names: ['(a'], about: a, source: b}\n")
    with pytest.raises(RuleError, match=r"kinds.yaml:2:\d+: not a regular expression"):
        load_kinds(path)


# -- kernels and the fastest of their siblings -------------------------------------------------

# One function over 1,024 x 1,024 threads in three blocks, four launches each: 65, 50 and 20 µs.
TILES = """
    SELECT v AS variant_id, 'k1' AS kernel_id, 'blur' AS short_name, 'blur(float*)' AS kernel_name,
        'd1' AS device_id, shape AS launch_shape, x AS block_x, y AS block_y, 1.0 AS block_z,
        1024 / x AS grid_x, 1024 / y AS grid_y, 1.0 AS grid_z, 4.0 AS launch_count,
        0.0 AS launches_excluded, 4 * t AS duration, t AS duration_mean, t AS duration_min,
        t AS duration_max, 4e8 AS thread_instructions, 1.3e7 AS instructions_executed,
        4e6 AS work_done, 1e5 AS global_store_requests, 3e7 AS dram_bytes, 1.5e9 AS sm_clock,
        t * 6e9 AS sm_elapsed_cycles, 1e-5 / t AS lsu_utilization, false AS debug_build
    FROM (VALUES ('v1', '32x32', 32.0, 32.0, 65e-6), ('v2', '32x16', 32.0, 16.0, 50e-6),
        ('v3', '16x16', 16.0, 16.0, 20e-6))
    AS t(v, shape, x, y, t)
"""


def tiles(faster: str = "", *, all_: str = "", slower: str = "") -> str:
    """Return the tiles with other values, ``1e8 AS name``, of the fastest, of all or the rest."""
    kept = []
    for what, which in ((faster, "variant_id = 'v3'"), (all_, "true"), (slower, "block_x = 32")):
        for change in filter(None, what.split("; ")):
            value, _, name = change.rpartition(" AS ")
            kept.append(f"CASE WHEN {which} THEN {value} ELSE {name} END AS {name}")
    return f"SELECT * REPLACE ({', '.join(kept)}) FROM ({TILES})" if kept else TILES


def test_sets_a_kernel_against_the_fastest_block_for_the_same_work(
    settings: EvaluationSettings,
) -> None:
    found = row(settings, tiles(), cache_control="all")
    # Four launches could each save 45 µs, and four others 30 µs, of 4 x 135 µs.
    assert found["replaceable_launches"] == 8
    assert found["replaceable_time"] == pytest.approx(300e-6)
    assert found["replaceable_share"] == pytest.approx(300 / 540)
    names = ("replaceable_name", "replaceable_shape", "faster_shape")
    assert [found[name] for name in names] == ["blur", "32x32", "16x16"]
    assert (found["replaceable_mean"], found["faster_mean"]) == (65e-6, 20e-6)


@pytest.mark.parametrize(
    "same",
    [
        "NULL AS work_done; NULL AS global_store_requests",
        "NULL AS thread_instructions",  # those of warps are as many
        "NULL AS thread_instructions; NULL AS instructions_executed",  # loads and stores are
        "0 AS work_done",
        "NULL AS sm_clock",  # cycles and time give it
        "NULL AS debug_build",
    ],
)
def test_takes_what_was_counted_of_the_work(same: str, settings: EvaluationSettings) -> None:
    assert row(settings, tiles(all_=same), cache_control="all")["replaceable_launches"] == 8


def test_takes_equal_operations_for_equal_work_where_they_are_much_of_it(
    settings: EvaluationSettings,
) -> None:
    other = "2e8 AS thread_instructions"
    assert row(settings, tiles(other), cache_control="all")["replaceable_launches"] == 0
    found = row(settings, tiles(other, all_="1e8 AS work_done"), cache_control="all")
    assert found["replaceable_launches"] == 8


@pytest.mark.parametrize(
    "change",
    [
        "3.9e8 AS thread_instructions",
        "3.9e6 AS work_done",
        "9.8e4 AS global_store_requests",
        "1.45e9 AS sm_clock",
        "true AS debug_build",
        "1 AS launches_excluded",
        "57e-6 AS duration_max",  # its slowest launch is hardly faster than the others
        "4e-6 AS duration_min",  # it may be nothing but a start
        "'k2' AS kernel_id; 'blur(double*)' AS kernel_name",
        "'d2' AS device_id",
        "32 AS grid_x",  # half of the columns
        "512 AS grid_x; 2048 AS block_x; 1 AS grid_y; 1 AS block_y",  # as many threads otherwise
    ],
)
def test_does_not_set_other_work_against_a_kernel(
    change: str, settings: EvaluationSettings
) -> None:
    found = row(settings, f"SELECT * FROM ({tiles(change)}) WHERE variant_id <> 'v2'")
    assert (found["replaceable_launches"], found["replaceable_time"]) == (0, 0)


def test_says_nothing_of_threads_along_one_axis(settings: EvaluationSettings) -> None:
    line = "1 AS block_y; 1 AS grid_y"
    found = row(settings, tiles(all_=line), cache_control="all")
    assert found["replaceable_launches"] == 0


@pytest.mark.parametrize(("count", "launches"), [(2, 0), (3, 6)])  # two may do anything
def test_trusts_loads_and_stores_of_several_launches_only(
    count: int, launches: int, settings: EvaluationSettings
) -> None:
    uncounted = "NULL AS thread_instructions; NULL AS instructions_executed; NULL AS work_done"
    few = f"{count} AS launch_count; {count} * duration_mean AS duration"
    found = row(settings, tiles(all_=f"{uncounted}; {few}"), cache_control="all")
    assert found["replaceable_launches"] == launches


def test_trusts_no_loads_and_stores_that_are_little_of_the_kernel(
    settings: EvaluationSettings,
) -> None:
    rare = "NULL AS thread_instructions; NULL AS instructions_executed; lsu_utilization / 8 AS "
    found = row(settings, tiles(all_=f"{rare}lsu_utilization"), cache_control="all")
    assert found["replaceable_launches"] == 0


def test_does_not_know_whether_work_is_the_same_that_was_not_counted(
    settings: EvaluationSettings,
) -> None:
    unknown = "; ".join(
        f"NULL AS {name}"
        for name in ("thread_instructions", "instructions_executed", "lsu_utilization")
    )
    found = row(settings, tiles(all_=unknown), cache_control="all")
    assert (found["replaceable_launches"], found["replaceable_share"]) == (None, None)
    assert found["replaceable_name"] is None


def test_compares_launches_that_may_find_data_in_caches_by_their_traffic(
    settings: EvaluationSettings,
) -> None:
    assert row(settings, tiles(), cache_control="none")["replaceable_launches"] == 8
    warm = tiles("2e7 AS dram_bytes")
    assert row(settings, warm, cache_control="none")["replaceable_launches"] == 0
    assert row(settings, warm)["replaceable_launches"] is None
    assert row(settings, warm, cache_control="all")["replaceable_launches"] == 8


def test_knows_instances_of_a_template_by_the_length_of_their_block(
    settings: EvaluationSettings,
) -> None:
    name = "concat('blur<', {}, ', 7>(float*)') AS kernel_name; variant_id AS kernel_id"
    block = tiles(all_=name.format("block_x::INT"))
    assert row(settings, block, cache_control="all")["replaceable_launches"] == 8
    # The direction, say: 32 x 32 and 32 x 16 are instances for one, 16 x 16 for another.
    other = tiles(all_=name.format("(block_x / 16)::INT"))
    assert row(settings, other, cache_control="all")["replaceable_launches"] == 4


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{unit: s, aggregate: mean, formula: duration}", "aggregate is one of"),
        ("{unit: s, aggregate: of_largest, formula: duration}", "`by` goes with"),
        ("{unit: s, aggregate: of_largest, by: durtion, formula: duration}", "unknown name"),
        ("{unit: B, aggregate: sum, formula: duration}", "declared in B"),
        ("{kind: boolean, aggregate: sum, formula: very_short}", "number with a unit or a text"),
        ("{unit: s, aggregate: sum, formula: durtion}", "durtion"),
        ("{unit: s, over: nights, aggregate: sum, formula: duration}", "over is one of"),
        ("{unit: s, over: pairs, formula: first_duration}", "needs an aggregate"),
        ("{unit: s, over: pairs, aggregate: sum, formula: duration}", "duration"),
        ("{unit: s, over: siblings, formula: first_duration}", "over siblings needs an aggregate"),
        ("{unit: s, over: run, aggregate: sum, formula: step_time}", "nothing to aggregate"),
        ("{unit: s, over: run, formula: duration}", "duration"),
    ],
)
def test_refuses_a_fact_that_is_wrong(
    entry: str, problem: str, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    path = tmp_path / "run-facts.yaml"
    fact = entry.replace("}", ", about: a, source: b}")
    path.write_text(f"facts:\n  x: {fact}\nfloor: {{time: x, profiled: x, achievable: x}}\n")
    with pytest.raises(RuleError) as caught:
        load_run_facts(vocabulary.symbols, path)
    assert problem in str(caught.value)
