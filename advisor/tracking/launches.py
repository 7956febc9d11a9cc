"""What the launches of two runs say about many series: their spread, and both tests of chance.

Durations are compared as logarithms. Series with equally many launches share array operations.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from advisor.tracking.noise import as_normal, chance
from advisor.tracking.ranks import rank_chances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.tracking.comparing import Limits
    from advisor.tracking.noise import Floats


class LaunchTest(NamedTuple):
    """The deviation of single launches, and the chance of the change by ranks and by Student's."""

    spread: float
    by_ranks: float
    by_student: float


class Launches(NamedTuple):
    """The durations of one series in two runs, and what those of each are to be multiplied by."""

    base: Sequence[float]
    head: Sequence[float]
    base_factor: float
    head_factor: float


def launch_tests(series: Sequence[Launches], limits: Limits) -> list[LaunchTest]:
    """Return what the launches of each series say; each run has two at least, all positive."""
    equally_many: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, each in enumerate(series):
        equally_many[len(each.base), len(each.head)].append(number)
    found: dict[int, LaunchTest] = {}
    for numbers in equally_many.values():
        chosen = [series[number] for number in numbers]
        base = _logarithms([each.base for each in chosen], [each.base_factor for each in chosen])
        head = _logarithms([each.head for each in chosen], [each.head_factor for each in chosen])
        found.update(zip(numbers, _tested(base, head, limits), strict=True))
    return [found[number] for number in range(len(series))]


def _logarithms(durations: list[Sequence[float]], factors: list[float]) -> Floats:
    found: Floats = np.log(np.array(durations, dtype=np.float64) * np.array(factors)[:, None])
    return found


def _tested(base: Floats, head: Floats, limits: Limits) -> list[LaunchTest]:
    counts = base.shape[1], head.shape[1]
    freedom = sum(counts) - 2
    medians = _medians(base), _medians(head)
    means = [each.sum(axis=1, keepdims=True) / each.shape[1] for each in (base, head)]
    spread, deviation = (
        np.sqrt((_squares(base, before) + _squares(head, after)) / freedom)
        for before, after in (medians, means)
    )
    effect = (means[1] - means[0])[:, 0]
    by_ranks = rank_chances(base, head, limits.exact_launches)
    by_student = [
        student_chance(*each, *counts, limits)
        for each in zip(effect.tolist(), deviation.tolist(), strict=True)
    ]
    return list(map(LaunchTest, spread.tolist(), by_ranks, by_student))


def _medians(values: Floats) -> Floats:
    """Return the median of each row, several times as fast as NumPy's own where there are few."""
    ranked, n = np.sort(values, axis=1), values.shape[1]
    found: Floats = (ranked[:, (n - 1) // 2] / 2 + ranked[:, n // 2] / 2)[:, None]
    return found


def _squares(values: Floats, middle: Floats) -> Floats:
    found: Floats = ((values - middle) ** 2).sum(axis=1)
    return found


def student_chance(effect: float, deviation: float, base: int, head: int, limits: Limits) -> float:
    """Return the two-sided chance of Student's test, by the pooled deviation of single launches."""
    error = max(deviation, limits.noise_floor) * math.sqrt(1 / base + 1 / head)
    return chance(as_normal(abs(effect) / error, base + head - 2))
