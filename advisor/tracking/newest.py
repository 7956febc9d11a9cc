"""The newest nights against what stood before them.

Three things must hold before a level counts as new: the nights lie further off than noise with this
autocorrelation reaches, so many of them lie beyond half the effect that the series' own past gives
no such chance, and no stretch of the past strayed nearly as far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from advisor.tracking.noise import chance
from advisor.tracking.segments import median_of, odds_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.tracking.noise import Floats, Noise
    from advisor.tracking.series import Series
    from advisor.tracking.settings import TrackingSettings


@dataclass(frozen=True)
class Shift:
    """The newest ``nights`` lie ``effect`` from the level before; ``p_value`` is of chance."""

    nights: int
    effect: float
    p_value: float

    @property
    def is_lone(self) -> bool:
        """Return whether it is one night alone, which proves nothing."""
        return self.nights == 1


def newest_shift(
    series: Series, past: Floats, start: int, settings: TrackingSettings
) -> Shift | None:
    """Return by how much the newest nights have moved, None where they have not.

    The series has one level from night ``start`` on until its newest nights; ``past`` are the
    residuals of all nights about the levels before the newest ones.
    """
    best = None
    best_score = settings.newest_score
    for nights, count, effects, correction in _stretches(series, start, settings):
        found = _location(effects)
        if abs(found) < series.least:
            continue
        if nights == 1:
            best = _lone(found, count, series.noise, settings)
            continue
        strength = _nearer_zero(found, sum(effects) / nights) + correction
        if strength * found <= 0:
            continue
        if nights <= settings.outlier_nights and not _agree(effects, series.noise, settings):
            continue
        score = series.noise.score(strength, nights, count)
        if score <= best_score or _has_precedent(strength, past[:-nights], nights, settings):
            continue
        odds = _odds(np.array(effects), found, past[:-nights], settings)
        if odds <= settings.newest_chance:
            best, best_score = Shift(nights, found, max(odds, chance(score))), score
    return best


def _stretches(
    series: Series, start: int, settings: TrackingSettings
) -> Iterator[tuple[int, int, list[float], float]]:
    """Yield for 1, 2 … newest nights what sets them apart from the nights before.

    How many came before, the effects against their median, and what to add to an effect that is to
    be against their mean.
    """
    n = len(series.even)
    last = series.even[-settings.window :]
    most = min(len(last), n - max(start + settings.least_segment, settings.least_baseline))
    end = n - settings.window
    shared = end - start >= settings.enough_baseline
    for nights in range(1, most + 1):
        if nights == 1 or not shared:
            end = end if shared else n - nights
            level = median_of(series.even[start:end])
            correction = level - float(series.clipped[start:end].mean())
            effects = (last - level).tolist()
            if shared and max(map(abs, effects)) < series.least:
                return  # no stretch of them reaches what counts
        yield nights, end - start, effects[-nights:], correction


def _agree(effects: list[float], noise: Noise, settings: TrackingSettings) -> bool:
    """Return whether nights lie as close together as those of one level; outliers seldom do."""
    reach = settings.newest_agreement * noise.deviation * math.sqrt(2)
    return max(effects) - min(effects) <= reach


def _nearer_zero(one: float, other: float) -> float:
    """Return the smaller of two effects, 0 where they disagree."""
    if one * other <= 0:
        return 0.0
    return min(one, other, key=abs)


def _location(effects: list[float]) -> float:
    """Return the median effect, of two in the middle the smaller, 0 where they disagree."""
    ranked = sorted(effects)
    low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
    if low > 0:
        return low
    return high if high < 0 else 0.0


def _odds(effects: Floats, found: float, past: Floats, settings: TrackingSettings) -> float:
    """Return the chance of so many nights far off; of few among others, which are outliers, 1."""
    sign = 1 if found > 0 else -1
    hits = np.count_nonzero(sign * effects >= settings.newest_share * abs(found))
    if hits <= settings.outlier_nights and hits < len(effects):
        return 1.0
    return odds_of(effects, found, past, settings)


def _has_precedent(found: float, past: Floats, nights: int, settings: TrackingSettings) -> bool:
    """Return whether a stretch of the past was nearly as far off, to the same side.

    No night counts for more than the effect, so that one far outlier makes no stretch.
    """
    if len(past) < nights:
        return False
    size = abs(found)
    near = np.clip(past if found > 0 else -past, -size, size)
    sums = np.concatenate(([0.0], np.cumsum(near)))
    strayed = (sums[nights:] - sums[:-nights]) / nights
    return bool(strayed.max() >= settings.precedent_share * size)


def _lone(found: float, count: int, noise: Noise, settings: TrackingSettings) -> Shift | None:
    score = noise.score(found, 1, count)
    return Shift(1, found, chance(score)) if score >= settings.lone_score else None
