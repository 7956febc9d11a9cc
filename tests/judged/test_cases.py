"""The cases drawn by lot are whole, can be disputed, and are scored as cases.md says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from studies.advised import Advised, Step
from studies.judged import PARTS, Case, judge, judged, load_cases, load_ideas, shares, table

ROOT = Path(__file__).parents[2]
LIMITERS = {"memory", "compute", "latency", "balanced", "unknown"}
FRESH = {"kernel", "shape", "launch"}


def entries() -> list[dict[str, Any]]:
    """Return the cases as written."""
    return [
        entry
        for path in sorted((ROOT / "docs" / "judged" / "cases").glob("*.yaml"))
        for entry in yaml.safe_load(path.read_text("utf-8"))["cases"]
    ]


def test_there_are_enough_of_them() -> None:
    cases = load_cases()
    assert len(cases) >= 100
    assert len({case.file for case in cases}) >= 40
    assert len({case.device for case in cases}) >= 12
    assert len({(case.file, case.launch) for case in cases}) == len(cases)
    assert {case.part for case in cases} == set(PARTS)


@pytest.mark.parametrize("entry", entries(), ids=lambda e: f"{e['kernel'][:30]}-{e['launch']}")
def test_each_can_be_disputed(entry: dict[str, Any]) -> None:
    assert entry["counters"]["duration"]
    assert {"grid", "block"} < entry["counters"].keys()
    assert set(entry["limiter"]) <= LIMITERS
    assert entry["limiter"]
    assert entry["first"]
    assert not set(entry["first"]) & set(entry["unacceptable"])
    assert entry.get("fresh", "kernel") in FRESH
    assert len(entry["why"]) > 30
    if entry["gain"] is not None:
        low, high = entry["gain"]
        assert 0 <= low <= high < 1


def test_ideas_name_rules_that_exist() -> None:
    named = set().union(*load_ideas().values())
    shipped = {str(path.relative_to(ROOT / "rules"))[:-5] for path in ROOT.glob("rules/*/*.yaml")}
    assert named <= shipped


def case(words: tuple[str, ...] = ("coalesce",), **changed: Any) -> Case:
    """Return a case whose first advice is a/right, and a/wrong must not come first."""
    values: dict[str, Any] = {
        "file": "ncu-rep/one", "launch": 0, "kernel": "k", "device": "d",
        "limiter": ("memory", "balanced"), "words": words, "first": frozenset({"a/right"}),
        "unacceptable": frozenset({"a/wrong"}), "gain": (0.3, 0.6), **changed,
    }  # fmt: skip
    return Case(**values)


def step(rule: str, likely: float | None) -> Step:
    """Return an action with this likely gain."""
    return Step(rule=rule, low=likely, likely=likely, high=likely)


def said(*steps: Step, limiter: str = "memory") -> Advised:
    """Return what the program says."""
    return Advised(limiter=limiter, duration=1.0, steps=steps)


RIGHT, WRONG, OTHER = step("a/right", 0.4), step("a/wrong", 0.4), step("a/other", 0.4)
IDLE = step("a/other", 0.02)


@pytest.mark.parametrize(
    ("words", "steps", "points"),
    [
        (("coalesce",), (RIGHT, OTHER), 1.0),
        (("coalesce",), (OTHER, RIGHT), 0.5),
        (("coalesce",), (OTHER, OTHER, RIGHT), 0.5),
        (("coalesce",), (OTHER, OTHER, OTHER, RIGHT), 0.0),
        (("coalesce",), (WRONG, RIGHT), 0.0),
        (("coalesce",), (), 0.0),
        (("nothing",), (), 1.0),
        (("nothing",), (IDLE,), 0.5),
        (("nothing",), (OTHER,), 0.0),
        (("nothing",), (step("a/wrong", None),), 0.0),
    ],
)
def test_first_advice(words: tuple[str, ...], steps: tuple[Step, ...], points: float) -> None:
    assert judge(case(words), said(*steps)).first == points


# Judged 30 to 60 %: widened by 1.5 and three points it is 17 to 93 %.
@pytest.mark.parametrize(
    ("likely", "useful"), [(0.16, 0.0), (0.18, 1.0), (0.92, 1.0), (0.94, 0.0), (None, 0.0)]
)
def test_range(likely: float | None, useful: float) -> None:
    assert judge(case(), said(step("a/right", likely))).range == useful


def test_no_promise_is_right_where_nothing_is_to_be_gained() -> None:
    assert judge(case(gain=(0.0, 0.0)), said()).range == 1.0
    assert judge(case(gain=(0.0, 0.0)), said(OTHER)).range == 0.0


def test_a_range_that_was_not_judged_is_not_counted() -> None:
    verdict = judge(case(gain=None), said(RIGHT))
    assert verdict.range is None
    assert shares([verdict]) == {"limiter": (1.0, 1), "first advice": (1.0, 1), "range": (0.0, 0)}


def test_any_of_the_limiters_is_right() -> None:
    assert judge(case(), said(limiter="balanced")).limiter == 1.0
    assert judge(case(), said(limiter="latency")).limiter == 0.0


def test_the_table_tells_the_parts_apart() -> None:
    # sha256sum of "ncu-rep/one" ends in 0, of "ncu-rep/four" and "ncu-rep/five" in d: odd.
    found = [
        judge(case(file="ncu-rep/one"), said(RIGHT)),
        judge(case(file="ncu-rep/one", launch=1, fresh=True), said(RIGHT)),
        judge(case(file="ncu-rep/one", launch=2, fresh=True, seen=True), said(RIGHT)),
        judge(case(file="ncu-rep/four"), said(OTHER)),
        judge(case(file="ncu-rep/five"), said(RIGHT)),
        judge(case(file="ncu-rep/five", launch=1, seen=True), said(OTHER)),
    ]
    lines = table(found)
    assert "| held out | 3 | 3 of 3, 100% | 2 of 3, 67% | 3 of 3, 100% |" in lines
    assert "| seen since | 2 | 2 of 2, 100% | 1 of 2, 50% | 2 of 2, 100% |" in lines
    assert "| to learn from | 1 | 1 of 1, 100% | 1 of 1, 100% | 1 of 1, 100% |" in lines


# What is reached, a little below: the targets (95, 85 and 80 %) are in studies/judged.py.
REACHED = {"limiter": 0.95, "first advice": 0.7, "range": 0.65}


@pytest.mark.real
@pytest.mark.slow
def test_what_is_held_out_does_not_get_worse(real_database: Path) -> None:
    found = judged(str(real_database))
    held_out = shares(each for each in found if each.case.part == PARTS[0])
    for name, (points, count) in held_out.items():
        assert points / count >= REACHED[name], name
