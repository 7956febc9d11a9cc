"""``advisor refresh``: stored runs as today's rules see them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from advisor.api.refreshing import refresh_runs
from advisor.ingest.profiles import RunLabels, ingest_paths

if TYPE_CHECKING:
    from conftest import Run

REPORTS = (  # of several sets of counters, profiler versions and devices
    "AlpriElse__cs599k/profile.ncu-rep",
    "Lashi0812__CudaProgramming/smemTranspose.ncu-rep",
    "NCAR__GPU_workshop/MW_Baseline.ncu-rep",
    "Syswea__cuda-fused-linear-layer/profile_report.ncu-rep",
)


def everything(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of the tables that a refresh may write, to the last digit."""
    orders = {
        "launch": "run_id, launch_index",
        "variant": "run_id, variant_id",
        "finding": "run_id, rule_id, variant_id",
        "run": "run_id",
    }
    with duckdb.connect(str(path), read_only=True) as connection:
        return {
            table: connection.execute(f"select * from {table} order by {order}").fetchall()
            for table, order in orders.items()
        }


def test_changes_nothing_right_after_ingest(filled: Run, tmp_path: Path) -> None:
    before = everything(tmp_path / "test.duckdb")
    (row,) = json.loads(filled("refresh", "--format", "json").out)
    assert row["launches"] == len(before["launch"])
    assert row["changed"] == 0
    assert row["findings before"] == "the same"
    assert everything(tmp_path / "test.duckdb") == before


def test_restores_quantities_and_findings_that_were_lost(filled: Run, tmp_path: Path) -> None:
    path = tmp_path / "test.duckdb"
    before = everything(path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("update launch set dram_bytes = 2 * dram_bytes, flops_fp32 = null")
        connection.execute("delete from finding")
        connection.execute("update run set rules_hash = 'old'")
    (row,) = json.loads(filled("refresh", "--all", "--format", "json").out)
    assert row["quantities"].count("dram_bytes") == 1
    assert row["findings"] == len(before["finding"])
    assert row["findings before"] == 0
    assert everything(path) == before


def test_changes_nothing_when_it_fails_half_way(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "test.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("update launch set dram_bytes = 1")
    before = everything(path)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("advisor.ingest.refresh.judge", fail)
    assert filled("refresh").status == 130
    assert everything(path) == before


def test_refuses_a_run_beside_all(filled: Run) -> None:
    outcome = filled("refresh", "3f2a", "--all")
    assert outcome.status == 2
    assert "exclude each other" in outcome.err


def test_works_through_more_launches_than_one_batch(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["advisor.ingest.refresh"], "_BATCH", 5)
    before = everything(tmp_path / "test.duckdb")
    (row,) = json.loads(filled("refresh", "--format", "json").out)
    assert row["launches"] == len(before["launch"]) > 5
    assert row["changed"] == 0
    assert everything(tmp_path / "test.duckdb") == before


@pytest.mark.real
def test_changes_nothing_in_real_runs(real_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "real.duckdb"
    names = [str(real_data / "ncu-rep" / name) for name in REPORTS]
    assert [each.status for each in ingest_paths(str(path), names, labels=RunLabels(), wait=0)] == [
        "new"
    ] * len(names)
    before = everything(path)
    for done in refresh_runs(str(path), None, wait=0):
        assert not done.changed
        assert not done.findings_changed
    assert everything(path) == before
