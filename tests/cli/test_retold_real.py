"""What real profiles of weeks and of one day tell, from ``history`` and ``compare`` alone.

Times are what the vendor's own tool prints of the same reports (``gpu__time_duration.sum``).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.real

Run = Callable[..., Any]

# Matrix products of 1,024² on an A10G, 9 March and 16 April 2025 [ns].
LADDER = {
    "basic": (10778432, 10777184),
    "gmem_coalesce": (1397152, 1397856),
    "smem_blocking": (1006144, 1007072),
    "one_blocktiling": (431360, 431936),
    "two_blocktiling": (295040, 295136),
    "vectorized_blocktiling": (260736, 259616),
}
WARPTILING = (221984, 194560)
# A matrix addition on a T4, seven versions of 17 November 2025 [µs].
ADDITION = (52.6, 67.5, 67.8, 151.3, 81.4, 66.4, 47.8)


def asked(advisor: Run, *words: str) -> Any:
    found = advisor(*words, "--format", "json")
    assert found.status == 0, found.err
    return json.loads(found.out)


def test_an_a10g_over_weeks_is_unchanged_and_its_ladder_stands(
    advisor: Run, real_data: Path
) -> None:
    assert advisor("ingest", str(real_data / "ncu-rep" / "AveryClapp__ESMM-Research")).status == 0
    rows = asked(advisor, "compare", "last~2", "last")["rows"]
    both = {row["kernel"]: row for row in rows if row["base"] and row["head"]}
    assert LADDER.keys() < both.keys()
    assert {row["verdict"] for row in both.values()} == {"unchanged"}
    for kernel, (march, april) in LADDER.items():
        assert both[kernel]["base"]["duration"] == pytest.approx(march * 1e-9)
        assert both[kernel]["head"]["duration"] == pytest.approx(april * 1e-9)
    # The tile of warptiling changed, and so its name: told as gone and new, with the way to join.
    assert [row["verdict"] for row in rows if row["kernel"] == "warptiling"] == ["gone", "new"]
    answer = asked(advisor, "history")
    series = {each["series"]: each for each in answer["series"]}
    (alike,) = [
        each for each in answer["alike"] if series[each["series"]]["kernel"] == "warptiling"
    ]
    assert advisor("series", "link", alike["series"], alike["continued_by"]).status == 0
    (row,) = [
        row
        for row in asked(advisor, "compare", "last~2", "last")["rows"]
        if row["kernel"] == "warptiling"
    ]
    assert row["relative"] == pytest.approx(WARPTILING[1] / WARPTILING[0] - 1)
    assert row["verdict"] == "insufficient", "one launch in each run"
    # Weeks of single launches: no verdict, and none that is wrong.
    assert {each["newest"]["verdict"] for each in answer["series"]} == {"insufficient"}


def test_a_t4_through_seven_versions(advisor: Run, real_data: Path) -> None:
    assert advisor("ingest", str(real_data / "ncu-rep" / "armleth__cuda-mlp-inference")).status == 0
    for _ in range(2):  # 2D → 1D → 1D_stripped, as history suggests
        for one in asked(advisor, "history")["alike"]:
            assert advisor("series", "link", one["series"], one["continued_by"]).status == 0
    (series,) = asked(advisor, "history")["series"]
    times = [round(duration * 1e6, 1) for _, duration in series["values"]]
    assert times == list(ADDITION)
    slower = asked(advisor, "compare", "last~6", "last~3")["rows"][0]
    assert slower["terms"]["binding_before"] == "dram"
    assert slower["terms"]["binding_after"] == "l2"
    told = {cause["rule"]: cause["text"] for cause in slower["causes"]}
    assert "3,969 → 504 blocks" in told["change/launch-shape"]
    assert "through L2" in told["change/cache-traffic"]
    faster = asked(advisor, "compare", "last~6", "last")["rows"][0]
    assert faster["relative"] == pytest.approx(47.808 / 52.576 - 1)
    told = {cause["rule"]: cause["text"] for cause in faster["causes"]}
    assert "went through DRAM" in told["change/traffic"]
