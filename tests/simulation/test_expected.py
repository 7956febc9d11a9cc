"""What the tool makes of a simulated night, against what was planted there."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from advisor.api.querying import run_query
from seed.simulation.machine import HERE

PLANTED = yaml.safe_load((HERE / "expected.yaml").read_text(encoding="utf-8"))["kernels"]


@pytest.fixture(scope="module")
def limiters(one_night: Path) -> dict[str, str]:
    """Return the limiter of every kernel of the first night."""
    query = "select short_name, limiter from kernels"
    with run_query(str(one_night), query, wait=0) as answer:
        return dict(answer.rows)


def test_it_finds_what_holds_each_simulated_kernel_back(limiters: dict[str, str]) -> None:
    assert limiters == {name: planted["limiter"] for name, planted in PLANTED.items()}
