"""Why a kernel takes another time: the logarithm of the ratio, split into terms that add up.

With n launches of τ = t / n each, amounts A per launch, and S(A, P) the largest of the least times
that resources known in both runs need for A at peaks P:

    launches    ln(n₂ / n₁)
    work        ln(S(A₂, P₁) / S(A₁, P₁))
    clock       ln(S(A₂, P₁′) / S(A₂, P₁)), P₁′ the base's peaks at the head's clocks
    peaks       ln(S(A₂, P₂) / S(A₂, P₁′))
    efficiency  ln(E₁ / E₂), E = S(A, P) / τ

Together they are ln(τ₂ n₂ / τ₁ n₁), also where another resource binds afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

from advisor.records import dataclass

Values = Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True)
class Format:
    """One kind of work of a resource: the names of its amount and of its peak."""

    amount: str
    peak: str


@dataclass(frozen=True, kw_only=True)
class Resource:
    """What a launch uses: formats that share it, and the clock that its peaks follow.

    Where the quantity ``counted_by`` is known, a format without an amount had none.
    """

    name: str
    clock: str
    formats: tuple[Format, ...]
    counted_by: str | None = None

    @cached_property
    def counts(self) -> frozenset[str]:
        """Return the names of what tells that anything was counted."""
        names = {each.amount for each in self.formats}
        return frozenset(names if self.counted_by is None else names | {self.counted_by})


@dataclass(frozen=True, kw_only=True)
class Side:
    """A kernel in one run.

    ``launches`` is their number, ``duration`` their time together [s]; ``amounts`` are of one
    launch, those that are known; ``peaks`` in their unit over s, ``clocks`` in Hz, each by name.
    """

    launches: float
    duration: float
    amounts: Mapping[str, float]
    peaks: Values
    clocks: Values


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Natural logarithms that add up to ``total``; what is None takes no part.

    ``binding`` and ``binding_after`` are the resources that need most time before and after;
    without a common resource there is ``cycles`` in place of work, peaks and efficiency.
    """

    total: float
    launches: float
    clock: float | None
    work: float | None = None
    peaks: float | None = None
    efficiency: float | None = None
    cycles: float | None = None
    binding: str | None = None
    binding_after: str | None = None
    resources: tuple[str, ...] = ()

    @property
    def parts(self) -> dict[str, float]:
        """Return the terms that are known, by name."""
        names = ("launches", "work", "clock", "peaks", "efficiency", "cycles")
        found = {name: getattr(self, name) for name in names}
        return {name: value for name, value in found.items() if value is not None}


class _Use(NamedTuple):
    """What one resource does in both runs: (amount, peak) pairs, times by name of the state."""

    name: str
    base: float  # A₁ at P₁
    head_at_base: float  # A₂ at P₁
    head_at_clock: float  # A₂ at P₁′
    head: float  # A₂ at P₂


def attribute(base: Side, head: Side, resources: Sequence[Resource], *, clock: str) -> Terms | None:
    """Return what the change of a kernel's time is made of, None where a time is not known.

    ``clock`` names the clock that the kernel follows where no resource is known on both sides.
    """
    if min(base.launches, base.duration, head.launches, head.duration) <= 0:
        return None
    launches = math.log(head.launches / base.launches)
    total = math.log(head.duration / base.duration)
    uses = list(_uses(base, head, resources))
    before, after = _largest(uses, "base"), _largest(uses, "head")
    if before is None or after is None:
        return _of_cycles(base, head, total, launches, clock)
    s_base, s_head = before.base, after.head
    s_at_base = max(use.head_at_base for use in uses)
    s_at_clock = max(use.head_at_clock for use in uses)
    e_base = s_base * base.launches / base.duration
    e_head = s_head * head.launches / head.duration
    return Terms(
        total=total,
        launches=launches,
        work=math.log(s_at_base / s_base),
        clock=math.log(s_at_clock / s_at_base),
        peaks=math.log(s_head / s_at_clock),
        efficiency=math.log(e_base / e_head),
        binding=before.name,
        binding_after=after.name,
        resources=tuple(use.name for use in uses),
    )


def _of_cycles(base: Side, head: Side, total: float, launches: float, clock: str) -> Terms:
    """Return the terms of a kernel of which nothing but its time and its clock is known."""
    ratio = _clock_ratio(base, head, clock)
    moved = None if ratio is None else -math.log(ratio)
    return Terms(
        total=total, launches=launches, clock=moved, cycles=total - launches - (moved or 0.0)
    )


def _largest(uses: Sequence[_Use], state: str) -> _Use | None:
    """Return what needs most time in a state, None where nothing needs any."""
    most = max(uses, key=attrgetter(state), default=None)
    return None if most is None or getattr(most, state) <= 0 else most


def _uses(base: Side, head: Side, resources: Iterable[Resource]) -> Iterable[_Use]:
    for resource in resources:
        counts = resource.counts
        if counts.isdisjoint(base.amounts) or counts.isdisjoint(head.amounts):
            continue  # nothing that it did was counted
        found = _use(base, head, resource)
        if found is not None:
            yield found


def _use(base: Side, head: Side, resource: Resource) -> _Use | None:
    """Return the times of a resource, None where it is not known on both sides."""
    ratio = _clock_ratio(base, head, resource.clock)
    at_base = head_at_base = head_at_clock = at_head = 0.0
    known = False
    for each in resource.formats:
        before, after = _amount(base, each, resource), _amount(head, each, resource)
        if before is None and after is None:
            continue
        if before is None or after is None:
            return None
        known = True
        if before == after == 0:
            continue
        peaks = _peaks(base, head, each.peak, ratio)
        if peaks is None:
            return None
        base_peak, clock_peak, head_peak = peaks
        at_base += before / base_peak
        head_at_base += after / base_peak
        head_at_clock += after / clock_peak
        at_head += after / head_peak
    if not known:
        return None
    return _Use(resource.name, at_base, head_at_base, head_at_clock, at_head)


def _amount(side: Side, each: Format, resource: Resource) -> float | None:
    found = side.amounts.get(each.amount)
    if found is not None or resource.counted_by is None:
        return found
    counted = side.amounts.get(resource.counted_by)
    if counted is None:
        return None
    some = any(other.amount in side.amounts for other in resource.formats)
    return 0.0 if some or counted == 0 else None


def _peaks(
    base: Side, head: Side, name: str, clock_ratio: float | None
) -> tuple[float, float, float] | None:
    """Return the base's peak, the same at the head's clock, and the head's.

    A peak that one side knows stands for both, at any clock: nothing says that it moved.
    """
    before, after = _positive(base.peaks.get(name)), _positive(head.peaks.get(name))
    if before is None and after is None:
        return None
    if before is None or after is None:
        peak = before if before is not None else after
        assert peak is not None
        return peak, peak, peak
    return before, before * (1.0 if clock_ratio is None else clock_ratio), after


def _clock_ratio(base: Side, head: Side, name: str) -> float | None:
    before, after = _positive(base.clocks.get(name)), _positive(head.clocks.get(name))
    return None if before is None or after is None else after / before


def _positive(value: float | None) -> float | None:
    return None if value is None or not value > 0 else value
