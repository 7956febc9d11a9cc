"""A drift that runs on to the newest night, and the noise about it.

A drift is no noise, yet about the levels of a segmentation it looks like much. So the nights are
compared with a ramp, and the ramp with what is left about it, where it tells the nights better
than levels do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from advisor.tracking.noise import noise_of_residuals
from advisor.tracking.segments import median_of, residuals_of
from advisor.tracking.shapes import DRIFT_PARAMETERS, STEP_PARAMETERS, Drift, best_ramp, squares

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.tracking.noise import Floats, Noise
    from advisor.tracking.series import Series

_PARAMETERS = 3  # of a ramp to the last night: two levels and a place
_FEW_STEPS = 3  # that are set against a ramp: more of them follow any ramp


@dataclass(frozen=True)
class Trend:
    """A drift that reaches the newest night, the ``steps`` before it, and the noise about them."""

    drift: Drift
    steps: list[int]
    noise: Noise
    least: float


def trend_of(series: Series, steps: Sequence[int], tick: float) -> Trend | None:
    """Return the drift that the newest nights are the end of, None where there is none.

    ``steps`` are those of the whole series, and ``tick`` is the resolution of its clock. Longer
    drifts are tried first; each begins on a night after the steps that stay.
    """
    settings = series.settings
    for number, edge in enumerate((0, *steps)):
        part = series.clipped[edge:]
        if len(part) < settings.least_nights:
            return None
        if not _rises(part, settings.smallest_effect):
            continue
        first, last, _ = best_ramp(part, to_the_end=True)
        is_apart = edge == 0 or first >= settings.least_segment
        if last - first < settings.drift_nights or not is_apart:
            continue
        drift = Drift(edge + first, edge + last)
        trend = _judged(series, drift, list(steps[:number]), tick)
        inner = [step - edge for step in steps[number:]]
        if trend is not None and _tells_more(part, first, inner, (series.noise, trend.noise)):
            return trend
    return None


def _rises(part: Floats, smallest: float) -> bool:
    """Return whether the ends lie apart at all: a cheap look before a fit."""
    third = len(part) // 3
    return abs(float(part[-third:].mean() - part[:third].mean())) >= smallest / 2


def _ramp(nights: int, first: int) -> Floats:
    """Return a ramp from 0 until night ``first`` to 1 at the last night."""
    ramp: Floats = np.maximum(np.arange(nights) - first, 0) / (nights - 1 - first)
    return ramp


def _about_ramp(part: Floats, first: int) -> tuple[Floats, float]:
    """Return what is left about the best ramp from a night on, and the height of the ramp."""
    ramp = _ramp(len(part), first)
    centred = ramp - ramp.mean()
    height = float(centred @ part / (centred @ centred))
    left: Floats = part - part.mean() - height * centred
    return left, height


def _judged(series: Series, drift: Drift, steps: list[int], tick: float) -> Trend | None:
    """Return a drift with the noise about it, None where it is too small or may be chance.

    So it is, too, where the newest night has left its upper half.
    """
    settings, edge = series.settings, steps[-1] if steps else 0
    left, height = _about_ramp(series.clipped[edge:], drift.first - edge)
    ramp = height * _ramp(len(left), drift.first - edge)
    even = series.even[edge:] - ramp
    before = residuals_of(series.even[None, :edge], [steps[:-1]])[0] if edge else even[:0]
    residuals = np.concatenate((before, even - median_of(even)))[None, :]
    levels, ticks = np.array([len(steps) + 2]), np.array([tick])
    noise = noise_of_residuals(residuals, levels, ticks, settings).row(0)
    least = max(series.least_known, settings.noise_multiple * noise.deviation)
    third = (drift.last + 1 - drift.first) // 3
    apart = float(
        series.clipped[-third:].mean() - series.clipped[drift.first : drift.first + third].mean()
    )
    if abs(height) < least or noise.score(apart, third, third) < settings.trend_score:
        return None
    if (even[-1] - median_of(even)) / height < settings.newest_share - 1:
        return None
    return Trend(drift, steps, noise, least)


def _tells_more(part: Floats, first: int, steps: Sequence[int], noises: Sequence[Noise]) -> bool:
    """Return whether a ramp to the last night tells the nights better than anything else.

    Else are the steps, a few steps where they fit best, and a ramp that has ended. By the
    information criterion that drifts are found with (see ``shapes``), and the lesser of the noises
    about the steps and about the ramp: that of what tells the nights worse is too large.
    """
    n = len(part)
    left, _ = _about_ramp(part, first)
    ramped = float(left @ left)
    one_night = min(noise.deviation**2 * n * noise.variances[n] for noise in noises)
    return all(
        (rival - ramped) / one_night + (parameters - _PARAMETERS) * math.log(n) > 0
        for rival, parameters in _rivals(part, steps)
    )


def _rivals(part: Floats, steps: Sequence[int]) -> Iterator[tuple[float, int]]:
    """Yield the squares that other descriptions leave, and how many numbers each needs."""
    yield _stepped(part, steps), STEP_PARAMETERS * len(steps) + 1
    best: list[int] = []
    for count in range(1, _FEW_STEPS + 1):
        best = _one_more(part, best)
        yield _stepped(part, best), STEP_PARAMETERS * count + 1
    yield best_ramp(part)[2], DRIFT_PARAMETERS


def _stepped(part: Floats, steps: Sequence[int]) -> float:
    """Return the squares that steps leave."""
    return sum(squares(part[a:b]) for a, b in pairwise((0, *steps, len(part))))


def _one_more(part: Floats, steps: Sequence[int]) -> list[int]:
    """Return the steps and the one more that leaves the least squares."""
    _, best = max(_best_step(part, a, b) for a, b in pairwise((0, *steps, len(part))))
    return sorted({*steps, best})


def _best_step(part: Floats, start: int, end: int) -> tuple[float, int]:
    """Return by how much the best step between two nights lessens the squares, and its night."""
    if end - start < 2:
        return 0.0, start
    sums, at = np.cumsum(part[start:end] - part[start:end].mean()), np.arange(1, end - start)
    gains = sums[:-1] ** 2 / at + sums[:-1] ** 2 / (end - start - at)
    best = int(np.argmax(gains))
    return float(gains[best]), start + best + 1
