"""Kernels with planted problems: whole, checked, and held against what is said as the page says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from studies.advised import Advised, Step
from studies.corpus import MEASURED, PAGE, PARTS, Pair, Told, load_pairs, page
from studies.corpus import told as all_told

ROOT = Path(__file__).parents[2]
CURE = Step(rule="memory/uncoalesced-loads", low=0.3, likely=0.4, high=0.6)
OTHER = Step(rule="launch/tail-wave", low=0.0, likely=0.1, high=0.2)
PAIR = Pair(
    name="one", planted="strided", first=frozenset({CURE.rule}), silent=frozenset({CURE.rule}),
    quiet=False, seconds={"before": 2.0, "after": 1.0}, place=("one", None),
)  # fmt: skip


def told(*before: Step, after: tuple[Step, ...] = (), run: tuple[Step, ...] = ()) -> Told:
    said = Advised(limiter="memory", duration=2.0, steps=before, run=run)
    return Told(pair=PAIR, before=said, after=replace(said, steps=after, run=()))


def test_every_result_was_right() -> None:
    rows = [json.loads(line) for line in (MEASURED / "times.jsonl").read_text().splitlines()]
    assert len(rows) > 75
    assert [row["pair"] for row in rows if not row["right"]] == []
    assert all(row["quartiles"][0] <= row["ms"] <= row["quartiles"][1] for row in rows)


def test_pairs_are_those_of_the_sources() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "benchmarks" / "corpus").rglob("*.*"))
    pairs = load_pairs()
    assert [pair.name for pair in pairs if f'"{pair.name}"' not in sources] == []
    parts = [pair.part for pair in pairs]
    assert {*parts} == {*PARTS}
    shipped = {str(path.relative_to(ROOT / "rules"))[:-5] for path in ROOT.glob("rules/*/*.yaml")}
    assert frozenset().union(*(pair.first for pair in pairs)) <= shipped


def test_a_cure_is_right_where_it_comes_first() -> None:
    assert told(CURE, OTHER).right
    assert not told(OTHER, CURE).right
    assert told(OTHER, run=(CURE,)).right
    assert not told().right
    assert Told(pair=replace(PAIR, quiet=True), before=told().before, after=None).right


def test_a_cure_that_gained_nothing_should_not_come_first() -> None:
    useless = replace(PAIR, seconds={"before": 1.0, "after": 0.96})
    assert not replace(told(CURE), pair=useless).right
    assert replace(told(OTHER), pair=useless).right


def test_a_cure_should_be_silent_after() -> None:
    assert told(CURE, after=(OTHER,)).silent
    assert not told(CURE, after=(CURE,)).silent


@pytest.mark.parametrize(
    ("low", "high", "inside"),
    [(0.3, 0.6, True), (0.5, 0.5, True), (0.51, 0.6, False), (0.3, 0.49, False)],
)
def test_half_the_time_lies_in_the_range(low: float, high: float, inside: bool) -> None:
    assert told(replace(CURE, low=low, high=high)).inside is inside


def test_a_page_names_what_was_not_profiled() -> None:
    text = page([told(CURE), Told(pair=PAIR, before=None, after=None)])
    assert "| not profiled |" in text
    assert "| 1 of 1 | 1 of 1 | 1 of 1 |" in text


def test_the_page_says_what_is_said_of_the_reports_today() -> None:
    """Of most kernels the planted problem comes first, and what it was worth stands there."""
    found = all_told()
    assert PAGE.read_text("utf-8") == page(found)
    known = [each for each in found if each.before is not None]
    assert sum(each.right for each in known) >= 0.8 * len(known)
