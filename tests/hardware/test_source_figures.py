"""The figures of the documents that started the project come out of the seed data."""

from __future__ import annotations

import pytest

from advisor.hardware.describe import describe_device, ridge_points
from advisor.hardware.devices import ACHIEVABLE_FRACTION, load_devices

# As printed: device, peak [TFLOP/s], practical, bandwidth [GB/s], practical, ridge and practical
# ridge [FLOP/B].
PRINTED = [
    ("nvidia-v100-sxm2-16gb", 125, 100, 900, 790, 139, 127),
    ("nvidia-a100-sxm4-80gb", 312, 250, 2039, 1794, 153, 139),
    ("nvidia-h100-sxm5-80gb", 990, 792, 3350, 2948, 296, 269),
    ("nvidia-h200-sxm-141gb", 990, 792, 4800, 4224, 206, 188),
]


def _ridge(device_id: str, resource: str, kind: str) -> float:
    found = describe_device(device_id).ridge_points
    return next(r.value for r in found if r.resource == resource and r.kind == kind)


@pytest.mark.parametrize("row", PRINTED, ids=[row[0] for row in PRINTED])
def test_keeps_the_printed_peaks_and_ridge_points(row: tuple[str, float]) -> None:
    device_id, peak, practical, bandwidth, practical_bandwidth, ridge, practical_ridge = row
    device = describe_device(device_id).device
    printed = {
        ("tensor_fp16", "project"): peak * 1e12,
        ("tensor_fp16", "practical"): practical * 1e12,
        ("dram", "project"): bandwidth * 1e9,
        ("dram", "practical"): practical_bandwidth * 1e9,
    }
    for (resource, kind), value in printed.items():
        found = device.ceiling(resource, kind)
        assert found is not None
        assert found.value == pytest.approx(value, rel=1e-9)
    assert round(_ridge(device_id, "tensor_fp16", "project")) == ridge
    # 792 / 4.224 is 187.5, printed as 188.
    assert _ridge(device_id, "tensor_fp16", "practical") == pytest.approx(practical_ridge, abs=0.51)


@pytest.mark.parametrize(
    ("device_id", "by_formula"),
    [
        ("nvidia-v100-sxm2-16gb", 126.26),  # 138.89 × 0.80 / 0.88
        ("nvidia-a100-sxm4-80gb", 139.11),
        ("nvidia-h100-sxm5-80gb", 268.66),
        ("nvidia-h200-sxm-141gb", 187.50),
    ],
)
def test_practical_factors_give_the_practical_ridge_points(
    device_id: str, by_formula: float
) -> None:
    device = describe_device(device_id).device
    compute = device.ceiling("compute", ACHIEVABLE_FRACTION)
    dram = device.ceiling("dram", ACHIEVABLE_FRACTION)
    assert compute is not None
    assert dram is not None
    assert (compute.value, dram.value) == (0.80, 0.88)
    ridge = _ridge(device_id, "tensor_fp16", "project")
    assert ridge * compute.value / dram.value == pytest.approx(by_formula, abs=0.01)


@pytest.mark.parametrize(
    ("device_id", "resource", "ridge", "exact"),
    [
        ("google-tpu-v7x", "tensor_fp8", 640.8, 640.83),
        ("google-tpu-v7x", "tensor_bf16", 320.4, 320.42),
        ("google-tpu-v6e", "tensor_bf16", 573.8, 573.75),
        ("google-tpu-v5p", "tensor_bf16", 166.3, 166.30),
    ],
)
def test_keeps_the_ridge_points_of_tensor_processing_units(
    device_id: str, resource: str, ridge: float, exact: float
) -> None:
    found = _ridge(device_id, resource, "project")
    assert found == pytest.approx(exact, abs=0.006)
    assert found == pytest.approx(ridge, abs=0.051)


@pytest.mark.parametrize(
    ("device_id", "bandwidth", "achieved", "share"),
    [
        ("intel-xeon-8280-2s", 281, 210, 75),
        ("amd-epyc-7742-2s", 410, 340, 83),
        ("nvidia-v100-sxm2-16gb", 900, 820, 91),
        ("nvidia-a100-sxm4-80gb", 2039, 1800, 88),
        ("nvidia-h100-sxm5-80gb", 3350, 2900, 87),
    ],
)
def test_keeps_the_achieved_streams(
    device_id: str, bandwidth: float, achieved: float, share: float
) -> None:
    device = describe_device(device_id).device
    rated = device.ceiling("dram", "project")
    stream = next(c for c in device.ceilings if c.kind == "measured" and c.basis == "stream")
    assert rated is not None
    assert rated.value == pytest.approx(bandwidth * 1e9)
    assert stream.value == pytest.approx(achieved * 1e9)
    assert round(100 * stream.value / rated.value) == share


def test_gives_the_practical_factors_to_nvidias_data_centre_parts_alone() -> None:
    practical = {
        device.vendor
        for device in load_devices()
        for c in device.ceilings
        if c.kind == ACHIEVABLE_FRACTION and c.basis == "practical"
    }
    assert practical == {"NVIDIA"}


def test_has_no_practical_ridge_point_where_nobody_measured_or_printed_one() -> None:
    device = describe_device("NVIDIA GeForce RTX 4090").device
    assert [r for r in ridge_points(device) if r.kind == "practical"] == []
