"""What the nights of a series say of two of them, by hand."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from advisor.tracking.history import Tracked
from advisor.tracking.levels import Levels, levels_between
from advisor.tracking.records import SeriesResult
from advisor.tracking.scan import scan_series
from advisor.tracking.settings import load_settings

SETTINGS = load_settings()


def series(*levels: tuple[int, float], noise: float = 0.004) -> list[float]:
    """Return so many nights at each level; every level's median is exact."""
    spread = np.random.default_rng(5).standard_normal(sum(nights for nights, _ in levels))
    values: list[float] = []
    for nights, level in levels:
        near = 1 + noise * spread[len(values) : len(values) + nights]
        values += (level * near / np.median(near)).tolist()
    return values


def found(values: list[float], base: int, head: int | None, value: float = 1.0) -> Levels:
    at = values[head] if head is not None else value
    levels = levels_between(tracked(values), scanned(values), base, head, at, SETTINGS)
    assert levels is not None
    return levels


def tracked(values: list[float], environment: list[str] | None = None) -> Tracked:
    return Tracked(values=values, environment=environment or [None] * len(values))


def scanned(values: list[float], environment: list[str] | None = None) -> SeriesResult:
    return scan_series(values, environment=environment, settings=SETTINGS)


def test_between_two_levels_their_medians_count() -> None:
    values = series((20, 1.0), (20, 1.05))
    levels = found(values, 3, 30)
    assert levels.effect == pytest.approx(log(1.05))
    assert levels.error == pytest.approx(sqrt(2 / 20 + 2 / 20))
    assert levels.p_value is not None
    assert levels.p_value < 1e-6
    assert levels.environment == 0
    assert found(values, 30, 3).effect == pytest.approx(-log(1.05))


def test_on_one_level_the_head_night_and_two_more_count() -> None:
    values = series((40, 1.0))
    levels = found(values, 3, 30)
    assert levels.effect == pytest.approx(log(np.median(values[30:33])))
    assert levels.error == pytest.approx(sqrt(2 / 40 + 2 / 3))
    assert levels.p_value is None
    assert levels.environment is None


def test_a_result_that_is_no_night_of_the_branch_stands_alone() -> None:
    levels = found(series((40, 1.0)), 39, None, 1.1)
    assert levels.effect == pytest.approx(log(1.1))
    assert levels.error == pytest.approx(sqrt(2 / 40 + 1))


def test_what_came_with_a_new_environment_is_known_apart() -> None:
    values = series((20, 1.0), (20, 1.1), (20, 1.21))
    environment = ["a"] * 40 + ["b"] * 20
    nights, result = tracked(values, environment), scanned(values, environment)
    both = levels_between(nights, result, 5, 55, values[55], SETTINGS)
    back = levels_between(nights, result, 55, 5, values[5], SETTINGS)
    assert both is not None
    assert back is not None
    assert both.environment == pytest.approx(log(1.1))
    assert (back.effect, back.environment) == pytest.approx((-log(1.21), -log(1.1)))


def test_an_odd_night_and_two_states_are_doubtful() -> None:
    values = series((40, 1.0))
    values[25] = 1.4
    assert found(values, 3, 25).is_doubtful
    assert not found(values, 3, 26).is_doubtful
    states = [1.0 if night % 7 < 4 else 1.2 for night in range(60)]
    spread = np.random.default_rng(2).standard_normal(60)
    assert found(
        [v * (1 + 0.004 * s) for v, s in zip(states, spread, strict=True)], 0, 5
    ).is_doubtful


def test_too_few_nights_tell_nothing() -> None:
    values = series((6, 1.0))
    assert levels_between(tracked(values), scanned(values), 0, 5, 1.0, SETTINGS) is None
