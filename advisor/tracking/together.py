"""The newest nights of all series at once: false discoveries, and a shift of the whole machine."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.records import dataclass
from advisor.tracking.gates import Gated, MachineShift, false_discovery_bar, machine_shift
from advisor.tracking.records import Newest, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.tracking.comparing import Limits

_MOVED = (Verdict.REGRESSED, Verdict.IMPROVED, Verdict.ENVIRONMENT)
# One night alone proves nothing of a series, but where most series strayed alike, the machine did.
_STRAYED = (*_MOVED, Verdict.INCONCLUSIVE)


@dataclass(frozen=True, kw_only=True)
class NewestTest:
    """The test of the newest nights of one series; ``night`` is the place of ``newest.index``.

    Nights are counted over all series; None where nothing moved.
    """

    newest: Newest
    noise: float | None
    night: int | None


@dataclass(frozen=True, kw_only=True)
class Together:
    """What all series say: verdicts in their order, and the shift that most share, with its night.

    A series that moved with the machine, and not by itself, is ``environment``; of one night alone
    it stays open whether they moved.
    """

    newest: tuple[Newest, ...]
    machine: MachineShift | None
    night: int | None


def judge_together(tested: Sequence[NewestTest], limits: Limits, *, reach: int) -> Together:
    """Return the verdicts of series that were tested alone, so that few of all are false.

    ``reach`` is how many nights apart changes may be that have one cause.
    """
    judged = [each for each in tested if each.newest.verdict is not Verdict.INSUFFICIENT]
    bar = false_discovery_bar([_chance(each.newest) for each in judged], limits.false_discoveries)
    night = _commonest([each for each in judged if each.newest.verdict in _STRAYED], reach)
    shift = machine_shift([_gated(each, night, reach) for each in judged], limits)
    return Together(
        newest=tuple(
            _judged(each, bar, shift, limits, is_near=_is_near(each, night, reach))
            for each in tested
        ),
        machine=shift,
        night=night if shift is not None else None,
    )


def _chance(newest: Newest) -> float:
    """Return the chance of what was found; where nothing was, it proves nothing."""
    return 1.0 if newest.p_value is None else newest.p_value


def _judged(
    each: NewestTest, bar: float, shift: MachineShift | None, limits: Limits, *, is_near: bool
) -> Newest:
    newest = each.newest
    if newest.verdict not in _MOVED:
        return newest
    if shift is not None and is_near:
        own = abs(_effect(newest) - shift.effect)
        if own <= max(limits.least_effect, 2 * (each.noise or 0.0)):
            return replace(newest, verdict=Verdict.ENVIRONMENT)
    if _chance(newest) > bar:
        return replace(newest, verdict=Verdict.INCONCLUSIVE)
    return newest


def _effect(newest: Newest) -> float:
    """Return the change as a natural logarithm; 0 where a share cannot tell it."""
    relative = newest.relative
    return math.log1p(relative) if relative is not None and relative > -1 else 0.0


def _gated(each: NewestTest, night: int | None, reach: int) -> Gated:
    """Return a series as the search for a common shift sees it; others stayed as they were."""
    is_near = _is_near(each, night, reach) and each.newest.verdict in _STRAYED
    effect = _effect(each.newest) if is_near else 0.0
    return Gated(verdict=each.newest.verdict, effect=effect, noise=each.noise)


def _is_near(each: NewestTest, night: int | None, reach: int) -> bool:
    return each.night is not None and night is not None and abs(each.night - night) <= reach


def _commonest(moved: Sequence[NewestTest], reach: int) -> int | None:
    """Return the night with most changes around it, the first of several."""
    nights = [each.night for each in moved if each.night is not None]
    return max(
        sorted(set(nights)),
        key=lambda night: sum(abs(other - night) <= reach for other in nights),
        default=None,
    )
