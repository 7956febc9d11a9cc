"""``advisor hardware occupancy`` as a user meets it."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from advisor.counters.mapping import load_mapping

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

LAUNCH = ("hardware", "occupancy", "--cc", "9.0", "--threads", "128", "--registers", "96")


def test_tells_blocks_warps_and_what_limits_them(advisor: Run) -> None:
    shown = advisor(*LAUNCH).out
    assert "5 blocks a multiprocessor, 20 of 64 warps" in shown
    assert "limited by registers" in shown
    assert "*  registers      5       3,072 a warp, 12,288 a block" in shown


def test_tells_how_far_the_next_block_is(advisor: Run) -> None:
    assert "96 → 80 registers per thread gives 5 → 6 blocks" in advisor(*LAUNCH).out


def test_notes_that_more_than_48_kib_must_be_asked_for(advisor: Run) -> None:
    note = "must opt in to more than 49,152 B"
    assert note in advisor(*LAUNCH, "--shared", "48K", "--dynamic", "1K").out
    assert note not in advisor(*LAUNCH, "--shared", "48K").out


def test_refuses_static_shared_memory_that_does_not_compile(advisor: Run) -> None:
    # 49 KiB are 1,024 B over the 48 KiB that a block has without opting in to dynamic memory.
    outcome = advisor(*LAUNCH, "--shared", "49K")
    assert outcome.status == 2
    assert "50,176 B of static shared memory per block are 1,024 over the limit" in outcome.err
    assert "use --dynamic" in outcome.err
    assert "4 blocks a multiprocessor" in advisor(*LAUNCH, "--dynamic", "49K").out


@pytest.mark.parametrize("size", ["49152", "49152B", "48K", "48k", "48KiB", "48 KiB"])
def test_takes_sizes_in_bytes_and_kibibytes(advisor: Run, size: str) -> None:
    (found,) = json.loads(advisor(*LAUNCH, "--shared", size, "--format", "json").out)
    assert found["shared_static"] == 48 * 1024
    assert found["allocated"]["shared_per_block"] == 49 * 1024


def test_refuses_a_size_in_another_unit(advisor: Run) -> None:
    outcome = advisor(*LAUNCH, "--shared", "48MB")
    assert outcome.status == 2
    assert "'48MB' is no size" in outcome.err


def test_gives_json_with_limits_and_every_step(advisor: Run) -> None:
    (found,) = json.loads(advisor(*LAUNCH, "--carveout", "90K", "--format", "json").out)
    assert (found["blocks"], found["limited_by"]) == (5, ["registers"])
    assert found["carve_out"] == 100 * 1024
    assert found["limits"]["warps"] == 16
    assert (found["kernel"], found["profiler"]) == (None, {})
    steps = [step for step in found["steps"] if step["parameter"] == "registers"]
    assert [step["blocks"] for step in steps if step["current"]] == [5]


def test_gives_the_curves_as_csv(advisor: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(advisor(*LAUNCH, "--format", "csv").out)))
    six = [row for row in rows if row["parameter"] == "registers" and row["blocks"] == "6"]
    assert [(row["from"], row["to"], row["warps"]) for row in six] == [("73", "80", "24")]
    assert six[0]["profiler_warps"] == ""


def test_takes_a_device_instead_of_a_capability(advisor: Run) -> None:
    by_device = ("hardware", "occupancy", "--device", "h100", *LAUNCH[4:])
    assert advisor(*by_device).out == advisor(*LAUNCH).out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--threads", "128", "--registers", "32"), "either a compute capability or a device"),
        (("--cc", "9.0", "--threads", "128"), "a launch has threads and registers"),
        (
            ("--cc", "9.0", "--threads", "1025", "--registers", "32"),
            "are 1 over the limit of 1,024",
        ),
        (("--cc", "9.0", "--threads", "1", "--registers", "1", "--run", "x"), "--run chooses"),
        (("--kernel", "x", "--threads", "128"), "not from --threads"),
    ],
)
def test_says_what_is_missing_or_too_much(
    advisor: Run, words: tuple[str, ...], problem: str
) -> None:
    outcome = advisor("hardware", "occupancy", *words)
    assert outcome.status == 2
    assert problem in outcome.err
    assert outcome.out == ""


def test_takes_a_measured_kernel_from_the_database(filled: Run) -> None:
    found = json.loads(filled("hardware", "occupancy", "--kernel", ".", "--format", "json").out)
    sql = (
        "select variant_id, blocks_per_sm, occupancy_theoretical from kernels"
        " where occupancy_theoretical is not null order by 1"
    )
    facts = json.loads(filled("query", sql, "--format", "json").out)
    assert facts
    ours = sorted((one["variant"], one["blocks"], one["occupancy"]) for one in found)
    assert ours == [tuple(row.values()) for row in facts]


def test_names_the_kernel_that_is_not_there(filled: Run) -> None:
    outcome = filled("hardware", "occupancy", "--kernel", "nothing_like_it")
    assert outcome.status == 2
    assert "is called 'nothing_like_it'" in outcome.err


@pytest.mark.real
def test_shows_the_profilers_curves_beside_ours(advisor: Run, real_data: Path) -> None:
    report = real_data / "ncu-rep" / "AlpriElse__cs599k" / "2025-04-21_v1.ncu-rep"
    assert advisor("ingest", str(report)).status == 0
    shown = advisor("hardware", "occupancy", "--kernel", ".").out
    for points in (256, 65, 97):
        assert f"the profiler's curve: {points} of {points} points are equal" in shown
    assert "unknown" not in shown


def test_every_curve_of_the_counter_files_is_a_parameter_and_is_kept() -> None:
    mapping = load_mapping("ncu")
    assert {name for name, _ in mapping.curves} == {"registers", "threads", "shared"}
    assert {counter for _, counter in mapping.curves} <= set(mapping.keyed)
