"""Pairs of launches before and after a known change: whole, and compared as the page says."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from studies.advised import Advised, Step
from studies.ladders import USES, Outcome, Pair, load_pairs, outcome, page

ROOT = Path(__file__).parents[2]
PAIR = Pair(
    ladder="one", use=USES[0], debug=False, before=("a.ncu-rep", 0), after=("a.ncu-rep", 1),
    change="coalesced", rules=frozenset({"memory/uncoalesced-loads"}),
)  # fmt: skip
OTHER = Step(rule="launch/tail-wave", low=0.1, likely=0.1, high=0.2)
NAMED = Step(rule="memory/uncoalesced-loads", low=0.3, likely=0.5, high=0.6)
BESIDE = replace(OTHER, beside=(NAMED,))


def test_there_are_enough_of_them() -> None:
    pairs = load_pairs()
    assert len([pair for pair in pairs if not pair.debug]) >= 25
    assert {pair.use for pair in pairs} == set(USES)
    assert all(pair.before != pair.after for pair in pairs)


def test_they_ask_for_rules_that_exist() -> None:
    named = frozenset().union(*(pair.rules for pair in load_pairs()))
    shipped = {str(path.relative_to(ROOT / "rules"))[:-5] for path in ROOT.glob("rules/*/*.yaml")}
    assert named <= shipped


@pytest.mark.real
def test_their_files_are_public(real_data: Path) -> None:
    with (real_data / "MANIFEST.csv").open(encoding="utf-8", newline="") as file:
        known = {row["path"] for row in csv.DictReader(file)}
    assert {place[0] for pair in load_pairs() for place in (pair.before, pair.after)} <= known


def came_of(*steps: Step, before: float = 2.0, after: float = 1.0) -> Outcome:
    """Return what came of a change that took ``after`` seconds instead of ``before``."""
    found = outcome(
        PAIR,
        Advised(limiter="memory", duration=before, steps=steps),
        Advised(limiter="memory", duration=after, steps=()),
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("steps", "named", "inside"),
    [
        ((NAMED,), True, True),  # half the time is saved, 30 to 60 % were promised
        ((OTHER, OTHER, NAMED), True, True),
        ((OTHER, OTHER, OTHER, NAMED), False, False),
        ((BESIDE,), True, True),
        ((replace(NAMED, high=0.4),), True, False),
        ((replace(NAMED, low=None, high=None),), True, False),
        ((), False, False),
    ],
)
def test_whether_a_change_was_named_and_its_gain_promised(
    steps: tuple[Step, ...], named: bool, inside: bool
) -> None:
    found = came_of(*steps)
    assert found.gain == 0.5
    assert (found.named is not None, found.inside) == (named, inside)


def test_a_change_that_gains_less_than_five_percent_did_not_pay() -> None:
    assert came_of(before=100.0, after=94.0).paid
    assert not came_of(before=100.0, after=96.0).paid
    assert not came_of(before=100.0, after=120.0).paid


def test_a_launch_without_a_time_is_not_compared() -> None:
    timed = Advised(limiter="memory", duration=1.0, steps=())
    assert outcome(PAIR, replace(timed, duration=None), timed) is None


def test_the_page_counts_what_paid_and_leaves_out_debug_builds() -> None:
    debug = replace(came_of(OTHER), pair=replace(PAIR, ladder="two", debug=True))
    lost = came_of(NAMED, after=3.0)
    text = page([came_of(NAMED), came_of(OTHER), lost, debug])
    assert "| all | 2 | 1 of 2, 50% | 1 of 1, 100% | 1 | 0 of 1, 0% |" in text
    assert "| coalesced | -50% | memory/uncoalesced-loads | **yes** | 30% to 60% |" in text
    assert "## two (not counted)" in text
