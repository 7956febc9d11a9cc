"""The first thing that people read is what the program says today."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import pytest

from advisor.api.reporting import render_report
from advisor.knowledge.load import load_knowledge
from tests.support.shared import runs_of

ROOT = Path(__file__).parent.parent
REPORT = "NCAR__GPU_workshop/MW_Baseline.ncu-rep"


@pytest.mark.real
def test_shows_what_the_report_says(real_data: Path, real_database: Path) -> None:
    run = runs_of(real_database)[str(real_data / "ncu-rep" / REPORT)]
    (text,) = render_report(str(real_database), run, wait=10).values()
    said = {line.rstrip() for line in text.splitlines()}
    example = (ROOT / "README.md").read_text().split("$ advisor report\n", 1)[1].split("```")[0]
    shown = [line.rstrip() for line in example.splitlines() if line.strip() not in ("", "…")]
    assert len(shown) > 30
    assert [line for line in shown if line not in said] == []


def test_names_every_command() -> None:
    from advisor.cli.application import application

    text = (ROOT / "README.md").read_text()
    missing = [
        name
        for name in application.list_commands(click.Context(application))
        if f"`advisor {name}" not in text
    ]
    assert missing == ["demo"]


def test_counts_the_rules() -> None:
    counts = Counter(rule.subject for rule in load_knowledge().compiled.rules)
    said = (
        f"{counts.total()} rules ({counts['kernel']} on kernels, {counts['run']} on runs, "
        f"{counts['change']} on changes)"
    )
    assert said in (ROOT / "README.md").read_text()
