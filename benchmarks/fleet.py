"""A lake of many runs: its size, how fast all of it is judged, and how fast one run is told.

Runs are copies of one night, as in ``years``. Bytes, adding and compacting are measured with
ADVISOR_BENCH_ADDED runs of ADVISOR_BENCH_PROFILE bytes, of which 3.3 kB are a launch; questions and
judging with ADVISOR_BENCH_FLEET runs of some 1,000 launches, whose packs SQL makes.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from typing import TYPE_CHECKING

from advisor.resources import data_dir
from benchmarks.made_lake import make_packs
from benchmarks.measure import ADVISOR, Cost, Line, apart, best_of, cost_of
from benchmarks.years import KERNEL, PROFILE, make

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

ADDED = 300
RUNS = 10_000
LARGE = 3_300_000
"""Bytes of a profile of some 1,000 launches."""
TIMES = 3
_MILLION = 1e6
_RULE = "roofline/stop"  # without it, rules have another hash, and every run is to be judged
_ONE_CORE = ("taskset", "--cpu-list", "0")


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    night = sorted((data_dir("seed") / "runs").rglob("*.ncu-rep"))[0]
    runs, lake = int(os.environ.get("ADVISOR_BENCH_FLEET", str(RUNS))), folder / "made"
    made, launches = apart(make_packs, lake, runs, night, folder, LARGE)
    what = f"{runs:,} runs of {launches:,} launches"
    remark = f"packs made in {made:.0f} s of wall-clock time"
    return [
        *_added(folder, night),
        Line(what=f"lake of {what}", value=_bytes(lake) / 1e6, unit="MB", remark=remark),
        *_told(lake, folder),
        *_judged(lake, runs, launches, folder),
    ]


def _added(folder: Path, night: Path) -> Iterator[Line]:
    """Measure how a lake comes about of a database."""
    runs = int(os.environ.get("ADVISOR_BENCH_ADDED", str(ADDED)))
    size = int(os.environ.get("ADVISOR_BENCH_PROFILE", str(PROFILE)))
    database, lake = folder / "fleet.duckdb", folder / "lake"
    _, launches = apart(make, database, runs, night, folder, size)
    added = cost_of((*ADVISOR, "lake", "add", "--from", database, "--lake", lake), folder)
    yield Line(
        what=f"{runs:,} runs of {launches:,} launches: the database",
        unit="B/launch",
        value=database.stat().st_size / launches,
    )
    yield Line(
        what="lake add of all of them",
        value=added.processor / runs * 1e3,
        unit="ms of processor time/run",
        remark=_spent(added),
    )
    yield from _sizes("lake, a folder per run", lake, runs, launches)
    packed = cost_of((*ADVISOR, "lake", "compact", "--lake", lake), folder)
    cost_of((*ADVISOR, "lake", "compact", "--lake", lake, "--grace", "0"), folder)
    yield Line(
        what="lake compact",
        value=packed.processor / launches * _MILLION,
        unit="s of processor time per million launches",
        remark=_spent(packed),
    )
    yield from _sizes("lake, compacted", lake, runs, launches)


def _bytes(lake: Path) -> int:
    return sum(each.stat().st_size for each in lake.rglob("*") if each.is_file())


def _sizes(what: str, lake: Path, runs: int, launches: int) -> Iterator[Line]:
    size = _bytes(lake)
    yield Line(what=what, value=size / launches, unit="B/launch")
    yield Line(what=what, value=size / runs / 1e3, unit="kB/run")


def _told(lake: Path, folder: Path) -> Iterator[Line]:
    for words, target in (
        (("report",), "≤ 1.5 s"),
        (("history", KERNEL), "≤ 2 s"),
        (("query", "SELECT * EXCLUDE (run_ids) FROM fleet_kernels LIMIT 20"), ""),
    ):
        cost = best_of(TIMES, (*ADVISOR, "--db", f"lake:{lake}", *words), folder)
        yield Line(
            what=f"advisor {words[0]} {words[1][-30:] if len(words) > 1 else ''}".strip(),
            value=cost.processor,
            unit="s of processor time",
            target=target,
            remark=_spent(cost),
        )


def _judged(lake: Path, runs: int, launches: int, folder: Path) -> Iterator[Line]:
    """Judge copies of the lake by other rules than those that its runs were stored with."""
    (folder / "advisor.yaml").write_text(f"disable: [{_RULE}]\n")
    engines: list[tuple[str, Sequence[str], Sequence[str]]] = [
        ("duckdb, one core", _ONE_CORE, ("--engine", "duckdb")),
        ("duckdb, all cores", (), ("--engine", "duckdb")),
    ]
    if importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None:
        local = ("--engine", "spark", "--master")
        engines += [
            ("spark, one core", _ONE_CORE, (*local, "local[1]")),
            ("spark, all cores", (), (*local, "local[*]")),
        ]
    for name, bound, words in engines:
        if bound and shutil.which(bound[0]) is None:
            continue
        copy = folder / "judged"
        shutil.copytree(lake, copy)
        command = (*bound, *ADVISOR, "fleet", "judge", "--lake", copy, *words)
        cost = cost_of(command, folder)
        shutil.rmtree(copy)
        yield Line(
            what=f"fleet judge of {runs:,} runs, {name}",
            value=cost.wall / launches * _MILLION,
            unit="s of wall-clock time per million launches",
            remark=_spent(cost),
        )
    (folder / "advisor.yaml").unlink()


def _spent(cost: Cost) -> str:
    return (
        f"{cost.processor:.1f} s of processor time, {cost.wall:.1f} s of wall-clock time,"
        f" {cost.memory / 1e6:,.0f} MB"
    )
