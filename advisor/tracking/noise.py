"""How far one night strays from its level, and how much its neighbours stray with it.

Arrays hold one series per row, all with the same number of nights. Values are compared as
logarithms where all of a row are positive, so that a step up and the same step back are equally
large and no unit matters; else as shares of their median size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from advisor.tracking.settings import TrackingSettings

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

TO_DEVIATION = 1.4826  # standard deviations in a median absolute deviation, of normal noise
_DIGITS = 12  # values that are equal stay equal after their unit has changed
_LIMIT = 1e9
LARGEST_EXPONENT = 700.0  # e to it is still a number
_SAME = 1e-9
_FAR_LAGS = range(3, 11)  # nights; past the reach of neighbours, and around a whole week
_FEW_LAGS = 2  # of these are compared however short the series


@dataclass(frozen=True)
class Scaled:
    """Series in a form that is free of units, one per row.

    ``values`` are logarithms relative to the median where ``logarithmic``, else shares; ``ranked``
    are the same, sorted. ``ticks`` are the resolutions of the clocks in the same form, 0 where none
    shows.
    """

    values: Floats
    ranked: Floats
    logarithmic: Flags
    ticks: Floats


def scale(values: Floats) -> Scaled:
    """Return finite values, one series per row, in a form that is free of units."""
    logarithmic = values.min(axis=1) > 0
    scaled = np.empty_like(values)
    logarithms = np.log(values[logarithmic])
    scaled[logarithmic] = logarithms - medians_of_rows(logarithms)[:, None]
    scaled[~logarithmic] = _shares(values[~logarithmic])
    scaled = np.round(scaled, _DIGITS)
    ranked = np.sort(scaled, axis=1)
    on_clock = ranked.copy()
    on_clock[logarithmic] = np.exp(np.minimum(ranked[logarithmic], LARGEST_EXPONENT))
    return Scaled(scaled, ranked, logarithmic, _ticks(on_clock))


def medians_of_rows(values: Floats) -> Floats:
    """Return the median of each row, in a third of the time of NumPy's own."""
    ranked = np.sort(values, axis=1)
    n = ranked.shape[1]
    return (ranked[:, (n - 1) // 2] + ranked[:, n // 2]) / 2


def _shares(values: Floats) -> Floats:
    """Return values over their median size; over the largest where half of them are 0."""
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    shares = values / np.where(largest > 0, largest, 1.0)
    middle = medians_of_rows(np.abs(shares))[:, None]
    return np.clip(shares / np.where(middle > 1 / _LIMIT, middle, 1.0), -_LIMIT, _LIMIT)


def _ticks(ranked: Floats) -> Floats:
    """Return the smallest difference between values of which many are equal, else 0."""
    apart = np.diff(ranked, axis=1)
    differ = apart > _SAME * np.abs(ranked[:, 1:])
    distinct = differ.sum(axis=1) + 1
    least = np.where(differ, apart, np.inf).min(axis=1, initial=np.inf)
    many_equal = (distinct > 2) & (distinct <= ranked.shape[1] / 2)
    return np.where(many_equal, least, 0.0)


@dataclass(frozen=True)
class Noise:
    """The noise of one series: ``deviation`` of a night.

    ``freedom`` is the degrees of freedom of the estimate, ``variances`` the variance of the mean of
    so many nights in a row, over that of one night (infinite for none).
    """

    deviation: float
    freedom: float
    variances: list[float]

    def score(self, effect: float, *samples: int) -> float:
        """Return how many standard deviations an effect between means of samples is worth.

        The deviation is an estimate; the score is that of a normal variable as improbable.
        """
        error = self.deviation * math.sqrt(sum(self.variances[nights] for nights in samples))
        return as_normal(abs(effect) / error, self.freedom)

    def needed(self, score: float) -> float:
        """Return the effect of that score between means whose variances add up to one night's."""
        return self.deviation * as_student(score, self.freedom)


@dataclass(frozen=True)
class Noises:
    """The noise of several series, as in ``Noise``: one value, or one row, each.

    ``correlations`` are those of a night with the next one.
    """

    deviations: Floats
    correlations: Floats
    freedoms: Floats
    nights: int

    @cached_property
    def variances(self) -> Floats:
        """Return the variance of the mean of 0, 1 … nights in a row, over that of one night.

        Source: Priestley, Spectral Analysis and Time Series, 1981, section 5.3.2: the mean of a
        first-order autoregressive process.
        """
        r = self.correlations[:, None]
        k = np.arange(1, self.nights + 1)
        powers = np.cumprod(np.repeat(r, self.nights, axis=1), axis=1)
        edge = 2 * r * (1 - powers) / (k * (1 - r) ** 2)
        found = ((1 + r) / (1 - r) - edge) / k
        return np.concatenate((np.full_like(r, np.inf), found), axis=1)

    def row(self, index: int) -> Noise:
        """Return the noise of one series."""
        return Noise(
            float(self.deviations[index]),
            float(self.freedoms[index]),
            self.variances[index].tolist(),
        )


def as_normal(score: float, freedom: float) -> float:
    """Return the normal score that is as improbable as a score of Student's distribution.

    Source: Wallace, Bounds on normal approximations to Student's and the chi-square distributions,
    Annals of Mathematical Statistics 30, 1959.
    """
    stretch = (8 * freedom + 1) / (8 * freedom + 3)
    return stretch * math.sqrt(freedom * math.log1p(score * score / freedom))


def as_student(score: float, freedom: float) -> float:
    """Return the score of Student's distribution that is as improbable as a normal one."""
    stretch = (8 * freedom + 1) / (8 * freedom + 3)
    return math.sqrt(freedom * math.expm1((score / stretch) ** 2 / freedom))


def chance(score: float) -> float:
    """Return the probability that a normal variable lies as far from 0, to either side."""
    return math.erfc(score / math.sqrt(2))


def noise_of_differences(values: Floats, ticks: Floats, settings: TrackingSettings) -> Noises:
    """Return the noise of values around their levels, before the levels are known.

    Steps and outliers touch few differences, so the median passes over them. Nights further apart
    differ more where neighbours are alike; how much more tells the correlation.
    """
    n = values.shape[1]
    near = _spread(values[:, 1:] - values[:, :-1]) ** 2 / 2
    # Of differences over many nights, a step touches many: no more than an eighth of them.
    lags = list(_FAR_LAGS)[: max(_FEW_LAGS, n // 8 - _FAR_LAGS.start + 1)]
    far = [_spread(values[:, lag:] - values[:, :-lag]) ** 2 / 2 for lag in lags]
    variance = np.maximum(np.mean(far, axis=0), near)
    correlation = 1 - near / np.where(variance > 0, variance, 1.0)
    floor = _floor(ticks, settings)
    return _noises(np.maximum(np.sqrt(variance), floor), correlation, n, settings)


def noise_of_residuals(
    residuals: Floats, levels: Floats, ticks: Floats, settings: TrackingSettings
) -> Noises:
    """Return the noise of residuals about fitted levels, of which there are so many in each row.

    Far residuals count only up to a limit (winsorised moments; Huber, Robust Statistics, 1981,
    section 1.7). Fitting levels takes correlation away, which is given back (Kendall, Note on bias
    in the estimation of autocorrelation, Biometrika 41, 1954).
    """
    n = residuals.shape[1]
    reach = settings.clip * np.maximum(_spread(residuals), _floor(ticks, settings))[:, None]
    near = np.clip(residuals, -reach, reach)
    squares = np.einsum("ij,ij->i", near, near)
    correlation, second = (
        np.einsum("ij,ij->i", near[:, lag:], near[:, :-lag]) / np.where(squares > 0, squares, 1.0)
        for lag in (1, 2)
    )
    correlation = _without_cycle(correlation, second, settings.cycle_score / math.sqrt(n))
    correlation += levels * (1 + 3 * np.maximum(correlation, 0.0)) / n
    deviation = np.sqrt(squares / np.maximum(n - levels, n / 2))
    return _noises(np.maximum(deviation, _floor(ticks, settings)), correlation, n, settings)


def _without_cycle(first: Floats, second: Floats, reach: float) -> Floats:
    """Return the correlation of neighbours that means of many nights stray by.

    Where nights two apart are less alike than neighbours of neighbours are, by more than ``reach``,
    the noise swings to and fro, as over a week, and a mean over several nights evens it out: as
    much as a second-order autoregressive process does (Box and Jenkins, Time Series Analysis, 1970,
    section 3.2.4). The partial correlation has a standard error of the root of the nights.
    """
    part = (second - first**2) / np.maximum(1 - first**2, _SAME)
    swings = part < -reach
    last = np.where(swings, part, 0.0)
    next_to = first * (1 - last)
    kept = (1 - next_to * first - last * second) / (1 - next_to - last) ** 2
    return np.where(swings, np.minimum(first, (kept - 1) / (kept + 1)), first)


def _spread(values: Floats) -> Floats:
    """Return standard deviations about 0 that few far values cannot move."""
    return TO_DEVIATION * medians_of_rows(np.abs(values))


def _floor(ticks: Floats, settings: TrackingSettings) -> Floats:
    """Return the least noise of a night: that of rounding to ticks, or a settled floor."""
    return np.maximum(ticks / math.sqrt(12), settings.noise_floor)


def _noises(deviation: Floats, correlation: Floats, n: int, settings: TrackingSettings) -> Noises:
    prior = settings.prior_nights
    shrunk = (n * np.maximum(correlation, 0.0) + prior * settings.prior_correlation) / (n + prior)
    correlation = np.minimum(shrunk, settings.largest_correlation)
    squared = correlation * correlation
    freedom = np.maximum(1.0, settings.efficiency * n * (1 - squared) / (1 + squared))
    return Noises(deviation, correlation, freedom, n)
