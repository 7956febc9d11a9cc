"""The worst instructions of a kernel; shares and excesses are worked out by hand."""

from __future__ import annotations

import re

import pytest

from advisor.facts.counters import InstructionView, read_counter_files
from advisor.reports.instructions import rankings, write_rankings
from advisor.reports.paper import Paper
from advisor.resources import data_dir


def view(pattern: str, *, ideal: str | None = None, times: float = 1.0) -> InstructionView:
    return InstructionView(
        title="Accesses",
        about="what they need",
        unit="sectors",
        pattern=re.compile(pattern),
        wildcard="(" in pattern,
        excepted=("stall_selected",),
        times=times,
        ideal=ideal,
    )


SECTORS = {
    "sectors": {0x110: 320.0, 0x130: 40.0, 0x150: 100.0},
    "ideal": {0x110: 40.0, 0x130: 40.0, 0x150: 80.0},
    "executed": {0x100: 10.0},
}


def test_ranks_by_what_exceeds_the_ideal() -> None:
    (found,) = rankings(SECTORS, [view("sectors", ideal="ideal")])
    assert (found.value, found.excess, found.count) == (460, 300, 3)
    assert [(each.address, each.offset) for each in found.worst] == [(0x110, 0x10), (0x150, 0x50)]
    assert [each.share for each in found.worst] == pytest.approx([280 / 300, 20 / 300])
    assert [(each.value, each.ideal) for each in found.worst] == [(320, 40), (100, 80)]


def test_takes_all_of_it_where_there_is_no_ideal() -> None:
    (found,) = rankings(SECTORS, [view("sectors")])
    assert found.excess == found.value == 460
    assert [each.address for each in found.worst] == [0x110, 0x150, 0x130]


def test_leaves_out_what_has_no_ideal_though_it_needs_one() -> None:
    assert rankings({"sectors": {1: 5.0}}, [view("sectors", ideal="ideal")]) == []
    assert rankings({"sectors": {1: 5.0}, "ideal": {}}, [view("sectors", ideal="ideal")]) == []


def test_leaves_out_a_kernel_without_excess() -> None:
    values = {"sectors": {1: 5.0}, "ideal": {1: 5.0}}
    assert rankings(values, [view("sectors", ideal="ideal")]) == []


def test_multiplies_warps_into_threads() -> None:
    values = {"warps": {0: 10.0, 16: 10.0}, "threads": {0: 320.0, 16: 80.0}}
    (found,) = rankings(values, [view("warps", ideal="threads", times=32)])
    (worst,) = found.worst
    assert (worst.value, worst.ideal, worst.excess, worst.share) == (320, 80, 240, 1)


def test_adds_up_counters_of_a_pattern_and_names_the_largest() -> None:
    values = {
        "stall_wait": {0: 10.0, 16: 5.0},
        "stall_long_scoreboard": {0: 30.0},
        "stall_selected": {0: 1000.0},
    }
    (found,) = rankings(values, [view("stall_(.*)")])
    assert found.value == 45
    assert found.worst[0].kinds == (("long scoreboard", 0.75), ("wait", 0.25))
    assert found.worst[0].share == pytest.approx(40 / 45)


def test_shows_at_most_so_many() -> None:
    values = {"sectors": dict.fromkeys(range(100), 1.0)}
    (found,) = rankings(values, [view("sectors")], most=3)
    assert [each.address for each in found.worst] == [0, 1, 2]


def test_fits_a_narrow_terminal_and_says_what_is_missing() -> None:
    paper = Paper(width=60)
    found = rankings(SECTORS, [view("sectors", ideal="ideal")])
    write_rankings(paper, "gather", found, "advisor collect")
    text = paper.text()
    assert all(len(line) <= 60 for line in text.splitlines())
    assert "300 of 460 sectors in 3 instructions" in text
    assert "+0x0010" in text
    assert "8.0×" in text
    assert "at 0x100" in text.replace("\n", " ")
    assert "Neither opcodes nor source lines" in " ".join(text.split())


def test_names_the_command_where_nothing_was_measured() -> None:
    paper = Paper()
    write_rankings(paper, "gather", [], "advisor collect r1 --kernel v1")
    assert "  advisor collect r1 --kernel v1" in paper.text().splitlines()


def test_ships_views_whose_counters_are_kept() -> None:
    files = read_counter_files(data_dir("rules") / "counters", "ncu")
    assert len(files.instruction_views) >= 4
    for each in files.instruction_views:
        assert any(each.covers(counter) for counter in files.instructions)
        assert each.ideal is None or each.ideal in files.instructions
