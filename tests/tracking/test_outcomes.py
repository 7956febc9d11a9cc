"""The outcome of advice, by hand: times are seconds per launch, the promise 40 of 100."""

from __future__ import annotations

import random

import pytest

from advisor.tracking.outcomes import (
    FROM_THE_FIRST,
    Episode,
    Lines,
    Medians,
    OutcomeNight,
    OutcomeState,
    Prediction,
    Start,
    decide,
    episodes,
    first_told,
    looked_at,
    settled_before,
)
from advisor.tracking.settings import load_outcome_settings

SETTINGS = load_outcome_settings()
PROMISE = Prediction(low=20.0, likely=40.0, high=60.0)
MOVED = Lines(moved=1, known=1, count=1)
STILL = Lines(known=1, count=1)
UNKNOWN = Lines(count=1)


def fires(duration: float | None, *environment: str) -> OutcomeNight:
    return OutcomeNight(duration=duration, fires=True, prediction=PROMISE, environment=environment)


def silent(duration: float | None, *environment: str) -> OutcomeNight:
    return OutcomeNight(duration=duration, fires=False, environment=environment)


def follow(
    nights: list[OutcomeNight], lines: Lines | dict[int, Lines], missing: int = 0
) -> list[Episode]:
    def compare(_: int, after: int) -> Lines:
        return lines if isinstance(lines, Lines) else lines.get(after, STILL)

    return episodes(nights, compare, SETTINGS, missing=missing)


def states(
    nights: list[OutcomeNight], lines: Lines | dict[int, Lines]
) -> list[tuple[str, int | None]]:
    return [(each.state.value, each.decided) for each in follow(nights, lines)]


@pytest.mark.parametrize(
    ("after", "lines", "still_fires", "state"),
    [
        (60.0, MOVED, False, OutcomeState.WORKED),  # saved 40 of 40
        (80.0, MOVED, False, OutcomeState.WORKED),  # just half of the promise
        (81.0, MOVED, False, OutcomeState.PARTLY),
        (96.0, MOVED, False, OutcomeState.PARTLY),  # 4 % is a change
        (97.0, MOVED, False, OutcomeState.NO_EFFECT),  # 3 % is none
        (103.0, MOVED, False, OutcomeState.NO_EFFECT),
        (104.0, MOVED, False, OutcomeState.BACKFIRED),
        (60.0, MOVED, True, OutcomeState.WORKED),  # the rule may fire on, for what is left
        (60.0, Lines(moved=1, wrong=1, known=2, count=2), False, OutcomeState.PARTLY),
        (60.0, STILL, False, OutcomeState.OTHERWISE),  # by something else than was advised
        (20.0, MOVED, False, OutcomeState.WORKED),  # saved 80, just twice the promise
        (19.0, MOVED, False, OutcomeState.OTHERWISE),  # more is another change
        (19.0, MOVED, True, OutcomeState.OTHERWISE),
        (19.0, Lines(), False, OutcomeState.OTHERWISE),
        (60.0, UNKNOWN, False, OutcomeState.PARTLY),  # nothing tells that the advice did it
        (60.0, Lines(), False, OutcomeState.WORKED),  # there is nothing but the time to check
        (60.0, STILL, True, None),  # nobody followed it
        (150.0, STILL, True, None),
        (150.0, STILL, False, None),
        (100.0, STILL, False, None),
        (100.0, UNKNOWN, False, None),
        (150.0, UNKNOWN, False, None),  # what nobody can tell is not held against it
        (150.0, Lines(), False, OutcomeState.BACKFIRED),
    ],
)
def test_decides(after: float, lines: Lines, still_fires: bool, state: OutcomeState | None) -> None:
    assert decide(100.0, after, 40.0, lines, SETTINGS, still_fires=still_fires) is state


def test_advice_is_open_while_nothing_changes() -> None:
    (only,) = follow([fires(100.0), fires(101.0), fires(99.0)], STILL)
    assert (only.opened, only.state, only.before, only.decided) == (
        0,
        OutcomeState.OPEN,
        100.0,
        None,
    )


