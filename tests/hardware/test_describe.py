"""What the commands on hardware are given."""

from __future__ import annotations

import pytest

from advisor.errors import UsageError
from advisor.hardware.called import devices_called
from advisor.hardware.describe import describe_device, list_devices, lower_confidence
from advisor.hardware.devices import load_devices


def test_lists_all_devices_or_one_vendors() -> None:
    everything = list_devices()
    assert len(everything) == 118
    assert {d.vendor for d in list_devices("nvidia")} == {"NVIDIA"}
    v100 = next(d for d in everything if d.device_id == "nvidia-v100-sxm2-16gb")
    assert v100.dram_bandwidth == pytest.approx(900e9)
    assert v100.tensor_fp16 == pytest.approx(125e12)
    assert v100.compute_capability == "7.0"


def test_names_the_vendors_when_one_is_unknown() -> None:
    with pytest.raises(UsageError, match="no device of vendor 'intle' is known") as caught:
        list_devices("intle")
    assert "Intel" in str(caught.value.hint)


@pytest.mark.parametrize("name", ["nvidia-t4", "Tesla T4", "t4", "NVIDIA T4"])
def test_finds_a_device_by_id_name_or_alias(name: str) -> None:
    assert describe_device(name).device.device_id == "nvidia-t4"


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        # "V100" is the alias of one of them, and a word of all three ids.
        ("V100", ["nvidia-v100-sxm2-16gb", "nvidia-v100-sxm2-32gb", "nvidia-v100-pcie-16gb"]),
        ("a100 80gb", ["nvidia-a100-sxm4-80gb", "nvidia-a100-pcie-80gb"]),
        ("A10", ["nvidia-a10"]),
        ("nvidia-b300", ["nvidia-b300"]),
        ("H100-SXM", ["nvidia-h100-sxm5-80gb"]),
    ],
)
def test_finds_every_device_that_a_short_name_means(name: str, ids: list[str]) -> None:
    assert [device.device_id for device in devices_called(name, load_devices())] == ids


def test_lists_the_ids_where_a_name_means_several_devices() -> None:
    with pytest.raises(UsageError, match="'h100' may be several devices") as caught:
        describe_device("h100")
    assert "nvidia-h100-pcie-80gb" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "device_id"),
    [
        ("V100 SXM2", "nvidia-v100-sxm2-16gb"),
        ("A100 SXM", "nvidia-a100-sxm4-80gb"),
        ("h100 sxm", "nvidia-h100-sxm5-80gb"),
        ("H200 SXM", "nvidia-h200-sxm-141gb"),
        ("v7x", "google-tpu-v7x"),
        ("v6e", "google-tpu-v6e"),
        ("v5p", "google-tpu-v5p"),
        ("EPYC 7742 2S", "amd-epyc-7742-2s"),
    ],
)
def test_takes_a_name_of_the_projects_documents_for_one_device(name: str, device_id: str) -> None:
    assert [device.device_id for device in devices_called(name, load_devices())] == [device_id]


@pytest.mark.parametrize(
    ("name", "device_id"),
    [
        ("geforce rtx 4090", "nvidia-rtx-4090"),
        ("rtx 4090", "nvidia-rtx-4090"),
        ("NVIDIA RTX-4090", "nvidia-rtx-4090"),
        ("rtx4090", "nvidia-rtx-4090"),
        ("GeForceRTX4090", "nvidia-rtx-4090"),
        ("RTX 3060", "nvidia-rtx-3060-12gb"),
        ("RTX 2080 Ti", "nvidia-rtx-2080-ti"),
        ("geforce 4090 laptop", "nvidia-rtx-4090-laptop"),
        ("rtx4090 laptop gpu", "nvidia-rtx-4090-laptop"),
        ("RX 7900 XTX", "amd-rx-7900-xtx"),
        ("Instinct MI300X", "amd-mi300x"),
        ("a100-sxm", "nvidia-a100-sxm4-80gb"),
    ],
)
def test_a_name_without_vendor_and_series_means_the_device_of_no_more_words(
    name: str, device_id: str
) -> None:
    assert [device.device_id for device in devices_called(name, load_devices())] == [device_id]


def test_a_name_that_fits_several_devices_alike_stays_in_doubt() -> None:
    found = devices_called("rtx 3050", load_devices())
    assert [d.device_id for d in found] == ["nvidia-rtx-3050-laptop", "nvidia-rtx-3050-ti-laptop"]
    with pytest.raises(UsageError, match="no device called 'amd rtx 4090'"):
        devices_called("amd rtx 4090", load_devices())


def test_every_full_name_means_its_own_device() -> None:
    devices = load_devices()
    for device in devices:
        for name in (device.device_id, device.name, *device.called):
            assert devices_called(name, devices) == (device,), name


@pytest.mark.parametrize("name", ["", " ", "-"])
def test_takes_nothing_for_no_device(name: str) -> None:
    with pytest.raises(UsageError, match="no device called"):
        devices_called(name, load_devices())


def test_suggests_ids_that_hold_what_was_typed() -> None:
    with pytest.raises(UsageError) as caught:
        devices_called("mi300", load_devices())
    assert caught.value.hint == "did you mean 'amd-mi300a' or 'amd-mi300x'?"


def test_suggests_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="no device called 'nvidia-t5' is known") as caught:
        describe_device("nvidia-t5")
    assert "nvidia-t4" in str(caught.value.hint)


def test_computes_a_ridge_point_for_each_precision_by_hand() -> None:
    # T4: 65 TFLOP/s of fp16 matrix work over 320 GB/s is 203.1; 8.1 of fp32 is 25.3.
    nominal = {
        r.resource: r.value for r in describe_device("T4").ridge_points if r.kind == "nominal"
    }
    assert nominal["tensor_fp16"] == pytest.approx(203.125)
    assert nominal["vector_fp32"] == pytest.approx(25.3125)
    assert set(nominal) == {
        "vector_fp64", "vector_fp32", "vector_fp16", "tensor_fp16", "tensor_int8", "tensor_int4",
    }  # fmt: skip


def test_keeps_low_confidence_on_ceilings_and_ridge_points() -> None:
    description = describe_device("nvidia-rtx-3060-12gb")
    assert {c.confidence for c in description.device.ceilings if c.kind == "nominal"} == {"low"}
    assert {r.confidence for r in description.ridge_points} == {"low"}


def test_the_lower_of_two_confidences_counts() -> None:
    assert lower_confidence("high", "medium") == "medium"
    assert lower_confidence("low", "high") == "low"
