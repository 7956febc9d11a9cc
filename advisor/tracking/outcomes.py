"""Did the advice work: the outcome of it, night by night, from numbers alone.

Advice is opened on the first night on which its rule fires and promises time. A later night
decides when the rule is silent or the duration is another one, and the night after it, where there
is one, says the same. What moved meanwhile that the advice was to move tells whether anybody
followed it: a kernel that became slower for another reason is not blamed on the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from itertools import pairwise
from statistics import median

from advisor.records import dataclass
from advisor.tracking.settings import OutcomeSettings


class OutcomeState(Enum):
    """The outcome of advice; partly: faster, but less than promised or by other means."""

    OPEN = "open"
    WORKED = "worked"
    PARTLY = "partly"
    NO_EFFECT = "no effect"
    BACKFIRED = "backfired"
    GONE = "gone"


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Time that one launch could save [s]."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True, kw_only=True)
class OutcomeNight:
    """A series on one night, as one rule sees it.

    ``duration`` is seconds per launch. ``prediction`` is None where the rule does not fire or
    promises nothing. ``is_ruled_out`` tells that a guard silenced the rule, so it was not unknown.
    ``environment`` are driver, profiler and the like; None in it is unknown.
    """

    duration: float | None
    fires: bool
    is_ruled_out: bool = False
    prediction: Prediction | None = None
    environment: tuple[str | None, ...] = ()

    @property
    def promises(self) -> bool:
        """Return whether the rule fires and promises time."""
        return self.prediction is not None and self.prediction.likely > 0


@dataclass(frozen=True, kw_only=True)
class Lines:
    """How many of the values under ``verify`` moved as expected, and how many the wrong way.

    ``count`` values must move, ``known`` of them were measured on both nights and ``moved`` moved.
    ``wrong`` are those, and values that must not move, which moved the wrong way.
    """

    moved: int = 0
    wrong: int = 0
    known: int = 0
    count: int = 0


Compare = Callable[[int, int], Lines]
"""Return the outcome of the lines between two nights."""


@dataclass(frozen=True, kw_only=True)
class Episode:
    """Advice from the night it was opened to the one that decided, with seconds per launch."""

    opened: int
    state: OutcomeState
    prediction: Prediction
    before: float | None
    decided: int | None = None
    after: float | None = None

    @property
    def achieved(self) -> float | None:
        """Return the seconds that one launch became shorter by."""
        if self.before is None or self.after is None:
            return None
        return self.before - self.after


def looked_at(nights: Sequence[OutcomeNight], settings: OutcomeSettings) -> list[int]:
    """Return the nights whose ``verify`` lines decide: around each change of rule or duration.

    And the first of all, where there is any: what came later is compared with it.
    """
    found: set[int] = set()
    for index, (was, now) in enumerate(pairwise(nights), start=1):
        changed = (was.fires, was.promises) != (now.fires, now.promises)
        if changed or _differ(was.duration, now.duration, settings):
            found |= set(range(index - 1, min(index + settings.settle_nights, len(nights))))
    return sorted(found | {0}) if found else []


def episodes(
    nights: Sequence[OutcomeNight], compare: Compare, settings: OutcomeSettings, *, missing: int = 0
) -> list[Episode]:
    """Return the outcome of each advice over the nights of a series, oldest first.

    ``missing`` is how many nights came since without the series.
    """
    watched = frozenset(looked_at(nights, settings))
    found: list[Episode] = []
    opened: int | None = None
    base = 0
    for index, night in enumerate(nights):
        if opened is not None and index in watched:
            decided = _decided(nights, opened, base, index, compare, settings)
            if decided is not None:
                found.append(decided)
                opened = None
            elif _is_new_level(nights, base, index, compare, settings):
                base = index
        if opened is None and night.promises:
            opened = base = index
    if opened is not None:
        state = OutcomeState.GONE if missing >= settings.gone_nights else OutcomeState.OPEN
        found.append(
            Episode(
                opened=opened,
                state=state,
                prediction=_prediction(nights, opened, base),
                before=_level(nights[base : base + settings.settle_nights]),
            )
        )
    return found


def decide(
    before: float,
    after: float,
    likely: float,
    lines: Lines,
    settings: OutcomeSettings,
    *,
    still_fires: bool,
) -> OutcomeState | None:
    """Return the outcome of advice that promised ``likely`` seconds; None: nobody followed it.

    ``before`` and ``after`` are seconds per launch.
    """
    is_same = not _differ(before, after, settings)
    moved_nothing = lines.moved == 0 and lines.known > 0
    if lines.moved == 0 and still_fires:
        return None
    if moved_nothing and (is_same or after > before):
        return None
    if is_same:
        return OutcomeState.NO_EFFECT
    if after > before:
        return OutcomeState.BACKFIRED
    is_enough = before - after >= settings.worked_share * likely
    return (
        OutcomeState.PARTLY
        if not is_enough or moved_nothing or lines.wrong
        else OutcomeState.WORKED
    )


def _decided(
    nights: Sequence[OutcomeNight],
    opened: int,
    base: int,
    index: int,
    compare: Compare,
    settings: OutcomeSettings,
) -> Episode | None:
    """Return how the advice ended on a night; None where it did not."""
    night = nights[index]
    if not _departs(nights, base, index, compare, settings):
        return None
    is_elsewhere = _is_elsewhere(nights[index - 1].environment, night.environment)
    if is_elsewhere and night.fires:
        return None
    before = _level(nights[base:index])
    after = _level(nights[index : index + settings.settle_nights])
    if before is None or after is None:
        return None
    prediction = _prediction(nights, opened, base)
    lines = compare(base, index)
    state = decide(before, after, prediction.likely, lines, settings, still_fires=night.fires)
    if state is None:
        return None
    return Episode(
        opened=opened,
        state=state,
        prediction=prediction,
        before=before,
        decided=index,
        after=after,
    )


def _departs(
    nights: Sequence[OutcomeNight],
    base: int,
    index: int,
    compare: Compare,
    settings: OutcomeSettings,
) -> bool:
    """Return whether a night is another than those before, and no odd one."""
    before = _level(nights[base:index])

    def is_other(at: int) -> bool:
        night = nights[at]
        lines = compare(base, at)
        is_silent = not night.fires and (night.is_ruled_out or lines.known > 0 or lines.count == 0)
        return is_silent or _differ(before, night.duration, settings)

    return is_other(index) and (index + 1 == len(nights) or is_other(index + 1))


def _is_new_level(
    nights: Sequence[OutcomeNight],
    base: int,
    index: int,
    compare: Compare,
    settings: OutcomeSettings,
) -> bool:
    """Return whether the advice goes on from a level that has nothing to do with it."""
    return nights[index].fires and _departs(nights, base, index, compare, settings)


def _prediction(nights: Sequence[OutcomeNight], opened: int, base: int) -> Prediction:
    found = nights[base].prediction or nights[opened].prediction
    assert found is not None
    return found


def _level(nights: Sequence[OutcomeNight]) -> float | None:
    known = [night.duration for night in nights if night.duration is not None]
    return median(known) if known else None


def _differ(before: float | None, after: float | None, settings: OutcomeSettings) -> bool:
    if before is None or after is None:
        return False
    return abs(after - before) > settings.smallest_change * before


def _is_elsewhere(before: Sequence[str | None], after: Sequence[str | None]) -> bool:
    """Return whether something known on both nights is another thing."""
    pairs = zip(before, after, strict=False)
    return any(was and now and was != now for was, now in pairs)
