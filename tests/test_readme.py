"""The first thing that people read is what the program says today."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from advisor.api.reporting import render_report
from advisor.ingest.profiles import Labels, ingest_paths

ROOT = Path(__file__).parent.parent
REPORT = "NCAR__GPU_workshop/MW_Baseline.ncu-rep"


@pytest.mark.real
def test_shows_what_the_report_says(real_data: Path, tmp_path: Path) -> None:
    database = str(tmp_path / "test.duckdb")
    paths = [str(real_data / "ncu-rep" / REPORT)]
    assert [r.status for r in ingest_paths(database, paths, labels=Labels(), wait=10)] == ["new"]
    (text,) = render_report(database, "latest", wait=10).values()
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
