"""Advice that lowers the least time says so, with the old one and the new."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.reports.record.advice import _moved_roof
from advisor.rules import Action, Evaluation, Outcome, Rule, rank
from tests.support.knowledge import rules_once

ROW = {"t_least": 6e-4, "duration": 1e-3}


@pytest.fixture
def moving() -> Rule:
    return next(rule for rule in rules_once() if rule.id == "roofline/dram-bound")


def action(rule: Rule, variant: str, cap: float) -> Action:
    found = Evaluation(
        rule=rule, run_id="r", variant_id=variant, outcome=Outcome.FIRES, values={}, cap=cap
    )
    (said,) = rank([found])
    return said


def test_names_both_roofs_of_all_kernels_together(moving: Rule) -> None:
    # Each could save 0.8 of 1 ms, where 0.4 ms lie above the roof: 0.6 ms become 0.2 ms.
    group = [action(moving, "a", 8e-4), action(moving, "b", 8e-4)]
    said = _moved_roof(group, {"a": ROW, "b": ROW}).replace("\N{NO-BREAK SPACE}", " ")
    assert said == (
        "This moves the roof from 1.20 ms to 400 µs, and so can save more than is wasted under "
        "today's roof."
    )


def test_is_silent_where_the_roof_stays(moving: Rule) -> None:
    assert _moved_roof([action(moving, "a", 4e-4)], {"a": ROW}) == ""
    same = replace(moving, assumes={})
    assert _moved_roof([action(same, "a", 8e-4)], {"a": ROW}) == ""
    assert _moved_roof([action(moving, "a", 8e-4)], {"a": {"duration": 1e-3}}) == ""
