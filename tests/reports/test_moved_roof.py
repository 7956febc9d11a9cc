"""Advice that moves the roof says so, and what of its gain is beyond the wasted time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.reports.record.advice import _moved
from advisor.reports.record.kernel_records import Gain
from advisor.rules import Action, Evaluation, Outcome, Rule, rank
from tests.support.knowledge import rules_once

ROW = {"t_least": 6e-4, "duration": 1e-3, "wasted_time": 4e-4}


@pytest.fixture
def moving() -> Rule:
    return next(rule for rule in rules_once() if rule.id == "roofline/dram-bound")


def action(rule: Rule, variant: str, cap: float) -> Action:
    found = Evaluation(
        rule=rule, run_id="r", variant_id=variant, outcome=Outcome.FIRES, values={}, cap=cap
    )
    (said,) = rank([found])
    return said


def note(group: list[Action], rows: dict[str, dict[str, float]], likely: float, high: float) -> str:
    gain = Gain(low=0.0, likely=likely, high=high)
    return _moved(group, gain, rows).replace("\N{NO-BREAK SPACE}", " ")


def test_names_both_roofs_of_all_kernels_together(moving: Rule) -> None:
    # Each could save 0.8 of 1 ms, where 0.4 ms lie above the roof: 0.6 ms become 0.2 ms.
    group, rows = [action(moving, "a", 8e-4), action(moving, "b", 8e-4)], {"a": ROW, "b": ROW}
    moved = "This moves the roof: the time at it falls from 1.20 ms to 400 µs."
    assert note(group, rows, 7e-4, 8e-4) == moved
    assert note(group, rows, 8e-4, 16e-4) == (
        f"{moved} So it may save more than the 800 µs wasted today."
    )
    assert note(group, rows, 12e-4, 16e-4) == (
        f"{moved} Of the gain, 400 µs is beyond the 800 µs that is wasted today."
    )


def test_is_silent_where_the_roof_stays(moving: Rule) -> None:
    assert note([action(moving, "a", 4e-4)], {"a": ROW}, 4e-4, 4e-4) == ""
    same = replace(moving, assumes={})
    assert note([action(same, "a", 8e-4)], {"a": ROW}, 4e-4, 4e-4) == ""
    # 599.2 µs become 599.1 µs, and both read 599 µs.
    near = {"a": ROW | {"t_least": 5.992e-4, "wasted_time": 4.008e-4}}
    assert note([action(moving, "a", 4.009e-4)], near, 4e-4, 4e-4) == ""
    for name in ROW:  # where nothing is known of the roof, as of a launch too short for one
        row = {key: value for key, value in ROW.items() if key != name}
        assert note([action(moving, "a", 8e-4)], {"a": row}, 4e-4, 4e-4) == ""
