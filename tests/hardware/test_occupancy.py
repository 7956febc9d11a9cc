"""Blocks per multiprocessor: by hand, against the facts in SQL, and against stored curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.api.occupancy import compare_curve
from advisor.errors import UsageError
from advisor.hardware.devices import load_occupancy_limits
from advisor.hardware.occupancy import (
    BlockShape,
    MultiprocessorLimits,
    Occupancy,
    Parameter,
    granted_carve_out,
    limits_of,
    limits_of_device,
    nearest_better,
    occupancy,
    resident_warps,
    steps,
)
from advisor.knowledge.parts import load_mapping
from tests.support.facts import kernels_of, vocabulary_once

KIB = 1024
CUDA = {entry.key: entry.limits for entry in load_occupancy_limits() if entry.key[:3] == "cc-"}


def test_volta_rounds_shared_memory_to_256_bytes_and_reserves_none() -> None:
    # 20,000 → 20,224 B; 98,304 / 20,224 = 4. 40 × 32 = 1,280 registers a warp; 16,384 / 1,280 = 12
    # warps a sub-partition, 48 in all, 6 blocks of 8.
    found = occupancy(limits_of("7.0"), BlockShape(threads=256, registers=40, shared_static=20_000))
    assert found.limits == {"warps": 8, "blocks": 32, "registers": 6, "shared memory": 4}
    assert (found.blocks, found.warps, found.occupancy) == (4, 32, 0.5)
    assert found.binding == ("shared memory",)
    assert (found.registers_per_warp, found.registers, found.shared_memory) == (
        1_280, 10_240, 20_224,
    )  # fmt: skip


def test_volta_without_shared_memory_is_not_limited_by_it() -> None:
    found = occupancy(limits_of("7.0"), BlockShape(threads=64, registers=32))
    assert found.limits["shared memory"] is None
    assert (found.blocks, found.binding) == (32, ("warps", "blocks", "registers"))


def test_ampere_counts_registers_by_sub_partition_and_the_reserved_kibibyte() -> None:
    # 72 × 32 = 2,304; 16,384 / 2,304 = 7 a part, 28 warps, 3 blocks of 8. 20,000 + 1,024 → 21,120 B
    # of 102,400: 4 blocks.
    shape = BlockShape(threads=256, registers=72, shared_static=20_000, carve_out=100 * KIB)
    found = occupancy(limits_of("8.0"), shape)
    assert found.limits == {"warps": 8, "blocks": 32, "registers": 3, "shared memory": 4}
    assert (found.blocks, found.occupancy, found.shared_memory) == (3, 0.375, 21_120)


def test_consumer_ampere_has_48_warps_and_16_blocks() -> None:
    # Two warps a block: 24 blocks by warps, but 16 block slots; 32 of 48 warps.
    small = occupancy(limits_of("8.6"), BlockShape(threads=64, registers=32))
    assert (small.blocks, small.binding) == (16, ("blocks",))
    assert small.occupancy == pytest.approx(2 / 3)
    # 102,400 / 1,024 of the reserve alone is 100; 128 threads fill 48 warps with 12 blocks.
    larger = occupancy(limits_of("8.6"), BlockShape(threads=128, registers=32))
    assert larger.limits == {"warps": 12, "blocks": 16, "registers": 16, "shared memory": 100}
    assert larger.occupancy == 1


def test_hopper_is_limited_by_registers_and_shared_memory_alike() -> None:
    # 2,048 registers a warp: 8 a part, 32 warps, 4 blocks. 49,152 + 1,024 = 50,176 = 392 × 128;
    # 233,472 / 50,176 = 4.65.
    shape = BlockShape(threads=256, registers=64, shared_static=40 * KIB, shared_dynamic=8 * KIB)
    found = occupancy(limits_of("9.0"), shape)
    assert found.limits == {"warps": 8, "blocks": 32, "registers": 4, "shared memory": 4}
    assert (found.blocks, found.warps, found.binding) == (4, 32, ("registers", "shared memory"))
    assert (found.shared_memory, found.carve_out) == (50_176, 228 * KIB)


def test_a_carve_out_that_holds_no_block_gives_way_to_the_least_that_does() -> None:
    # 16,000 + 1,024 = 17,024 B do not fit into 8 or 16 KiB.
    shape = BlockShape(threads=128, registers=32, shared_static=16_000, carve_out=8 * KIB)
    found = occupancy(limits_of("8.6"), shape)
    assert (found.carve_out, found.blocks) == (32 * KIB, 1)


def test_a_preferred_carve_out_becomes_the_next_supported_one() -> None:
    hopper = limits_of("9.0")
    assert granted_carve_out(hopper, 100 * KIB) == 100 * KIB
    assert granted_carve_out(hopper, 101 * KIB) == 132 * KIB
    with pytest.raises(UsageError, match="1,024 over the limit of 233,472"):
        granted_carve_out(hopper, 229 * KIB)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (BlockShape(threads=1_056, registers=32), "1,056 threads per block are 32 over .* 1,024"),
        (BlockShape(threads=32, registers=256), "256 registers per thread are 1 over .* 255"),
        # 32 warps × 3,072.
        (BlockShape(threads=1_024, registers=96), "98,304 registers per block.* 32,768 over"),
        # 25 warps count as 28, seven a sub-partition: 28 × 2,560; 25 × 2,560 would fit.
        (BlockShape(threads=800, registers=80), "71,680 registers per block.* 6,144 over"),
        (
            BlockShape(threads=32, registers=32, shared_static=227 * KIB, shared_dynamic=128),
            "232,576 B of shared memory per block are 128 over .* 232,448",
        ),
        (BlockShape(threads=0, registers=32), "at least one thread"),
    ],
)
def test_a_launch_that_fails_names_the_limit_and_by_how_much(
    shape: BlockShape, message: str
) -> None:
    hopper = limits_of("9.0")
    with pytest.raises(UsageError, match=message):
        occupancy(hopper, shape)
    assert resident_warps(hopper, shape) == 0


def test_96_to_80_registers_gives_5_to_6_blocks() -> None:
    # Blocks of 4 warps: 3,072 registers a warp are 5 a part, 2,560 are 6.
    curve = steps(limits_of("9.0"), BlockShape(threads=128, registers=96), Parameter.REGISTERS)
    now = next(step for step in curve if step.holds(96))
    assert (now.first, now.last, now.blocks, now.binding) == (81, 96, 5, ("registers",))
    better = nearest_better(curve, 96)
    assert better is not None
    assert (better.last, better.blocks, better.warps) == (80, 6, 24)


def test_registers_that_no_block_can_have_are_a_step_without_blocks() -> None:
    curve = steps(limits_of("9.0"), BlockShape(threads=1_024, registers=32), Parameter.REGISTERS)
    # From 17 on registers allow two blocks of 32 warps, too: 768 a warp are 21 a part, 84 in all.
    assert [(step.first, step.last, step.blocks, step.binding) for step in curve] == [
        (1, 16, 2, ("warps",)), (17, 32, 2, ("warps", "registers")),
        (33, 64, 1, ("registers",)), (65, 255, 0, ()),
    ]  # fmt: skip
    assert nearest_better(curve, 20) is None


def test_shared_memory_steps_where_one_block_less_fits_the_carve_out() -> None:
    # 32,768 / 6 = 5,461 → 5,376, less the 1,024 reserved 4,352; and so on. Beyond the carve-out a
    # larger one holds a single block.
    shape = BlockShape(threads=256, registers=32, carve_out=32 * KIB)
    curve = steps(limits_of("8.6"), shape, Parameter.SHARED)
    assert [(step.last, step.blocks) for step in curve] == [
        (3_584, 6), (4_352, 6), (5_504, 5), (7_168, 4), (9_856, 3), (15_360, 2), (101_376, 1),
    ]  # fmt: skip
    assert curve[0].first == 0
    # Shared memory allows seven up to 32,768 / 7 = 4,681 → 4,608, less 1,024; then six, too.
    assert [step.binding for step in curve[:2]] == [("warps",), ("warps", "shared memory")]


def test_threads_step_by_warps_of_a_block() -> None:
    # 64 registers: 32 warps in all.
    curve = steps(limits_of("9.0"), BlockShape(threads=96, registers=64), Parameter.THREADS)
    assert [(step.last, step.blocks, step.warps) for step in curve[:10]] == [
        (32, 32, 32), (64, 16, 32), (96, 10, 30), (128, 8, 32), (160, 6, 30), (192, 5, 30),
        (224, 4, 28), (256, 4, 32), (288, 3, 27), (320, 3, 30),
    ]  # fmt: skip
    assert (curve[-1].first, curve[-1].last, curve[-1].warps) == (993, 1_024, 32)
    better = nearest_better(curve, 96)
    assert better is not None
    assert (better.last, better.warps) == (64, 32)


def test_threads_of_as_many_blocks_are_a_step_only_where_they_are_as_many_warps() -> None:
    # 21,120 B of 102,400: four blocks. One warp a block is 4 of 48 warps; twelve are all 48, and
    # 65,536 registers hold 48 warps of 1,280, too.
    shape = BlockShape(threads=256, registers=40, shared_dynamic=20_000)
    curve = steps(limits_of("8.6"), shape, Parameter.THREADS)
    small, large = (next(s for s in curve if s.holds(threads)) for threads in (32, 384))
    assert (small.first, small.last, small.blocks, small.warps) == (1, 32, 4, 4)
    assert (small.occupancy, small.binding) == (4 / 48, ("shared memory",))
    assert (large.first, large.last, large.blocks, large.warps) == (353, 384, 4, 48)
    assert (large.occupancy, large.binding) == (1, ("warps", "registers", "shared memory"))


def test_an_unknown_compute_capability_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"capability 7\.1 are not known") as caught:
        limits_of("7.1")
    assert "7.0, 7.2, 7.5" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "key"), [("h100", "cc-9.0"), ("a10", "cc-8.6"), ("a100", "cc-8.0"), ("T4", "cc-7.5")]
)
def test_a_part_of_a_devices_id_is_enough(name: str, key: str) -> None:
    assert limits_of_device(name).key == key


@pytest.mark.parametrize(
    ("name", "message"),
    [("rtx", "may be several"), ("mi300x", "not computed"), ("h1000", "no device called")],
)
def test_a_device_in_doubt_or_of_another_maker_is_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        limits_of_device(name)


@st.composite
def launches(draw: st.DrawFn, limits: MultiprocessorLimits) -> BlockShape:
    """Return a launch that the capability allows, with a carve-out that holds a block, or none."""
    threads = draw(st.integers(1, limits.threads_per_block))
    warps = -(-threads // 128) * 4
    registers = draw(st.integers(1, min(255, 65_536 // warps // 256 * 8)))
    static = draw(st.sampled_from([0, draw(st.integers(1, limits.shared_per_block))]))
    dynamic = draw(st.integers(0, limits.shared_per_block - static))
    needed = static + dynamic + limits.shared_reserved + limits.shared_unit
    fitting = [size for size in limits.carve_outs if size >= needed]
    return BlockShape(
        threads=threads,
        registers=registers,
        shared_static=static,
        shared_dynamic=dynamic,
        carve_out=draw(st.sampled_from([None, *fitting])),
    )


def facts_from(key: str, launch: BlockShape, number: int) -> dict[str, float | str | None]:
    """Return what the facts read: the launch, and the limits of the seed data under their names."""
    limits = {**CUDA[key], "compute_capability": float(key.removeprefix("cc-"))}
    device = {
        name: limits[quantity.occupancy]
        for name, quantity in vocabulary_once().quantities.device.items()
        if quantity.occupancy is not None
    }
    return {
        **device,
        "variant_id": f"{number:04}",
        "warp_size": 32.0,
        "shared_memory_per_sm": CUDA[key]["shared_bytes_per_sm"],
        "block_size": launch.threads,
        "registers_per_thread": launch.registers,
        "shared_memory_static": launch.shared_static,
        "shared_memory_dynamic": launch.shared_dynamic,
        "shared_memory_driver": CUDA[key]["shared_reserved_bytes_per_block"],
        "shared_memory_configured": launch.carve_out,
    }


@pytest.mark.parametrize("key", CUDA)
def test_equals_the_facts_in_sql(key: str) -> None:
    limits = limits_of(key)
    counted = occupancy(limits, BlockShape(threads=32, registers=32)).limits
    names = [
        "warps_per_block", "registers_per_warp", "shared_per_block", "blocks_per_sm",
        "occupancy_theoretical", "occupancy_limiter",
        *(f"blocks_by_{name.replace(' ', '_')}" for name in counted),
    ]  # fmt: skip

    @settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(launches(limits), min_size=25, max_size=25))
    def compare(shapes: list[BlockShape]) -> None:
        given = [facts_from(key, shape, n) for n, shape in enumerate(shapes)]
        rows = kernels_of(given, names)
        for shape, row in zip(shapes, rows, strict=True):
            found = occupancy(limits, shape)
            assert row["warps_per_block"] == found.warps_per_block
            assert row["registers_per_warp"] == found.registers_per_warp
            assert row["shared_per_block"] == found.shared_memory
            for name, blocks in found.limits.items():
                assert row[f"blocks_by_{name.replace(' ', '_')}"] == blocks, (name, shape)
            assert row["blocks_per_sm"] == found.blocks
            assert row["occupancy_theoretical"] == pytest.approx(found.occupancy)
            assert row["occupancy_limiter"] == found.binding[0]

    compare()


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(sorted(CUDA)), st.sampled_from(Parameter))
def test_steps_join_and_say_what_each_value_gives(
    data: st.DataObject, key: str, parameter: Parameter
) -> None:
    limits = limits_of(key)
    shape = data.draw(launches(limits))
    curve = steps(limits, shape, parameter)
    assert all(one.last + 1 == two.first for one, two in pairwise(curve))
    assert all(
        (one.blocks, one.warps, one.binding) != (two.blocks, two.warps, two.binding)
        for one, two in pairwise(curve)
    )
    value = data.draw(st.integers(curve[0].first, curve[-1].last))
    (step,) = [step for step in curve if step.holds(value)]
    other = shape.with_value(parameter, value)
    if step.blocks == 0:
        assert resident_warps(limits, other) == 0
    else:
        found = occupancy(limits, other)
        assert (found.blocks, found.warps) == (step.blocks, step.warps)
        assert (found.occupancy, found.binding) == (step.occupancy, step.binding)


Measured = list[tuple[MultiprocessorLimits, BlockShape, dict[str, object]]]


@pytest.fixture(scope="module")
def measured(real_launches: duckdb.DuckDBPyConnection) -> Measured:
    """Return every launch with its inputs, and its row.

    In these reports what the driver reserves is what the generation reserves.
    """
    result = real_launches.execute(
        "select * from kernel_rows where occupancy_theoretical_reported is not null"
    )
    names = [column[0] for column in result.description or ()]
    rows = [dict(zip(names, values, strict=True)) for values in result.fetchall()]
    known = [row for row in rows if f"cc-{row['compute_capability']:.1f}" in CUDA]
    assert (len(rows), len(known)) == (736, 736)
    limits = {key: limits_of(key) for key in CUDA}
    found = []
    for row in known:
        shape = BlockShape(
            threads=int(row["block_size"]),
            registers=int(row["registers_per_thread"]),
            shared_static=int(row["shared_memory_static"]),
            shared_dynamic=int(row["shared_memory_dynamic"]),
            carve_out=int(row["shared_memory_configured"]),
        )
        found.append((limits[f"cc-{row['compute_capability']:.1f}"], shape, row))
    return found


@pytest.mark.real
def test_equals_the_limits_and_the_occupancy_of_real_reports(measured: Measured) -> None:
    shared: Counter[str] = Counter()
    for limits, shape, row in measured:
        found = occupancy(limits, shape)
        for name in ("registers", "warps", "blocks"):
            assert found.limits[name] == row[f"occupancy_limit_{name}"], (row["run_id"], name)
        assert found.occupancy == pytest.approx(row["occupancy_theoretical_reported"])
        shared[how_shared_memory_was_counted(limits, found, row)] += 1
    # A block that takes none has the block slots for a limit in a report, no limit in ours.
    assert shared == {"carve-out in force": 442, "largest carve-out": 206, "takes none": 88}


def how_shared_memory_was_counted(
    limits: MultiprocessorLimits, found: Occupancy, row: Mapping[str, object]
) -> str:
    stored = row["occupancy_limit_shared_memory"]
    if stored == found.limits["shared memory"]:
        return "carve-out in force"
    if found.shared_memory == 0:
        assert stored == limits.blocks, row["run_id"]
        return "takes none"
    assert stored == limits.shared_memory // found.shared_memory, row["run_id"]
    return "largest carve-out"


@pytest.mark.real
def test_equals_the_stored_curves_point_by_point(
    real_launches: duckdb.DuckDBPyConnection, measured: Measured
) -> None:
    curves = stored_curves(real_launches)
    points, absent = 0, 0
    agreeing: dict[object, tuple[int, int]] = {}  # many launches have one shape and one curve
    for limits, shape, row in measured:
        for parameter in Parameter:
            stored = curves[row["run_id"], row["variant_id"], parameter]
            # The profiler's curve goes on to 256 registers, one more than a thread has.
            known = {
                value: warps
                for value, warps in stored.items()
                if parameter is not Parameter.REGISTERS or value <= limits.registers_per_thread
            }
            same = (row["compute_capability"], shape, parameter, *known.items())
            if same not in agreeing:
                compared = compare_curve(limits, shape, parameter, known)
                assert compared.agreeing == len(known), (row["run_id"], shape, parameter)
                other = replace(shape, carve_out=compared.carve_out)
                is_shared = parameter is Parameter.SHARED
                left = 0 if is_shared else points_without_blocks(limits, other, parameter, known)
                agreeing[same] = len(known), left
            points += agreeing[same][0]
            absent += agreeing[same][1]
    assert (points, absent) == (322_134, 36_540)


def points_without_blocks(
    limits: MultiprocessorLimits, shape: BlockShape, parameter: Parameter, known: Mapping[int, int]
) -> int:
    """Return how many points the report leaves out because no block fits; so do ours."""
    whole_axis = range(1, 256) if parameter is Parameter.REGISTERS else range(16, 1025, 16)
    absent = [value for value in whole_axis if value not in known]
    assert not any(resident_warps(limits, shape.with_value(parameter, v)) for v in absent)
    return len(absent)


def stored_curves(
    real_launches: duckdb.DuckDBPyConnection,
) -> dict[tuple[object, object, Parameter], dict[int, int]]:
    """Return the resident warps by value of the parameter, for each run and launch."""
    counters = {counter: Parameter(name) for name, counter in load_mapping("ncu").curves}
    rows = real_launches.execute(
        "select run_id, launch_index::varchar, counter, keys, values"
        " from launch_keyed join keyed_set using (keyed_set) join key_set using (key_set)"
        " where list_contains(?, counter)",
        [list(counters)],
    ).fetchall()
    return {
        (run, launch, counters[counter]): dict(zip(map(int, keys), map(int, values), strict=True))
        for run, launch, counter, keys, values in rows
    }
