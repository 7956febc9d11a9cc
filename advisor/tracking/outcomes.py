"""Did the advice work: the outcome of it, night by night, from numbers alone.

Advice is opened on the first night on which its rule fires and promises time, and after which the
next night says nothing else: one night alone sets no level, and opens nothing but where it is the
first. A later night decides when the rule is silent or the duration is another one, and the night
after it says the same. What moved meanwhile that the advice was to move tells whether anybody
followed it: a kernel that became slower for another reason is not blamed on the rule, and undoing
that is not credited.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from itertools import pairwise
from statistics import median

from advisor.records import dataclass
from advisor.tracking.settings import OutcomeSettings


class OutcomeState(Enum):
    """The outcome of advice; partly: faster, but less than promised, or nothing shows by what."""

    OPEN = "open"
    WORKED = "worked"
    PARTLY = "partly"
    NO_EFFECT = "no effect"
    BACKFIRED = "backfired"
    OTHERWISE = "by other means"
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
    """Advice from the night it was opened to the one that decided, with seconds per launch.

    ``base`` is the night that the one that decided is compared with: that of the opening, or of a
    faster level that came of itself since. ``level`` is the base as it was before the first night
    that is not settled; None where the advice was not open then.
    """

    opened: int
    base: int
    state: OutcomeState
    prediction: Prediction
    before: float | None
    decided: int | None = None
    after: float | None = None
    level: int | None = None

    @property
    def achieved(self) -> float | None:
        """Return the seconds that one launch became shorter by."""
        if self.before is None or self.after is None:
            return None
        return self.before - self.after


@dataclass(frozen=True, kw_only=True)
class Start:
    """Where to go on: before the night ``at``, with the advice that was open then.

    ``opened`` is the night on which it was, None where there was none; ``base`` the one from which
    its level counts.
    """

    at: int = 0
    opened: int | None = None
    base: int = 0


FROM_THE_FIRST = Start()


class _Departure(Enum):
    """How a night is another than those before."""

    SILENT = "silent"
    FASTER = "faster"
    SLOWER = "slower"


class Medians:
    """Medians over nights of a series, of their seconds per launch; None is unknown."""

    def __init__(self, durations: Sequence[float | None]) -> None:
        self._durations = durations
        self._found: dict[tuple[int, int], float | None] = {}

    def between(self, first: int, end: int) -> float | None:
        """Return the median of the nights from ``first`` on, without the one at ``end``."""
        if (first, end) not in self._found:
            known = [each for each in self._durations[first:end] if each is not None]
            self._found[first, end] = median(known) if known else None
        return self._found[first, end]


def settled_before(count: int, settings: OutcomeSettings) -> int:
    """Return the first of so many nights that later ones may show otherwise.

    What happens on a night rests on those that settle it, and on the two after it, of which the
    second tells whether the values of the first are looked at.
    """
    return max(0, count - max(2, settings.settle_nights - 1))


def looked_at(
    nights: Sequence[OutcomeNight], settings: OutcomeSettings, since: int = 0
) -> list[int]:
    """Return the nights whose ``verify`` lines decide: around each change of rule or duration.

    Those from the night ``since`` on. And the first of all, where there is any: what came later is
    compared with it.
    """
    found: set[int] = set()
    first = first_told(since, settings)
    for index, (was, now) in enumerate(pairwise(nights[first:]), start=first + 1):
        changed = (was.fires, was.promises) != (now.fires, now.promises)
        if changed or _differ(was.duration, now.duration, settings):
            found |= set(range(index - 1, min(index + settings.settle_nights, len(nights))))
    found = {index for index in found if index >= since}
    return sorted(found if since else found | {0}) if found else []


def first_told(since: int, settings: OutcomeSettings) -> int:
    """Return the first night that must be known to tell what happens from the night ``since`` on.

    But for those on which advice was opened, or another level began.
    """
    return max(0, since - settings.settle_nights)


def episodes(
    nights: Sequence[OutcomeNight],
    compare: Compare,
    settings: OutcomeSettings,
    *,
    missing: int = 0,
    start: Start = FROM_THE_FIRST,
    levels: Medians | None = None,
) -> list[Episode]:
    """Return the outcome of each advice over the nights of a series, oldest first.

    ``missing`` is how many nights came since without the series. From a later ``start`` on, only of
    advice that was open then, or opened since.
    """
    watched = frozenset(looked_at(nights, settings, start.at))
    levels = levels or Medians([night.duration for night in nights])
    story = _Story(nights=nights, levels=levels, compare=compare, settings=settings)
    settled = settled_before(len(nights), settings)
    open_then: Start | None = None
    found: list[Episode] = []
    opened, base = start.opened, start.base
    for index in range(start.at, len(nights)):
        if index == settled:
            open_then = Start(at=index, opened=opened, base=base)
        if opened is not None and index in watched:
            decided = story.decided(opened, base, index)
            if decided is not None:
                found.append(decided)
                opened = None
            elif story.is_new_level(base, index):
                base = index
        if opened is None and story.opens(index):
            opened = base = index
    if opened is not None:
        state = OutcomeState.GONE if missing >= settings.gone_nights else OutcomeState.OPEN
        found.append(
            Episode(
                opened=opened,
                base=base,
                state=state,
                prediction=story.prediction(opened, base),
                before=story.level(base, len(nights)),
            )
        )
    return [_with_level(each, open_then) for each in found]


def _with_level(episode: Episode, then: Start | None) -> Episode:
    """Return an episode with its level, if it was open ``then``."""
    if then is None or then.opened != episode.opened:
        return episode
    return replace(episode, level=then.base)


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

    ``before`` and ``after`` are seconds per launch. Advice that names what it moves was only
    followed where some of that moved. A kernel that gained far more than was promised, or gained
    without any of that, is faster by other means.
    """
    is_shown = lines.moved > 0 or lines.count == 0
    is_faster = _is_faster(before, after, settings)
    if (lines.moved == 0 and still_fires) or not (is_shown or is_faster):
        return None
    if not is_faster:
        is_slower = _is_slower(before, after, settings)
        return OutcomeState.BACKFIRED if is_slower else OutcomeState.NO_EFFECT
    moved_nothing = lines.moved == 0 and lines.known > 0
    if moved_nothing or before - after > settings.largest_ratio * likely:
        return OutcomeState.OTHERWISE
    is_enough = before - after >= settings.worked_share * likely
    return (
        OutcomeState.WORKED if is_enough and is_shown and not lines.wrong else OutcomeState.PARTLY
    )


