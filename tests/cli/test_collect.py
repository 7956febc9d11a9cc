"""``advisor collect``: the one command to run next, and what it would settle."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run


def test_prints_one_command_and_what_it_settles(filled: Run) -> None:
    outcome = filled("collect")
    lines = outcome.out.splitlines()
    assert outcome.status == 0
    assert len([line for line in lines if line.startswith("  ncu --section")]) == 1
    assert re.search(r"It settles \d+ rules? on \d+ kernels?", outcome.out)


def test_says_the_same_to_programs(filled: Run) -> None:
    text = filled("collect").out
    found = json.loads(filled("collect", "--format", "json").out)
    assert found["command"] in text
    assert all(f"--section {section} " in found["command"] for section in found["sections"])
    assert all(each["rule_id"] in text and each["lacks"] for each in found["settles"])
    assert found["seconds_at_stake"] > 0


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
