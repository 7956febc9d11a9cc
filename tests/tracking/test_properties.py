"""Whatever the numbers: no crash, no number that is not finite, and no dependence on the unit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from advisor.tracking.records import SeriesResult
from advisor.tracking.scan import Nights, scan_many, scan_series
from advisor.tracking.settings import load_settings

SETTINGS = load_settings()
MIRROR = {"regressed": "improved", "improved": "regressed"}

anything = st.lists(
    st.one_of(
        st.floats(allow_nan=True, allow_infinity=True),
        st.sampled_from([0.0, 1.0, 1.01, -1.0, 5e-324, 1.7e308]),
    ),
    max_size=120,
)


@st.composite
def plausible(draw: st.DrawFn) -> list[float]:
    """Return nights with noise and perhaps steps and outliers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(10, 200))
    level = np.zeros(n)
    for _ in range(draw(st.integers(0, 3))):
        level[draw(st.integers(0, n - 1)) :] += draw(st.floats(-0.2, 0.2))
    for _ in range(draw(st.integers(0, 3))):
        level[draw(st.integers(0, n - 1))] += draw(st.floats(-0.5, 0.5))
    return list(np.exp(level + rng.normal(0, draw(st.sampled_from([0.0, 0.003, 0.01])), n)))


def scan(values: list[float], better: str = "lower") -> SeriesResult:
    nights = Nights(values=values, better="higher" if better == "higher" else "lower")
    return scan_many([nights], settings=SETTINGS)[0]


def numbers_of(found: SeriesResult) -> list[float]:
    numbers = [found.noise, found.newest.relative, found.newest.p_value]
    for change in found.changes:
        numbers += [change.before, change.after, change.relative, change.p_value]
    return [number for number in numbers if number is not None]


@given(anything)
@example([1.0, 1.0, 1.0, 1.0, 2.0, 5e-324, 5e-324, 5e-324, 5e-324, 5e-324])
@settings(deadline=None)
def test_never_crashes_and_every_number_is_finite(values: list[float]) -> None:
    found = scan(values)
    assert found.nights == sum(map(math.isfinite, values))
    assert all(map(math.isfinite, numbers_of(found)))
    for change in found.changes:
        assert 0 <= change.index <= change.end_index < found.nights
        assert change.p_value is None or 0 < change.p_value <= 1


@given(plausible(), st.sampled_from([1e-9, 1e-3, 60.0, 1e6]))
@settings(deadline=None)
def test_the_unit_changes_nothing_but_the_levels(values: list[float], unit: float) -> None:
    one, other = scan(values), scan([value * unit for value in values])
    assert other.newest.verdict == one.newest.verdict
    assert other.newest.index == one.newest.index
    assert [(c.kind, c.index, c.end_index, c.verdict) for c in other.changes] == [
        (c.kind, c.index, c.end_index, c.verdict) for c in one.changes
    ]
    for mine, scaled in zip(one.changes, other.changes, strict=True):
        assert math.isclose(scaled.before, mine.before * unit, rel_tol=1e-9)
        assert math.isclose(scaled.after, mine.after * unit, rel_tol=1e-9)


@given(plausible())
@settings(deadline=None)
def test_a_second_run_and_higher_for_lower_change_nothing_but_the_words(
    values: list[float],
) -> None:
    lower, higher = scan(values), scan(values, "higher")
    assert scan(values) == lower
    assert [
        replace(c, verdict=MIRROR.get(c.verdict or "", c.verdict)) for c in lower.changes
    ] == list(higher.changes)
    assert MIRROR.get(lower.newest.verdict, lower.newest.verdict) == higher.newest.verdict


@given(plausible())
@settings(deadline=None)
def test_nights_without_a_value_change_nothing(values: list[float]) -> None:
    gaps = [each for value in values for each in (value, math.nan)]
    assert scan_series(gaps, settings=SETTINGS) == scan(values)
