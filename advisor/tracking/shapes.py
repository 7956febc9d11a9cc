"""Shapes that are no steps: two states, drifts and outliers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from advisor.tracking.noise import TO_DEVIATION, medians_of_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.tracking.noise import Flags, Floats, Noise, Scaled
    from advisor.tracking.settings import TrackingSettings

_GRID = 16  # starts, and ends, of a drift that are tried
_LEAN_WIDTHS = (4, 8, 16, 32, 64)  # nights on each side of a boundary
STEP_PARAMETERS, DRIFT_PARAMETERS = 2, 4  # a level and a place; two levels and two places


@dataclass(frozen=True)
class States:
    """Two levels per row between which it may go to and fro.

    ``found`` tells the rows that do, ``high`` the nights on the higher level.
    """

    found: Flags
    high: Flags
    levels: Floats

    def switches(self, row: int) -> list[int]:
        """Return the first night after each switch of a row."""
        high = self.high[row]
        return (np.flatnonzero(high[1:] != high[:-1]) + 1).tolist()


def states_of(scaled: Scaled, least: Floats, settings: TrackingSettings) -> States:
    """Return which series have just two levels between which they go to and fro.

    The levels part the values best (least squares); hardly any value lies between them, each has
    its share of the nights, and the series switches often.
    """
    ranked = scaled.ranked
    n = ranked.shape[1]
    low, high = _parted(ranked, max(1, math.ceil(settings.states_share * n)))
    gap = high - low
    inner = (settings.states_between * gap)[:, None]
    between = (scaled.values > low[:, None] + inner) & (scaled.values < high[:, None] - inner)
    is_high = scaled.values > ((low + high) / 2)[:, None]
    levels = np.where(is_high, high[:, None], low[:, None])
    within = TO_DEVIATION * medians_of_rows(np.abs(scaled.values - levels))
    found = (
        (gap >= np.maximum(least, 2 * scaled.ticks))
        & (gap >= settings.states_gap * within)
        & (between.sum(axis=1) <= settings.states_strays * n)
        & ~_stays(between, settings)
        & _goes_to_and_fro(is_high, settings)
    )
    return States(found, is_high, np.where(found[:, None], levels, 0.0))


def _stays(between: Flags, settings: TrackingSettings) -> Flags:
    """Return which rows have a third level: a stretch mostly between the other two."""
    width = min(settings.window, between.shape[1])
    sums = np.cumsum(np.pad(between.astype(np.int64), ((0, 0), (1, 0))), axis=1)
    most: Flags = 2 * (sums[:, width:] - sums[:, :-width]).max(axis=1) > width
    return most


def _goes_to_and_fro(high: Flags, settings: TrackingSettings) -> Flags:
    """Return which rows switch often, outliers aside, or spend much of their time in short visits.

    A visit is short where most nights around it are on the other level.
    """
    n = high.shape[1]
    reach = settings.outlier_nights
    padded = np.pad(high, ((0, 0), (reach, reach)), mode="edge").astype(np.int64)
    sums = np.cumsum(np.pad(padded, ((0, 0), (1, 0))), axis=1)
    width = 2 * reach + 1
    smooth = 2 * (sums[:, width:] - sums[:, :-width]) > width
    switches = np.count_nonzero(smooth[:, 1:] != smooth[:, :-1], axis=1)
    short = np.count_nonzero(smooth != high, axis=1)
    found: Flags = (switches >= settings.states_switches) | (short >= settings.states_share * n)
    return found


def _parted(ranked: Floats, fewest: int) -> tuple[Floats, Floats]:
    """Return the medians of the lower and the higher values, parted to leave the least squares."""
    rows, n = ranked.shape
    sums = np.cumsum(ranked, axis=1)
    at = np.arange(fewest, n - fewest + 1)
    below = sums[:, fewest - 1 : n - fewest]
    apart = below / at - (sums[:, -1:] - below) / (n - at)
    cut = at[np.argmax(apart**2 * (at * (n - at)), axis=1)]
    every = np.arange(rows)
    return ranked[every, cut // 2], ranked[every, (cut + n) // 2]


@dataclass(frozen=True)
class Drift:
    """A ramp from night ``first`` to night ``last``."""

    first: int
    last: int


def drifts_of(
    values: Floats, steps: Sequence[int], noise: Noise, settings: TrackingSettings
) -> tuple[list[Drift], list[int]]:
    """Return the ramps of a series of clipped values, and the steps that are no part of one.

    Steps in a row that go the same way are tried together, the longest rows first.
    """
    drifts: list[Drift] = []
    left = list(steps)
    at, start = 0, 0
    while at < len(left):
        drift = None
        for end in range(len(left), at, -1):
            stop = left[end] if end < len(left) else len(values)
            drift = _drift([start, *left[at:end], stop], values, noise, settings)
            if drift is not None:
                drifts.append(drift)
                del left[at:end]
                start = drift.last + 1
                break
        if drift is None:
            start = left[at]
            at += 1
    return drifts, left


def _drift(
    edges: Sequence[int], values: Floats, noise: Noise, settings: TrackingSettings
) -> Drift | None:
    if edges[0] >= edges[1]:  # a drift has just ended here
        return None
    means = np.array([values[a:b].mean() for a, b in pairwise(edges)])
    ways = np.sign(np.diff(means))
    if (ways != ways[0]).any():
        return None
    if len(ways) == 1 and not _leans(values, edges, noise, settings):
        return None
    part = values[edges[0] : edges[-1]]
    stepped = sum(squares(values[a:b]) for a, b in pairwise(edges))
    first, last, ramped = best_ramp(part)
    if last - first < settings.drift_nights:
        return None
    n = len(part)
    # Each number that a description needs costs a logarithm of the nights (Schwarz, Estimating the
    # dimension of a model, Annals of Statistics 6, 1978).
    spared = STEP_PARAMETERS * len(ways) + 1 - DRIFT_PARAMETERS
    one_night = noise.deviation**2 * n * noise.variances[n]
    saved = (stepped - ramped) / one_night + (spared - settings.drift_penalty) * math.log(n)
    return Drift(edges[0] + first, edges[0] + last) if saved > 0 else None


def squares(part: Floats) -> float:
    """Return the sum of squares about the mean."""
    return float(part @ part - part.sum() ** 2 / len(part))


def best_ramp(part: Floats, *, to_the_end: bool = False) -> tuple[int, int, float]:
    """Return first and last night of the ramp that fits best, and the squares that it leaves.

    Starts and ends are tried on a grid over all nights, then on a finer one around the best; ends
    ``to_the_end`` are the last night alone.
    """
    n = len(part)
    everywhere, end = np.linspace(0, n - 1, _GRID), np.array([n - 1.0])
    first, last, _ = _fitted(part, everywhere, end if to_the_end else everywhere)
    around = np.linspace(-1, 1, _GRID) * (n - 1) / (_GRID - 1)
    first, last, gain = _fitted(part, first + around, end if to_the_end else last + around)
    return first, last, squares(part) - gain


def _fitted(part: Floats, firsts: Floats, lasts: Floats) -> tuple[int, int, float]:
    """Return the best of ramps between such nights, and the squares that it explains."""
    n = len(part)
    # NumPy's own ``unique``, as its ``median``, imports masked arrays: a fiftieth of a report.
    starts, ends = (
        np.array(sorted({*each.clip(0, n - 1).astype(int).tolist()})) for each in (firsts, lasts)
    )
    first, last = (each.ravel() for each in np.meshgrid(starts, ends))
    first, last = first[last > first], last[last > first]
    ramps = np.clip((np.arange(n) - first[:, None]) / (last - first)[:, None], 0, 1)
    ramps -= ramps.mean(axis=1, keepdims=True)
    gains = (ramps @ part) ** 2 / np.einsum("ij,ij->i", ramps, ramps)
    best = int(np.argmax(gains))
    return int(first[best]), int(last[best]), float(gains[best])


def _leans(values: Floats, edges: Sequence[int], noise: Noise, settings: TrackingSettings) -> bool:
    """Return whether nights around one boundary lie as on a ramp: a cheap look before a fit.

    On a ramp, stretches further off lie further apart than those next to the boundary.
    """
    start, middle, end = edges
    room = min(middle - start, end - middle) // 2
    way = np.sign(values[middle:end].mean() - values[start:middle].mean())
    for width in _LEAN_WIDTHS:
        if width > room:
            break
        near = _apart(values, middle - width, middle, width)
        far = _apart(values, middle - 2 * width, middle + width, width)
        lean = float(far - near) * way
        if lean > 0 and noise.score(lean, width, width, width, width) > settings.drift_lean:
            return True
    return False


def _apart(values: Floats, one: int, other: int, width: int) -> float:
    return float(values[other : other + width].mean() - values[one : one + width].mean())


def outliers_of(
    residuals: Floats, reach: float, settings: TrackingSettings
) -> list[tuple[int, int]]:
    """Return first and last night of each short excursion beyond ``reach`` that came back.

    One of the fewest nights that can be a level is one where the steps did not take it for that.
    """
    runs: list[tuple[int, int]] = []
    for night in np.flatnonzero(np.abs(residuals) >= reach).tolist():
        if runs and runs[-1][1] == night - 1 and residuals[night] * residuals[night - 1] > 0:
            runs[-1] = (runs[-1][0], night)
        else:
            runs.append((night, night))
    last = len(residuals) - 1
    return [(a, b) for a, b in runs if b - a < settings.least_segment and b < last]
