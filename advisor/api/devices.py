"""Devices as tables: the list, and one device with every ceiling and ridge point."""

from __future__ import annotations

from advisor.hardware import DeviceDescription, describe_device
from advisor.hardware import list_devices as known_devices
from advisor.wording import si

Rows = list[tuple[object, ...]]

_LIST = (
    "device", "name", "vendor", "architecture", "units", "memory", "dram", "fp32", "fp16 matrix",
    "confidence",
)  # fmt: skip
_CEILINGS = ("resource", "kind", "value", "basis", "source", "confidence")


def list_devices(vendor: str | None) -> tuple[tuple[str, ...], Rows]:
    """Return columns and one row per known device; peaks are nominal.

    Raises:
        UsageError: no device of that vendor is known.
    """
    rows: Rows = [
        (
            device.device_id,
            device.name,
            device.vendor,
            device.architecture,
            device.unit_count,
            si(device.memory_bytes, "B"),
            si(device.dram_bandwidth, "B/s"),
            si(device.vector_fp32, "FLOP/s"),
            si(device.tensor_fp16, "FLOP/s"),
            _marked(device.confidence),
        )
        for device in known_devices(vendor)
    ]
    return _LIST, rows


def show_device(name: str) -> tuple[str, tuple[str, ...], Rows]:
    """Return a heading, columns, and one row per ceiling and ridge point of a device.

    Raises:
        UsageError: there is no such device, or there are several; names them or the nearest.
    """
    found = describe_device(name)
    rows: Rows = [
        (
            ceiling.resource,
            ceiling.kind,
            si(ceiling.value, ceiling.unit),
            ceiling.basis or "",
            ceiling.source or "",
            _marked(ceiling.confidence),
        )
        for ceiling in found.device.ceilings
    ]
    rows += [
        (
            f"ridge point, {point.resource}",
            point.kind,
            si(point.value, "FLOP/B"),
            "peak over DRAM bandwidth",
            "",
            _marked(point.confidence),
        )
        for point in found.ridge_points
    ]
    return _heading(found), _CEILINGS, rows


def _heading(found: DeviceDescription) -> str:
    device = found.device
    parts = [device.name, device.architecture, f"{device.unit_count} units"]
    if device.compute_capability:
        parts.append(f"compute capability {device.compute_capability}")
    return f"{device.device_id}: {', '.join(str(part) for part in parts)}"


def _marked(confidence: str) -> str:
    return f"{confidence} (not verified)" if confidence == "low" else confidence
