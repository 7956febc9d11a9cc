"""Axes: hand-worked projections and ticks."""

from __future__ import annotations

import pytest

from advisor.reports.charts.scales import Frame, log_range, log_ticks

# Two decades over 200 px to the right, two decades over 100 px upwards.
FRAME = Frame(left=10, top=20, width=200, height=100, x0=0, x1=2, y0=10, y1=12)


def test_projects_decades_to_pixels() -> None:
    assert (FRAME.x(0), FRAME.x(1), FRAME.x(2)) == (10, 110, 210)
    assert (FRAME.y(10), FRAME.y(11), FRAME.y(12)) == (120, 70, 20)


def test_draws_a_slope_of_one_decade_per_decade() -> None:
    # 50 px up over 100 px to the right: atan(1/2) is 26.565°, and up is negative.
    assert FRAME.slope() == pytest.approx(-26.565, abs=1e-3)


def test_covers_all_values_with_a_margin() -> None:
    assert log_range([0.1, 1000.0]) == pytest.approx((-1.3, 3.3))


def test_widens_a_short_range_around_its_middle() -> None:
    # One value gives 0.6 decades; 0.9 are missing to 1.5, half of it on each side.
    assert log_range([1.0]) == pytest.approx((-0.75, 0.75))


def test_labels_decades_and_in_a_short_range_two_and_five() -> None:
    assert [t.label for t in log_ticks(-0.5, 2.5) if t.label] == ["1", "10", "100"]
    assert [t.label for t in log_ticks(0.0, 1.0) if t.label] == ["1", "2", "5", "10"]


def test_writes_units_with_their_prefix() -> None:
    labels = [t.label.replace("\u00a0", " ") for t in log_ticks(8.5, 12.5, "FLOP/s") if t.label]
    assert labels == ["1 GFLOP/s", "10 GFLOP/s", "100 GFLOP/s", "1 TFLOP/s"]


def test_draws_nine_lines_per_decade() -> None:
    assert len(log_ticks(0.0, 0.9999)) == 9
