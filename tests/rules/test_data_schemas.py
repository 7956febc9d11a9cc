"""The JSON Schemas of profilers, quantities and labels against their loaders and shipped files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.documents import load
from advisor.profilers import load_profilers
from advisor.quantities import load_quantities
from advisor.reports.record import layout
from tests.rules.test_schemas import RULES, Document, disagreements, plain, refusal, validator

PROFILER = """\
profiler: sample
name: Sample
suffixes: [.sample]
command: [sample, "--set {section}", "{program}"]
options: {programs: [sample], flags: [q], chooses: [k], keeps: [lock]}
sections:
  - {name: All, first: "2020.1", last: "2021", counters: ["a*"], reserve: true}
always: [device]
by_name:
  - {first: "2020.1", last: "2021", counters: ["a*"]}
launch: {grid_size: grid}
never:
  - {names: [dram_bytes], because: it counts none}
"""
QUANTITIES = """\
launch:
  sample_index: {unit: "1", about: place}
quantities:
  sample_bytes: {unit: B, aggregate: sum, remember_source: true, about: traffic}
  sample_rate: {unit: "1", aggregate: weighted_by sample_bytes, about: a mean}
  sample_unit: {type: text, aggregate: same, about: the busiest}
device:
  sample_peak: {unit: B/s, aggregate: same, ceiling: [dram, nominal], about: rated}
  sample_size: {unit: B, attribute: l2_bytes, about: a size}
  sample_warps: {unit: "1", occupancy: warps_per_sm, about: a limit}
"""
LABELS = """\
levels:
  dram: {label: DRAM, time: t_dram, drawn: true, nominal: [nominal_dram, dram]}
others: {launch: empty launch}
precisions:
  fp32: {label: FP32, time: t_fp32}
limiters: {balanced: bound by both}
sources: {counted: counted}
stalls:
  wait: {share: stall_share_wait, about: fixed latency, neutral: true}
limits:
  registers: [blocks_by_registers]
shares: [l1_hit_rate]
groups:
  - name: time
    facts:
      - {name: duration, label: time, show: share, essential: true, zero: hidden, of: a,
         of_what: b, kind: c, part_of: d, least_launches: 2}
"""
SHIPPED = {
    "profiler": "profilers/*.yaml",
    "quantities": "quantities/*.yaml",
    "report-labels": "labels/report.yaml",
    "names": "labels/names.yaml",
    "terms": "labels/terms.yaml",
    "page-labels": "labels/ncu.yaml",
    "written-labels": "labels/written.yaml",
    "opcodes": "labels/sass.yaml",
    "history-labels": "labels/history.yaml",
    "fleet-labels": "labels/fleet.yaml",
    "glossary-labels": "labels/glossary.yaml",
}
# Quantities have no places in their file; what their loader says of the form reads otherwise.
QUANTITY_FORM = ("expected", "unknown key", "unknown aggregate")


def written(path: Path, document: Document) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def take_profiler(tmp_path: Path) -> Callable[[Document], object]:
    def take(document: Document) -> object:
        written(tmp_path / "profilers" / "sample.yaml", document)
        return load_profilers([tmp_path])

    return take


@pytest.fixture
def take_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Document], object]:
    def take(document: Document) -> object:
        written(tmp_path / "labels" / "report.yaml", document)
        return layout._read([tmp_path / "labels" / "report.yaml"])

    return take


@pytest.mark.parametrize("name", SHIPPED)
def test_takes_every_shipped_file(name: str) -> None:
    check = validator(f"{name}.schema.json")
    check.check_schema(check.schema)
    paths = sorted(RULES.glob(SHIPPED[name]))
    assert paths
    problems = [
        f"{path}: {error.json_path}: {error.message}"
        for path in paths
        for error in check.iter_errors(load(path).plain())
    ]
    assert problems == []


@pytest.mark.parametrize("name", SHIPPED)
def test_refuses_a_key_more(name: str) -> None:
    check = validator(f"{name}.schema.json")
    document = load(sorted(RULES.glob(SHIPPED[name]))[0]).plain()
    assert isinstance(document, dict)
    assert not check.is_valid({**document, "zz": "zz"})


def test_every_folder_and_label_has_a_schema() -> None:
    labels = {path.name for path in (RULES / "labels").iterdir()}
    assert labels == {each.partition("/")[2] for each in SHIPPED.values() if "labels/" in each}


def test_agrees_with_the_loader_of_profilers(take_profiler: Callable[[Document], object]) -> None:
    document = plain(PROFILER)
    assert refusal(take_profiler, document) is None
    assert validator("profiler.schema.json").is_valid(document)
    refused, found = disagreements("profiler.schema.json", take_profiler, document)
    assert found == []
    assert refused > 30


def test_knows_the_places_of_a_command() -> None:
    check = validator("profiler.schema.json")
    known = {"profiler": "sample", "name": "Sample"}
    assert check.is_valid({**known, "command": ["-k regex:^({pattern})$", "{program}"]})
    assert not check.is_valid({**known, "command": ["--set {sektion}"]})


def test_agrees_with_the_loader_of_labels(take_labels: Callable[[Document], object]) -> None:
    document = plain(LABELS)
    assert refusal(take_labels, document) is None
    assert validator("report-labels.schema.json").is_valid(document)
    refused, found = disagreements("report-labels.schema.json", take_labels, document)
    assert found == []
    assert refused > 30


def test_agrees_with_the_loader_of_quantities(tmp_path: Path) -> None:
    check = validator("quantities.schema.json")
    document = plain(QUANTITIES)

    def take(document: Document) -> object:
        return load_quantities([written(tmp_path / "quantities" / "a.yaml", document)])

    assert refusal(take, document) is None
    assert check.is_valid(document)
    for wrong in (
        {},
        {"others": {}},
        {"quantities": {"a": {"unit": "B"}}},
        {"quantities": {"a": {"about": "no unit"}}},
        {"quantities": {"a": {"about": "both", "unit": "B", "type": "text"}}},
        {"quantities": {"a": {"about": "x", "unit": "B", "zz": 1}}},
        {"quantities": {"a": {"about": "x", "unit": "B", "aggregate": "mean"}}},
        {"quantities": {"a": {"about": "x", "unit": "B", "attribute": "l2_bytes"}}},
        {"device": {"a": {"about": "no origin", "unit": "B"}}},
        {"device": {"a": {"about": "two", "unit": "B", "attribute": "a", "occupancy": "b"}}},
    ):
        assert refusal(take, wrong) is not None, wrong
        assert not check.is_valid(wrong), wrong
