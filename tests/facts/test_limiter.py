"""What limits a kernel: every branch of the decision list, and its edges."""

from __future__ import annotations

import pytest

from tests.support.facts import facts_of


@pytest.mark.parametrize(
    ("compute", "memory", "limiter"),
    [
        (None, 0.59, None),
        (None, 0.6, "memory"),
        (0.9, None, None),
        (None, None, None),
        (0.0, 0.0, "latency"),
        (0.59, 0.2, "latency"),
        (0.2, 0.59, "latency"),
        (0.6, 0.2, "compute"),
        (0.2, 0.6, "memory"),
        (0.62, 0.58, "balanced"),
        (0.7, 0.8, "memory"),
        (0.8, 0.7, "compute"),
        (0.65, 0.74, "balanced"),
        (0.95, 0.95, "memory"),
        (0.95, 0.947, "balanced"),
        (0.95, 0.5, "compute"),
        (0.5, 0.95, "memory"),
    ],
)
def test_utilisations_decide(
    compute: float | None, memory: float | None, limiter: str | None
) -> None:
    facts = facts_of(compute_utilization=compute, memory_utilization=memory)
    assert facts["limiter"] == limiter


@pytest.mark.parametrize(
    ("known", "limiter"),
    [
        ({"compute_utilization": 0.6, "dram_utilization": 0.15, "l2_utilization": 0.2}, None),
        ({"compute_utilization": 0.6, "dram_utilization": 0.15, "l1_utilization": 0.49}, "compute"),
        ({"compute_utilization": 0.6, "dram_utilization": 0.15, "l1_utilization": 0.51}, None),
        ({"compute_utilization": 0.69, "dram_utilization": 0.55, "pipe_alu": 0.66}, "compute"),
        ({"compute_utilization": 0.69, "dram_utilization": 0.6, "pipe_alu": 0.66}, None),
        ({"compute_utilization": 0.69, "dram_utilization": 0.1, "pipe_alu": 0.58}, None),
        (
            {
                "compute_utilization": 0.9,
                "dram_utilization": 0.1,
                "pipe_alu": 0.1,
                "pipe_fma": 0.3,
                "issue_slot_utilization": 0.4,
            },
            "memory",
        ),
        (
            {
                "compute_utilization": 0.9,
                "dram_utilization": 0.1,
                "pipe_alu": 0.1,
                "pipe_fma": 0.3,
                "issue_slot_utilization": 0.4,
                "pipe_tensor": 0.85,
            },
            "compute",
        ),
        ({"compute_utilization": 0.6, "dram_utilization": 0.15, "l2_utilization": 0.55}, None),
        ({"compute_utilization": 0.59, "dram_utilization": 0.15, "l2_utilization": 0.2}, "latency"),
        ({"compute_utilization": 0.59, "dram_utilization": 0.15}, None),
        ({"dram_utilization": 0.1, "l2_utilization": 0.4, "occupancy_achieved": 0.2}, "latency"),
        ({"dram_utilization": 0.1, "l2_utilization": 0.6, "occupancy_achieved": 0.2}, None),
        ({"dram_utilization": 0.1, "l2_utilization": 0.4, "occupancy_achieved": 0.5}, None),
        (
            {"compute_utilization": 0.29, "dram_utilization": 0.59, "occupancy_achieved": 0.25},
            "latency",
        ),
        ({"compute_utilization": 0.3, "dram_utilization": 0.59, "occupancy_achieved": 0.25}, None),
        ({"compute_utilization": 0.29, "dram_utilization": 0.6, "occupancy_achieved": 0.25}, None),
        ({"compute_utilization": 0.29, "dram_utilization": 0.59, "occupancy_achieved": 0.26}, None),
        ({"waves_per_sm": 0.5, "occupancy_achieved": 0.25}, "latency"),
        ({"waves_per_sm": 0.51, "occupancy_achieved": 0.25}, None),
        ({"waves_per_sm": 0.5, "occupancy_achieved": 0.26}, None),
        ({"waves_per_sm": 0.3, "occupancy_achieved": 0.2, "memory_utilization": 0.7}, "memory"),
        ({"waves_per_sm": 0.3, "occupancy_achieved": 0.2, "dram_utilization": 0.6}, None),
        ({"issue_slot_utilization": 0.6, "memory_utilization": 0.5}, "compute"),
        ({"issue_slot_utilization": 0.6, "memory_utilization": 0.51}, None),
        ({"issue_slot_utilization": 0.59, "memory_utilization": 0.1}, None),
        ({"issue_slot_utilization": 0.9}, None),
    ],
)
def test_the_units_that_were_collected_decide(known: dict[str, float], limiter: str | None) -> None:
    assert facts_of(**known)["limiter"] == limiter


