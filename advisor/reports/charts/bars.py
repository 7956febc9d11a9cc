"""The charts that are bars: where time goes, what an action may save, and a kernel's own bars.

Widths and positions are shares in [0, 1] of the track they are drawn in.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from advisor import wording
from advisor.records import dataclass
from advisor.reports.record.kernel_records import (
    Gain,
    KernelRecord,
    OccupancyRecord,
    ResourceTime,
    Stalls,
)
from advisor.reports.record.records import Recommendation

MOST_SEGMENTS = 12
_LEAST_SEGMENT = 0.01
_NAMED_SEGMENT = 0.07
_MOST_STEPS = 4


@dataclass(frozen=True, kw_only=True)
class KernelSegment:
    """One kernel in the bar of the run; ``sol`` of its width is its time at the roof.

    ``at_most`` stands before what is wasted, as in ``KernelRecord``.
    """

    kernel_id: str
    name: str
    limiter: str | None
    share: float
    of_longest: float
    sol: float | None
    duration: float
    wasted: float | None
    at_most: str
    named: bool


@dataclass(frozen=True, kw_only=True)
class WhereTimeGoes:
    """The bar of the run, longest kernel first; the rest is one sliver."""

    total: float
    segments: tuple[KernelSegment, ...]
    rest_count: int
    rest_duration: float


@dataclass(frozen=True, kw_only=True)
class AxisTick:
    """A tick at ``at`` of the axis."""

    at: float
    label: str
    anchor: str


@dataclass(frozen=True, kw_only=True)
class GainBar:
    """A range on the gain axis that all cards share."""

    low: float
    likely: float
    high: float
    description: str


@dataclass(frozen=True, kw_only=True)
class GainAxis:
    """The shared axis, from 0 to a round number of ``unit``; a bar per action, by number."""

    unit: str
    ticks: tuple[AxisTick, ...]
    bars: dict[int, GainBar]


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One labelled bar: its width, the value beside it, and what the value is."""

    label: str
    about: str
    width: float
    value: str
    note: str
    group: str
    strong: bool


def where_time_goes(kernels: Sequence[KernelRecord]) -> WhereTimeGoes | None:
    """Return the bar of the run; None where no duration is known."""
    timed = sorted(
        ((kernel.duration, kernel) for kernel in kernels if kernel.duration),
        key=lambda pair: -pair[0],
    )
    total = sum(duration for duration, _ in timed)
    if not total:
        return None
    shown = [pair for pair in timed[:MOST_SEGMENTS] if pair[0] >= _LEAST_SEGMENT * total]
    longest = timed[0][0]
    segments = tuple(
        KernelSegment(
            kernel_id=kernel.id,
            name=kernel.full_name,
            limiter=kernel.limiter,
            share=duration / total,
            of_longest=duration / longest,
            sol=None if kernel.t_sol is None else min(1.0, kernel.t_sol / duration),
            duration=duration,
            wasted=kernel.wasted_time,
            at_most=kernel.at_most,
            named=duration >= _NAMED_SEGMENT * total,
        )
        for duration, kernel in shown
    )
    return WhereTimeGoes(
        total=total,
        segments=segments,
        rest_count=len(timed) - len(shown),
        rest_duration=total - sum(duration for duration, _ in shown),
    )


def gain_axis(actions: Iterable[Recommendation]) -> GainAxis | None:
    """Return one axis for all actions with a gain; None where there is none."""
    gains = {action.number: action.gain for action in actions if action.gain is not None}
    largest = max((gain.high for gain in gains.values()), default=0.0)
    if largest <= 0:
        return None
    unit = wording.time_unit([largest])
    step, count = round_steps(largest)
    end = step * count
    ticks = tuple(
        AxisTick(
            at=i / count,
            label=_tick_label(step * i, unit, last=i == count),
            anchor="start" if i == 0 else "end" if i == count else "middle",
        )
        for i in range(count + 1)
    )
    bars = {number: _gain_bar(gain, end, unit) for number, gain in gains.items()}
    return GainAxis(unit=unit, ticks=ticks, bars=bars)


def round_steps(largest: float) -> tuple[float, int]:
    """Return the smallest step of 1, 2 or 5 × 10ⁿ that needs at most four, and how many it needs.

    >>> round_steps(5.1)
    (2.0, 3)
    """
    exponent = math.floor(math.log10(largest / _MOST_STEPS))
    for step in (factor * 10.0**exponent for factor in (1, 2, 5, 10)):
        count = math.ceil(largest / step - 1e-9)
        if count <= _MOST_STEPS:
            return step, count
    return 10.0 ** (exponent + 1), _MOST_STEPS


def resource_bars(resources: Sequence[ResourceTime]) -> tuple[Bar, ...]:
    """Return the time each resource would need; the track ends at the measured duration."""
    unit = wording.time_unit(resource.time for resource in resources)
    decimals = wording.decimals((resource.time for resource in resources), unit)
    return tuple(
        Bar(
            label=resource.label,
            about="",
            width=min(1.0, resource.share),
            value=wording.in_unit(resource.time, unit, decimals) + wording.NO_BREAK + unit,
            note=wording.percent(resource.share, 0),
            group=resource.group,
            strong=resource.binds,
        )
        for resource in resources
    )


def stall_bars(stalls: Stalls) -> tuple[Bar, ...]:
    """Return where warps wait; the track is all of the time between two instructions."""
    bars = [
        Bar(
            label=stall.label,
            about=stall.about,
            width=stall.share,
            value=wording.percent(stall.share, 1),
            note="",
            group="" if stall.neutral else "latency",
            strong=False,
        )
        for stall in stalls.entries
    ]
    if stalls.other_count:
        bars.append(
            Bar(
                label=f"other, {stalls.other_count} reasons",
                about="",
                width=stalls.other_share,
                value=wording.percent(stalls.other_share, 1),
                note="",
                group="",
                strong=False,
            )
        )
    return tuple(bars)


def occupancy_bars(occupancy: OccupancyRecord) -> tuple[Bar, ...]:
    """Return the blocks that each limit allows; the shortest binds."""
    most = max((limit.blocks for limit in occupancy.limits), default=1.0) or 1.0
    return tuple(
        Bar(
            label=limit.label,
            about="",
            width=limit.blocks / most,
            value=wording.count(limit.blocks, "block"),
            note="",
            group="",
            strong=limit.binds,
        )
        for limit in occupancy.limits
    )


def _tick_label(value: float, unit: str, *, last: bool) -> str:
    number = wording.in_unit(value, unit, 6).rstrip("0").rstrip(".") if value else "0"
    return number + wording.NO_BREAK + unit if last else number


def _gain_bar(gain: Gain, end: float, unit: str) -> GainBar:
    low, likely, high = (wording.in_unit(x, unit, 2) for x in (gain.low, gain.likely, gain.high))
    return GainBar(
        low=gain.low / end,
        likely=gain.likely / end,
        high=gain.high / end,
        description=f"Gain in {unit}: low {low}, likely {likely}, high {high}",
    )
