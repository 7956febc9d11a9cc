"""Where nothing saves enough, a note on the kernel that takes most of the time is what to do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.reports.record.advice import _noted
from advisor.rules import Evaluation, Outcome, Rule, Seconds, rank
from tests.support.knowledge import rules_once

ROWS = {"large": {"duration": 0.6}, "small": {"duration": 0.4}}


@pytest.fixture
def note() -> Rule:
    return next(rule for rule in rules_once() if rule.id == "library/call-differently")


def found(rule: Rule, variant: str = "large", gain: Seconds | None = None) -> Evaluation:
    return Evaluation(
        rule=rule, run_id="r", variant_id=variant, outcome=Outcome.FIRES, values={}, gain=gain
    )


def noted(*evaluations: Evaluation, most: float = 0.5) -> list[str]:
    return [each.evaluation.variant_id for (each,) in _noted(rank(evaluations), ROWS, most)]


def test_takes_the_note_on_most_of_the_time(note: Rule) -> None:
    assert noted(found(note, "small"), found(note)) == ["large"]
    assert noted(found(note), most=0.6) == []
    assert noted(found(note), most=0) == []  # no time is known


def test_takes_no_note_that_stands_behind_other_findings(note: Rule) -> None:
    tail = next(rule for rule in rules_once() if rule.id == "launch/tail-wave")
    gain = Seconds(low=0, likely=1e-4, high=1e-3)
    other = replace(found(tail, gain=gain), cap=0.1, cap_likely=0.1)
    assert noted(found(note), other) == []


def test_takes_no_doubt_about_the_measurement(note: Rule) -> None:
    assert noted(found(replace(note, id="quality/held-clock"))) == []
    assert noted(found(replace(note, is_unproven=True))) == []
