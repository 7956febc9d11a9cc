"""What the tool makes of a simulated night, against what was planted there."""

from __future__ import annotations

import pytest
import yaml

from advisor.api.querying import run_query
from advisor.ingest.profiles import RunLabels, ingest_paths
from seed.simulation.generate import RUNS
from seed.simulation.machine import HERE

PLANTED = yaml.safe_load((HERE / "expected.yaml").read_text(encoding="utf-8"))["kernels"]


@pytest.fixture(scope="module")
def limiters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the limiter of every kernel of the first night."""
    database = str(tmp_path_factory.mktemp("night") / "night.duckdb")
    night = [str(RUNS / "night-01.ncu-rep")]
    assert [r.status for r in ingest_paths(database, night, labels=RunLabels(), wait=0)] == ["new"]
    query = "select short_name, limiter from kernels"
    with run_query(database, query, wait=0) as answer:
        return dict(answer.rows)


def test_it_finds_what_holds_each_simulated_kernel_back(limiters: dict[str, str]) -> None:
    assert limiters == {name: planted["limiter"] for name, planted in PLANTED.items()}
