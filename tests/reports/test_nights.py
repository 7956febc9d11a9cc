"""Sparklines, histories and signed bars as shares of their boxes."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import pytest

from advisor.reports.charts.nights import nights_chart, spark_of, spark_text
from advisor.reports.record.kernel_nights import _band, _thinned
from advisor.reports.record.over_time import FactNights, Segment, ShownNight

FIRST = datetime.fromisoformat("2026-01-05T02:30")


def nights(count: int) -> list[ShownNight]:
    """Return nights in a row; on the fifth the driver changed."""
    return [
        ShownNight(
            run_id=f"r{n}",
            time=FIRST + timedelta(days=n),
            commit="a" * 40 if n < 3 else "b" * 40,
            note=None,
            changed=("driver 1 → 2",) if n == 4 else (),
        )
        for n in range(count)
    ]


def test_draws_a_line_from_the_first_night_to_the_last() -> None:
    spark = spark_of([(0, 1e-4), (1, 1e-4), (2, 2e-4)], 3, most=60)
    assert spark is not None
    assert [x for x, _ in spark.points] == [0.0, 0.5, 1.0]
    assert [y for _, y in spark.points] == pytest.approx([1 - 0.07 / 1.07, 1 - 0.07 / 1.07, 0.0])


def test_leaves_old_nights_out_of_a_sparkline() -> None:
    spark = spark_of([(n, 1.0) for n in range(10)], 10, most=3)
    assert spark is not None
    assert [round(x, 9) for x, _ in spark.points] == [0.0, 0.5, 1.0]


def test_draws_no_line_of_one_night() -> None:
    assert spark_of([(4, 1.0)], 5, most=60) is None


def test_makes_noise_look_like_noise() -> None:
    spark = spark_of([(0, 1.0), (1, 1.007), (2, 1.0)], 3, most=9)
    assert spark is not None
    heights = [y for _, y in spark.points]
    assert max(heights) - min(heights) == pytest.approx(0.05)
    assert spark_text([1.0, 1.001, 1.0], "▁▂▃▄▅▆▇█") == "▅▅▅"


def test_places_dots_levels_and_marks_of_a_history() -> None:
    fact = FactNights(
        name="duration",
        label="time of a launch",
        unit="s",
        values=tuple((n, 1e-4 if n < 3 else 2e-4) for n in range(6)),
        segments=(
            Segment(first=0, last=2, median=1e-4, low=None, high=None),
            Segment(first=3, last=5, median=2e-4, low=1.9e-4, high=2.1e-4),
        ),
    )
    chart = nights_chart(fact, nights(6), [3])
    assert [x for x, _ in chart.dots] == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert chart.dots[0][1] > chart.dots[-1][1]  # from the top
    assert chart.levels[0].band is None
    assert chart.levels[1].band is not None
    change, environment = chart.marks
    assert change.words == "8\N{NO-BREAK SPACE}Jan bbbbbbb"
    assert environment.words == ""  # no room beside the words of the change
    assert nights_chart(fact, nights(6), []).marks[0].words == "driver"
    assert change.at == pytest.approx(0.5)  # between the third night and the fourth
    assert (chart.first, chart.last) == ("5\N{NO-BREAK SPACE}Jan", "10\N{NO-BREAK SPACE}Jan")
    assert "100\N{NO-BREAK SPACE}µs" in chart.description


def test_encloses_the_median_with_a_chance_of_95_percent() -> None:
    # Of nine nights the second and the eighth: 1 − 2 (1 + 9) / 2⁹ = 0.961.
    assert _band([float(n) for n in range(1, 10)], least=6) == (2.0, 8.0)
    assert _band([1.0, 2.0, 3.0], least=6) == (None, None)


def test_keeps_the_places_beside_a_change_on_a_path() -> None:
    points = [(n, 1.0, 1.0) for n in range(29)]
    kept = [place for place, _, _ in _thinned(points, [12], 12)]
    assert len(kept) == 12
    assert {0, 11, 12} <= set(kept)
    assert kept == sorted(kept)
    assert _thinned(points[:5], [], 12) == points[:5]


def test_returns_no_share_beyond_the_box() -> None:
    fact = FactNights(
        name="x", label="x", unit="1", values=((0, 0.0), (1, 0.0)),
        segments=(Segment(first=0, last=1, median=0.0, low=None, high=None),),
    )  # fmt: skip
    chart = nights_chart(fact, nights(2), [])
    assert all(0 <= y <= 1 and math.isfinite(y) for _, y in chart.dots)
