"""JSON: base units, stable keys, no NaN."""

from __future__ import annotations

import json
import math
from dataclasses import replace

from advisor.reports.record.records import Report
from advisor.reports.write.machine import UNITS, json_text


def test_names_its_schema_and_units(report: Report) -> None:
    document = json.loads(json_text(report))
    assert document["schema_version"] == "1.0"
    assert document["units"]["duration"] == "s"
    assert document["simulated"] is True


def test_keeps_base_units(report: Report) -> None:
    kernel = json.loads(json_text(report))["kernels"][2]
    assert kernel["duration"] == 0.005
    assert kernel["facts"]["dram_bytes"] == {
        "label": "DRAM traffic", "value": 4e9, "unit": "B", "kind": "counted",
    }  # fmt: skip
    assert kernel["facts"]["l2_hit_rate"]["unit"] == "1"


def test_names_the_unit_of_every_number_of_a_kernel(report: Report) -> None:
    kernel = json.loads(json_text(report))["kernels"][2]
    counts = {
        "registers",
        "launch_count",
        "launches_excluded",
        "launches_detailed",
        "evidence_level",
    }
    numbers = {key for key, value in kernel.items() if isinstance(value, float)}
    assert numbers - counts <= set(UNITS)


def test_gives_each_finding_an_id_and_a_next_command(report: Report) -> None:
    (finding, *_) = json.loads(json_text(report))["kernels"][2]["findings"]
    assert finding["id"] == "stream:memory/bytes-in-flight"
    assert finding["next_command"].startswith("advisor show")


def test_writes_null_for_what_is_not_finite(report: Report) -> None:
    odd = replace(report.kernels[0], duration=math.nan, performance=math.inf)
    kernel = json.loads(json_text(replace(report, kernels=(odd,))))["kernels"][0]
    assert kernel["duration"] is None
    assert kernel["performance"] is None


def test_has_a_line_for_each_kernel(report: Report) -> None:
    lines = json_text(report).splitlines()
    names = [json.loads(line.rstrip(","))["name"] for line in lines if line.startswith('{"id":')]
    assert names == [kernel.name for kernel in report.kernels]
