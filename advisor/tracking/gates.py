"""Whether series moved between two runs: a statistical gate, a practical one, and a whole machine.

A series has moved where chance does not explain it *and* the effect is worth acting on (a least
share, and more than the spread of single launches and nights). Chance is that of the rank test of
its launches or, with few of them, of its nights: the levels that the detector found, or else the
noise of one night. The rank test of few launches cannot be as sure as many series together ask for:
it must agree, and Student's test on logarithms, which is as sure as the effect is clear, goes into
the limit of false discoveries over all series. Launches of one run share its machine and its night:
where the noise of nights is known, it must agree as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from advisor.records import dataclass
from advisor.tracking.comparing import Limits
from advisor.tracking.launches import Launches, LaunchTest, launch_tests, student_chance
from advisor.tracking.levels import Levels
from advisor.tracking.noise import chance
from advisor.tracking.records import Verdict


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Launches in short: how many, their median, and their deviation relative to the mean."""

    launches: int
    median: float
    deviation: float


@dataclass(frozen=True, kw_only=True)
class Samples:
    """What is known of one series: the durations of its launches in both runs, in one unit.

    Where those of a run were dropped, the spread of them stands in.
    ``base_launches`` and ``head_launches`` weigh them: what is compared is time in the run.
    ``past_noise`` is the relative deviation of one night, from A/A runs or from the nights of the
    series; ``levels`` are those of both nights. None where neither tells.
    """

    base: Sequence[float]
    head: Sequence[float]
    base_spread: Spread | None = None
    head_spread: Spread | None = None
    base_launches: float = 1.0
    head_launches: float = 1.0
    past_noise: float | None = None
    levels: Levels | None = None

    @property
    def spreads(self) -> tuple[Spread, Spread] | None:
        """Return both runs in short, where the launches of one are gone."""
        if (self.base and self.head) or self.base_spread is None or self.head_spread is None:
            return None
        return self.base_spread, self.head_spread

    @property
    def count(self) -> int:
        """Return how many launches the run has that has fewer."""
        if self.spreads is not None:
            return min(each.launches for each in self.spreads)
        return min(len(self.base), len(self.head))

    @property
    def night_noise(self) -> float | None:
        """Return the relative deviation of one night, the largest that is known."""
        known = (self.past_noise, None if self.levels is None else self.levels.noise)
        return max((each for each in known if each is not None), default=None)


@dataclass(frozen=True, kw_only=True)
class Gated:
    """What both gates say about one series.

    ``effect`` is the natural logarithm of head over base, ``noise`` the relative deviation that it
    is compared with, ``p_value`` the chance of it by ranks, or by nights; each None where it is
    not known. ``needed`` is the effect that the practical gate asks for, ``clear`` the chance that
    the limit of false discoveries is compared with. ``levels`` is the effect between the levels of
    both nights, which is judged in place of ``effect`` where it is known. ``is_doubtful``: it may
    be an odd night.
    """

    verdict: Verdict
    effect: float | None
    noise: float | None = None
    p_value: float | None = None
    needed: float | None = None
    clear: float | None = None
    levels: float | None = None
    is_doubtful: bool = False

    @property
    def judged(self) -> float | None:
        """Return the effect that the gates look at."""
        return self.effect if self.levels is None else self.levels


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
    measured = _measured(samples, limits, shift=0.0)
    shift = machine_shift(measured, limits)
    found = _decided(measured, limits)
    if shift is None:
        return found, None
    left = _decided(_measured(samples, limits, shift=shift.effect), limits)
    judged = [
        replace(whole, verdict=own.verdict, needed=own.needed)
        if own.verdict in (Verdict.REGRESSED, Verdict.IMPROVED)
        else _with_machine(whole, shift)
        for whole, own in zip(found, left, strict=True)
    ]
    return judged, shift


def _with_machine(whole: Gated, shift: MachineShift) -> Gated:
    """Return what becomes of a series that did not move by itself."""
    effect = whole.judged
    alike = effect is not None and effect * shift.effect > 0
    moved = alike and whole.needed is not None and abs(effect or 0.0) >= whole.needed
    return replace(whole, verdict=Verdict.ENVIRONMENT) if moved else whole


def _measured(samples: Sequence[Samples], limits: Limits, shift: float) -> list[Gated]:
    """Return effect, noise and chance of each series, no verdict but ``insufficient`` yet."""
    middles = [_middles(each) for each in samples]
    asked = [
        number
        for number, (each, known) in enumerate(zip(samples, middles, strict=True))
        if known is not None and each.spreads is None and each.count >= limits.least_launches
    ]
    tests = launch_tests([_launches(samples[number], shift) for number in asked], limits)
    tested = dict(zip(asked, tests, strict=True))
    return [
        Gated(verdict=Verdict.INSUFFICIENT, effect=None)
        if known is None
        else _gauged(each, math.log(known[1] / known[0]) - shift, shift, tested.get(number), limits)
        for number, (each, known) in enumerate(zip(samples, middles, strict=True))
    ]


def _launches(each: Samples, shift: float) -> Launches:
    return Launches(each.base, each.head, each.base_launches, each.head_launches / math.exp(shift))


def _gauged(
    each: Samples, effect: float, shift: float, tested: LaunchTest | None, limits: Limits
) -> Gated:
    """Return what launches say, else nights; ``tested`` is what single launches say."""
    if tested is not None:
        return _by_launches(each, effect, tested, limits)
    if each.spreads is not None and each.count >= limits.least_launches:
        return _by_launches(each, effect, _spread_test(each.spreads, effect, limits), limits)
    if each.night_noise is not None:
        return _by_nights(each, effect, shift, limits)
    moved = abs(effect) >= limits.least_effect  # less is nothing to act on, by chance or not
    verdict = Verdict.INSUFFICIENT if moved else Verdict.UNCHANGED
    return Gated(verdict=verdict, effect=effect, needed=limits.least_effect)