def test_the_first_night_on_which_the_rule_is_silent_decides() -> None:
    (only,) = follow([silent(100.0), fires(100.0), fires(102.0), silent(60.0), silent(62.0)], MOVED)
    assert (only.opened, only.decided, only.state) == (1, 3, OutcomeState.WORKED)
    assert (only.before, only.after, only.achieved) == (100.0, 61.0, 39.0)  # of two, the first


def test_the_newest_night_alone_decides_nothing() -> None:
    """The next one does: with it, or against it."""
    nights = [fires(100.0), fires(100.0), silent(60.0)]
    assert states(nights, MOVED) == [("open", None)]
    assert states([*nights, silent(60.0)], MOVED) == [("worked", 2)]
    assert states([*nights, fires(100.0)], {2: MOVED}) == [("open", None)]


def test_one_odd_night_decides_nothing() -> None:
    nights = [fires(100.0), fires(100.0), silent(60.0), fires(100.0), fires(100.0)]
    assert states(nights, {2: MOVED}) == [("open", None)]


def test_the_first_night_is_odd_beside_none() -> None:
    assert states([fires(125.0)], MOVED) == [("open", None)]
    assert states([fires(125.0), silent(100.0)], MOVED) == [("open", None)]
    assert states([fires(125.0), *[silent(100.0)] * 2], MOVED) == [("worked", 1)]


@pytest.mark.parametrize("before", [1, 3])
def test_one_slow_night_opens_no_advice(before: int) -> None:
    """A rule that fires on it alone has said nothing, wherever in the series it is."""
    slow = [*[silent(100.0)] * before, fires(125.0)]
    for after in range(4):
        assert states([*slow, *[silent(100.0)] * after], MOVED) == []
    assert states([*slow, fires(126.0)], MOVED) == [("open", None)]


def test_one_slow_night_sets_no_level() -> None:
    (first,) = follow([fires(125.0), *[fires(100.0)] * 3], STILL)
    assert (first.opened, first.before, first.state) == (0, 100.0, OutcomeState.OPEN)
    (third,) = follow([*[fires(100.0)] * 2, fires(125.0), *[silent(100.0)] * 2], MOVED)
    assert (third.before, third.after, third.state) == (100.0, 100.0, OutcomeState.NO_EFFECT)
    nights = [*[fires(100.0)] * 3, fires(150.0), *[silent(60.0)] * 2]
    (last,) = follow(nights, {4: MOVED, 5: MOVED})
    assert (last.decided, last.before, last.after) == (4, 100.0, 60.0)


def test_an_odd_night_only_puts_advice_off() -> None:
    nights = [silent(100.0), fires(100.0), silent(80.0), fires(100.0), fires(100.0)]
    assert [(each.opened, each.state.value) for each in follow(nights, MOVED)] == [(3, "open")]


def test_a_slower_kernel_is_not_held_against_advice_that_nobody_followed() -> None:
    nights = [*[fires(100.0)] * 2, *[fires(150.0)] * 2, *[silent(60.0)] * 2]
    (only,) = follow(nights, {4: MOVED, 5: MOVED})
    assert (only.opened, only.decided, only.state) == (0, 4, OutcomeState.WORKED)
    assert (only.base, only.before, only.after) == (0, 100.0, 60.0)  # not credited with all 90


@pytest.mark.parametrize("after", [130.0, 110.0, 103.0, 97.0])
def test_undoing_a_slowdown_is_no_success(after: float) -> None:
    """The kernel is no faster than on the night on which the advice was given."""
    nights = [*[fires(100.0)] * 3, *[fires(150.0)] * 3, *[silent(after)] * 3]
    assert states(nights, dict.fromkeys((6, 7, 8), MOVED)) == [("open", None)]


def test_a_level_that_became_faster_of_itself_is_the_base_of_time_and_lines() -> None:
    nights = [*[fires(100.0)] * 3, *[fires(80.0)] * 3, *[silent(50.0)] * 2]
    compared = []

    def compare(before: int, after: int) -> Lines:
        compared.append((before, after))
        return MOVED if after >= 6 else STILL

    (only,) = episodes(nights, compare, SETTINGS)
    assert (only.opened, only.base, only.decided) == (0, 3, 6)
    assert (only.before, only.after) == (80.0, 50.0)
    assert {before for before, after in compared if after == 6} == {3}


