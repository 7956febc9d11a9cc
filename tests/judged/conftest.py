"""Kernels of the judged reports, as the tool sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.api.profiles import Labels, ingest_paths
from advisor.api.querying import run_query

JUDGED = Path(__file__).parents[2] / "docs" / "judged"
QUERY = """
    select runs.name as report, launch_index, limiter, limiting_unit, roofline_bound
    from launches join runs using (run_id) join kernels using (run_id, variant_id)
"""


@pytest.fixture(scope="session")
def limiters(
    real_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, int], dict[str, Any]]:
    """Return what the tool says limits each launch of the reports in limiter.yaml."""
    judged = yaml.safe_load((JUDGED / "limiter.yaml").read_text(encoding="utf-8"))["judged"]
    folder = real_data / "ncu-rep"
    paths = sorted({str(folder / entry["report"]) for entry in judged})
    database = str(tmp_path_factory.mktemp("judged") / "judged.duckdb")
    results = list(ingest_paths(database, paths, labels=Labels(), wait=0))
    assert [result.status for result in results] == ["new"] * len(paths)
    with run_query(database, QUERY, wait=0) as answer:
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    return {
        (str(Path(row["report"]).relative_to(folder)), int(row["launch_index"])): row
        for row in rows
    }
