"""Noise by hand: alternating values have a known spread, rounded ones a known tick."""

from __future__ import annotations

import math

import numpy as np
import pytest

from advisor.tracking.noise import (
    Noise,
    Noises,
    as_normal,
    as_student,
    chance,
    noise_of_residuals,
    scale,
)
from advisor.tracking.settings import load_settings

SETTINGS = load_settings()


def test_logarithms_make_up_and_down_alike() -> None:
    scaled = scale(np.array([[1.0, 2.0, 4.0]]))
    assert scaled.logarithmic.tolist() == [True]
    assert scaled.values[0].tolist() == pytest.approx([-math.log(2), 0.0, math.log(2)])


def test_values_that_are_not_positive_become_shares_of_their_median_size() -> None:
    scaled = scale(np.array([[-1.0, 2.0, 4.0]]))
    assert scaled.logarithmic.tolist() == [False]
    assert scaled.values[0].tolist() == [-0.5, 1.0, 2.0]


def test_zeros_alone_stay_zeros() -> None:
    assert scale(np.zeros((1, 5))).values.tolist() == [[0.0] * 5]


def test_finds_the_tick_of_a_clock_where_many_values_are_equal() -> None:
    on_clock = [100.0, 102.0, 100.0, 98.0, 100.0, 102.0, 100.0, 98.0]
    continuous = [100.0, 102.1, 100.3, 98.4, 100.5, 102.6, 100.7, 98.8]
    two_values = [100.0, 110.0] * 4
    ticks = scale(np.array([on_clock, continuous, two_values])).ticks
    assert ticks.tolist() == pytest.approx([0.02, 0.0, 0.0])


def test_the_mean_of_alike_nights_varies_more() -> None:
    # Of two nights: (1 + r) / 2. Of three: (3 + 4 r + 2 r²) / 9.
    noises = Noises(np.array([1.0]), np.array([0.5]), np.array([1e9]), 3)
    assert noises.variances[0].tolist() == pytest.approx([math.inf, 1.0, 0.75, 5.5 / 9])


def test_a_score_is_the_effect_over_the_error_of_its_means() -> None:
    # Means of 4 and 12 independent nights of deviation 2: error 2 √(1/4 + 1/12) = 1.1547.
    variances = [math.inf, *(1 / k for k in range(1, 13))]
    noise = Noise(2.0, 1e12, variances)
    assert noise.score(-3.4641, 4, 12) == pytest.approx(3.0, rel=1e-4)


def test_few_nights_make_a_score_less_improbable() -> None:
    # Student's t with 10 degrees of freedom exceeds 4.587 in 0.1 % of cases to both sides,
    # a normal variable exceeds 3.291 (tables of both distributions).
    assert as_normal(4.587, 10) == pytest.approx(3.291, abs=0.01)
    assert as_student(3.291, 10) == pytest.approx(4.587, abs=0.02)
    assert chance(3.291) == pytest.approx(0.001, rel=0.01)


def test_residuals_give_their_spread_and_far_ones_count_to_a_limit() -> None:
    residuals = np.array([[0.01, 0.01, -0.01, -0.01] * 25])
    quiet = noise_of_residuals(residuals, np.array([0]), np.zeros(1), SETTINGS)
    assert quiet.deviations[0] == pytest.approx(0.01)
    far = residuals.copy()
    far[0, 50] = 5.0
    # 99 squares of 0.01² and one of (3 × 1.4826 × 0.01)²: √((99 + 19.78) / 100) = 1.0898.
    seen = noise_of_residuals(far, np.array([0]), np.zeros(1), SETTINGS)
    assert seen.deviations[0] == pytest.approx(0.010898, rel=1e-3)


def test_correlation_is_drawn_towards_the_prior() -> None:
    # In +,+,−,− neighbours are alike as often as not: 0 from 100 nights, 0.3 from 20, is 0.05.
    residuals = np.array([[0.01, 0.01, -0.01, -0.01] * 25])
    noise = noise_of_residuals(residuals, np.array([0]), np.zeros(1), SETTINGS)
    assert noise.correlations[0] == pytest.approx(0.05, abs=0.01)


def test_noise_that_swings_to_and_fro_evens_out_over_nights() -> None:
    # A wave of a week: neighbours are alike by cos(360°/7) = 0.62, but four nights on it is the
    # other way round. 0 from 140 nights, 0.3 from 20, is 0.0375.
    wave = np.sin(2 * np.pi / 7 * np.arange(140))[None, :]
    noise = noise_of_residuals(0.01 * wave, np.array([0]), np.zeros(1), SETTINGS)
    assert noise.correlations[0] == pytest.approx(0.0375)


def test_noise_that_forgets_slowly_does_not() -> None:
    # Second-order processes with correlations of neighbours 0.6: nights two apart by 0.36, as where
    # only neighbours count, and by −0.1, whose mean over many nights varies by
    # (1 − 0.6 · 1.03125 − 0.1 · 0.71875) / (1 − 1.03125 + 0.71875)² = 0.655 times one night's.
    rng = np.random.default_rng(5)
    found = []
    for one, two in ((0.6, 0.0), (1.03125, -0.71875)):
        values = np.zeros(20_000)
        for night in range(2, len(values)):
            values[night] = one * values[night - 1] + two * values[night - 2] + rng.normal(0, 0.01)
        residuals = values[None, :]
        noise = noise_of_residuals(residuals, np.array([0]), np.zeros(1), SETTINGS)
        found.append(float(noise.correlations[0]))
    assert found == pytest.approx([0.6, 0.0], abs=0.03)