def _spread_test(spreads: tuple[Spread, Spread], effect: float, limits: Limits) -> LaunchTest:
    """Return what the launches of both runs say in short: no ranks are known of them."""
    spread = _pooled(spreads)
    counts = spreads[0].launches, spreads[1].launches
    by_student = student_chance(effect, spread, *counts, limits)
    return LaunchTest(spread, by_student, by_student)


def _middles(each: Samples) -> tuple[float, float] | None:
    """Return the median of the launches times their number, of both runs; None where unknown."""
    if each.spreads is not None:
        base, head = (spread.median for spread in each.spreads)
    elif each.base and each.head and min(*each.base, *each.head) > 0:
        base, head = median(each.base), median(each.head)
    else:
        return None
    base, head = base * each.base_launches, head * each.head_launches
    return (base, head) if base > 0 and head > 0 else None


def _by_launches(each: Samples, effect: float, tested: LaunchTest, limits: Limits) -> Gated:
    """Return what the launches of both runs say; the noise of nights must agree, where known."""
    noise = max(tested.spread, limits.noise_floor)
    p_value, clear = tested.by_ranks, tested.by_student
    nights = each.night_noise
    if nights is not None:
        by_nights = chance(abs(effect) / (max(nights, limits.noise_floor) * _error(each)))
        noise, p_value, clear = max(noise, nights), max(p_value, by_nights), max(clear, by_nights)
    return _gated(effect, noise, p_value, clear, each, limits)


def _by_nights(each: Samples, effect: float, shift: float, limits: Limits) -> Gated:
    """Return what the nights of the series say about two of them.

    Where the detector found changes of level between them, those are the chance; the two results
    must show at least half of the change, or else they are odd ones.
    """
    noise = max(each.night_noise or 0.0, limits.noise_floor)
    levels = each.levels
    found = effect
    if levels is not None:
        found = levels.effect + math.log(each.head_launches / each.base_launches) - shift
    p_value = chance(abs(found) / (noise * _error(each)))
    if levels is not None and levels.p_value is not None and not shift:
        p_value = min(p_value, levels.p_value)
    gated = _gated(effect, noise, p_value, p_value, each, limits)
    if levels is None:
        return gated
    shows = effect * found > 0 and abs(effect) >= abs(found) / 2
    return replace(gated, levels=found, is_doubtful=gated.is_doubtful or not shows)


def _error(each: Samples) -> float:
    """Return the deviation of the effect in units of the noise of one night."""
    return math.sqrt(2) if each.levels is None else each.levels.error


def _gated(
    effect: float, noise: float, p_value: float, clear: float, each: Samples, limits: Limits
) -> Gated:
    needed = max(limits.least_effect, math.log1p(limits.noise_multiple * noise))
    return Gated(
        verdict=Verdict.UNCHANGED,
        effect=effect,
        noise=noise,
        p_value=p_value,
        needed=needed,
        clear=clear,
        is_doubtful=each.levels is not None and each.levels.is_doubtful,
    )


def _pooled(spreads: Sequence[Spread]) -> float:
    """Return the relative deviation of single launches, of both runs in short."""
    squares = math.fsum((each.launches - 1) * each.deviation**2 for each in spreads)
    return math.sqrt(squares / max(sum(each.launches for each in spreads) - 2, 1))


def _decided(measured: Sequence[Gated], limits: Limits) -> list[Gated]:
    chances = [each.clear for each in measured if each.clear is not None]
    bar = false_discovery_bar(chances, limits.false_discoveries)
    return [each if each.p_value is None else _with_verdict(each, bar, limits) for each in measured]


def _with_verdict(each: Gated, bar: float, limits: Limits) -> Gated:
    verdict = _verdict(each, bar, limits)
    return each if verdict is each.verdict else replace(each, verdict=verdict)


def _verdict(each: Gated, bar: float, limits: Limits) -> Verdict:
    effect = each.judged
    assert effect is not None
    assert each.p_value is not None
    assert each.clear is not None
    assert each.needed is not None
    if abs(effect) < each.needed or each.p_value > limits.false_discoveries:
        return Verdict.UNCHANGED
    if each.clear > bar or each.is_doubtful:
        return Verdict.INCONCLUSIVE
    return Verdict.REGRESSED if effect > 0 else Verdict.IMPROVED


def false_discovery_bar(chances: Sequence[float], rate: float) -> float:
    """Return the largest chance that counts, so that at most ``rate`` of what it finds is false.

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


def machine_shift(measured: Sequence[Gated], limits: Limits) -> MachineShift | None:
    """Return the shift that most series share, None where each goes its own way."""
    known = [(each, each.judged) for each in measured if each.judged is not None]
    effects = np.array([effect for _, effect in known])
    if len(effects) < limits.machine_series:
        return None
    middle = median(effects.tolist())
    if abs(middle) < limits.least_effect:
        return None
    own = [max(limits.least_effect, 2 * (each.noise or 0.0)) for each, _ in known]
    alike = int((np.abs(effects - middle) <= np.minimum(np.array(own), abs(middle) / 2)).sum())
    if alike < max(limits.machine_series, limits.machine_share * len(effects)):
        return None
    return MachineShift(effect=middle, moved=alike, series=len(effects))
