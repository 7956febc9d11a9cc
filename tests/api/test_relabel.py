"""Runs get other names afterwards: data attached to them is as if they had come with these."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.api.history import history
from advisor.api.history_json import as_json
from advisor.api.marking import accept
from advisor.api.matching import SeriesWanted
from advisor.api.runs import prune_runs, relabel
from advisor.database.connect import open_for_reading
from advisor.errors import UsageError
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.ingest.spool import merge_spool, spool_paths
from advisor.resources import data_dir
from advisor.tracking.records import Verdict
from tests.support.shared import ingest_together

pytestmark = pytest.mark.slow

FOLDER = data_dir("seed") / "runs" / "nightly"
RUNS: list[dict[str, Any]] = yaml.safe_load((FOLDER / "runs.yaml").read_text("utf-8"))["runs"]
KEYS = """
    SELECT run_id, launch_index, launch.kernel_id, launch.series_id, variant_id,
        variant.series_id, problem_key, series.configuration
    FROM launch JOIN variant USING (run_id, variant_id)
    JOIN series ON series.series_id = launch.series_id ORDER BY ALL
"""
OUTCOMES = "SELECT * FROM outcome ORDER BY ALL"
FINDINGS = "SELECT run_id, rule_id, variant_id, evidence FROM finding ORDER BY ALL"


def rows(database: str, query: str) -> list[tuple[Any, ...]]:
    with open_for_reading(database) as connection:
        return connection.execute(query).fetchall()


def ingest(database: Path, *names: str, **said: Any) -> str:
    paths = [str(FOLDER / name) for name in names]
    list(ingest_paths(str(database), paths, labels=RunLabels(**said), wait=10))
    return str(database)


def test_a_run_that_is_called_otherwise_is_as_if_it_had_come_so(tmp_path: Path) -> None:
    night = RUNS[0]["file"]
    meant = ingest(tmp_path / "a.duckdb", night, label="nightly", configuration="O3")
    changed = ingest(tmp_path / "b.duckdb", night, label="tuesday", tags=("old",))
    findings = rows(changed, FINDINGS)
    assert rows(changed, KEYS) != rows(meant, KEYS)
    (run,) = {row[0] for row in rows(changed, KEYS)}
    accept(changed, ["gelu_kernel"], at=run, because="why", wait=0)
    told = {"label": "nightly", "configuration": "O3", "branch": "main", "tags": ("new",)}
    assert relabel(changed, ["latest"], told, wait=0) == ((run,), len(rows(changed, KEYS)))
    assert rows(changed, KEYS) == rows(meant, KEYS)
    assert rows(changed, FINDINGS) == findings == rows(meant, FINDINGS)
    query = "SELECT label, configuration, branch, tags FROM run"
    assert rows(changed, query) == [("nightly", "O3", "main", ["old", "new"])]
    of_accepted = "SELECT short_name FROM accepted JOIN series USING (series_id) JOIN kernel USING"
    assert rows(changed, f"{of_accepted} (kernel_id)") == [("gelu_kernel",)]
    (series,) = history(changed, SeriesWanted(kernel="gelu_kernel")).series
    assert [level.because for level in series.accepted] == ["why"]
    before = rows(changed, KEYS)
    with pytest.raises(UsageError, match="there is no run 'nope'"):
        relabel(changed, [run, "nope"], {"label": "other"}, wait=0)
    assert rows(changed, KEYS) == before
    plain = ingest(tmp_path / "c.duckdb", night)
    relabel(changed, [run], {"label": None, "configuration": None}, wait=0)
    assert rows(changed, KEYS) == rows(plain, KEYS)


def store(database: Path, told: Sequence[tuple[str, RunLabels]]) -> None:
    """Ingest files under labels of their own, in this order and at once."""
    ingest_together(database, {str(FOLDER / name): labels for name, labels in told})


def test_thirty_nights_in_any_order_and_by_any_way_have_one_history(tmp_path: Path) -> None:
    in_order, mixed = tmp_path / "in-order.duckdb", tmp_path / "mixed.duckdb"
    keys = ("commit", "branch", "label")
    store(in_order, [(run["file"], RunLabels(**{key: run[key] for key in keys})) for run in RUNS])
    shuffled = [
        (run["file"], RunLabels(commit=run["commit"], label=f"job {number}"))
        for number, run in enumerate(random.Random(12).sample(RUNS, len(RUNS)))
    ]
    spool = str(tmp_path / "spool")
    for name, labels in shuffled[:3]:
        list(spool_paths(spool, [str(FOLDER / name)], labels=labels))
    store(mixed, shuffled[3:15])
    list(merge_spool(str(mixed), spool, wait=10))
    store(mixed, shuffled[15:])
    apart = history(str(mixed))
    assert all(len(each.nights) == 1 for each in apart.series)
    assert "30 runs of 30 have a label of their own" in apart.notes[0]
    names = [night.run_id for night in apart.nights]
    relabel(str(mixed), names, {"label": "nightly", "branch": "main"}, wait=10)
    told = as_json(history(str(in_order)))
    assert as_json(history(str(mixed))) == told
    assert rows(str(mixed), OUTCOMES) == rows(str(in_order), OUTCOMES) != []
    told_and_nothing_else(str(mixed))
    pruned = prune_runs(str(mixed), keep=3, older_than=None, dry_run=False, wait=10)
    assert len(pruned.runs) == 27
    assert as_json(history(str(mixed))) == told


def told_and_nothing_else(database: str) -> None:
    """Check the story of seed/simulation/nights.yaml; nights are counted from 1 there."""
    moved: dict[tuple[int, Verdict], set[str]] = {}
    found = history(database, with_causes=True)
    causes = {
        each.kernel: found.cause(each, c) for each in found.series for c in each.result.changes
    }
    numbers = {night.run_id: number for number, night in enumerate(found.nights, start=1)}
    for each in found.series:
        for change in each.result.changes:
            assert change.verdict is not None
            night = numbers[each.nights[change.index].run_id]
            moved.setdefault((night, change.verdict), set()).add(each.kernel)
    assert "went through DRAM" in str(causes["layer_norm_kernel"])
    assert "to local memory" in str(causes["stencil_heat3d_kernel"])
    assert "driver 550.54.15 → 560.35.03" in str(causes["scan_blocks_kernel"])
    assert moved.pop((13, Verdict.REGRESSED)) == {"layer_norm_kernel"}
    assert moved.pop((20, Verdict.IMPROVED)) == {"stencil_heat3d_kernel"}
    assert len(moved.pop((24, Verdict.ENVIRONMENT))) >= 2
    assert moved == {}
    assert found.nights[23].changed == (
        "driver 550.54.15 → 560.35.03",
        "runtime CUDA 12.4 → CUDA 12.6",
    )
