"""The seed data themselves: shape, sources, and figures that follow from each other."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import Any

import pytest
import yaml

from advisor.hardware.devices import DeviceSpec, load_devices, load_occupancy_limits, seed_files
from advisor.resources import data_dir

SEED = data_dir("seed")
CONFIDENCE = {"high", "medium", "low"}
UNITS = {"FLOP/s", "B/s", "B/cycle", "1"}


def read(name: str) -> Any:
    return yaml.safe_load((SEED / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def devices() -> dict[str, DeviceSpec]:
    return {device.device_id: device for device in load_devices()}


@pytest.fixture(scope="module")
def nodes() -> list[dict[str, Any]]:
    paths = sorted((SEED / "devices").glob("*.yaml"))
    return [node for path in paths for node in yaml.safe_load(path.read_text())["devices"]]


def test_holds_every_device_once(nodes: list[dict[str, Any]]) -> None:
    assert len(nodes) == 118
    assert max(Counter(node["id"] for node in nodes).values()) == 1


def test_shares_an_alias_only_where_reported_properties_tell_devices_apart(
    devices: dict[str, DeviceSpec],
) -> None:
    owners: dict[str, list[DeviceSpec]] = {}
    for device in devices.values():
        for alias in {alias.casefold() for alias in (device.name, *device.aliases)}:
            owners.setdefault(alias, []).append(device)
    for alias, sharing in owners.items():
        told_apart = {(d.unit_count, d.bus_width, d.memory_bytes) for d in sharing}
        assert len(told_apart) == len(sharing), alias


def test_writes_every_figure_as_a_number(nodes: list[dict[str, Any]]) -> None:
    for node in nodes:
        words = {"unit", "basis", "clock", "accumulate", "note", "type", "label"}
        blocks = [*node["ceilings"].values(), node["clocks"], node["memory"]]
        figures = [value for block in blocks for key, value in block.items() if key not in words]
        figures.append(node["units"]["count"])
        assert figures
        assert [f for f in figures if type(f) not in (int, float) or f <= 0] == [], node["id"]


def test_names_a_known_source_and_confidence_for_every_block(nodes: list[dict[str, Any]]) -> None:
    sources = read("sources.yaml")["sources"]
    limits = {
        key: n for v in read("occupancy-limits.yaml").values() for key, n in v["limits"].items()
    }
    blocks = [*nodes, *limits.values()]
    assert [b["name"] for b in blocks if not b["sources"] or set(b["sources"]) - set(sources)] == []
    assert {b["confidence"] for b in blocks} <= CONFIDENCE
    measured = [row for rows in read("ceilings/measured.yaml")["measured"].values() for row in rows]
    assert {row["source"] for row in measured} <= set(sources)
    assert {row["confidence"] for row in measured} <= CONFIDENCE


def test_refers_only_to_devices_and_limits_that_exist(
    devices: dict[str, DeviceSpec], nodes: list[dict[str, Any]]
) -> None:
    keys = {limits.key for limits in load_occupancy_limits()}
    assert {node["occupancy"] for node in nodes} - {None} <= keys
    achievable = read("ceilings/achievable.yaml")
    named = {
        *read("ceilings/measured.yaml")["measured"],
        *read("ceilings/project.yaml")["devices"],
        *achievable["measured"],
        *(d for entry in achievable["practical"].values() for d in entry["devices"]),
    }
    assert named <= set(devices)


def test_names_a_clock_that_the_device_has(nodes: list[dict[str, Any]]) -> None:
    for node in nodes:
        clocks = {entry["clock"] for entry in node["ceilings"].values() if "clock" in entry}
        assert clocks <= set(node["clocks"]), node["id"]


# Rated below or above units × rate × clock for reasons that the device's conflicts give.
_OFF = {
    "nvidia-p100-pcie-16gb", "nvidia-h20-96gb", "nvidia-b300", "nvidia-gb300",
    "nvidia-rtx-pro-6000-blackwell-server",
}  # fmt: skip


def test_rates_reproduce_the_rated_peaks(nodes: list[dict[str, Any]]) -> None:
    seen = 0
    for node in nodes:
        for resource, entry in node["ceilings"].items():
            if "rate" not in entry or node["id"] in _OFF:
                continue
            product = node["units"]["count"] * entry["rate"] * node["clocks"][entry["clock"]]
            assert entry["value"] == pytest.approx(product, rel=0.015), (node["id"], resource)
            seen += 1
    assert seen > 400


def test_explains_where_a_rate_does_not_reproduce_the_peak(nodes: list[dict[str, Any]]) -> None:
    for node in nodes:
        if node["id"] in _OFF:
            assert node.get("conflicts") or node.get("notes"), node["id"]


def test_gives_ceilings_units_and_positive_values(devices: dict[str, DeviceSpec]) -> None:
    for device in devices.values():
        for ceiling in device.ceilings:
            assert ceiling.unit in UNITS
            assert ceiling.value > 0
            assert ceiling.source
            assert ceiling.confidence in CONFIDENCE
            if ceiling.unit == "1":
                assert ceiling.value <= 1


def test_achievable_fractions_are_the_medians_they_claim_to_be() -> None:
    rows = read("ceilings/measured.yaml")["measured"]
    kept = {
        "dram": lambda r: (
            r["resource"] == "dram"
            and r["what"].split()[0] in {"stream", "copy", "scale", "triad", "mixed"}
        ),
        "compute": lambda r: (
            r["resource"] in {"tensor_fp16", "tensor_bf16"}
            and "GEMM" in r["what"]
            and "zero" not in r["what"]
        ),
    }
    for device, figures in read("ceilings/achievable.yaml")["measured"].items():
        for resource, value in figures.items():
            fractions = [
                row["value"] / row["reference"]
                for row in rows[device]
                if kept[resource](row) and "reference" in row
            ]
            expected = min(1.0, statistics.median(fractions))
            assert value == pytest.approx(expected, abs=6e-4), (device, resource)


def test_gives_a_device_at_most_one_achievable_fraction_of_each_resource(
    devices: dict[str, DeviceSpec],
) -> None:
    for device in devices.values():
        found = Counter(c.resource for c in device.ceilings if c.kind == "achievable_fraction")
        assert not found or max(found.values()) == 1, device.device_id


def test_occupancy_limits_have_what_the_formulas_of_compute_capabilities_need() -> None:
    needed = {
        "register_alloc_unit", "sub_partitions", "shared_alloc_granularity_bytes",
        "shared_reserved_bytes_per_block", "max_warps_per_sm", "max_blocks_per_sm",
        "registers_per_sm",
    }  # fmt: skip
    nvidia = [limits for limits in load_occupancy_limits() if limits.key.startswith("cc-")]
    assert len(nvidia) == 15
    assert [limits.key for limits in nvidia if needed - set(limits.limits)] == []


def test_no_device_is_smaller_than_the_smallest_of_its_compute_capability(
    devices: dict[str, DeviceSpec],
) -> None:
    said = {each.key: each.limits.get("fewest_multiprocessors") for each in load_occupancy_limits()}
    fewest: dict[str, float] = {}
    for each in devices.values():
        if (each.occupancy or "").startswith("cc-") and each.unit_count is not None:
            key = str(each.occupancy)
            fewest[key] = min(each.unit_count, fewest.get(key, each.unit_count))
    assert {key: said[key] for key in fewest} == fewest


def test_lists_every_yaml_file_of_devices_and_ceilings() -> None:
    names = {path.relative_to(SEED).as_posix() for path in seed_files()}
    assert {"sources.yaml", "occupancy-limits.yaml", "ceilings/measured.yaml"} <= names
    assert sum(name.startswith("devices/") for name in names) == 10
