"""One series on its way through the detector, and the words for what moves in it."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from advisor.records import dataclass
from advisor.tracking.environment import new_environment
from advisor.tracking.noise import chance
from advisor.tracking.records import Verdict
from advisor.tracking.segments import median_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.tracking.noise import Floats, Noise
    from advisor.tracking.settings import TrackingSettings


@dataclass(frozen=True)
class Segments:
    """The nights of one level begin at ``start``, those of the next at ``step`` until ``end``."""

    start: int
    step: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Series:
    """One series on its way through the detector.

    ``values`` are in their own unit; ``even`` are scaled, without the switches of two states, and
    ``clipped`` are those without far values. ``least`` is the smallest effect that counts, and
    ``least_known`` what it would be without noise.
    """

    values: Floats
    even: Floats
    clipped: Floats
    noise: Noise
    least: float
    least_known: float
    is_logarithmic: bool
    better: str
    environment: Sequence[str | None] | None
    settings: TrackingSettings

    def verdict(self, before: float, after: float, nights: Segments) -> tuple[Verdict, int]:
        """Return the word for a level that is new since a night, and the night to name."""
        if self.environment is not None:
            cause = new_environment(self.environment, nights.step, self.settings)
            if cause is not None and self._may_begin(cause, nights):
                return Verdict.ENVIRONMENT, cause
        return self.direction(before, after), nights.step

    def _may_begin(self, night: int, nights: Segments) -> bool:
        """Return whether a step may have begun on another night than the one it was placed at.

        The nights between must not stray from the level that they would be at.
        """
        first, last = sorted((night, nights.step))
        if first == last:
            return True
        level = slice(nights.start, first) if night > nights.step else slice(last, nights.end)
        apart = median_of(self.even[first:last]) - median_of(self.even[level])
        score = self.noise.score(apart, last - first, level.stop - level.start)
        return score < self.settings.expected_score

    def direction(self, before: float, after: float) -> Verdict:
        """Return whether a change is for the worse or the better."""
        worse = after > before if self.better == "lower" else after < before
        return Verdict.REGRESSED if worse else Verdict.IMPROVED

    def p_value(self, score: float) -> float:
        """Return the chance of such a score at any of the nights."""
        return least_positive(min(1.0, len(self.values) * chance(score)))


def least_positive(p_value: float) -> float:
    """Return a chance that is never 0, which nothing is."""
    return max(p_value, sys.float_info.min)


def relative(before: float, after: float) -> float | None:
    """Return the difference over the magnitude of what was before, None where that says nothing."""
    if before == 0:
        return None
    share = (after / abs(before)) - math.copysign(1, before)
    return share if math.isfinite(share) else None