def test_what_a_kernel_gained_bit_by_bit_is_not_credited() -> None:
    slopes = [fires(duration) for duration in (100.0, 98.0, 96.0) for _ in range(3)]
    (only,) = follow([*slopes, *[silent(60.0)] * 2], {9: MOVED, 10: MOVED})
    assert (only.decided, only.before, only.after) == (9, 96.0, 60.0)


def test_a_new_driver_is_no_outcome() -> None:
    nights = [fires(100.0, "535"), fires(100.0, "535"), fires(60.0, "550"), fires(60.0, "550")]
    assert states(nights, MOVED) == [("open", None)]
    known = [fires(100.0), fires(100.0), fires(60.0, "550"), fires(60.0, "550")]
    assert states(known, MOVED)[0] == ("worked", 2)  # from unknown to known is no change


def test_a_night_without_the_counters_tells_nothing() -> None:
    nights = [fires(100.0), silent(100.0), silent(100.0)]
    assert states(nights, UNKNOWN) == [("open", None)]
    ruled_out = OutcomeNight(duration=60.0, fires=False, is_ruled_out=True)
    nights = [fires(100.0), fires(100.0), ruled_out, ruled_out]
    assert states(nights, UNKNOWN) == [("partly", 2)]


def test_advice_opens_again_where_the_rule_still_fires() -> None:
    nights = [fires(100.0), fires(100.0), fires(70.0), fires(70.0)]
    moved = {2: MOVED, 3: MOVED}
    found = follow(nights, moved)
    assert [(each.opened, each.state) for each in found] == [
        (0, OutcomeState.WORKED),
        (2, OutcomeState.OPEN),
    ]


def test_a_series_that_is_missing_for_some_nights_is_gone() -> None:
    nights = [fires(100.0), fires(100.0)]
    assert follow(nights, STILL, missing=2)[0].state is OutcomeState.OPEN
    assert follow(nights, STILL, missing=3)[0].state is OutcomeState.GONE


def test_unknown_durations_decide_nothing() -> None:
    nights = [*[fires(None)] * 2, *[silent(None)] * 2]
    assert states(nights, MOVED) == [("open", None)]


def test_few_nights_are_looked_at() -> None:
    steady = [fires(100.0)] * 50
    assert looked_at(steady, SETTINGS) == []
    changed = [*steady, *[silent(60.0)] * 50]
    assert looked_at(changed, SETTINGS) == [0, 49, 50, 51, 52]


UNTOLD = OutcomeNight(duration=None, fires=False)


def go_on(before: list[Episode], count: int) -> tuple[list[Episode], Start]:
    """Return the outcomes of so many nights that are settled, and where to go on."""
    at = settled_before(count, SETTINGS)
    kept = [each for each in before if each.decided is not None and each.decided < at]
    for each in before:
        if each not in kept and each.opened < at:
            assert each.level is not None
            return kept, Start(at=at, opened=each.opened, base=each.level)
    return kept, Start(at=at)


def test_new_nights_go_on_from_the_settled_ones() -> None:
    """What is not told of the nights before is not needed."""
    rng = random.Random(1)
    lines = rng.choices([MOVED, STILL, UNKNOWN], k=7)

    def compare(before: int, after: int) -> Lines:
        return lines[(3 * before + after) % len(lines)]

    decided = 0
    for _ in range(60):
        nights = [
            rng.choice([fires, fires, fires, silent])(rng.choice([100.0, 101.0, 90.0, 60.0, None]))
            for _ in range(20)
        ]
        found, start, count = list[Episode](), FROM_THE_FIRST, rng.randrange(1, 9)
        while count <= len(nights):
            told = {start.opened, start.base, *range(first_told(start.at, SETTINGS), count)}
            shown = [n if i in told else UNTOLD for i, n in enumerate(nights[:count])]
            levels = Medians([night.duration for night in nights[:count]])
            found += episodes(shown, compare, SETTINGS, start=start, levels=levels)
            assert found == episodes(nights[:count], compare, SETTINGS)
            decided += sum(each.decided is not None for each in found)
            found, start = go_on(found, count)
            count += rng.choice([1, 1, 2])
    assert decided > 400