@pytest.mark.parametrize(
    ("units", "side", "limiter"),
    [
        ((0.69, 0.22, 0.37), 0.69, "memory"),
        ((0.39, 0.1, 0.65), 0.65, "balanced"),
        ((0.39, None, 0.45), None, None),
        ((0.2, 0.1, 0.3), 0.3, "latency"),
    ],
)
def test_three_units_are_the_side_of_memory(
    units: tuple[float | None, ...], side: float | None, limiter: str | None
) -> None:
    names = ("dram_utilization", "l2_utilization", "l1_utilization")
    compute = 0.5 if limiter == "latency" else 0.6 if limiter == "balanced" else 0.37
    facts = facts_of(compute_utilization=compute, **dict(zip(names, units, strict=True)))
    assert facts["memory_side"] == (None if side is None else pytest.approx(side))
    assert facts["limiter"] == limiter


def test_a_full_l1_is_memory_though_its_members_stand_at_half() -> None:
    facts = facts_of(compute_utilization=0.06, memory_utilization=0.5, l1_utilization=0.9)
    assert facts["limiter"] == "memory"


def test_l1_by_its_own_utilisation_is_no_equal_of_a_busier_compute_unit() -> None:
    page = {"compute_utilization": 0.84, "memory_utilization": 0.38, "l1_utilization": 0.77}
    assert facts_of(**page)["limiter"] == "compute"
    assert facts_of(**{**page, "memory_utilization": 0.75})["limiter"] == "balanced"
    assert facts_of(**{**page, "l1_utilization": 0.86})["limiter"] == "balanced"


def test_l2_counts_only_as_far_as_it_is_in_the_breakdown() -> None:
    page = {"memory_utilization": 0.65, "dram_utilization": 0.65, "l2_utilization": 0.68}
    assert facts_of(**page, compute_utilization=0.3)["memory_side_unit"] == "DRAM"
    less = {**page, "dram_utilization": 0.5}
    facts = facts_of(**less, compute_utilization=0.3)
    assert (facts["memory_side_unit"], facts["memory_side"]) == ("L2", 0.65)


@pytest.mark.parametrize(("l1", "unit"), [(0.61, "L1"), (0.52, "L2"), (None, "L2")])
def test_the_busiest_memory_unit_goes_with_its_own_utilisation(l1: float | None, unit: str) -> None:
    facts = facts_of(memory_utilization=0.52, l1_utilization=l1, limiting_unit_reported="L2")
    assert facts["memory_side_unit"] == unit


@pytest.mark.parametrize(
    ("values", "unit", "share"),
    [
        # Of what limits it, not of whatever else is busiest: the number is the unit's own.
        ({"l1_utilization": 0.97, "compute_utilization": 0.98, "memory_utilization": 0.98,
          "lsu_utilization": 0.98}, "L1", 0.97),
        ({"l1_utilization": 0.95, "compute_utilization": 0.3, "memory_utilization": 0.49},
         "L1", 0.95),
        ({"l2_utilization": 0.85, "compute_utilization": 0.3, "memory_utilization": 0.63,
          "l1_utilization": 0.3, "dram_utilization": 0.5}, "L2", 0.85),
        ({"l2_utilization": 0.68, "compute_utilization": 0.5, "memory_utilization": 0.66,
          "l1_utilization": 0.3, "dram_utilization": 0.66, "l2_hit_rate": 0.1}, "DRAM", 0.66),
        ({"compute_utilization": 0.8, "memory_utilization": 0.4}, "multiprocessor", 0.8),
        ({"compute_utilization": 0.2, "memory_utilization": 0.4, "dram_utilization": 0.4},
         "DRAM", 0.4),
        ({"compute_utilization": 0.5, "memory_utilization": 0.4}, "multiprocessor", 0.5),
        ({"compute_utilization": 0.8, "memory_utilization": 0.1,
          "limiting_unit_reported": "FP64 pipe"}, "FP64 pipe", 0.8),
        ({"compute_utilization": 0.1, "memory_utilization": 0.8,
          "limiting_unit_reported": "L1 data stage"}, "L1 data stage", 0.8),
        ({}, None, None),
    ],
)  # fmt: skip
def test_the_unit_that_is_shown_goes_with_its_own_utilisation(
    values: dict[str, float], unit: str | None, share: float | None
) -> None:
    facts = facts_of(**values)
    assert (facts["shown_unit"], facts["shown_share"]) == (unit, share)


