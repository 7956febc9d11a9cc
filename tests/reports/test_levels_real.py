"""Levels of memory in rooflines of real reports: marks lie at what their launches counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.api.reporting import load_report
from advisor.database.connect import open_for_reading

pytestmark = pytest.mark.real

_RUNS = """
    SELECT run_id FROM run JOIN launch USING (run_id)
    WHERE l2_bytes IS NOT NULL AND dram_bytes > 0 AND flops_fp32 > 0
    GROUP BY run_id ORDER BY count(DISTINCT variant_id) DESC, run_id LIMIT 10
"""
_SUMS = """
    SELECT variant_id, sum(flops_fp32), sum(l2_bytes), sum(l1_bytes), sum(shared_bytes)
    FROM launch WHERE run_id = ? GROUP BY variant_id
"""
_REPLAYED = 1.1  # passes of a replay see slightly other traffic: counted below
_MOST = 0.03  # of kernels


def test_marks_lie_at_what_launches_counted(real_database: Path) -> None:
    with open_for_reading(str(real_database)) as connection:
        runs = [run for (run,) in connection.execute(_RUNS).fetchall()]
        sums = {
            run: {row[0]: row[1:] for row in connection.execute(_SUMS, [run]).fetchall()}
            for run in runs
        }
    compared = 0
    for run in runs:
        report = load_report(str(real_database), run=run, wait=0)
        charts = [chart for chart in report.rooflines if chart.id == "fp32"]
        for placement in (each for chart in charts for each in chart.placements):
            work, *traffic = sums[run][placement.kernel_id]
            counted = dict(zip(("l2", "l1", "shared"), traffic, strict=True))
            for level in placement.levels:
                assert level.x == pytest.approx(work / counted[level.level])
                compared += 1
    assert len(runs) == 10
    assert compared > 30


def test_little_more_traffic_is_counted_at_dram_than_at_l2(real_database: Path) -> None:
    """What reaches device memory passed L2; only noise of replay says otherwise."""
    query = f"""
        SELECT count(*), count(*) FILTER (dram_bytes > {_REPLAYED} * l2_bytes)
        FROM launch WHERE dram_bytes > 1e6 AND l2_bytes > 1e6
    """
    with open_for_reading(str(real_database)) as connection:
        ((every, above),) = connection.execute(query).fetchall()
    assert every > 50
    assert above <= _MOST * every
