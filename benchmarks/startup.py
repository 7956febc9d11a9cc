"""How long a command takes before it does anything, and to report on the example runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.measure import ADVISOR, Line, best_of, cost_of

if TYPE_CHECKING:
    from pathlib import Path

TIMES = 7


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    python = best_of(TIMES, (sys.executable, "-c", "pass"), folder).wall
    help_text = best_of(TIMES, (*ADVISOR, "--help"), folder).wall
    database = ("--db", folder / "demo.duckdb")
    demo = cost_of((*ADVISOR, *database, "demo", "--output", folder / "demo"), folder)
    lines = [
        Line(what="python -c pass", value=python, unit="s"),
        Line(
            what="advisor --help", value=help_text, unit="s", target="≤ 0.1 s",
            remark=f"{help_text / python:.1f} × an empty Python",
        ),
        Line(
            what="advisor demo, everything", value=demo.wall, unit="s",
            remark=f"{demo.processor:.1f} s of processor time",
        ),
    ]  # fmt: skip
    commands = {
        "advisor report": ("report",),
        "advisor report --html": ("report", "--html", "-o", folder / "report.html"),
        "advisor runs list": ("runs", "list"),
    }
    for what, words in commands.items():
        cost = best_of(TIMES, (*ADVISOR, *database, *words), folder)
        target = "≤ 1 s" if "report" in what else "≤ 0.8 s"
        lines.append(
            Line(
                what=f"{what} (example runs)", value=cost.wall, unit="s", target=target,
                remark=f"{cost.processor:.2f} s of processor time, {cost.memory / 1e6:.0f} MB",
            )
        )  # fmt: skip
    return lines