@pytest.mark.parametrize(("dram", "unit"), [(0.49, None), (0.94, None), (0.95, "DRAM")])
def test_a_unit_less_busy_than_memory_is_not_its_busiest(dram: float, unit: str | None) -> None:
    facts = facts_of(memory_utilization=0.96, dram_utilization=dram, compute_utilization=0.3)
    assert facts["memory_side_unit"] == unit


@pytest.mark.parametrize("unit", ["l1_utilization", "l2_utilization", "dram_utilization"])
def test_one_memory_unit_alone_decides_only_where_it_is_full(unit: str) -> None:
    assert facts_of(**{unit: 0.8})["limiter"] == "memory"
    assert facts_of(**{unit: 0.79})["limiter"] is None
    assert facts_of(compute_utilization=0.1, **{unit: 0.79})["limiter"] is None


def test_a_full_compute_unit_alone_may_be_busy_with_accesses() -> None:
    assert facts_of(compute_utilization=0.95)["limiter"] is None


def test_the_report_names_the_unit() -> None:
    facts = facts_of(limiting_unit_reported="L2", dram_utilization=0.9)
    assert facts["limiting_unit"] == "L2"


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ({"dram_utilization": 0.3, "l2_utilization": 0.2}, "DRAM"),
        ({"dram_utilization": 0.3, "l2_utilization": 0.4}, "L2"),
        ({"l1_utilization": 0.3, "compute_utilization": 0.2}, "L1"),
        ({"l1_utilization": 0.3, "compute_utilization": 0.5}, "multiprocessor"),
        ({}, None),
    ],
)
def test_utilisations_name_the_unit_where_the_report_does_not(
    values: dict[str, float], unit: str | None
) -> None:
    assert facts_of(**values)["limiting_unit"] == unit


def test_one_unit_counted_on_both_sides_is_memory() -> None:
    twice = {"compute_utilization": 0.9, "memory_utilization": 0.91, "lsu_utilization": 0.89}
    assert facts_of(**twice)["limiter"] == "memory"
    assert facts_of(**{**twice, "lsu_utilization": 0.87})["limiter"] == "balanced"
    assert facts_of(**{**twice, "lsu_utilization": None})["limiter"] == "balanced"
    low = {"compute_utilization": 0.5, "memory_utilization": 0.51, "lsu_utilization": 0.5}
    assert facts_of(**low)["limiter"] == "latency"


# Schedulers issue too seldom to keep a pipe of full rate as busy as compute is.
SELDOM = {"issue_slot_utilization": 0.79}


@pytest.mark.parametrize(
    ("page", "is_one", "limiter"),
    [
        ({"memory_utilization": 0.90004}, True, "memory"),
        ({"memory_utilization": 0.8999}, None, "balanced"),
        ({"memory_utilization": 0.9002, "l1_utilization": 0.9}, None, "balanced"),
        ({"memory_utilization": 0.9002, "l1_utilization": 0.9, **SELDOM}, True, "memory"),
        ({"memory_utilization": 0.8998, "l1_utilization": 0.9, **SELDOM}, True, "memory"),
        ({"memory_utilization": 0.9003, "l1_utilization": 0.9, **SELDOM}, None, "balanced"),
        ({"memory_utilization": 0.9002, "l1_utilization": 0.87, **SELDOM}, None, "balanced"),
        ({"memory_utilization": 0.9002, **SELDOM}, None, "balanced"),
        (
            {"memory_utilization": 0.9002, "l1_utilization": 0.9, "issue_slot_utilization": 0.81},
            None,
            "balanced",
        ),
        ({"memory_utilization": 0.9, "l1_utilization": 0.9}, True, "memory"),
        ({"memory_utilization": 0.9, "l1_utilization": 0.87}, None, "balanced"),
        ({"memory_utilization": 0.9, "lsu_utilization": 0.5}, False, "balanced"),
        ({"compute_utilization": 0.59, "memory_utilization": 0.59}, None, "latency"),
    ],
)
def test_equal_values_are_one_unit_where_units_are_not_told_apart(
    page: dict[str, float], is_one: bool | None, limiter: str
) -> None:
    facts = facts_of(**{"compute_utilization": 0.9, **page})
    assert (facts["counted_twice"], facts["limiter"]) == (is_one, limiter)


