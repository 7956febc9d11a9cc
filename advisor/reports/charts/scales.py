"""Logarithmic axes: the range a chart covers, its ticks, and the way from data to pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from advisor import wording
from advisor.records import dataclass

MARGIN = 0.3
_LEAST_SPAN = 1.5
_LABEL_TWO_AND_FIVE_BELOW = 1.6


@dataclass(frozen=True, kw_only=True)
class Tick:
    """One grid line at log₁₀ ``at``; ``label`` is empty for the lines between decades."""

    at: float
    label: str
    major: bool


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Where log₁₀ data in [x0, x1] × [y0, y1] lands: a box of pixels, y growing downwards."""

    left: float
    top: float
    width: float
    height: float
    x0: float
    x1: float
    y0: float
    y1: float

    @property
    def right(self) -> float:
        """Return the pixel of the right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Return the pixel of the lower edge."""
        return self.top + self.height

    @property
    def tick_x(self) -> float:
        """Return the pixel of the baseline of the labels under the frame."""
        return self.bottom + 18

    def x(self, value: float) -> float:
        """Return the pixel of log₁₀ ``value`` on the horizontal axis."""
        return self.left + (value - self.x0) / (self.x1 - self.x0) * self.width

    def y(self, value: float) -> float:
        """Return the pixel of log₁₀ ``value`` on the vertical axis."""
        return self.top + self.height - (value - self.y0) / (self.y1 - self.y0) * self.height

    def slope(self) -> float:
        """Return the angle in degrees at which one decade per decade is drawn (negative: rises)."""
        per_x = self.width / (self.x1 - self.x0)
        per_y = self.height / (self.y1 - self.y0)
        return -math.degrees(math.atan2(per_y, per_x))


def log_range(values: Iterable[float]) -> tuple[float, float]:
    """Return the log₁₀ range that holds ``values`` and a margin, wide enough to read.

    >>> log_range([1.0, 100.0])
    (-0.3, 2.3)
    """
    logs = [math.log10(value) for value in values]
    low, high = min(logs) - MARGIN, max(logs) + MARGIN
    missing = max(0.0, _LEAST_SPAN - (high - low)) / 2
    return low - missing, high + missing


def log_ticks(low: float, high: float, unit: str = "") -> tuple[Tick, ...]:
    """Return the grid lines of a log₁₀ range: a label per decade; 2 and 5 too in a short one.

    ``unit`` is written on every label, with the prefix that suits it.
    """
    short = high - low < _LABEL_TWO_AND_FIVE_BELOW
    return tuple(
        Tick(
            at=at,
            label=_tick_label(at, unit) if digit == 1 or (short and digit in (2, 5)) else "",
            major=digit == 1,
        )
        for at, digit in _positions(low, high)
    )


def _positions(low: float, high: float) -> Iterator[tuple[float, int]]:
    for decade in range(math.floor(low), math.floor(high) + 1):
        for digit in range(1, 10):
            at = decade + math.log10(digit)
            if low <= at <= high:
                yield at, digit


def _tick_label(at: float, unit: str) -> str:
    value = float(f"{10.0**at:.2g}")
    if not unit:
        return f"{value:g}"
    number, name = wording.scaled(value, unit, 15)
    return f"{float(number.replace(',', '')):g}{wording.NO_BREAK}{name}"
