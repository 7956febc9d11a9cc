"""What was judged by hand names launches that exist, in words that the tool has."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.model import Launch
from advisor.readers import ReadOptions, Source
from advisor.readers.ncu import report as ncu_report

JUDGED = Path(__file__).parents[2] / "docs" / "judged"
LIMITERS = {"memory", "compute", "latency", "balanced"}


def judged(name: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = yaml.safe_load((JUDGED / f"{name}.yaml").read_text("utf-8"))[
        "judged"
    ]
    return entries


@cache
def launches(report: Path) -> dict[int, Launch]:
    """Return the launches of a report by their place in it."""
    records = ncu_report.read(Source.from_path(report), ReadOptions())
    return {record.index: record for record in records if isinstance(record, Launch)}


@pytest.mark.real
@pytest.mark.parametrize("name", ["limiter", "advice", "stop"])
def test_it_judges_launches_that_exist(real_data: Path, name: str) -> None:
    for entry in judged(name):
        launch = launches(real_data / "ncu-rep" / entry["report"])[entry["launch"]]
        assert entry["kernel"] in launch.kernel_name, entry


@pytest.mark.real
def test_it_calls_near_the_roof_what_reached_nine_tenths_of_memory(real_data: Path) -> None:
    used = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
    for entry in judged("stop"):
        launch = launches(real_data / "ncu-rep" / entry["report"])[entry["launch"]]
        assert entry["resource"] == "DRAM"
        assert launch.counters[used] / 100 == pytest.approx(entry["reached"], abs=6e-4), entry


def test_it_judges_as_many_as_were_asked_for_and_no_launch_twice() -> None:
    for name, least in (("limiter", 14), ("advice", 20), ("stop", 9)):
        places = [(entry["report"], entry["launch"]) for entry in judged(name)]
        assert len(places) == len(set(places)) >= least


def test_it_uses_the_words_of_the_tool() -> None:
    assert {entry["limiter"] for entry in judged("limiter")} == LIMITERS
    assert {entry["roofline_bound"] for entry in judged("limiter")} == {"memory", "compute", None}


def test_it_never_wants_what_it_calls_wrong() -> None:
    for entry in judged("advice"):
        assert entry["accept"], entry
        assert not set(entry["accept"]) & set(entry.get("wrong_first", ())), entry
