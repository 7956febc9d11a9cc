"""Advice that moves the roof says so, and what of its gain is beyond the wasted time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.reports.record.advice import _Common, _remarks
from advisor.reports.record.gain_notes import gain_notes, roof_moved
from advisor.reports.record.kernel_records import Gain
from advisor.rules import Evaluation, Outcome, Rule, Seconds, rank
from advisor.rules.engine.rank import Action
from tests.support.knowledge import rules_once

ROW = {"t_least": 6e-4, "duration": 1e-3, "wasted_time": 4e-4}


@pytest.fixture
def moving() -> Rule:
    return next(rule for rule in rules_once() if rule.id == "roofline/dram-bound")


def found(rule: Rule, variant: str, cap: float) -> Evaluation:
    return Evaluation(
        rule=rule, run_id="r", variant_id=variant, outcome=Outcome.FIRES, values={}, cap=cap
    )


def note(
    group: list[Evaluation], rows: dict[str, dict[str, float]], likely: float, high: float
) -> str:
    gain = Gain(low=0.0, likely=likely, high=high)
    return roof_moved(group, gain, rows).replace("\N{NO-BREAK SPACE}", " ")


def test_names_both_roofs_of_all_kernels_together(moving: Rule) -> None:
    # Each could save 0.8 of 1 ms, where 0.4 ms lie above the roof: 0.6 ms become 0.2 ms.
    group, rows = [found(moving, "a", 8e-4), found(moving, "b", 8e-4)], {"a": ROW, "b": ROW}
    moved = "This moves the roof: the time at the roof falls from 1.20 ms to 400 µs."
    assert note(group, rows, 7e-4, 8e-4) == ""  # no more than is wasted
    assert note(group, rows, 8e-4, 16e-4) == (
        f"{moved} So it may save more than the 800 µs wasted today."
    )
    assert note(group, rows, 12e-4, 16e-4) == (
        f"{moved} So 400 µs of the gain is beyond the 800 µs wasted today."
    )


def test_says_that_a_new_profile_saves_nothing_itself(moving: Rule) -> None:
    measuring = next(rule for rule in rules_once() if rule.id == "roofline/profile-again")
    gain = Gain(low=0.0, likely=1e-4, high=4e-4)
    for rule, says in ((measuring, True), (moving, False)):
        evaluation = replace(found(rule, "a", 4e-4), gain=Seconds(low=0.0, likely=1e-4, high=4e-4))
        said = gain_notes(
            [Action(evaluation=evaluation, gain=evaluation.gain, position=1)], gain, {"a": ROW}
        )
        assert said.startswith("A new profile saves nothing itself") is says


def test_is_silent_where_the_roof_stays(moving: Rule) -> None:
    assert note([found(moving, "a", 4e-4)], {"a": ROW}, 4e-4, 4e-4) == ""
    same = replace(moving, assumes={})
    assert note([found(same, "a", 8e-4)], {"a": ROW}, 4e-4, 4e-4) == ""
    # 599.2 µs become 599.1 µs, and both read 599 µs.
    near = {"a": ROW | {"t_least": 5.992e-4, "wasted_time": 4.008e-4}}
    assert note([found(moving, "a", 4.009e-4)], near, 4e-4, 4e-4) == ""
    for name in ROW:  # where nothing is known of the roof, as of a launch too short for one
        row = {key: value for key, value in ROW.items() if key != name}
        assert note([found(moving, "a", 8e-4)], {"a": row}, 4e-4, 4e-4) == ""


def test_launches_that_are_saved_leave_no_roof_of_nanoseconds() -> None:
    fusing = next(rule for rule in rules_once() if rule.id == "launch/very-short")
    row = {"t_least": 1.6e-6, "duration": 3.1e-6, "wasted_time": 1.5e-6}
    moved = "The time at the roof, 1.60 µs, is that of empty launches, which this saves."
    assert note([found(fusing, "a", 3.0e-6)], {"a": row}, 1.2e-6, 1.6e-6) == moved


def test_the_findings_of_a_kernel_say_it_too(moving: Rule) -> None:
    gained = replace(found(moving, "a", 8e-4), gain=Seconds(low=0.0, likely=6e-4, high=8e-4))
    common = _Common(
        rows={"a": ROW}, worst={}, asking=None, titles={}, commands={}, beside={}, least=0.0
    )
    (said,) = _remarks(gained, None, common)
    assert said.replace("\N{NO-BREAK SPACE}", " ") == (
        "This moves the roof: the time at the roof falls from 600 µs to 200 µs."
        " So 200 µs of the gain is beyond the 400 µs wasted today."
    )
    assert list(_remarks(replace(gained, gain=None), None, common)) == []


def test_what_is_an_action_itself_is_counted_with_no_other(moving: Rule) -> None:
    gain = Seconds(low=0.0, likely=4e-4, high=4e-4)
    gained = replace(found(moving, "a", 4e-4), gain=gain, cap_likely=4e-4)
    beside = {("a", moving.id): "launch/tiny-blocks"}
    common = _Common(
        rows={"a": ROW}, worst={}, asking=None, titles={}, commands={}, beside=beside, least=0.0
    )
    assert list(_remarks(gained, None, common)) == [
        "The same time as launch/tiny-blocks: do not add the two."
    ]
    (action,) = rank([gained])
    assert list(_remarks(gained, action, common)) == []
    after = replace(action, after=("launch/tiny-blocks",))
    assert list(_remarks(gained, after, common)) == ["Overlaps with launch/tiny-blocks."]