def test_a_grid_on_half_of_the_device_waits_whatever_was_not_collected() -> None:
    assert facts_of(grid_size=5.0, sm_count=10.0)["limiter"] == "latency"
    assert facts_of(grid_size=6.0, sm_count=10.0)["limiter"] is None


def test_the_memory_unit_is_one_of_memory_where_load_stores_count_on_both_sides() -> None:
    page = {"compute_utilization": 0.91, "memory_utilization": 0.91, "l1_utilization": 0.91}
    facts = facts_of(**page, l2_utilization=0.05, dram_utilization=0.01)
    assert facts["limiter"] == "memory"
    assert facts["memory_side_unit"] == "L1"


@pytest.mark.parametrize(
    ("warps", "compute", "limiter"),
    [(2.0, 0.15, "latency"), (2.1, 0.15, None), (2.0, 0.3, None), (None, 0.15, None)],
)
def test_a_warp_or_two_of_each_scheduler_are_few_on_every_device(
    warps: float | None, compute: float, limiter: str | None
) -> None:
    page = {"compute_utilization": compute, "dram_utilization": 0.005}
    assert facts_of(**page, active_warps=warps)["limiter"] == limiter


@pytest.mark.parametrize(
    ("stalls", "limiter"),
    [
        (
            {"stall_long_scoreboard": 1.0, "stall_lg_throttle": 0.5, "stall_mio_throttle": 1.4},
            "compute",
        ),
        ({"stall_long_scoreboard": 1.0, "stall_lg_throttle": 0.5, "stall_mio_throttle": 1.5}, None),
        ({"stall_long_scoreboard": 1.0, "stall_lg_throttle": 0.5}, "compute"),
        ({"stall_long_scoreboard": 1.0, "stall_lg_throttle": 0.5, "stall_drain": 1.6}, None),
        ({"stall_long_scoreboard": 1.0, "stall_mio_throttle": 0.5}, None),  # L1's queue may be full
        ({"stall_lg_throttle": 0.5, "stall_mio_throttle": 0.5}, None),  # data may be far
    ],
)
def test_where_warps_hardly_wait_for_memory_compute_limits(
    stalls: dict[str, float], limiter: str | None
) -> None:
    known = {"compute_utilization": 0.66, "dram_utilization": 0.28, "warp_latency": 10.0}
    assert facts_of(**known, **stalls)["limiter"] == limiter


@pytest.mark.parametrize(
    ("known", "because"),
    [
        ({"duration": 2e-6, "compute_capability": 8.0}, "launch"),
        ({"grid_size": 7.0, "sm_count": 8.0}, "blocks"),
        ({"grid_size": 8.0, "sm_count": 8.0}, None),
        ({"grid_size": 80.0, "sm_count": 8.0, "sm_busy": 0.4}, "blocks"),
        ({"grid_size": 80.0, "sm_count": 8.0, "sm_busy": 0.6}, None),
        ({"grid_size": 7.0, "sm_count": 8.0, "memory_utilization": 0.7}, None),
    ],
)
def test_tells_why_a_kernel_waits_where_its_launch_does(
    known: dict[str, float], because: str | None
) -> None:
    busy = {"duration": 1e-3, "compute_utilization": 0.2, "memory_utilization": 0.2}
    assert facts_of(**{**busy, **known})["waiting_because"] == because


@pytest.mark.parametrize(("memory", "unit"), [(0.51, "DRAM"), (0.52, None), (None, "DRAM")])
def test_the_busiest_unit_is_unknown_where_memory_is_busier_than_those_that_are_known(
    memory: float | None, unit: str | None
) -> None:
    facts = facts_of(dram_utilization=0.5, compute_utilization=0.1, memory_utilization=memory)
    assert facts["limiting_unit"] == unit
