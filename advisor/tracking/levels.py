"""What the nights of a series say about two of them: from which level to which, how surely."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from advisor.records import dataclass
from advisor.tracking.records import LEVELS, ChangeKind, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.tracking.history import Tracked
    from advisor.tracking.records import Change, SeriesResult
    from advisor.tracking.settings import TrackingSettings


@dataclass(frozen=True, kw_only=True)
class Levels:
    """The levels of a base and a head night.

    ``effect`` is the natural logarithm of head over base, ``noise`` the relative deviation of one
    night, ``error`` the deviation of the effect in units of it. ``p_value`` is the chance of the
    changes that the detector found between them, and ``environment`` the part of the effect that
    came with a new environment; both None where it found none. ``is_doubtful``: one of the nights
    is an outlier, or the series goes to and fro between two levels.
    """

    effect: float
    noise: float
    error: float
    p_value: float | None = None
    environment: float | None = None
    is_doubtful: bool = False


def levels_between(
    series: Tracked,
    result: SeriesResult,
    base: int,
    head: int | None,
    head_value: float,
    settings: TrackingSettings,
) -> Levels | None:
    """Return what the detector's result says about two nights, None where it tells no noise.

    ``base`` and ``head`` count the nights of ``series``; without ``head``, a result that is no
    night of the series, ``head_value`` stands alone.
    """
    values = series.values
    if result.noise is None or min(*values, head_value) <= 0:
        return None
    steps = _between(result, base, head)
    before = _alike(series, result, base)
    later = range(1) if head is None else _alike(series, result, head)
    if head is not None and not steps:  # whether it strays alone the nights after it tell
        later = range(head, min(later.stop, head + settings.outlier_nights + 1))
    levels = [values[night] for night in later] if head is not None else [head_value]
    sign = 1 if head is None or head >= base else -1
    return Levels(
        effect=math.log(median(levels) / median(values[night] for night in before)),
        noise=result.noise,
        error=math.sqrt(_variance(len(before)) + _variance(len(later))),
        p_value=max((step.p_value or 0.0 for step in steps), default=None),
        environment=sign * _by_environment(steps) if steps else None,
        is_doubtful=_is_doubtful(result, {base, base if head is None else head}),
    )


def _between(result: SeriesResult, base: int, head: int | None) -> list[Change]:
    """Return the changes of level after the earlier of two nights, until the later one."""
    if head is None:
        return []
    first, last = sorted((base, head))
    return [
        change
        for change in result.changes
        if change.kind in LEVELS and first < change.end_index and change.index <= last
    ]


def _alike(series: Tracked, result: SeriesResult, night: int) -> range:
    """Return the nights at the level of one, next to it and in the same environment."""
    segment = _segment(result, night, len(series.values))
    first = last = night
    while first > segment.start and series.environment[first - 1] == series.environment[night]:
        first -= 1
    while last + 1 < segment.stop and series.environment[last + 1] == series.environment[night]:
        last += 1
    return range(first, last + 1)


def _segment(result: SeriesResult, night: int, nights: int) -> range:
    """Return the nights of the level that a night is at; of a drift, the night alone."""
    start, end = 0, nights
    newest = result.newest
    if newest.verdict is Verdict.INCONCLUSIVE and newest.index is not None:
        start, end = (newest.index, end) if night >= newest.index else (start, newest.index)
    for change in result.changes:
        if change.kind not in LEVELS:
            continue
        if change.kind is ChangeKind.DRIFT and change.index <= night <= change.end_index:
            return range(night, night + 1)
        if change.end_index <= night:
            start = max(start, change.end_index)
        elif change.index > night:
            end = min(end, change.index)
    return range(start, end)


def _variance(nights: int) -> float:
    """Return the variance of a median of nights over that of one night.

    Neighbouring nights are somewhat alike, and a median tells less than a mean: two count as one.
    """
    return min(1.0, 2 / nights)


def _by_environment(steps: Sequence[Change]) -> float:
    return math.fsum(
        math.log(step.after / step.before)
        for step in steps
        if step.verdict is Verdict.ENVIRONMENT and step.before > 0 and step.after > 0
    )


def _is_doubtful(result: SeriesResult, nights: set[int]) -> bool:
    return any(
        change.kind is ChangeKind.TWO_STATE
        or (
            change.kind is ChangeKind.OUTLIER
            and any(change.index <= night <= change.end_index for night in nights)
        )
        for change in result.changes
    )
