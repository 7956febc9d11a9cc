"""The detector: what moved in series of nights, and whether their newest nights did."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from advisor.records import dataclass
from advisor.tracking.changes import changes_of, newest_of, states_change
from advisor.tracking.environment import expected_nights
from advisor.tracking.newest import newest_shift
from advisor.tracking.noise import (
    LARGEST_EXPONENT,
    medians_of_rows,
    noise_of_differences,
    noise_of_residuals,
    scale,
)
from advisor.tracking.records import Newest, SeriesResult, Verdict
from advisor.tracking.segments import residuals_of, steps_of
from advisor.tracking.series import Series
from advisor.tracking.shapes import states_of
from advisor.tracking.trend import trend_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from advisor.tracking.noise import Floats, Noises, Scaled
    from advisor.tracking.settings import TrackingSettings
    from advisor.tracking.shapes import States

Better = Literal["lower", "higher"]
_TOGETHER = 50_000  # values that are scanned in one go: they fit the processor's cache


@dataclass(frozen=True, kw_only=True)
class Nights:
    """One series to scan: a value per night, oldest first, in any unit.

    A value that is not finite is a night without one. ``environment`` holds what each night ran on,
    None where unknown.
    """

    values: ArrayLike
    better: Better = "lower"
    environment: Sequence[str | None] | None = None


def scan_series(
    values: ArrayLike,
    *,
    better: Better = "lower",
    environment: Sequence[str | None] | None = None,
    settings: TrackingSettings,
) -> SeriesResult:
    """Return what moved in one series; see ``Nights`` and ``scan_many``."""
    nights = Nights(values=values, better=better, environment=environment)
    return scan_many([nights], settings=settings)[0]


def scan_many(series: Sequence[Nights], *, settings: TrackingSettings) -> list[SeriesResult]:
    """Return what moved in each series; those with equally many nights are scanned together.

    Nights without a value are left out, and indices count the others. Neither the unit of the
    values nor the company of a series changes what is found in it.
    """
    results: dict[int, SeriesResult] = {}
    equally_long: dict[int, list[int]] = defaultdict(list)
    known = [_known(each) for each in series]
    for number, each in enumerate(known):
        n = len(np.asarray(each.values))
        if n < settings.least_nights:
            results[number] = _insufficient(n)
        else:
            equally_long[n].append(number)
    for n, numbers in equally_long.items():
        together = max(1, _TOGETHER // n)
        for first in range(0, len(numbers), together):
            chosen = numbers[first : first + together]
            found = _scan([known[number] for number in chosen], settings)
            results.update(zip(chosen, found, strict=True))
    return [results[number] for number in range(len(series))]


def _known(nights: Nights) -> Nights:
    """Return the nights that have a value."""
    values = np.asarray(nights.values, dtype=np.float64)
    known = np.isfinite(values)
    if known.all():
        return replace(nights, values=values)
    environment = nights.environment
    if environment is not None:
        environment = [environment[night] for night in np.flatnonzero(known).tolist()]
    return replace(nights, values=values[known], environment=environment)


def _insufficient(nights: int) -> SeriesResult:
    newest = Newest(verdict=Verdict.INSUFFICIENT)
    return SeriesResult(nights=nights, noise=None, changes=(), newest=newest)


@dataclass(frozen=True, kw_only=True)
class _Batch:
    """Series with equally many nights, one per row, and what was found in them."""

    values: Floats
    scaled: Scaled
    states: States
    even: Floats
    clipped: Floats
    steps: list[list[int]]
    noises: Noises
    least_known: Floats
    least: Floats


def _scan(together: Sequence[Nights], settings: TrackingSettings) -> list[SeriesResult]:
    values = np.stack([np.asarray(nights.values) for nights in together])
    # Most series share their nights.
    expected_of = cache(lambda environment: expected_nights(environment, settings))
    expected = [expected_of(tuple(nights.environment or ())) for nights in together]
    batch = _measured(values, expected, settings)
    start_of_newest = batch.values.shape[1] - settings.window
    older = [[step for step in found if step < start_of_newest] for found in batch.steps]
    past = _about_older_levels(batch.even, older, start_of_newest)
    return [
        _result(batch, row, nights, older[row], past[row], settings)
        for row, nights in enumerate(together)
    ]


def _measured(
    values: Floats, expected: Sequence[Sequence[int]], settings: TrackingSettings
) -> _Batch:
    """Find states, noise and steps: noise tells which steps are real, and those what noise is."""
    scaled = scale(values)
    smallest = settings.smallest_effect
    least = np.where(scaled.logarithmic, math.log1p(smallest), smallest)
    least = np.maximum(least, settings.tick_multiple * scaled.ticks)
    states = states_of(scaled, least, settings)
    even = scaled.values - states.levels
    noises = noise_of_differences(even, scaled.ticks, settings)
    for _ in range(2):
        clipped, steps = steps_of(even, noises, expected, settings)
        levels = np.array([len(found) + 1 for found in steps])
        residuals = residuals_of(even, steps)
        noises = noise_of_residuals(residuals, levels, scaled.ticks, settings)
    return _Batch(
        values=values,
        scaled=scaled,
        states=states,
        even=even,
        clipped=clipped,
        steps=steps,
        noises=noises,
        least_known=least,
        least=np.maximum(least, settings.noise_multiple * noises.deviations),
    )


def _about_older_levels(even: Floats, older: list[list[int]], newest: int) -> Floats:
    """Return each night less its level, the newest nights less the level before them."""
    if newest <= 0:
        return even - medians_of_rows(even)[:, None]
    past = residuals_of(even[:, :newest], older)
    level = even[:, newest - 1 : newest] - past[:, -1:]
    return np.concatenate((past, even[:, newest:] - level), axis=1)


def _result(
    batch: _Batch,
    row: int,
    nights: Nights,
    older: list[int],
    past: Floats,
    settings: TrackingSettings,
) -> SeriesResult:
    series = Series(
        values=batch.values[row],
        even=batch.even[row],
        clipped=batch.clipped[row],
        noise=batch.noises.row(row),
        least=float(batch.least[row]),
        least_known=float(batch.least_known[row]),
        is_logarithmic=bool(batch.scaled.logarithmic[row]),
        better=nights.better,
        environment=nights.environment,
        settings=settings,
    )
    start = older[-1] if older else 0
    n = len(series.values)
    shift = newest_shift(series, past, start, settings)
    steps = older if shift is None or shift.is_lone else [*older, n - shift.nights]
    trend = None
    if not batch.states.found[row]:
        every = sorted({*steps, *batch.steps[row]})
        trend = trend_of(series, every, float(batch.scaled.ticks[row]))
    if trend is not None:
        series = replace(series, noise=trend.noise, least=trend.least)
        steps, shift = trend.steps, None
    changes = changes_of(series, steps, shift, None if trend is None else trend.drift)
    newest = newest_of(series, shift, start, changes)
    if batch.states.found[row]:
        switches = batch.states.switches(row)
        changes.append(states_change(series.values, batch.states.high[row], switches))
    deviation = series.noise.deviation
    return SeriesResult(
        nights=n,
        noise=math.expm1(min(deviation, LARGEST_EXPONENT)) if series.is_logarithmic else deviation,
        changes=tuple(changes),
        newest=newest,
    )
