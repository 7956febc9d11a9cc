"""Histories: conditions of nights, splits, and levels that were accepted."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.tracking.conditions import (
    environment_texts,
    filled,
    known_conditions,
    split_nights,
    what_changed,
)
from advisor.tracking.history import Tracked, scan_histories
from advisor.tracking.records import SeriesResult, Verdict
from advisor.tracking.scan import scan_series
from advisor.tracking.settings import load_settings

SETTINGS = load_settings()


def noise(nights: int, seed: int = 0) -> np.ndarray:
    return 1 + 0.005 * np.random.default_rng(seed).standard_normal(nights)


def scan(
    values: np.ndarray, splits: tuple[int, ...] = (), accepted: tuple[int, ...] = ()
) -> SeriesResult:
    nights: list[str | None] = [None] * len(values)
    tracked = Tracked(values=values.tolist(), environment=nights, splits=splits, accepted=accepted)
    return scan_histories([tracked], settings=SETTINGS)[0]


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ([None, None, "A"], ["A", "A", "A"]),
        (["A", None, "B"], ["A", "A", "B"]),
        (["A", None, None], ["A", "A", "A"]),
        ([None, None], [None, None]),
        ([], []),
    ],
)
def test_what_a_night_does_not_tell_is_as_its_neighbours_have_it(
    told: list[str | None], meant: list[str | None]
) -> None:
    assert filled(told) == meant


def test_a_driver_that_becomes_known_changes_no_environment() -> None:
    nights = [{"driver": None, "host": "a"}, {"driver": "550", "host": None}]
    assert environment_texts(nights) == ["driver 550, host a"] * 2
    assert environment_texts([{"driver": None}]) == [None]


def test_says_in_words_what_changed() -> None:
    before, after = known_conditions(
        [{"driver": "550", "host": None, "os": "x"}, {"driver": "560", "host": "b", "os": "x"}]
    )
    assert what_changed(before, after) == ("driver 550 → 560",)


def test_a_new_profiler_splits_and_two_that_take_turns_do_not() -> None:
    assert split_nights([{"profiler": v} for v in "aaabbb"], SETTINGS) == [3]
    assert split_nights([{"profiler": v} for v in "ababab"], SETTINGS) == [1]
    assert split_nights([{"profiler": v} for v in ("a", None, "a")], SETTINGS) == []


def test_series_are_not_compared_across_a_split() -> None:
    values = noise(60)
    values[40:] *= 1.3
    assert scan(values).changes[0].index == 40
    split = scan(values, splits=(40,))
    assert split.changes == ()
    assert split.newest.verdict is Verdict.UNCHANGED
    assert split.nights == 60


def test_nights_are_counted_over_all_pieces() -> None:
    values = noise(90)
    values[75:] *= 1.3
    split = scan(values, splits=(40,))
    assert [change.index for change in split.changes] == [75]
    assert split.newest.verdict is Verdict.UNCHANGED  # the step is older than the newest nights
    newest = scan(np.concatenate((noise(85), 1.3 * noise(5, seed=1))), splits=(40,)).newest
    assert (newest.verdict, newest.index) == (Verdict.REGRESSED, 85)


def test_a_series_without_splits_is_scanned_like_any_other() -> None:
    values = noise(60)
    values[50:] *= 1.1
    assert scan(values) == scan_series(values, environment=[None] * 60, settings=SETTINGS)


def test_an_accepted_level_is_the_baseline_and_its_change_stays() -> None:
    values = noise(60)
    values[52:] *= 1.1
    before = scan(values)
    assert (before.newest.verdict, before.newest.index) == (Verdict.REGRESSED, 52)
    after = scan(values, accepted=(53,))
    assert after.changes == before.changes
    assert after.newest.verdict is Verdict.UNCHANGED


def test_beyond_an_accepted_level_a_regression_is_told() -> None:
    values = noise(70)
    values[56:] *= 1.1
    values[66:] *= 1.1
    newest = scan(values, accepted=(56,)).newest
    assert newest.verdict is Verdict.REGRESSED
    assert newest.index == 66
    assert newest.relative == pytest.approx(0.1, abs=0.01)


def test_back_from_an_accepted_level_is_an_improvement() -> None:
    values = noise(70)
    values[56:66] *= 1.1
    newest = scan(values, accepted=(57,)).newest
    assert newest.verdict is Verdict.IMPROVED


def test_an_accepted_climb_is_accepted_until_its_night_and_no_further() -> None:
    climb = noise(60) * 1.004 ** np.arange(60)
    until_now = scan(climb, accepted=(59,))
    assert until_now.newest.verdict is Verdict.UNCHANGED
    assert scan(climb, accepted=(29,)).newest.verdict is Verdict.REGRESSED
