"""Bars: shares of their tracks, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.reports.charts.bars import (
    gain_axis,
    occupancy_bars,
    resource_bars,
    round_steps,
    stall_bars,
    where_time_goes,
)
from advisor.reports.record.records import Report


def test_splits_the_run_longest_first(report: Report) -> None:
    bar = where_time_goes(report.kernels)
    assert bar is not None
    assert bar.total == pytest.approx(20e-3)
    assert [segment.share for segment in bar.segments] == pytest.approx(
        [0.4, 0.25, 0.25, 0.075, 0.025]
    )
    assert bar.segments[0].sol == pytest.approx(0.25)


def test_lumps_what_is_too_small_to_see(report: Report) -> None:
    small = [replace(report.kernels[4], id=f"s{i}", duration=1e-5) for i in range(7)]
    bar = where_time_goes([*report.kernels, *small])
    assert bar is not None
    assert (bar.rest_count, bar.rest_duration) == (7, pytest.approx(7e-5))


def test_has_no_bar_without_durations(report: Report) -> None:
    assert where_time_goes([replace(report.kernels[0], duration=None)]) is None


def test_puts_all_gains_on_one_axis(report: Report) -> None:
    axis = gain_axis(report.actions)
    assert axis is not None
    # The largest gain is 6 ms: three steps of 2 ms.
    assert [tick.label.replace("\u00a0", " ") for tick in axis.ticks] == ["0", "2", "4", "6 ms"]
    assert axis.bars[2].likely == pytest.approx(0.5)
    assert axis.bars[1].high == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("largest", "steps"), [(1.0, (0.5, 2)), (4.0, (1.0, 4)), (4.1, (2.0, 3)), (9.0, (5.0, 2))]
)
def test_steps_in_one_two_five(largest: float, steps: tuple[float, int]) -> None:
    assert round_steps(largest) == pytest.approx(steps)


def test_draws_resources_against_the_duration(report: Report) -> None:
    bars = resource_bars(report.kernels[2].resources)
    assert [bar.width for bar in bars] == pytest.approx([0.8, 0.3, 0.02])
    assert [bar.strong for bar in bars] == [True, False, False]


def test_keeps_what_is_no_stall_neutral(report: Report) -> None:
    stalls = report.kernels[2].stalls
    assert stalls is not None
    groups = {bar.label: bar.group for bar in stall_bars(stalls)}
    assert groups["selected"] == ""
    assert groups["long scoreboard"] == "latency"
    assert "other, 6 reasons" in groups


def test_draws_stalls_against_all_of_the_time(report: Report) -> None:
    stalls = report.kernels[2].stalls
    assert stalls is not None
    assert [bar.width for bar in stall_bars(stalls)] == pytest.approx([0.7, 0.15, 0.1, 0.05])


def test_draws_blocks_against_the_largest_limit(report: Report) -> None:
    occupancy = report.kernels[2].occupancy
    assert occupancy is not None
    assert [bar.width for bar in occupancy_bars(occupancy)] == pytest.approx([6 / 32, 8 / 32, 1])
