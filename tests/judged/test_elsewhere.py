"""No launch of the lists of public pages is counted twice without the page saying so."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import pytest

from studies.judged import load_ideas
from studies.proven import borne_out

PAGE = Path(__file__).parents[2] / "docs" / "judged" / "elsewhere.md"
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
CAPABILITY = {"T4": "7.5", "V100": "7.0", "A100": "8.0", "RTX 3090": "8.6"}

Row: TypeAlias = dict[str, str]
Value: TypeAlias = tuple[float, float]
"""A printed number, and half a step of its last digit."""


def rows() -> dict[str, Row]:
    """Return the launches of all lists by name (`V07`), each by the titles of its table."""
    found: dict[str, Row] = {}
    header: list[str] = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| | kernel |"):
            header = cells
        elif re.match(r"\| [A-Z]\d\d\b", line):
            name = cells[0][:3]
            assert name not in found, f"{name} names two launches"
            found[name] = dict(zip(header, cells, strict=True))
    return found


def value(text: str) -> Value:
    digits = text.replace(",", "")
    return float(digits), 0.5 * 10 ** -len(digits.partition(".")[2])


def numbers(row: Row) -> dict[str, Value]:
    """Return the first time (s) of a launch, and the first share (%) quoted of each unit."""
    quoted, found = row["counters"], {}
    if time := re.search(r"(?<![\d.-])(\d[\d,]*(?:\.\d+)?) (ns|us|ms|s)\b", quoted):
        number, step = value(time[1])
        found["time"] = (number * SECONDS[time[2]], step * SECONDS[time[2]])
    unit = r"DRAM|L1|L2|compute|memory|issue"
    for names, share in re.findall(
        rf"\b((?:{unit})(?: and (?:{unit}))?)\b[^\d;,%]*(\d+(?:\.\d+)?) ?%", quoted, re.IGNORECASE
    ):
        for name in names.lower().split(" and "):
            found.setdefault(name, value(share))
    return found


def capability(row: Row) -> str | None:
    device = row["device"]
    told = re.search(r"CC (\d+\.\d)", device)
    return (
        told[1] if told else next((CAPABILITY[name] for name in CAPABILITY if name in device), None)
    )


def look_alike(one: Row, other: Row) -> bool:
    """Say whether lines quote one launch: one time or two shares alike, nothing that differs."""
    if None not in (devices := {capability(one), capability(other)}) and len(devices) == 2:
        return False
    here, there = numbers(one), numbers(other)
    common = here.keys() & there.keys()
    same = {
        name
        for name in common
        if abs(here[name][0] - there[name][0]) <= here[name][1] + there[name][1]
    }
    return same == common and ("time" in same or len(same) >= 2)


def said(found: dict[str, Row]) -> set[frozenset[str]]:
    """Return all pairs of lines that the page says are one launch: `D17 = V07`."""
    groups = [set(re.findall(r"[A-Z]\d\d", row[""])) for row in found.values()]
    return {frozenset(pair) for group in groups for pair in combinations(group, 2)}


def test_pages_that_bear_a_rule_out_ask_for_what_it_says() -> None:
    found, ideas = rows(), load_ideas()
    for rule, lines in borne_out().items():
        for line in lines:
            words = re.findall(r"[a-z-]+", found[line]["judged first; gain"].partition(";")[0])
            assert any(rule in ideas[word] for word in words), (rule, line)


def test_a_launch_that_came_up_before_says_so() -> None:
    found = rows()
    assert len(found) > 250
    unsaid = [
        f"{one} and {other}"
        for one, other in combinations(found, 2)
        if look_alike(found[one], found[other]) and frozenset((one, other)) not in said(found)
    ]
    assert not unsaid


@pytest.mark.parametrize(
    ("one", "other", "same"), [("V07", "B07", True), ("V07", "B02", False), ("V02", "X17", False)]
)
def test_a_launch_is_known_again_by_its_numbers(one: str, other: str, same: bool) -> None:
    found = rows()
    assert look_alike(found[one], found[other]) is same
