"""Labelled series of nights, as the benchmark of ``history scan`` scores them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Maker = Callable[[int, Generator], Floats]

START = 1e-3  # s, the level before anything happens
LENGTHS = (30, 40, 50, 70, 90, 120, 180, 250, 365, 600, 1000)  # nights; few, so that they batch
MARGIN = 10  # nights without a step at both ends and between two


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Values of nights, and what was put into them.

    ``steps`` are the first nights of new levels; ``newest`` how the newest nights moved (-1, 0, 1);
    ``shape`` is the name of what else there is, at night ``at``.
    """

    values: Floats
    noise: str
    steps: tuple[int, ...] = ()
    newest: int = 0
    shape: str = ""
    at: int = 0
    environment: tuple[str, ...] | None = None


def _independent(size: float) -> Maker:
    return lambda n, rng: rng.normal(0, size, n)


def _autoregressive(correlation: float) -> Maker:
    """Return a maker of noise of 1 % whose neighbours are alike."""

    def make(n: int, rng: Generator) -> Floats:
        fresh = rng.normal(0, 0.01 * math.sqrt(1 - correlation**2), n)
        found = np.empty(n)
        last = rng.normal(0, 0.01)
        for night in range(n):
            last = found[night] = correlation * last + fresh[night]
        return found

    return make


def _heavy(n: int, rng: Generator) -> Floats:
    return 0.01 * rng.standard_t(3, n) / math.sqrt(3)


def _spiky(n: int, rng: Generator) -> Floats:
    return rng.normal(0, 0.01, n) + (rng.random(n) < 0.03) * rng.uniform(0.05, 0.3, n)


def _weekly(n: int, rng: Generator) -> Floats:
    weekday = (np.arange(n) + rng.integers(7)) % 7
    return rng.normal(0, 0.007, n) + 0.015 * (weekday >= 5)


NOISES: dict[str, Maker] = {
    "i.i.d. 1 %": _independent(0.01),
    "AR(1) 0.3": _autoregressive(0.3),
    "AR(1) 0.6": _autoregressive(0.6),
    "heavy-tailed": _heavy,
    "spiky": _spiky,
    "clock ticks": _independent(0.01),
    "weekly": _weekly,
    "i.i.d. 0.3 %": _independent(0.003),
}
TICKS = (20, 100)  # ticks of the clock in the time of a kernel, at least and at most


def make(noise: str, level: Floats, rng: Generator) -> Floats:
    """Return values around ``level`` (logarithms of shares of the start) with noise."""
    values = np.exp(level + NOISES[noise](len(level), rng))
    if noise == "clock ticks":
        fewest, most = TICKS
        ticks = math.exp(rng.uniform(math.log(fewest), math.log(most)))
        values = np.round(values * ticks) / ticks
    return START * values


def _size(rng: Generator, low: float, high: float) -> float:
    """Return a step up or down by a share between the two, as a logarithm."""
    return float(rng.choice([-1, 1]) * math.log1p(rng.uniform(low, high)))


def quiet_nights(noise: str, rng: Generator, series: int, nights: int) -> Iterator[Labelled]:
    """Yield series as they stood on each of the newest nights, without any change."""
    for number in range(series):
        length = max(LENGTHS[number % 9], 30 + nights)
        values = make(noise, np.zeros(length), rng)
        for end in range(length - nights + 1, length + 1):
            yield Labelled(values=values[:end], noise=noise)


def newly_stepped(
    noise: str, rng: Generator, series: int, share: float, nights: int
) -> Iterator[Labelled]:
    """Yield series whose newest nights are on a new level."""
    for number in range(series):
        level = np.zeros(LENGTHS[number % 9] + nights)
        step = _size(rng, share, share)
        level[-nights:] = step
        yield Labelled(values=make(noise, level, rng), noise=noise, newest=int(np.sign(step)))


def stepped(noise: str, rng: Generator, series: int) -> Iterator[Labelled]:
    """Yield series with none to three steps of 3 to 10 %."""
    for number in range(series):
        length = LENGTHS[number % len(LENGTHS)]
        level = np.zeros(length)
        steps: list[int] = []
        for _ in range(rng.integers(4)):
            at = int(rng.integers(MARGIN, length - MARGIN))
            if all(abs(at - other) >= MARGIN for other in steps):
                steps.append(at)
                level[at:] += _size(rng, 0.03, 0.1)
        yield Labelled(values=make(noise, level, rng), noise=noise, steps=tuple(sorted(steps)))


def shaped(noise: str, rng: Generator, series: int) -> Iterator[Labelled]:
    """Yield series with a drift, two states, an outlier, a last night far off, a new driver.

    And with a drift from the first night to the newest.
    """
    for number in range(series):
        length = (90, 180, 365)[number % 3]
        for shape in (_drifting, _two_state, _outlying, _last_far, _driver, _climbing):
            name, at, level, environment = shape(length, rng)
            yield Labelled(
                values=make(noise, level, rng), noise=noise, shape=name, at=at,
                environment=environment,
                newest=int(np.sign(level[-1])) if shape is _climbing else 0,
            )  # fmt: skip


Shape = tuple[str, int, "Floats", "tuple[str, ...] | None"]


def _drifting(n: int, rng: Generator) -> Shape:
    nights = int(rng.integers(20, 61))
    at = int(rng.integers(MARGIN, n - nights - MARGIN))
    return "drift", at, _size(rng, 0.05, 0.15) * np.clip((np.arange(n) - at) / nights, 0, 1), None


def _two_state(n: int, rng: Generator) -> Shape:
    switches = np.cumsum(rng.random(n) < 1 / rng.uniform(3, 15))
    is_high = np.asarray(switches % 2, dtype=np.float64)
    return "two-state", 0, math.log1p(rng.uniform(0.06, 0.2)) * is_high, None


def _outlying(n: int, rng: Generator) -> Shape:
    level = np.zeros(n)
    at = int(rng.integers(MARGIN, n - MARGIN))
    level[at : at + int(rng.integers(1, 3))] = _size(rng, 0.1, 0.4)
    return "outlier", at, level, None


def _last_far(n: int, rng: Generator) -> Shape:
    level = np.zeros(n)
    level[-1] = _size(rng, 0.1, 0.4)
    return "inconclusive", n - 1, level, None


def _driver(n: int, rng: Generator) -> Shape:
    at = int(rng.integers(20, n - MARGIN))
    level = np.where(np.arange(n) < at, 0.0, _size(rng, 0.03, 0.1))
    return "environment", at, level, ("driver 1",) * at + ("driver 2",) * (n - at)


def _climbing(n: int, rng: Generator) -> Shape:
    return "whole drift", 0, _size(rng, 0.05, 0.15) * np.linspace(0, 1, n), None
