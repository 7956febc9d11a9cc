"""Whether series moved between two runs: a statistical gate, a practical one, and a whole machine.

A series has moved where chance does not explain it (the rank test of its launches or, with few of
them, the noise of its past; false discoveries limited over all series) *and* the effect is worth
acting on (a least share, and more than the spread of single launches).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from advisor.tracking.comparing import Limits
from advisor.tracking.noise import TO_DEVIATION, chance
from advisor.tracking.ranks import rank_chance
from advisor.tracking.records import Verdict


@dataclass(frozen=True, kw_only=True)
class Samples:
    """What is known of one series: the durations of its launches in both runs, in one unit.

    ``base_launches`` and ``head_launches`` weigh them: what is compared is time in the run.
    ``past_noise`` is the relative deviation of one earlier night, None where there are too few.
    """

    base: Sequence[float]
    head: Sequence[float]
    base_launches: float = 1.0
    head_launches: float = 1.0
    past_noise: float | None = None


@dataclass(frozen=True, kw_only=True)
class Gated:
    """What both gates say of one series.

    ``effect`` is the natural logarithm of head over base, ``noise`` the relative deviation that it
    is held against, ``p_value`` the chance of it; each None where it is not known. ``needed`` is
    the effect that the practical gate asks for.
    """

    verdict: Verdict
    effect: float | None
    noise: float | None = None
    p_value: float | None = None
    needed: float | None = None


@dataclass(frozen=True, kw_only=True)
class MachineShift:
    """Most series moved alike: ``effect`` (a natural logarithm) in ``moved`` of ``series``."""

    effect: float
    moved: int
    series: int


def judge(samples: Sequence[Samples], limits: Limits) -> tuple[list[Gated], MachineShift | None]:
    """Return the verdict of each series, and the shift of the whole machine where there is one.

    A series that moved with the machine, and not by itself, is ``environment``.
    """
    measured = [_measured(each, limits, shift=0.0) for each in samples]
    shift = _machine(measured, limits)
    found = _decided(measured, limits)
    if shift is None:
        return found, None
    left = _decided([_measured(each, limits, shift=shift.effect) for each in samples], limits)
    judged = [
        replace(whole, verdict=own.verdict, needed=own.needed)
        if own.verdict in (Verdict.REGRESSED, Verdict.IMPROVED)
        else _with_machine(whole, shift)
        for whole, own in zip(found, left, strict=True)
    ]
    return judged, shift


def _with_machine(whole: Gated, shift: MachineShift) -> Gated:
    """Return what becomes of a series that did not move by itself."""
    alike = whole.effect is not None and whole.effect * shift.effect > 0
    moved = alike and whole.needed is not None and abs(whole.effect or 0.0) >= whole.needed
    return replace(whole, verdict=Verdict.ENVIRONMENT) if moved else whole


def _measured(each: Samples, limits: Limits, shift: float) -> Gated:
    """Return effect, noise and chance of one series, with no verdict but ``insufficient`` yet."""
    base = [value * each.base_launches for value in each.base]
    head = [value * each.head_launches / math.exp(shift) for value in each.head]
    if not base or not head or min(min(base), min(head)) <= 0:
        return Gated(verdict=Verdict.INSUFFICIENT, effect=None)
    effect = math.log(median(head) / median(base))
    enough = min(len(base), len(head)) >= limits.least_launches
    if enough:
        noise = max(_spread(base, head), limits.noise_floor)
        p_value = rank_chance(base, head, limits.exact_launches)
    elif each.past_noise is not None:
        noise = max(each.past_noise, limits.noise_floor)
        p_value = chance(effect / (noise * math.sqrt(2)))
    else:
        return Gated(verdict=Verdict.INSUFFICIENT, effect=effect, needed=limits.least_effect)
    needed = max(limits.least_effect, math.log1p(limits.noise_multiple * noise))
    verdict = Verdict.UNCHANGED
    return Gated(verdict=verdict, effect=effect, noise=noise, p_value=p_value, needed=needed)


def _spread(base: Sequence[float], head: Sequence[float]) -> float:
    """Return the relative deviation of single launches about their own median, of both runs."""
    squares, freedom = 0.0, 0
    for values in (base, head):
        logarithms = np.log(np.array(values))
        squares += float(((logarithms - np.median(logarithms)) ** 2).sum())
        freedom += len(values) - 1
    return math.sqrt(squares / max(freedom, 1))


def _decided(measured: Sequence[Gated], limits: Limits) -> list[Gated]:
    chances = [each.p_value for each in measured if each.p_value is not None]
    bar = false_discovery_bar(chances, limits.false_discoveries)
    return [
        each if each.p_value is None else replace(each, verdict=_verdict(each, bar))
        for each in measured
    ]


def _verdict(each: Gated, bar: float) -> Verdict:
    assert each.effect is not None
    assert each.p_value is not None
    assert each.needed is not None
    if abs(each.effect) < each.needed or each.p_value > bar:
        return Verdict.UNCHANGED
    return Verdict.REGRESSED if each.effect > 0 else Verdict.IMPROVED


def false_discovery_bar(chances: Sequence[float], rate: float) -> float:
    """Return the largest chance that counts, so that at most ``rate`` of what is told is false.

    −1 where none does. Source: Benjamini and Hochberg, Journal of the Royal Statistical Society B
    57, 1995, section 3.
    """
    ranked = sorted(chances)
    count = len(ranked)
    return max(
        (value for place, value in enumerate(ranked, 1) if value <= rate * place / count),
        default=-1.0,
    )


def _machine(measured: Sequence[Gated], limits: Limits) -> MachineShift | None:
    """Return the shift that most series share, None where each goes its own way."""
    effects = np.array([each.effect for each in measured if each.effect is not None])
    if len(effects) < limits.machine_series:
        return None
    middle = float(np.median(effects))
    if abs(middle) < limits.least_effect:
        return None
    own = [
        max(limits.least_effect, 2 * (each.noise or 0.0))
        for each in measured
        if each.effect is not None
    ]
    alike = int((np.abs(effects - middle) <= np.minimum(np.array(own), abs(middle) / 2)).sum())
    if alike < max(limits.machine_series, limits.machine_share * len(effects)):
        return None
    return MachineShift(effect=middle, moved=alike, series=len(effects))
