"""Series made by hand, whose changes are known: noise is a fixed pattern around the level."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from advisor.tracking.records import ChangeKind, SeriesResult, Verdict
from advisor.tracking.scan import Nights, scan_many, scan_series
from advisor.tracking.settings import load_settings

SETTINGS = load_settings()
PATTERN = (0.4, -1.1, 0.9, -0.2, 1.3, -0.8, 0.1, -1.4, 0.7, 1.0, -0.6, -0.3)  # sum 0, spread 0.85


def nights(*levels: tuple[float, int], noise: float = 0.01) -> list[float]:
    """Return so many nights at each level in turn, with noise of about 1 %."""
    flat = [level for level, count in levels for _ in range(count)]
    return [level * (1 + noise * PATTERN[i % len(PATTERN)]) for i, level in enumerate(flat)]


def scan(values: list[float], **options: Any) -> SeriesResult:
    return scan_series(values, settings=SETTINGS, **options)


def kinds(found: SeriesResult) -> list[tuple[ChangeKind, int, int]]:
    return [(change.kind, change.index, change.end_index) for change in found.changes]


def test_a_quiet_series_has_no_change_and_tells_its_noise() -> None:
    found = scan(nights((100, 96)))
    assert found.changes == ()
    assert found.newest.verdict is Verdict.UNCHANGED
    assert (found.newest.index, found.newest.relative, found.newest.p_value) == (None,) * 3
    # The pattern's standard deviation: √(Σ pattern² / 12) = √(8.66 / 12) = 0.8495.
    assert found.noise == pytest.approx(0.0085, rel=0.1)


def test_a_step_is_found_at_its_first_night_with_both_levels() -> None:
    found = scan(nights((100, 60), (110, 60)))
    (step,) = found.changes
    assert (step.kind, step.index, step.end_index) == (ChangeKind.STEP, 60, 60)
    assert step.before == pytest.approx(100, rel=0.003)
    assert step.after == pytest.approx(110, rel=0.003)
    assert step.relative == pytest.approx(0.10, abs=0.005)
    assert step.verdict is Verdict.REGRESSED
    assert step.p_value is not None
    assert step.p_value < 1e-6
    assert found.newest.verdict is Verdict.UNCHANGED, "an older step is history, not news"


def test_steps_up_and_back_are_two() -> None:
    found = scan(nights((100, 40), (95, 40), (100, 40)))
    assert kinds(found) == [(ChangeKind.STEP, 40, 40), (ChangeKind.STEP, 80, 80)]
    assert [change.verdict for change in found.changes] == ["improved", "regressed"]


@pytest.mark.parametrize("count", [2, 3, 7, 14])
def test_newest_nights_on_a_new_level_are_news(count: int) -> None:
    found = scan(nights((100, 84), (108, count)))
    assert found.newest.verdict is Verdict.REGRESSED
    assert found.newest.index == 84
    assert found.newest.relative == pytest.approx(0.08, abs=0.015)
    assert kinds(found) == [(ChangeKind.STEP, 84, 84)]


def test_one_night_alone_however_far_is_inconclusive() -> None:
    found = scan([*nights((100, 84)), 1000.0])
    assert found.newest.verdict is Verdict.INCONCLUSIVE
    assert found.newest.index == 84
    assert found.changes == ()


def test_a_night_or_two_that_came_back_are_an_outlier_and_no_news() -> None:
    values = nights((100, 90))
    values[50] = 130.0
    values[70:72] = [80.0, 81.0]
    found = scan(values)
    assert kinds(found) == [(ChangeKind.OUTLIER, 50, 50), (ChangeKind.OUTLIER, 70, 71)]
    assert [change.verdict for change in found.changes] == [None, None]
    assert found.changes[0].after == 130.0
    assert found.changes[1].after == 80.5
    assert found.newest.verdict is Verdict.UNCHANGED


def test_three_nights_are_two_steps() -> None:
    found = scan(nights((100, 50), (140, 3), (100, 50)))
    assert kinds(found) == [(ChangeKind.STEP, 50, 50), (ChangeKind.STEP, 53, 53)]


@pytest.mark.parametrize("count", [30, 40, 60])
def test_three_nights_far_off_are_two_steps_or_an_outlier(count: int) -> None:
    told = set()
    for seed in range(30):
        values = 100 * (1 + 0.01 * np.random.default_rng(seed).standard_normal(count))
        values[12:15] *= 1.5
        told.add(tuple(kinds(scan(values.tolist()))))
    steps = (ChangeKind.STEP, 12, 12), (ChangeKind.STEP, 15, 15)
    assert told <= {steps, ((ChangeKind.OUTLIER, 12, 14),)}


def test_a_ramp_is_a_drift_from_its_first_to_its_last_night() -> None:
    ramp = [100 + 20 * i / 40 for i in range(40)]
    values = [*nights((100, 50)), *(v * (1 + 0.005 * PATTERN[i % 12]) for i, v in enumerate(ramp)),
              *nights((120, 50))]  # fmt: skip
    (drift,) = scan(values).changes
    assert drift.kind is ChangeKind.DRIFT
    assert abs(drift.index - 50) <= 10
    assert abs(drift.end_index - 89) <= 10
    assert drift.before == pytest.approx(100, rel=0.01)
    assert drift.after == pytest.approx(120, rel=0.01)
    assert drift.verdict is Verdict.REGRESSED


def climbing(rate: float, count: int) -> list[float]:
    """Return nights of which each is a share above the one before, with noise of 0.17 %."""
    return [100 * (1 + rate) ** i * (1 + 0.002 * PATTERN[i % 12]) for i in range(count)]


@pytest.mark.parametrize(
    ("rate", "count"),
    [(0.01, 40), *((0.004, n) for n in (12, 16, 20, 24, 30, 60)), (0.002, 90), (0.002, 60)],
)
def test_a_climb_from_the_first_night_to_the_newest_is_its_verdict(rate: float, count: int) -> None:
    values = climbing(rate, count)
    found = scan(values)
    (drift,) = found.changes
    assert (drift.kind, drift.end_index) == (ChangeKind.DRIFT, count - 1)
    assert drift.index <= 2
    # Three nights at each end have medians that lie two nights nearer to each other.
    grown = (1 + rate) ** (count - 3) - 1
    assert found.newest.verdict is Verdict.REGRESSED
    assert found.newest.index == drift.index
    assert found.newest.relative == pytest.approx(grown, abs=0.006)
    # A trend is no noise: the pattern's deviation 0.8495 × 0.2 % is.
    assert found.noise == pytest.approx(0.0017, rel=0.25)
    down = scan([10_000 / value for value in values])
    assert down.newest.verdict is Verdict.IMPROVED


def test_a_climb_that_the_newest_night_has_left_is_no_verdict() -> None:
    found = scan([*climbing(0.002, 60), 100.0])
    assert found.newest.verdict is not Verdict.REGRESSED


def test_a_step_before_a_climb_stays_a_step() -> None:
    found = scan([*nights((90, 36), noise=0.002), *nights((100, 36), noise=0.002),
                  *climbing(0.004, 36)])  # fmt: skip
    assert [change.kind for change in found.changes] == [ChangeKind.STEP, ChangeKind.DRIFT]
    assert found.changes[0].index == 36
    assert abs(found.changes[1].index - 72) <= 3
    assert found.newest.verdict is Verdict.REGRESSED


def test_an_outlier_on_a_climb_stands_against_the_nights_around_it() -> None:
    values = climbing(0.01, 40)
    values[20] *= 1.1
    outlier = next(c for c in scan(values).changes if c.kind is ChangeKind.OUTLIER)
    assert (outlier.index, outlier.end_index) == (20, 20)
    assert outlier.relative == pytest.approx(0.1, abs=0.02)


def test_steps_the_same_way_are_no_climb_to_the_newest_night() -> None:
    found = scan(nights((100, 40), (104, 40), (108, 40)))
    assert kinds(found) == [(ChangeKind.STEP, 40, 40), (ChangeKind.STEP, 80, 80)]
    assert found.newest.verdict is Verdict.UNCHANGED


def test_to_and_fro_between_two_levels_is_one_entry_and_no_steps() -> None:
    values = nights(
        (100, 9), (110, 6), (100, 12), (110, 8), (100, 7), (110, 11), (100, 7), (110, 5)
    )
    found = scan(values)
    assert kinds(found) == [(ChangeKind.TWO_STATE, 9, 60)]
    (entry,) = found.changes
    assert (entry.verdict, entry.p_value) == (None, None)
    assert entry.before == pytest.approx(100, rel=0.01)
    assert entry.after == pytest.approx(110, rel=0.01)
    assert found.newest.verdict is Verdict.UNCHANGED


def test_a_third_level_between_two_others_makes_no_two_states() -> None:
    found = scan(nights((100, 150), (107, 150), (100, 15), (103.5, 20)))
    assert kinds(found) == [(ChangeKind.STEP, at, at) for at in (150, 300, 315)]


def test_a_regression_its_repair_and_its_return_are_steps() -> None:
    found = scan(nights((100, 30), (110, 30), (100, 30), (110, 30)))
    assert kinds(found) == [(ChangeKind.STEP, at, at) for at in (30, 60, 90)]


def test_a_step_with_a_new_environment_is_the_environment() -> None:
    values = nights((100, 60), (106, 40))
    found = scan(values, environment=["driver 1"] * 60 + ["driver 2"] * 40)
    assert [(c.index, c.verdict) for c in found.changes] == [(60, Verdict.ENVIRONMENT)]


def test_a_new_environment_may_have_begun_on_a_night_that_does_not_tell_its_own() -> None:
    values = nights((100, 60), (106, 40))
    for unknown in ((58, 62), (60, 65), (57, 60)):
        first, known = unknown
        environment = [*["a"] * first, *[None] * (known - first), *["b"] * (100 - known)]
        (step,) = scan(values, environment=environment).changes
        assert (step.index, step.verdict) == (60, Verdict.ENVIRONMENT)
    environment = [*["a"] * 50, *[None] * 4, *["b"] * 46]
    assert scan(values, environment=environment).changes[0].verdict is Verdict.REGRESSED


def test_newest_nights_in_a_new_environment_are_the_environment() -> None:
    found = scan(nights((100, 60), (106, 5)), environment=["a"] * 60 + ["b"] * 5)
    assert found.newest.verdict is Verdict.ENVIRONMENT


@pytest.mark.parametrize(
    "environment",
    [
        [None] * 60 + ["driver 1"] * 40,  # from unknown to known
        ["driver 1"] * 60 + [None] * 40,
        ["driver 1"] * 80 + ["driver 2"] * 20,  # elsewhere
        ["host 1", "host 2"] * 50,  # in turns
    ],
)
def test_an_environment_that_is_not_new_at_the_step_is_no_cause(
    environment: list[str | None],
) -> None:
    found = scan(nights((100, 60), (106, 40)), environment=environment)
    assert [(c.index, c.verdict) for c in found.changes] == [(60, Verdict.REGRESSED)]


@pytest.mark.parametrize("before", [2, 1, -1, -2])
@pytest.mark.parametrize("after", [40, 6])
def test_a_step_that_began_on_another_night_than_the_environment_is_the_code_s(
    before: int, after: int
) -> None:
    # The nights between lie ten times the noise from the level that they would be at.
    values = nights((100, 60), (110, after))
    environment = ["driver 1"] * (60 + before) + ["driver 2"] * (after - before)
    found = scan(values, environment=environment)
    (step,) = found.changes
    assert (step.index, step.verdict) == (60, Verdict.REGRESSED)


def test_a_night_between_two_levels_leaves_the_step_to_the_environment() -> None:
    # Night 60 is twice the noise above the old level and as far below the new one: either's.
    values = nights((100, 60), (102, 1), (104, 39))
    for first in (60, 61):
        environment = ["driver 1"] * first + ["driver 2"] * (100 - first)
        (step,) = scan(values, environment=environment).changes
        assert (step.index, step.verdict) == (first, Verdict.ENVIRONMENT)


def test_a_new_environment_without_a_step_is_nothing() -> None:
    found = scan(nights((100, 100)), environment=["driver 1"] * 60 + ["driver 2"] * 40)
    assert found.changes == ()


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_too_few_nights_are_insufficient(count: int) -> None:
    found = scan(nights((100, count)))
    assert (found.nights, found.noise, found.changes) == (count, None, ())
    assert found.newest.verdict is Verdict.INSUFFICIENT


def test_effects_below_one_percent_do_not_count() -> None:
    quiet = nights((100, 60), (100.8, 60), noise=0.0005)
    assert scan(quiet).changes == ()
    assert kinds(scan(nights((100, 60), (101.2, 60), noise=0.0005))) == [(ChangeKind.STEP, 60, 60)]


def test_effects_below_a_tick_of_the_clock_do_not_count() -> None:
    # A clock of 4 %: first two nights of three at 100, then two of three at 104; no tick between.
    before = [100.0, 100.0, 104.0, 96.0] * 20
    after = [100.0, 104.0, 104.0, 96.0] * 20
    assert scan([*before, *after]).changes == ()


def test_nights_without_a_value_are_not_counted() -> None:
    values = nights((100, 60), (110, 60))
    values[10:20] = [math.nan] * 10
    environment = ["a"] * 60 + ["b"] * 60
    found = scan(values, environment=environment)
    assert found.nights == 110
    assert [(c.index, c.verdict) for c in found.changes] == [(50, Verdict.ENVIRONMENT)]


def test_higher_is_better_mirrors_the_words() -> None:
    values = nights((100, 60), (110, 60), (90, 5))
    lower, higher = scan(values), scan(values, better="higher")
    mirror = {"regressed": "improved", "improved": "regressed"}
    assert [c.verdict for c in higher.changes] == [mirror[c.verdict] for c in lower.changes]
    assert higher.newest.verdict == mirror[lower.newest.verdict]


def test_a_constant_series_that_moves_once_is_a_step_and_has_a_chance_above_zero() -> None:
    found = scan([5.0] * 50 + [5.5] * 50)
    (step,) = found.changes
    assert (step.index, step.before, step.after) == (50, 5.0, 5.5)
    assert step.relative == pytest.approx(0.1)
    assert step.p_value is not None
    assert step.p_value > 0


def test_a_relative_change_from_zero_is_unknown() -> None:
    found = scan([0.0] * 50 + [5.0] * 50)
    (step,) = found.changes
    assert step.relative is None
    assert step.verdict is Verdict.REGRESSED


def test_a_negative_series_tells_shares_of_the_size() -> None:
    (step,) = scan([-v for v in nights((100, 60), (110, 60))]).changes
    assert step.relative == pytest.approx(-0.1, abs=0.005)
    assert step.verdict is Verdict.IMPROVED


def test_the_company_of_a_series_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    series = [
        Nights(values=np.exp(rng.normal(0, 0.01, length)) * (1 + 0.1 * (np.arange(length) > 60)))
        for length in (100, 30, 100, 200, 5, 100)
    ]
    together = scan_many(series, settings=SETTINGS)
    assert together == [scan_many([each], settings=SETTINGS)[0] for each in series]
