"""Which device a report's name and attributes lead to."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from advisor.errors import InputError
from advisor.hardware.devices import DeviceSpec, load_devices
from advisor.hardware.matching import identify_device, read_properties
from advisor.model import ReportedDevice, Session
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import report as ncu_report

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def devices() -> tuple[DeviceSpec, ...]:
    return load_devices()


def reported(
    units: float, bus: float, capability: str, memory: float | None = None
) -> dict[str, float | str]:
    major, minor = capability.split(".")
    known: dict[str, float | str] = {
        "multiprocessor_count": units,
        "global_memory_bus_width": bus,
        "compute_capability_major": float(major),
        "compute_capability_minor": float(minor),
    }
    return known if memory is None else {**known, "total_memory": memory}


def known_id(
    name: str, attributes: Mapping[str, float | str], devices: tuple[DeviceSpec, ...]
) -> str | None:
    """Return the id of the device in the seed data, None where they lack it."""
    found = identify_device(name, attributes, devices)
    return None if found.spec is None else found.device_id


@pytest.mark.parametrize(
    ("name", "attributes", "device_id"),
    [
        ("NVIDIA A10", {}, "nvidia-a10"),
        ("NVIDIA A10G", {}, "nvidia-a10g"),  # another part, of which A10 is a prefix
        ("NVIDIA A100-SXM4-40GB", {}, "nvidia-a100-sxm4-40gb"),
        ("NVIDIA L40", {}, None),
        ("NVIDIA L40S", {}, "nvidia-l40s"),
        ("Quadro RTX 6000", {}, None),
        ("NVIDIA RTX 6000 Ada Generation", {}, "nvidia-rtx-6000-ada"),
        ("tesla  t4", {}, "nvidia-t4"),
        ("NVIDIA GeForce RTX 2080 Ti", {}, "nvidia-rtx-2080-ti"),
        ("RTX 2080 Ti", {}, "nvidia-rtx-2080-ti"),  # as people write it
        ("NVIDIA GeForce RTX 3080", reported(68, 320, "8.6"), "nvidia-rtx-3080-10gb"),
        ("NVIDIA GeForce RTX 3080", reported(70, 384, "8.6"), None),  # the 12 GB card
        ("NVIDIA H100", reported(132, 5120, "9.0"), "nvidia-h100-sxm5-80gb"),
        ("NVIDIA H100", reported(114, 5120, "9.0"), "nvidia-h100-pcie-80gb"),
        ("NVIDIA H100", reported(132, 6016, "9.0"), "nvidia-h100-nvl-94gb"),
        ("NVIDIA GH200 480GB", reported(132, 6144, "9.0", 102.0e9), "nvidia-gh200-96gb"),
        ("NVIDIA GH200 480GB", reported(132, 6144, "9.0", 150.0e9), "nvidia-gh200-144gb"),
        ("NVIDIA A100-SXM4-40GB", reported(14, 5120, "8.0"), None),  # a slice of the device
    ],
)
def test_finds_the_device(
    name: str,
    attributes: dict[str, float | str],
    device_id: str | None,
    devices: tuple[DeviceSpec, ...],
) -> None:
    assert known_id(name, attributes, devices) == device_id


def test_says_that_a_generic_name_is_a_guess() -> None:
    match = identify_device("NVIDIA H100", {})
    assert match.spec is not None
    assert match.spec.device_id == "nvidia-h100-sxm5-80gb"
    assert match.note is not None
    assert "NVIDIA H100 PCIe" in match.note


def test_makes_an_id_for_an_unknown_device_and_says_so() -> None:
    match = identify_device("NVIDIA GeForce GTX 1630", reported(14, 128, "7.5"))
    assert match.device_id == "reported-nvidia-geforce-gtx-1630-cc-7-5-14-units-128-bit"
    assert match.spec is None
    assert match.properties.compute_capability == "7.5"
    assert match.note == (
        "'NVIDIA GeForce GTX 1630' is not among the known devices: "
        "the peaks in the profile are used, rated ones are unknown"
    )


def test_says_that_a_known_name_has_other_properties() -> None:
    match = identify_device("NVIDIA GeForce RTX 3080", reported(70, 384, "8.6"))
    assert match.note is not None
    assert match.note.startswith("'NVIDIA GeForce RTX 3080' is reported with other properties")


@pytest.mark.parametrize("name", ["", "  ", "显卡"])
def test_gives_an_id_even_to_a_device_without_a_usable_name(name: str) -> None:
    assert identify_device(name, {}).device_id == "reported-unnamed"


def test_what_a_profile_tells_keeps_devices_of_one_name_and_of_none_apart() -> None:
    told: list[tuple[str, dict[str, float | str]]] = [
        ("", {}),
        ("", reported(0, 0, "7.5")),
        ("", reported(0, 0, "9.0")),
        ("", reported(14, 0, "7.5")),
        ("NVIDIA GeForce GTX 1630", reported(14, 128, "7.5")),
        ("NVIDIA GeForce GTX 1630", reported(16, 128, "7.5")),
    ]
    ids = [identify_device(name, attributes).device_id for name, attributes in told]
    assert len(set(ids)) == len(told)
    assert ids[3] == "reported-unnamed-cc-7-5-14-units"
    again = identify_device("", reported(14, 0, "7.5", 4.0e9))  # drivers keep different amounts
    assert again.device_id == ids[3]


def test_reads_attributes_in_si_units() -> None:
    properties = read_properties({"clock_rate": 1410000.0, "l2_cache_size": 41943040.0})
    assert properties.boost_clock == pytest.approx(1.41e9)
    assert properties.l2_bytes == pytest.approx(41943040)
    assert properties.compute_capability is None
    assert properties.unit_count is None


def test_reads_attributes_under_the_profilers_own_prefix() -> None:
    prefixed = {f"device__attribute_{name}": v for name, v in reported(108, 5120, "8.0").items()}
    assert read_properties(prefixed) == read_properties(reported(108, 5120, "8.0"))
    assert read_properties(prefixed).unit_count == 108


def test_takes_a_zero_for_an_unknown_size_but_not_for_a_minor_version() -> None:
    properties = read_properties(reported(108, 0, "8.0"))
    assert properties.bus_width is None
    assert properties.compute_capability == "8.0"


# Names in the reports. A new one must be looked at before it joins, with its device or None.
KNOWN = {
    "GeForce RTX 2070", "NVIDIA A10G", "NVIDIA GeForce GTX 1070 Ti", "NVIDIA GeForce GTX 1650",
    "NVIDIA GeForce GTX 1660 SUPER", "NVIDIA GeForce GTX 1660 Ti", "NVIDIA GeForce RTX 2060 SUPER",
    "NVIDIA GeForce RTX 3050 Laptop GPU", "NVIDIA GeForce RTX 3050 Ti Laptop GPU",
    "NVIDIA GeForce RTX 3060 Laptop GPU", "NVIDIA GeForce RTX 3080 Laptop GPU",
    "NVIDIA GeForce RTX 4070 Ti SUPER", "NVIDIA GeForce RTX 5060 Laptop GPU",
    "NVIDIA GeForce RTX 5060 Ti", "Xavier",
}  # fmt: skip
KNOWN = {
    "NVIDIA A100 80GB PCIe": "nvidia-a100-pcie-80gb",
    "NVIDIA A100-PCIE-40GB": "nvidia-a100-pcie-40gb",
    "NVIDIA A100-SXM4-40GB": "nvidia-a100-sxm4-40gb",
    "NVIDIA A30": "nvidia-a30",
    "NVIDIA A40": "nvidia-a40",
    "NVIDIA GH200 120GB": "nvidia-gh200-96gb",
    "NVIDIA GH200 480GB": "nvidia-gh200-96gb",
    "NVIDIA GeForce RTX 2080 Ti": "nvidia-rtx-2080-ti",
    "NVIDIA GeForce RTX 3060": "nvidia-rtx-3060-12gb",
    "NVIDIA GeForce RTX 3070": "nvidia-rtx-3070",
    "NVIDIA GeForce RTX 3080": "nvidia-rtx-3080-10gb",
    "NVIDIA GeForce RTX 4060": "nvidia-rtx-4060",
    "NVIDIA GeForce RTX 4090": "nvidia-rtx-4090",
    "NVIDIA H100 PCIe": "nvidia-h100-pcie-80gb",
    "Tesla T4": "nvidia-t4",
    "Tesla V100-PCIE-16GB": "nvidia-v100-pcie-16gb",
    "Tesla V100-SXM2-32GB": "nvidia-v100-sxm2-32gb",
    "GeForce RTX 2070": "nvidia-rtx-2070",
    "NVIDIA A10G": "nvidia-a10g",
    "NVIDIA GeForce GTX 1070 Ti": "nvidia-gtx-1070-ti",
    "NVIDIA GeForce GTX 1650": "nvidia-gtx-1650",
    "NVIDIA GeForce GTX 1660 SUPER": "nvidia-gtx-1660-super",
    "NVIDIA GeForce GTX 1660 Ti": "nvidia-gtx-1660-ti",
    "NVIDIA GeForce RTX 2060 SUPER": "nvidia-rtx-2060-super",
    "NVIDIA GeForce RTX 3050 Laptop GPU": "nvidia-rtx-3050-laptop",
    "NVIDIA GeForce RTX 3050 Ti Laptop GPU": "nvidia-rtx-3050-ti-laptop",
    "NVIDIA GeForce RTX 3060 Laptop GPU": "nvidia-rtx-3060-laptop",
    "NVIDIA GeForce RTX 3080 Laptop GPU": "nvidia-rtx-3080-laptop",
    "NVIDIA GeForce RTX 4070 Ti SUPER": "nvidia-rtx-4070-ti-super",
    "NVIDIA GeForce RTX 5060 Laptop GPU": "nvidia-rtx-5060-laptop",
    "NVIDIA GeForce RTX 5060 Ti": "nvidia-rtx-5060-ti",
    "Xavier": "nvidia-jetson-agx-xavier",
}


@pytest.mark.real
def test_knows_or_names_unknown_every_device_of_the_real_reports(
    real_data: Path, devices: tuple[DeviceSpec, ...]
) -> None:
    with (real_data / "MANIFEST.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["kind"] == "ncu-rep"]
    names = {row["gpu"] for row in rows} - {""}
    assert names == set(KNOWN)
    assert {name: known_id(name, {}, devices) for name in names} == {
        name: KNOWN.get(name) for name in names
    }


@pytest.mark.real
def test_what_real_reports_say_of_a_device_agrees_with_the_seed_data(
    real_data: Path, devices: tuple[DeviceSpec, ...]
) -> None:
    seen: dict[str, set[str | None]] = {}
    for path in sorted((real_data / "ncu-rep").rglob("*.*")):
        for device in _devices_of(path):
            found = known_id(device.name, device.attributes, devices)
            seen.setdefault(device.name, set()).add(found)
    # The names decide alone: no report contradicts units, bus width or compute capability.
    assert seen == {name: {KNOWN.get(name)} for name in KNOWN}


def _devices_of(path: Path) -> tuple[ReportedDevice, ...]:
    try:
        session, *_ = ncu_report.read(Source.from_path(path), ReadOptions())
    except InputError:
        return ()  # one of the files is a fragment without the format's mark
    assert isinstance(session, Session)
    return session.devices


INSTANCE = "NVIDIA A100-SXM4-40GB MIG 3g.20gb"


def instance(**properties: float) -> dict[str, float | str]:
    return {**reported(42, 2560, "8.0"), "l2_cache_size": 20971520.0, **properties}


def test_an_instance_is_a_share_of_the_device_it_names() -> None:
    # 42 of 108 multiprocessors; half of 5,120 bits and of 40 MiB.
    match = identify_device(INSTANCE, instance())
    assert match.spec is not None
    assert match.device_id == match.spec.device_id == "part-nvidia-a100-sxm4-40gb-mig-3g-20gb"
    fp32, dram = match.spec.ceiling("vector_fp32"), match.spec.ceiling("dram")
    assert fp32 is not None
    assert dram is not None
    assert fp32.value == pytest.approx(19.5e12 * 42 / 108)
    assert dram.value == pytest.approx(1.555e12 / 2)
    assert fp32.rate == 128


def test_a_share_of_the_memory_that_is_not_told_leaves_its_ceilings_out() -> None:
    whole_bus = identify_device(INSTANCE, instance(global_memory_bus_width=5120.0)).spec
    assert whole_bus is not None
    assert whole_bus.ceiling("dram") is None
    assert whole_bus.ceiling("l2") is None
    assert whole_bus.ceiling("vector_fp32") is not None
    assert whole_bus.ceiling("dram", "whole") is not None


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("NVIDIA H100 MIG 3g.40gb", reported(60, 2560, "9.0")),  # of which of three devices?
        (INSTANCE, instance(multiprocessor_count=120.0)),  # more than the whole has
        (INSTANCE, instance(compute_capability_major=9.0)),
        (INSTANCE, {}),
    ],
)
def test_an_instance_of_an_uncertain_device_is_unknown(
    name: str, attributes: dict[str, float | str]
) -> None:
    match = identify_device(name, attributes)
    assert match.spec is None
    assert match.note is not None


def test_knows_the_h200_by_what_it_reports_itself() -> None:
    found = identify_device("NVIDIA H200", {  # attributes of seed/h200's reports
        "device__attribute_multiprocessor_count": 132,
        "device__attribute_global_memory_bus_width": 6016,
        "device__attribute_compute_capability_major": 9,
        "device__attribute_compute_capability_minor": 0,
        "device__attribute_l2_cache_size": 62914560,
    })  # fmt: skip
    assert (found.device_id, found.note) == ("nvidia-h200-sxm-141gb", None)
