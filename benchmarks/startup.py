"""How long a command takes before it does anything, and to read the example runs."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from advisor.resources import data_dir
from benchmarks.measure import ADVISOR, Line, best_of, cost_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TIMES = 7
KERNEL = "stencil_heat3d_kernel"  # of the example runs
RULE = "memory/uncoalesced-loads"


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    python = best_of(TIMES, (sys.executable, "-c", "pass"), folder).wall
    help_text = best_of(TIMES, (*ADVISOR, "--help"), folder).wall
    engine = best_of(TIMES, (sys.executable, "-c", "import duckdb, numpy"), folder).processor
    database = ("--db", folder / "demo.duckdb")
    demo = cost_of((*ADVISOR, *database, "demo", "--output", folder / "demo"), folder)
    lines = [
        Line(what="python -c pass", value=python, unit="s"),
        Line(
            what="python -c 'import duckdb, numpy'", value=engine, unit="s of processor time",
            remark="what no command that reads profiles can do without",
        ),
        Line(
            what="advisor --help", value=help_text, unit="s", target="≤ 0.1 s",
            remark=f"{help_text / python:.1f} × an empty Python",
        ),
        Line(
            what="advisor demo, everything", value=demo.wall, unit="s",
            remark=f"{demo.processor:.1f} s of processor time",
        ),
    ]  # fmt: skip
    lines.append(_first(folder, database))
    lines += [
        _line(what, (*ADVISOR, *database, *words), folder, engine)
        for what, words in _reading(folder)
    ]
    lines.append(_ingest(folder, engine))
    return lines


def _reading(folder: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield commands that read the example runs, and what they are called."""
    yield "advisor report", ("report",)
    yield "advisor report --html", ("report", "--html", "-o", folder / "report.html")
    yield "advisor report --markdown", ("report", "--markdown", "-o", folder / "report.md")
    yield "advisor show KERNEL", ("show", KERNEL)
    yield "advisor collect", ("collect",)
    yield "advisor rules explain RULE KERNEL", ("rules", "explain", RULE, KERNEL)
    yield "advisor hardware occupancy", ("hardware", "occupancy", "--kernel", KERNEL)
    yield "advisor query", ("query", "select short_name, limiter from kernels")
    yield "advisor runs list", ("runs", "list")
    yield "advisor whatif --all-devices", ("whatif", "--all-devices")
    scenario = data_dir("seed") / "scenarios" / "serving.yaml"
    yield "advisor model, 1,000 points", ("model", scenario, "--sweep", "batch=1:1000")


def _first(folder: Path, database: Sequence[object]) -> Line:
    """Return what the first report costs, when nothing is remembered yet."""
    costs = []
    for number in range(TIMES):
        cache = f"XDG_CACHE_HOME={folder / f'cache-{number}'}"
        costs.append(cost_of(("env", cache, *ADVISOR, *database, "report"), folder))
    best = min(costs, key=lambda cost: cost.wall)
    return Line(
        what="advisor report, the first (example runs)", value=best.wall, unit="s",
        remark=f"{best.processor:.2f} s of processor time; rules are loaded, and remembered",
    )  # fmt: skip


def _ingest(folder: Path, engine: float) -> Line:
    """Return what it costs to store one small profile beside another, and with no cache."""
    known, new = sorted((data_dir("seed") / "runs").rglob("*.ncu-rep"))[:2]
    database, copy = folder / "one.duckdb", folder / "two.duckdb"
    cost_of((*ADVISOR, "--db", database, "ingest", known), folder)
    best = {}
    for cache in ("on", "off"):
        command = ("env", f"ADVISOR_CACHE={cache}", *ADVISOR, "--db", copy, "ingest", new)
        costs = []
        for _ in range(TIMES):
            shutil.copy(database, copy)
            costs.append(cost_of(command, folder))
        best[cache] = min(costs, key=lambda cost: cost.processor)
    found, without = best["on"], best["off"]
    return Line(
        what="advisor ingest, 14 launches (example runs)", value=found.processor,
        unit="s of processor time", target="≤ 0.6 s",
        remark=f"{found.processor / engine:.1f} × the imports, {found.wall:.2f} s of wall-clock, "
        f"{found.memory / 1e6:.0f} MB; {without.processor:.2f} s with nothing remembered",
    )  # fmt: skip


def _line(what: str, command: Sequence[object], folder: Path, engine: float) -> Line:
    cost = best_of(TIMES, command, folder)
    is_quick = what in ("advisor report", "advisor show KERNEL")
    return Line(
        what=f"{what} (example runs)", value=cost.processor, unit="s of processor time",
        target="≤ 0.6 s" if is_quick else "≤ 0.8 s",
        remark=f"{cost.processor / engine:.1f} × the imports, {cost.wall:.2f} s of wall-clock, "
        f"{cost.memory / 1e6:.0f} MB",
    )  # fmt: skip