@dataclass(frozen=True, kw_only=True)
class _Story:
    """The nights of a series, and what advice for it has come to."""

    nights: Sequence[OutcomeNight]
    levels: Medians
    compare: Compare
    settings: OutcomeSettings

    def opens(self, index: int) -> bool:
        """Return whether advice is opened on a night: the one after it says nothing else.

        Before the first night there is none that it could be odd beside.
        """
        if not self.nights[index].promises:
            return False
        if index == 0 or index + 1 >= len(self.nights):
            return index == 0
        return not self._departure(index, self.nights[index].duration, index + 1)

    def decided(self, opened: int, base: int, index: int) -> Episode | None:
        """Return how the advice ended on a night; None where it did not."""
        night = self.nights[index]
        if not self._departs(base, index):
            return None
        is_elsewhere = _is_elsewhere(self.nights[index - 1].environment, night.environment)
        if is_elsewhere and night.fires:
            return None
        level = self.level(base, index)
        lately = self.level(max(base, index - self.settings.settle_nights), index)
        after = self.levels.between(index, index + self.settings.settle_nights)
        if level is None or lately is None or after is None:
            return None
        before = min(level, lately)
        is_slower_since = _is_slower(level, lately, self.settings)
        if is_slower_since and not _is_faster(before, after, self.settings):
            return None  # nothing tells what is undone from what the advice did
        prediction = self.prediction(opened, base)
        lines = self.compare(base, index)
        state = decide(
            before, after, prediction.likely, lines, self.settings, still_fires=night.fires
        )
        if state is None:
            return None
        return Episode(
            opened=opened,
            base=base,
            state=state,
            prediction=prediction,
            before=before,
            decided=index,
            after=after,
        )

    def is_new_level(self, base: int, index: int) -> bool:
        """Return whether the advice goes on from a faster level that it has not brought.

        A slower one is no other base: advice is not credited with what only undoes it.
        """
        return self.nights[index].fires and _Departure.FASTER in self._departs(base, index)

    def level(self, base: int, index: int) -> float | None:
        """Return the level that counts from the night ``base`` on, as nights before another tell.

        While they are too few to settle it, one of them may be odd, but that night is not.
        """
        settled = base + self.settings.settle_nights
        return self.levels.between(base, settled if settled <= index else base + 1)

    def prediction(self, opened: int, base: int) -> Prediction:
        found = self.nights[base].prediction or self.nights[opened].prediction
        assert found is not None
        return found

    def _departs(self, base: int, index: int) -> set[_Departure]:
        """Return how a night is another than those before; nothing where it is an odd one.

        That is told by the night after it, so the newest decides nothing yet.
        """
        if index + 1 >= len(self.nights):
            return set()
        before = self.level(base, index)
        return self._departure(base, before, index) & self._departure(base, before, index + 1)

    def _departure(self, base: int, before: float | None, at: int) -> set[_Departure]:
        night = self.nights[at]
        found = set()
        if before is not None and night.duration is not None:
            if _is_faster(before, night.duration, self.settings):
                found.add(_Departure.FASTER)
            if _is_slower(before, night.duration, self.settings):
                found.add(_Departure.SLOWER)
        lines = self.compare(base, at)
        if not night.fires and (night.is_ruled_out or lines.known > 0 or lines.count == 0):
            found.add(_Departure.SILENT)
        return found


def _is_faster(before: float, after: float, settings: OutcomeSettings) -> bool:
    return before - after > settings.smallest_change * before


def _is_slower(before: float, after: float, settings: OutcomeSettings) -> bool:
    return after - before > settings.smallest_change * before


def _differ(before: float | None, after: float | None, settings: OutcomeSettings) -> bool:
    if before is None or after is None:
        return False
    return _is_faster(before, after, settings) or _is_slower(before, after, settings)


def _is_elsewhere(before: Sequence[str | None], after: Sequence[str | None]) -> bool:
    """Return whether something known on both nights is another thing."""
    pairs = zip(before, after, strict=False)
    return any(was and now and was != now for was, now in pairs)
