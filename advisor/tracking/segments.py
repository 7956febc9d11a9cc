"""Where the level of a series changes: candidates from moving sums, then the weakest removed.

Means before and after each night are compared in windows of many widths (moving sums: Eichinger and
Kirch, A MOSUM procedure for the estimation of multiple random change points, Bernoulli 24, 2018).
Each local peak is a candidate. Then, between neighbouring candidates, whole segments are compared
and the least convincing boundary is removed until all stand (bottom-up merging: Keogh et al., An
online algorithm for segmenting time series, ICDM 2001).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from advisor.tracking.noise import medians_of_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from advisor.tracking.noise import Floats, Noise, Noises
    from advisor.tracking.settings import TrackingSettings

WIDTHS = (3, 5, 8, 13, 21, 34, 55, 89, 144)  # nights; each about 1.6 times the one before
_AROUND = 3  # nights on each side of the running median, which passes over shorter excursions


def clip(values: Floats, noises: Noises, settings: TrackingSettings) -> Floats:
    """Return the values, none further from the running median of its row than so much noise."""
    n = values.shape[1]
    if n <= 2 * _AROUND:
        middle = medians_of_rows(values)[:, None]
    else:
        windows = sliding_window_view(values, 2 * _AROUND + 1, axis=1)
        inner = np.partition(windows, _AROUND, axis=2)[:, :, _AROUND]
        middle = np.pad(inner, ((0, 0), (_AROUND, _AROUND)), mode="edge")
    reach = settings.clip * noises.deviations[:, None]
    return np.clip(values, middle - reach, middle + reach)


def candidates(values: Floats, noises: Noises, settings: TrackingSettings) -> list[list[int]]:
    """Return for each row the first nights of levels that may be new, in order."""
    rows, n = values.shape
    sums = np.concatenate((np.zeros((rows, 1)), np.cumsum(values, axis=1)), axis=1)
    least = settings.least_segment
    needed = settings.candidate_score * noises.deviations[:, None]
    here, at = sums[:, least : n - least + 1], np.arange(least, n - least + 1)
    best = np.zeros_like(here)
    for width in WIDTHS:
        if 2 * width > n and width > WIDTHS[0]:
            break
        before, after = np.minimum(at, width), np.minimum(n - at, width)
        fell = (here - sums[:, at - before]) / before
        rose = (sums[:, at + after] - here) / after
        score = np.abs(rose - fell)
        score /= np.sqrt(noises.variances[:, before] + noises.variances[:, after])
        peak = (score == _highest_around(score, max(1, width // 2))) & (score > needed)
        np.maximum(best, score, out=best, where=peak)
    return _thinned(best, least)


def _thinned(scores: Floats, least: int) -> list[list[int]]:
    """Return the nights with a score by row; of those too near to each other, the best.

    The first score of a row is that of night ``least``, as are the nights that must lie between.
    """
    found: list[list[int]] = [[] for _ in range(len(scores))]
    rows, places = np.nonzero(scores)
    latest: dict[int, float] = {}
    values = scores[rows, places].tolist()
    for row, place, score in zip(rows.tolist(), places.tolist(), values, strict=True):
        nights, night = found[row], place + least
        if not nights or night - nights[-1] >= least:
            nights.append(night)
        elif score > latest[row]:
            nights[-1] = night
        else:
            continue
        latest[row] = score
    return found


def _highest_around(values: Floats, reach: int) -> Floats:
    """Return the largest value so many places to each side, by doubling the window."""
    n = values.shape[1]
    highest = np.pad(values, ((0, 0), (reach, reach)))
    width, span = 2 * reach + 1, 1
    while span < width:
        step = min(span, width - span)
        highest = np.maximum(highest[:, :-step], highest[:, step:])
        span += step
    return highest[:, :n]


class Boundaries:
    """Segments of one series of clipped values, and what each boundary between them is worth.

    A boundary at an ``expected`` night, where something around the series changed, needs less to
    stand, for it is not the best of many places, and stays there unless the nights beside it say
    clearly that the level changed on another one.
    """

    def __init__(
        self, values: Floats, noise: Noise, expected: Collection[int], settings: TrackingSettings
    ) -> None:
        self._expected = frozenset(expected)
        self._sums = np.concatenate(([0.0], np.cumsum(values)))
        self._listed: list[float] = self._sums.tolist()
        self._variances = noise.variances
        self._least = settings.least_segment
        self._needed = noise.needed(settings.step_score)
        self._needed_at_expected = noise.needed(settings.expected_score)
        self._n = len(values)

    def settled(self, boundaries: Sequence[int]) -> list[int]:
        """Return the boundaries that stand, each where it parts its segments best."""
        found = self._pruned(boundaries)
        for _ in range(2):
            found = self._pruned(self._moved(found))
        return found

    def _pruned(self, boundaries: Sequence[int]) -> list[int]:
        """Remove the weakest boundary, again and again, until all stand."""
        edges = [0, *boundaries, self._n]
        scores = [self._score(*edges[i - 1 : i + 2]) for i in range(1, len(edges) - 1)]
        while scores:
            weakest = min(range(len(scores)), key=scores.__getitem__)
            if scores[weakest] >= 1:
                break
            del edges[weakest + 1], scores[weakest]
            for i in (weakest, weakest + 1):
                if 0 < i < len(edges) - 1:
                    scores[i - 1] = self._score(*edges[i - 1 : i + 2])
        return edges[1:-1]

    def _moved(self, boundaries: Sequence[int]) -> list[int]:
        edges = [0, *boundaries, self._n]
        for i in range(1, len(edges) - 1):
            best = self._best(edges[i - 1], edges[i + 1])
            if edges[i] not in self._expected or self._is_clear(edges[i - 1 : i + 2], best):
                edges[i] = best
        return edges[1:-1]

    def _is_clear(self, edges: Sequence[int], best: int) -> bool:
        """Return whether nights between an expected boundary and the best one speak against it.

        ``edges`` are those of its two segments.
        """
        start, expected, end = edges
        nights = abs(best - expected)
        if not nights:
            return False
        at = np.array([expected, best])
        worse, better = self._gains(start, end, at)
        spread = self._needed_at_expected**2 * nights * self._variances[nights]
        return bool(better - worse > spread)

    def _score(self, start: int, middle: int, end: int) -> float:
        """Return the worth of a boundary; from 1 on it stands."""
        before, after = middle - start, end - middle
        if before < self._least or after < self._least:
            return 0.0
        sums = self._listed
        effect = (sums[end] - sums[middle]) / after - (sums[middle] - sums[start]) / before
        needed = self._needed_at_expected if middle in self._expected else self._needed
        variances = self._variances
        return abs(effect) / (needed * math.sqrt(variances[before] + variances[after]))

    def _best(self, start: int, end: int) -> int:
        """Return where two means leave the least squares."""
        least = self._least
        at = np.arange(start + least, end - least + 1)
        return int(at[int(np.argmax(self._gains(start, end, at)))])

    def _gains(self, start: int, end: int, at: NDArray[np.int64]) -> Floats:
        """Return by how much two means, parted at each place, leave smaller squares than one."""
        sums = self._sums
        gain: Floats = (sums[at] - sums[start]) ** 2 / (at - start)
        gain += (sums[end] - sums[at]) ** 2 / (end - at)
        # Means of squares depend on where zero is; about the common mean they do not.
        gain -= (sums[end] - sums[start]) ** 2 / (end - start)
        return gain


def steps_of(
    values: Floats, noises: Noises, expected: Sequence[Sequence[int]], settings: TrackingSettings
) -> tuple[Floats, list[list[int]]]:
    """Return the clipped values, and for each row the first nights of new levels, in order.

    ``expected``: for each row the nights at which something around it changed.
    """
    even = clip(values, noises, settings)
    found = []
    for row, possible in enumerate(candidates(even, noises, settings)):
        nights = sorted({*possible, *expected[row]})
        if nights:
            boundaries = Boundaries(even[row], noises.row(row), expected[row], settings)
            nights = without_excursions(values[row], boundaries.settled(nights), settings)
        found.append(nights)
    return even, found


def without_excursions(values: Floats, steps: list[int], settings: TrackingSettings) -> list[int]:
    """Return the steps without those of short stretches that chance makes of single far nights.

    Such a stretch leaves its level and comes back. It stands where so many nights beyond half its
    effect are improbable at any night, by the odds of all other nights.
    """
    edges = [0, *steps, len(values)]
    i = 1
    while i < len(edges) - 2:
        if edges[i + 1] - edges[i] <= settings.window and _is_chance(values, edges, i, settings):
            del edges[i : i + 2]
            i = max(1, i - 1)
        else:
            i += 1
    return edges[1:-1]


def _is_chance(values: Floats, edges: Sequence[int], i: int, settings: TrackingSettings) -> bool:
    before, level, after = medians(values, edges[i - 1 : i + 3])
    if (level - before) * (level - after) <= 0:
        return False
    others = np.concatenate(
        [
            values[a:b] - middle
            for (a, b), middle in zip(pairwise(edges), medians(values, edges), strict=True)
            if a != edges[i]
        ]
    )
    nearer = before if abs(level - before) < abs(level - after) else after
    stretch = values[edges[i] : edges[i + 1]] - nearer
    odds = odds_of(stretch, level - nearer, others, settings)
    return odds * len(values) > settings.excursion_chance


def odds_of(effects: Floats, found: float, others: Floats, settings: TrackingSettings) -> float:
    """Return the chance that so many nights lie beyond a share of the effect, by others' odds."""
    sign = 1 if found > 0 else -1
    reach = settings.newest_share * abs(found)
    nights, hits = len(effects), int(np.count_nonzero(sign * effects >= reach))
    beyond = int(np.count_nonzero(sign * others >= reach))
    share = (beyond + 1) / (len(others) + 2)
    return sum(
        math.comb(nights, k) * share**k * (1 - share) ** (nights - k)
        for k in range(hits, nights + 1)
    )


def medians(values: Floats, edges: Sequence[int]) -> list[float]:
    """Return the median of each segment between edges of one series."""
    return [median_of(values[a:b]) for a, b in pairwise(edges)]


def median_of(values: Floats) -> float:
    """Return the median of a few values, several times as fast as NumPy's own."""
    ranked = np.sort(values)
    n = len(ranked)
    return float(ranked[(n - 1) // 2] / 2 + ranked[n // 2] / 2)


def residuals_of(values: Floats, steps: Iterable[Sequence[int]]) -> Floats:
    """Return each row less the medians of its segments."""
    levels = np.repeat(medians_of_rows(values)[:, None], values.shape[1], axis=1)
    for row, boundaries in enumerate(steps):
        if boundaries:
            edges = [0, *boundaries, values.shape[1]]
            levels[row] = np.repeat(medians(values[row], edges), np.diff(edges))
    return values - levels
