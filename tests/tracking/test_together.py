"""The newest nights of all series at once, by hand."""

from __future__ import annotations

import pytest

from advisor.tracking.comparing import load_comparing
from advisor.tracking.records import Newest, Verdict
from advisor.tracking.together import NewestTest, Together, judge_together

LIMITS = load_comparing().limits


def still() -> NewestTest:
    return NewestTest(newest=Newest(verdict=Verdict.UNCHANGED), noise=0.01, night=None)


def moved(relative: float, night: int = 50, p_value: float = 1e-9) -> NewestTest:
    verdict = Verdict.REGRESSED if relative > 0 else Verdict.IMPROVED
    newest = Newest(verdict=verdict, index=night, relative=relative, p_value=p_value)
    return NewestTest(newest=newest, noise=0.01, night=night)


def found(*tested: NewestTest) -> Together:
    return judge_together(tested, LIMITS, reach=2)


def verdicts(together: Together) -> list[str]:
    return [str(newest.verdict) for newest in together.newest]


def test_of_many_series_one_must_be_surer_than_of_few() -> None:
    # Of 20 tests the smallest chance must be at most 0.05 / 20 = 0.0025.
    doubtful = moved(0.05, p_value=0.003)
    assert verdicts(found(doubtful, *[still()] * 19))[0] == "inconclusive"
    assert verdicts(found(doubtful, *[still()] * 9))[0] == "regressed"
    # Beside a sure one the second smallest may be 2 · 0.0025.
    assert verdicts(found(doubtful, moved(0.3), *[still()] * 18))[:2] == ["regressed"] * 2


def test_series_that_are_too_short_are_no_tests() -> None:
    short = NewestTest(newest=Newest(verdict=Verdict.INSUFFICIENT), noise=None, night=None)
    together = found(moved(0.05, p_value=0.003), *[still()] * 9, *[short] * 90)
    assert verdicts(together)[0] == "regressed"
    assert verdicts(together)[-1] == "insufficient"


def test_most_series_at_once_are_the_machine() -> None:
    nights = (49, 50, 51, 50, 50, 50, 50, 50, 50)
    together = found(*(moved(0.05, night) for night in nights), moved(0.3), still())
    assert verdicts(together) == ["environment"] * 9 + ["regressed", "unchanged"]
    assert together.machine is not None
    assert (together.machine.moved, together.machine.series, together.night) == (9, 11, 49)
    assert together.machine.effect == pytest.approx(0.04879, abs=1e-5)  # ln 1.05


def test_changes_of_other_nights_and_other_sizes_are_no_machine() -> None:
    apart = found(*(moved(0.05, 3 * night) for night in range(10)))
    assert verdicts(apart) == ["regressed"] * 10
    assert apart.machine is None
    unlike = found(*(moved(0.05 * size) for size in range(1, 11)))
    assert verdicts(unlike) == ["regressed"] * 10
    some = found(*(moved(0.05) for _ in range(9)), *[still()] * 9)
    assert verdicts(some) == ["regressed"] * 9 + ["unchanged"] * 9


def test_a_lone_night_of_most_series_is_the_machines_and_decides_nothing() -> None:
    newest = Newest(verdict=Verdict.INCONCLUSIVE, index=50, relative=0.05, p_value=1e-9)
    lone = NewestTest(newest=newest, noise=0.01, night=50)
    together = found(*[lone] * 11, *[still()] * 2)
    assert verdicts(together) == ["inconclusive"] * 11 + ["unchanged"] * 2
    assert together.machine is not None
    assert (together.machine.moved, together.machine.series, together.night) == (11, 13, 50)
    few = found(*[lone] * 6, *[still()] * 7)
    assert few.machine is None
    assert verdicts(few) == ["inconclusive"] * 6 + ["unchanged"] * 7


def test_a_machine_may_become_faster() -> None:
    together = found(*(moved(-0.05) for _ in range(10)))
    assert verdicts(together) == ["environment"] * 10
