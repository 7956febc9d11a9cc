"""What is said about one kernel, from the row of its facts."""

from __future__ import annotations

import pytest

from advisor.reports.record.kernel_naming import kernel_names
from advisor.reports.record.kernel_records import KernelName, KernelRecord
from advisor.reports.record.kernels import fact_sheet, kernel
from advisor.reports.record.rows import Row
from advisor.rules.language.words import load_words
from tests.support.facts import vocabulary_once

QUARTER: Row = {
    "duration": 4e-3,
    "t_sol": 1e-3,
    "t_least": 1e-3,
    "roof_fraction": 0.25,
    "binding_resource": "dram",
    "limiter": "memory",
    "t_sol_complete": True,
}

WORDS = load_words().words("NVIDIA")


def kernel_of(row: Row) -> KernelRecord:
    name = KernelName(id="v1", short_name="copy")
    return kernel(row, name, fact_sheet(vocabulary_once(), WORDS))


@pytest.mark.parametrize(
    ("changed", "factor"),
    [
        ({}, True),
        ({"roof_fraction_achievable": 0.25}, True),
        ({"limiter": "latency"}, False),  # the roof is not what holds it
        ({"t_sol_complete": False}, False),  # what was not counted may take the rest
    ],
)
def test_says_what_the_roof_leaves_only_where_it_is_what_holds(changed: Row, factor: bool) -> None:
    remark = kernel_of({**QUARTER, **changed}).remark.replace("\N{NO-BREAK SPACE}", " ")
    assert remark.startswith("25 % of the profiled DRAM roof")
    assert (
        remark.endswith("In practice, at most 4.00× is possible without moving fewer bytes.")
        == factor
    )
    assert ("×" in remark) == factor


@pytest.mark.parametrize(
    ("reached", "said"), [(0.5, "at most 2.00× is possible"), (1.01, "no speed-up is possible")]
)
def test_what_is_possible_in_practice_follows_the_practical_roof(reached: float, said: str) -> None:
    remark = kernel_of({**QUARTER, "roof_reached": reached}).remark
    assert f"In practice, {said} without moving fewer bytes." in remark


def test_shows_what_the_counted_work_takes_where_the_roof_is_more() -> None:
    def shown(row: Row) -> dict[str, object]:
        facts = [fact for group in kernel_of(row).facts for fact in group.facts]
        return {fact.name: fact.value for fact in facts if fact.name in ("t_least", "t_sol")}

    assert shown(QUARTER) == {"t_least": 1e-3}
    assert shown({**QUARTER, "t_least": 2e-3}) == {"t_least": 2e-3, "t_sol": 1e-3}


def test_tells_templates_apart_by_the_arguments_that_differ() -> None:
    name = "void gemm::Kernel<gemm::Tile<(int){}, (int)96>, gemm::Stages<(int)4>>(T1::Params)"
    shapes = {"a": (64, "2 × 32"), "b": (128, "2 × 32"), "c": (128, "4 × 32"), "d": (128, "4 × 32")}
    rows = [
        {
            "variant_id": variant,
            "short_name": "gemm::Kernel",
            "kernel_name": name.format(rows_of_tile),
            "launch_shape": shape,
        }
        for variant, (rows_of_tile, shape) in shapes.items()
    ]
    apart = {variant: each.told_apart for variant, each in kernel_names(rows).items()}
    assert apart == {
        "a": "Tile<64, 96>",
        "b": "Tile<128, 96>, 2 × 32",
        "c": "Tile<128, 96>, 4 × 32, c",
        "d": "Tile<128, 96>, 4 × 32, d",
    }
    alone = kernel_names(rows[:1])["a"]
    assert alone.full_name == "gemm::Kernel"


def test_tells_builds_of_one_kernel_apart_by_their_registers() -> None:
    registers = {"a": 32, "b": 96, "c": None, "d": 40, "e": 40}
    rows = [
        {
            "variant_id": variant,
            "short_name": "scan_rows",
            "launch_shape": "4 × 32" if variant in "de" else "2 × 32",
            "registers_per_thread": count,
        }
        for variant, count in registers.items()
    ]
    apart = {variant: each.told_apart for variant, each in kernel_names(rows).items()}
    assert apart == {
        "a": "2 × 32, 32 registers",
        "b": "2 × 32, 96 registers",
        "c": "2 × 32, c",
        "d": "4 × 32, d",
        "e": "4 × 32, e",
    }
