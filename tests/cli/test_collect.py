"""``advisor collect``: the one command to run next, and what it would settle."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.page_mutants import text_page

if TYPE_CHECKING:
    from conftest import Run


def test_prints_one_command_and_what_it_settles(filled: Run) -> None:
    outcome = filled("collect")
    lines = outcome.out.splitlines()
    assert outcome.status == 0
    assert len([line for line in lines if line.startswith("  ncu --section")]) == 1
    assert re.search(r"It settles \d+ rules? on \d+ kernels?", outcome.out)
    assert "no advice yet" in " ".join(outcome.out.split())


def test_says_the_same_to_programs(filled: Run) -> None:
    text = filled("collect", "--all").out
    found = json.loads(filled("collect", "--format", "json").out)
    assert found["command"] in text
    assert all(f"--section {section} " in found["command"] for section in found["sections"])
    assert all(each["rule_id"] in text and each["lacks"] for each in found["settles"])
    assert found["seconds_at_stake"] > 0


def test_lists_the_ten_rules_that_could_save_most_unless_all_are_asked_for(
    advisor: Run, tmp_path: Path
) -> None:
    page = tmp_path / "page.txt"
    page.write_text(text_page())
    assert advisor("ingest", str(page)).status == 0
    settles = json.loads(advisor("collect", "--format", "json").out)["settles"]
    worth = [each["worth"] or 0 for each in settles]
    assert worth == sorted(worth, reverse=True)
    assert worth[0] > 0
    assert len(settles) > 11
    short, long = (
        [line for line in advisor("collect", *words).out.splitlines() if line.startswith("  -")]
        for words in ((), ("--all",))
    )
    assert long[:10] == short
    assert len(long) == len(settles)
    left = len(settles) - 10
    said = advisor("collect").out.replace("\N{NO-BREAK SPACE}", " ")
    assert f"and {left} more rules; --all lists them" in said
    assert "more rules" not in advisor("collect", "--all").out


def test_asks_about_the_chosen_kernel_only(filled: Run) -> None:
    everywhere = json.loads(filled("collect", "--format", "json").out)
    chosen = everywhere["kernels"][0]
    found = json.loads(filled("collect", "--kernel", chosen, "--format", "json").out)
    assert found["kernels"] == [chosen]
    assert found["seconds_at_stake"] < everywhere["seconds_at_stake"]


def test_names_what_is_missing_where_no_kernel_is_meant(filled: Run) -> None:
    outcome = filled("collect", "--kernel", "nowhere")
    assert outcome.status == 2
    assert "no kernel of run" in outcome.err


def test_keeps_to_the_suppressed(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = json.loads(filled("collect", "--format", "json").out)
    rule = found["settles"][0]["rule_id"]
    (tmp_path / "advisor.yaml").write_text(
        f"suppress:\n  - {{rule: {rule}, reason: not of interest}}\n"
    )
    monkeypatch.chdir(tmp_path)
    after = json.loads(filled("collect", "--format", "json").out)
    assert rule not in [each["rule_id"] for each in after["settles"]]


def test_asks_first_for_the_report_that_a_page_was_printed_from(
    advisor: Run, tmp_path: Path
) -> None:
    page = tmp_path / "page.txt"
    page.write_text(text_page())
    assert advisor("ingest", str(page)).status == 0
    note = "If you still have the report (.ncu-rep) behind this page"
    assert advisor("collect").out.startswith(note)
    assert json.loads(advisor("collect", "--format", "json").out)["printed_note"].startswith(note)
    end = note.partition(") ")[2]  # Markdown escapes the brackets before it
    assert [text.count(end) for text in reports(advisor, tmp_path)] == [1, 1, 1]


def test_asks_for_nothing_first_where_the_report_is_there(filled: Run, tmp_path: Path) -> None:
    assert json.loads(filled("collect", "--format", "json").out)["printed_note"] is None
    assert not any("ingest that first" in text for text in reports(filled, tmp_path))


def reports(advisor: Run, folder: Path) -> list[str]:
    """Return the report as a terminal, a web page and Markdown have it, on one line each."""
    found = [advisor("report").out]
    for form in ("html", "markdown"):
        path = folder / f"report.{form}"
        assert advisor("report", f"--{form}", "-o", str(path)).status == 0
        found.append(path.read_text())
    return [" ".join(text.split()) for text in found]
