from __future__ import annotations

import pytest

from advisor.tracking.record import Advice, Row, given_once, record_of
from advisor.tracking.settings import load_outcome_settings

SETTINGS = load_outcome_settings()  # five prior outcomes; a ratio counts as 2 at most


def advice(state: str, achieved: float | None) -> Advice:
    return Advice(state=state, predicted=10.0, achieved=achieved)


def test_counts_states_and_takes_the_median_and_the_quartiles() -> None:
    told = [("worked", 12.0), ("worked", 10.0), ("partly", 4.0), ("no effect", 0.0)]
    found = record_of([*(advice(*each) for each in told), advice("open", None)], SETTINGS)
    assert (found.given, found.taken, found.states["worked"], found.states["open"]) == (5, 4, 2, 1)
    # Ratios 0, 0.4, 1, 1.2: between the middle two lies 0.7; a quarter from the ends 0.3 and 1.05.
    assert (found.ratio, found.low, found.high) == pytest.approx((0.7, 0.3, 1.05))
    assert found.belief == pytest.approx((5 + 0 + 0.4 + 1 + 1.2) / 9)


def test_without_a_record_an_estimate_counts_as_it_is() -> None:
    for told in ([], [advice("open", None)], [advice("gone", None)]):
        found = record_of(told, SETTINGS)
        assert (found.taken, found.ratio, found.low, found.belief) == (0, None, None, 1.0)


@pytest.mark.parametrize(("achieved", "belief"), [(-30.0, 5 / 6), (100.0, 7 / 6), (10.0, 1.0)])
def test_one_outcome_moves_it_by_a_sixth_at_most(achieved: float, belief: float) -> None:
    state = "worked" if achieved > 0 else "backfired"
    assert record_of([advice(state, achieved)], SETTINGS).belief == pytest.approx(belief)


def test_what_came_by_other_means_is_credited_to_no_rule() -> None:
    found = record_of([advice("by other means", 1000.0), advice("worked", 10.0)], SETTINGS)
    assert (found.given, found.taken, found.states["by other means"]) == (2, 1, 1)
    assert (found.ratio, found.belief) == (1.0, 1.0)


def outcome(branch: str, opened: int, decided: int | None = None, state: str = "open") -> Row:
    """Return an outcome that is stored, with numbers of days as times."""
    days = {"opened_at": opened, "opened_run": f"run{opened}", "decided_at": decided}
    run = None if decided is None else f"run{decided}"
    same = {"rule_id": "rule", "series_id": "series", "simulated": False}
    return {**same, **days, "branch": branch, "decided_run": run, "state": state}


def test_advice_is_given_once_while_it_is_open() -> None:
    main = outcome("main", 1, 9, "worked")
    during, decided = outcome("feature", 5), outcome("other", 5, 7, "partly")
    after, other = outcome("feature", 9), outcome("late", 5) | {"series_id": "another"}
    assert given_once([main, during, decided, after]) == [main, decided, after]
    assert given_once([during, outcome("main", 2)]) == [outcome("main", 2)]
    assert given_once([during, outcome("main", 2, state="gone")])[0] == during
    assert given_once([during, other]) == [during, other]


def test_a_promise_of_nothing_has_no_ratio() -> None:
    found = record_of([Advice(state="worked", predicted=0.0, achieved=1.0)], SETTINGS)
    assert (found.taken, found.ratio, found.belief) == (1, None, 1.0)
