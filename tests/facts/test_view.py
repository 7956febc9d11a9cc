"""How launches become the row of a variant."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from advisor.facts import kernels_select
from tests.support.facts import FROM_LAUNCHES, database_of, kernels_of, vocabulary_once


def test_sums_leave_out_launches_that_did_not_run() -> None:
    (kernel,) = kernels_of(
        [
            {"duration": 1.0, "dram_bytes": 5.0, "grid_size": 10.0},
            {"duration": 2.0, "dram_bytes": 7.0, "grid_size": 0.0},
        ]
    )
    assert kernel["duration"] == 1
    assert kernel["dram_bytes"] == 5
    assert kernel["launch_count"] == 2
    assert kernel["launches_excluded"] == 1
    assert kernel["grid_size"] is None


def test_a_launch_without_duration_keeps_its_shape() -> None:
    (kernel,) = kernels_of([{"grid_size": 10.0, "occupancy_theoretical_reported": 0.5}])
    assert kernel["duration"] is None
    assert kernel["grid_size"] == 10
    assert kernel["occupancy_theoretical_reported"] == pytest.approx(0.5)
    assert kernel["launches_excluded"] == 1


def test_utilisations_are_weighed_by_time() -> None:
    (kernel,) = kernels_of(
        [
            {"duration": 1.0, "dram_utilization": 0.9},
            {"duration": 3.0, "dram_utilization": 0.1},
            {"duration": 5.0, "dram_utilization": None},
        ]
    )
    assert kernel["dram_utilization"] == pytest.approx((0.9 + 0.3) / 4)


def test_a_weight_that_is_unknown_gives_way_to_time() -> None:
    (kernel,) = kernels_of(
        [{"duration": 1.0, "l1_hit_rate": 0.2}, {"duration": 3.0, "l1_hit_rate": 0.6}]
    )
    assert kernel["l1_hit_rate"] == pytest.approx(0.5)


def test_the_largest_number_of_passes_counts() -> None:
    (kernel,) = kernels_of([{"profiler_passes": 3.0}, {"profiler_passes": 7.0}])
    assert kernel["profiler_passes"] == 7


def test_values_that_differ_are_no_common_value() -> None:
    (kernel,) = kernels_of(
        [
            {"registers_per_thread": 32.0, "limiting_unit_reported": "L2"},
            {"registers_per_thread": 40.0, "limiting_unit_reported": "L2"},
        ]
    )
    assert kernel["registers_per_thread"] is None
    assert kernel["limiting_unit_reported"] == "L2"


def test_spread_is_over_the_launches() -> None:
    (kernel,) = kernels_of([{"duration": value} for value in (1.0, 2.0, 6.0)])
    spread = [kernel[f"duration_{name}"] for name in ("min", "median", "max", "stddev")]
    # Mean 3, squares 4 + 1 + 9 over 2: a variance of 7.
    assert spread == pytest.approx([1, 2, 6, 7**0.5])


def test_shares_and_clocks_are_held_against_the_run() -> None:
    first, second = kernels_of(
        [
            {"variant_id": "a", "duration": 3.0, "sm_clock": 1.0e9},
            {"variant_id": "b", "duration": 1.0, "sm_clock": 2.0e9},
        ]
    )
    assert first["time_share"] == pytest.approx(0.75)
    assert first["sm_clock_ratio"] == pytest.approx(0.5)
    assert second["sm_clock_ratio"] == 1


def test_another_run_does_not_count() -> None:
    first, _ = kernels_of([{"run_id": "a", "duration": 3.0}, {"run_id": "b", "duration": 1.0}])
    assert first["time_share"] == 1


def test_a_run_is_selected_before_its_launches_are_aggregated() -> None:
    query = "select limiter, time_share, roof_fraction from kernels where run_id = 'b'"
    launches = [{"run_id": run, "duration": 1.0} for run in ("a", "b", "c")]
    with database_of(launches) as connection:
        ((_, plan),) = connection.execute(f"explain (format json) {query}").fetchall()
    filters = [
        node["extra_info"].get("Filters", "")
        for node in nodes(json.loads(plan))
        if node["extra_info"].get("Table", "").endswith("launch")
    ]
    assert set(filters) == {"run_id='b'"}  # launches, and whether any was timed


def nodes(plan: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield every node of a plan."""
    for node in plan:
        yield node
        yield from nodes(node["children"])


def test_every_view_can_be_read() -> None:
    with database_of([{"duration": 1.0}]) as connection:
        for view in ("runs", "launches", "kernels", "findings", "devices", "ceilings"):
            connection.execute(f"select * from {view}").fetchall()


def test_some_columns_are_those_of_the_view() -> None:
    quantities = vocabulary_once().quantities.quantities
    numbers = [name for name, each in quantities.items() if not each.is_text]
    first = {name: float(place) for place, name in enumerate(numbers, start=2)}
    launches = [first, {name: 1 / value for name, value in first.items()}]
    facts = list(vocabulary_once().facts)
    facts.remove("launch_valid")
    with database_of([{**each, "grid_size": 8.0, "sm_count": 4.0} for each in launches]) as given:
        columns = ", ".join(facts)
        (whole,) = given.execute(f"select {columns} from kernels").fetchall()
        alone = [
            given.execute(kernels_select(vocabulary_once(), [name], FROM_LAUNCHES)).fetchall()
            for name in facts
        ]
    assert [value for ((value,),) in alone] == list(whole)
    assert sum(value is not None for value in whole) > len(facts) / 2
