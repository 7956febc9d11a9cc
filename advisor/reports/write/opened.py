"""Opened numbers and answers of rules on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from advisor.reports.record.opened import value_in_words
from advisor.reports.record.saved import likely

if TYPE_CHECKING:
    from advisor.reports.record.ideas import Idea
    from advisor.reports.record.opened import Opened
    from advisor.reports.write.paper import Paper

_STEP = 2
_DEPTH = 3  # levels below a number that are shown; its parts can be asked for


def write_numbers(paper: Paper, asked: Sequence[str], numbers: Mapping[str, Opened]) -> None:
    """Write numbers and what they rest on; of several only the formula of each."""
    depth = _DEPTH if len(asked) == 1 else 0
    for name in asked:
        number = numbers[name]
        if depth == 0 and number.value is None:
            continue
        paper.blank()
        _write(paper, number, numbers, depth, 0, set())
        if depth:
            paper.blank()
            paper.write(f"What it is: {number.about}.")
            if number.source:
                paper.write(f"Source: {number.source}.")


def _write(
    paper: Paper,
    number: Opened,
    numbers: Mapping[str, Opened],
    depth: int,
    indent: int,
    above: set[str],
) -> None:
    over = f", {number.over}" if number.over else ""
    value = value_in_words(number.name, number.value, number.unit)
    paper.write(f"{number.label}: {value}{over}", indent=indent + _STEP, first=" " * indent)
    if number.spoken and number.name not in above:
        way = f"  ({number.way})" if number.way else ""
        paper.write(f"{number.spoken}{way}", indent=indent + 2 * _STEP, first=" " * indent + "  =")
    if depth == 0 or number.name in above:
        return
    above.add(number.name)
    parts = [numbers[name] for name in number.rests_on if name in numbers]
    for part in parts:
        if part.value is not None:
            _write(paper, part, numbers, depth - 1, indent + 2 * _STEP, above)
    unknown = [part.label for part in parts if part.value is None]
    if unknown:
        paper.write(f"unknown: {', '.join(unknown)}", indent=indent + 2 * _STEP)


def write_ideas(paper: Paper, ideas: Sequence[Idea], collect: str | None) -> None:
    """Write what rules answer, by answer, and the command that brings what some lack."""
    for answer, group in groupby(ideas, key=lambda idea: idea.answer):
        paper.blank()
        paper.write(f"{answer[:1].upper()}{answer[1:]}:")
        for idea in group:
            saving = likely(idea)
            saves = f", saves about {saving}" if saving else ""
            paper.write(f"{idea.title}{saves} ({idea.rule})", indent=4, first="  -")
            paper.write(idea.sentence, indent=4)
    if collect is not None:
        paper.blank()
        paper.write("This prints the command that collects what is unknown:")
        paper.command(collect)
