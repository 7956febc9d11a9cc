"""From nights where something moved to records with values, shares and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from advisor.tracking.records import Change, ChangeKind, Newest, Verdict
from advisor.tracking.segments import median_of, medians
from advisor.tracking.series import Segments, least_positive, relative
from advisor.tracking.shapes import drifts_of, outliers_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.tracking.newest import Shift
    from advisor.tracking.noise import Flags, Floats
    from advisor.tracking.series import Series
    from advisor.tracking.shapes import Drift


def changes_of(
    series: Series, steps: Sequence[int], shift: Shift | None, trend: Drift | None = None
) -> list[Change]:
    """Return the steps, drifts and outliers of a series, in the order of their nights.

    ``trend`` is the drift that the newest nights are the end of; the steps come before it.
    """
    older = series.clipped if trend is None else series.clipped[: trend.first]
    drifts, steps = drifts_of(older, steps, series.noise, series.settings)
    drifts += [] if trend is None else [trend]
    edges = _edges(series, steps, drifts)
    drifts = [drift for drift in drifts if _is_large(series, drift, edges)]
    steps = _large_enough(series, steps, drifts)
    edges = _edges(series, steps, drifts)
    found = [_drift(series, drift, edges) for drift in drifts]
    found += [_step(series, step, edges, shift) for step in steps]
    found += _outliers(series, edges, drifts)
    return sorted(found, key=lambda change: (change.index, change.end_index))


def _edges(series: Series, steps: Sequence[int], drifts: Sequence[Drift]) -> list[int]:
    """Return where segments of one level, and drifts, begin, and the end."""
    ramps = (edge for drift in drifts for edge in (drift.first, drift.last + 1))
    return sorted({0, *steps, *ramps, len(series.values)})


def _is_large(series: Series, drift: Drift, edges: Sequence[int]) -> bool:
    before, after = _ends(series, drift, edges, series.even)
    return abs(after - before) >= series.least


def _large_enough(series: Series, steps: Sequence[int], drifts: Sequence[Drift]) -> list[int]:
    """Return the steps between levels that differ enough, the smallest removed first."""
    left = list(steps)
    while left:
        edges = _edges(series, left, drifts)
        levels = medians(series.even, edges)
        sizes = [abs(levels[i] - levels[i - 1]) for i in map(edges.index, left)]
        smallest = int(np.argmin(sizes))
        if sizes[smallest] >= series.least:
            break
        del left[smallest]
    return left


def _step(series: Series, step: int, edges: Sequence[int], shift: Shift | None) -> Change:
    i = edges.index(step)
    start, end = edges[i - 1], edges[i + 1]
    before, after = medians(series.values, (start, step, end))
    if shift is not None and step == len(series.values) - shift.nights:
        p_value = least_positive(shift.p_value)
    else:
        low, high = series.clipped[start:step].mean(), series.clipped[step:end].mean()
        p_value = series.p_value(series.noise.score(float(high - low), step - start, end - step))
    verdict, night = series.verdict(before, after, Segments(start, step, end))
    return Change(
        kind=ChangeKind.STEP,
        index=night,
        end_index=night,
        before=before,
        after=after,
        relative=relative(before, after),
        p_value=p_value,
        verdict=verdict,
    )


def _ends(
    series: Series, drift: Drift, edges: Sequence[int], values: Floats
) -> tuple[float, float]:
    """Return the levels before and after a drift; its first and last nights where it has none."""
    i, j = edges.index(drift.first), edges.index(drift.last + 1)
    span = series.settings.least_segment
    before = values[edges[i - 1] : drift.first] if i else values[:span]
    after = values[drift.last + 1 : edges[j + 1]] if j + 1 < len(edges) else values[-span:]
    return median_of(before), median_of(after)


def _drift(series: Series, drift: Drift, edges: Sequence[int]) -> Change:
    before, after = _ends(series, drift, edges, series.values)
    low, high = _ends(series, drift, edges, series.clipped)
    half = (drift.last - drift.first) // 2
    return Change(
        kind=ChangeKind.DRIFT,
        index=max(1, drift.first),  # the first night of all is at the old level
        end_index=drift.last,
        before=before,
        after=after,
        relative=relative(before, after),
        p_value=series.p_value(series.noise.score(high - low, half, half)),
        verdict=series.direction(before, after),
    )


def _outliers(series: Series, edges: Sequence[int], drifts: Sequence[Drift]) -> Iterator[Change]:
    levels = np.repeat(medians(series.even, edges), np.diff(edges))
    for drift in drifts:
        nights = slice(drift.first, drift.last + 1)
        levels[nights] = _line(series.clipped[nights])
    residuals = series.even - levels
    reach = max(series.least, series.settings.outlier_score * series.noise.deviation)
    for first, last in outliers_of(residuals, reach, series.settings):
        i = int(np.searchsorted(edges, first, side="right"))
        start, end = edges[i - 1], edges[i]
        if any(drift.first == start for drift in drifts):  # its level is that of the nights around
            around = series.settings.least_segment
            start, end = max(start, first - around), min(end, last + 1 + around)
        before = median_of(series.values[start:end])
        after = median_of(series.values[first : last + 1])
        size = float(np.abs(residuals[first : last + 1]).min())
        yield Change(
            kind=ChangeKind.OUTLIER,
            index=first,
            end_index=last,
            before=before,
            after=after,
            relative=relative(before, after),
            p_value=series.p_value(series.noise.score(size, 1)),
            verdict=None,
        )


def _line(part: Floats) -> Floats:
    """Return the straight line that fits nights best."""
    nights = np.arange(len(part)) - (len(part) - 1) / 2
    line: Floats = part.mean() + nights * (nights @ part / (nights @ nights))
    return line


def states_change(values: Floats, high: Flags, switches: Sequence[int]) -> Change:
    """Return the one entry of a series that goes to and fro between two levels."""
    first = high == high[0]
    before, after = median_of(values[first]), median_of(values[~first])
    return Change(
        kind=ChangeKind.TWO_STATE,
        index=switches[0],
        end_index=switches[-1],
        before=before,
        after=after,
        relative=relative(before, after),
        p_value=None,
        verdict=None,
    )


def newest_of(series: Series, shift: Shift | None, start: int, changes: Sequence[Change]) -> Newest:
    """Return what the newest nights say: by how far they moved, or where a drift has got to."""
    n = len(series.values)
    if shift is None:
        return _by_drift(changes, n - series.settings.window)
    night = n - shift.nights
    before, after = medians(series.values, (start, night, n))
    verdict, index = Verdict.INCONCLUSIVE, night
    if not shift.is_lone:
        verdict, index = series.verdict(0.0, shift.effect, Segments(start, night, n))
    return Newest(
        verdict=verdict,
        index=index,
        relative=relative(before, after),
        p_value=least_positive(shift.p_value),
    )


def _by_drift(changes: Sequence[Change], start_of_newest: int) -> Newest:
    """Return the verdict of a drift that goes on in the newest nights, else that none moved."""
    for change in changes:
        if change.kind is not ChangeKind.DRIFT or change.verdict is None:
            continue
        if change.end_index >= start_of_newest:
            return Newest(
                verdict=change.verdict,
                index=change.index,
                relative=change.relative,
                p_value=change.p_value,
            )
    return Newest(verdict=Verdict.UNCHANGED)
