"""Whether series moved between two runs: a statistical gate, a practical one, and a whole machine.

A series has moved where chance does not explain it *and* the effect is worth acting on (a least
share, and more than the spread of single launches). Chance is that of the rank test of its launches
or, with few of them, of the noise of its past. The rank test of few launches cannot be as sure as
many series together ask for: it must agree, and Student's test on logarithms, which is as sure as
the effect is clear, goes into the limit of false discoveries over all series.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from advisor.tracking.comparing import Limits
from advisor.tracking.noise import as_normal, chance
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
    """What both gates say about one series.

    ``effect`` is the natural logarithm of head over base, ``noise`` the relative deviation that it
    is compared with, ``p_value`` the chance of it by ranks, or by the past; each None where it is
    not known. ``needed`` is the effect that the practical gate asks for, ``clear`` the chance that
    the limit of false discoveries is compared with.
    """

    verdict: Verdict
    effect: float | None
    noise: float | None = None
    p_value: float | None = None
    needed: float | None = None
    clear: float | None = None


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
    if not base or not head or min(*base, *head) <= 0:
        return Gated(verdict=Verdict.INSUFFICIENT, effect=None)
    effect = math.log(median(head) / median(base))
    enough = min(len(base), len(head)) >= limits.least_launches
    if enough:
        noise = max(_spread(base, head), limits.noise_floor)
        p_value = rank_chance(base, head, limits.exact_launches)
        clear = _student(base, head, limits)
    elif each.past_noise is not None:
        noise = max(each.past_noise, limits.noise_floor)
        p_value = clear = chance(abs(effect) / (noise * math.sqrt(2)))
    else:
        moved = abs(effect) >= limits.least_effect  # less is nothing to act on, by chance or not
        verdict = Verdict.INSUFFICIENT if moved else Verdict.UNCHANGED
        return Gated(verdict=verdict, effect=effect, needed=limits.least_effect)
    needed = max(limits.least_effect, math.log1p(limits.noise_multiple * noise))
    return Gated(
        verdict=Verdict.UNCHANGED,
        effect=effect,
        noise=noise,
        p_value=p_value,
        needed=needed,
        clear=clear,
    )


def _spread(base: Sequence[float], head: Sequence[float]) -> float:
    """Return the relative deviation of single launches about their own median, of both runs."""
    squares, freedom = 0.0, 0
    for values in (base, head):
        logarithms = np.log(np.array(values))
        squares += float(((logarithms - np.median(logarithms)) ** 2).sum())
        freedom += len(values) - 1
    return math.sqrt(squares / max(freedom, 1))


def _student(base: Sequence[float], head: Sequence[float], limits: Limits) -> float:
    """Return the two-sided chance of Student's test on logarithms, by the pooled deviation."""
    ours, theirs = np.log(np.array(base)), np.log(np.array(head))
    freedom = len(ours) + len(theirs) - 2
    squares = float(((ours - ours.mean()) ** 2).sum() + ((theirs - theirs.mean()) ** 2).sum())
    deviation = max(math.sqrt(squares / freedom), limits.noise_floor)
    error = deviation * math.sqrt(1 / len(ours) + 1 / len(theirs))
    return chance(as_normal(abs(float(theirs.mean() - ours.mean())) / error, freedom))


def _decided(measured: Sequence[Gated], limits: Limits) -> list[Gated]:
    chances = [each.clear for each in measured if each.clear is not None]
    bar = false_discovery_bar(chances, limits.false_discoveries)
    return [
        each if each.p_value is None else replace(each, verdict=_verdict(each, bar, limits))
        for each in measured
    ]


def _verdict(each: Gated, bar: float, limits: Limits) -> Verdict:
    assert each.effect is not None
    assert each.p_value is not None
    assert each.clear is not None
    assert each.needed is not None
    if abs(each.effect) < each.needed or each.p_value > limits.false_discoveries:
        return Verdict.UNCHANGED
    if each.clear > bar:
        return Verdict.INCONCLUSIVE
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


def has_two_levels(values: Sequence[float], limits: Limits) -> bool:
    """Return whether launches fall on two levels: a gap far wider than the spread of either."""
    logarithms = np.sort(np.log(np.array([value for value in values if value > 0])))
    least = math.ceil(limits.levels_share * len(logarithms))
    if least < 2 or len(logarithms) < limits.levels_launches:
        return False
    gaps = np.diff(logarithms)[least - 1 : len(logarithms) - least]
    if not len(gaps):
        return False
    split = int(np.argmax(gaps)) + least
    low, high = logarithms[:split], logarithms[split:]
    spread = max(float(low.std()), float(high.std()), limits.noise_floor)
    return float(high[0] - low[-1]) >= max(limits.levels_gap * spread, limits.least_effect)


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
