"""The rank test of two samples: how improbable their order is if both come from one process.

Source: Mann and Whitney, Annals of Mathematical Statistics 18, 1947; Lehmann, Nonparametrics, 1975,
sections 1.2 to 1.4, for ties and the normal form.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SAME = 1e-9


def rank_chances(one: Floats, other: Floats, exact: int) -> list[float]:
    """Return the two-sided chance of so uneven an order, in (0, 1], of each row of two samples.

    Exact, ties included, where both samples together have at most ``exact`` values; else by the
    normal approximation with the corrections for ties and continuity.
    """
    together, size = np.concatenate((one, other), axis=1), one.shape[1]
    if together.shape[1] > exact:
        return [_normal(_ranks(row), size) for row in together]
    doubled = _doubled(together)
    ranked, sums = np.sort(doubled, axis=1).tolist(), doubled[:, :size].sum(axis=1).tolist()
    return [_share(tuple(row), size, found) for row, found in zip(ranked, sums, strict=True)]


def _ranks(values: Floats) -> Floats:
    """Return the ranks from 1; equal values share the mean of theirs."""
    ranked = np.sort(values)
    first, last = (np.searchsorted(ranked, values, side) for side in ("left", "right"))
    return np.asarray((first + last + 1) / 2, dtype=np.float64)


def _doubled(rows: Floats) -> NDArray[np.int64]:
    """Return twice the ranks from 1 in each row; equal values share the mean of theirs."""
    each, other = rows[:, :, None], rows[:, None, :]
    found: NDArray[np.int64] = (other < each).sum(axis=2) + (other <= each).sum(axis=2) + 1
    return found


@lru_cache(maxsize=4096)
def _share(doubled: tuple[int, ...], size: int, found: int) -> float:
    """Return the share of all ways to choose ``size`` ranks whose sum is as far from the middle.

    As far as ``found``; ranks are doubled, because those of ties are halves, and in order.

    ``ways[k, s]`` counts the ways to choose k of the ranks so far with the doubled sum s. Many
    series have as many launches and no ties, so that their sums are the same few.
    """
    most = sum(doubled[-size:])
    ways = np.zeros((size + 1, most + 1))
    ways[0, 0] = 1.0
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, : most + 1 - rank].copy()
    middle = size * sum(doubled) / len(doubled)
    sums = np.arange(most + 1)
    far = np.abs(sums - middle) >= abs(found - middle) - _SAME
    return float(ways[size, far].sum() / ways[size].sum())


def _normal(ranks: Floats, size: int) -> float:
    together = len(ranks)
    other = together - size
    statistic = ranks[:size].sum() - size * (together + 1) / 2
    _, counts = np.unique(ranks, return_counts=True)
    ties = float((counts.astype(np.float64) ** 3 - counts).sum())
    variance = size * other / 12 * (together + 1 - ties / (together * (together - 1)))
    if variance <= 0:
        return 1.0
    distance = max(abs(float(statistic)) - 0.5, 0.0)
    return min(1.0, math.erfc(distance / math.sqrt(2 * variance)))
