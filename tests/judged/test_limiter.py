"""The tool agrees with what was judged by hand before it ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ENTRIES = yaml.safe_load(
    (Path(__file__).parents[2] / "docs" / "judged" / "limiter.yaml").read_text(encoding="utf-8")
)["judged"]

# The judgement's words for a unit, and the tool's.
UNITS = {
    "ALU": "ALU pipe",
    "DRAM": "DRAM",
    "FP64": "FP64 pipe",
    "L1": "L1 data stage",
    "L2": "L2",
    "LSU": "load-store unit",
    "XU": "special function pipe",
    "issue": "issue slots",
}


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry['kernel']}-{entry['launch']}")
def test_it_names_the_limiter_that_was_judged(
    entry: dict[str, Any], limiters: dict[tuple[str, int], dict[str, Any]]
) -> None:
    found = limiters[entry["report"], entry["launch"]]
    judged = (entry["limiter"], entry["roofline_bound"], UNITS[entry["limiting_unit"]])
    assert (found["limiter"], found["roofline_bound"], found["limiting_unit"]) == judged
