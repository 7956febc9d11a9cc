"""Devices as people ask for them: a list, and one device with every ceiling and ridge point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from advisor.errors import UsageError
from advisor.hardware.called import device_called
from advisor.hardware.devices import (
    ACHIEVABLE_FRACTION,
    NOMINAL,
    PRACTICAL,
    PROJECT,
    Ceiling,
    load_devices,
)
from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.hardware.devices import DeviceSpec


class HasCeilings(Protocol):
    """What has ceilings: a device of the seed data, or one of the user's own."""

    @property
    def ceilings(self) -> tuple[Ceiling, ...]:
        """Return all of them."""

    def ceiling(self, resource: str, kind: str = NOMINAL) -> Ceiling | None:
        """Return the first of this resource and kind, None where there is none."""


@dataclass(frozen=True, kw_only=True)
class RidgePoint:
    """Where a memory roof meets a compute roof: ``value`` in FLOP/B.

    ``kind`` is that of the two ceilings; practical ones are nominal peaks times the achievable
    fractions where nobody printed a figure. ``confidence`` is the lower of the two.
    """

    resource: str
    kind: str
    value: float
    confidence: str


@dataclass(frozen=True, kw_only=True)
class DeviceSummary:
    """One line of the list: peaks in FLOP/s, bandwidth in B/s, None where there is no figure."""

    device_id: str
    name: str
    vendor: str
    architecture: str
    compute_capability: str | None
    unit_count: int
    memory_bytes: float | None
    dram_bandwidth: float | None
    vector_fp32: float | None
    tensor_fp16: float | None
    confidence: str


@dataclass(frozen=True, kw_only=True)
class DeviceDescription:
    """A device, its ceilings in the order of the seed data, and its ridge points."""

    device: DeviceSpec
    ridge_points: tuple[RidgePoint, ...]


def list_devices(vendor: str | None = None) -> tuple[DeviceSummary, ...]:
    """Return the devices of the seed data, all or one vendor's (case does not count).

    Raises:
        UsageError: there is no device of that vendor; names those there are.
    """
    devices = load_devices()
    if vendor is None:
        return tuple(_summary(device) for device in devices)
    found = tuple(_summary(d) for d in devices if d.vendor.casefold() == vendor.casefold())
    if not found:
        vendors = ", ".join(sorted({device.vendor for device in devices}))
        raise UsageError(f"no device of vendor {vendor!r} is known", hint=f"one of {vendors}")
    return found


def describe_device(name: str) -> DeviceDescription:
    """Return the device that a name means, as ``devices_called`` reads it.

    Raises:
        UsageError: there is no such device, or there are several; names them or the nearest.
    """
    device = device_called(name, load_devices())
    return DeviceDescription(device=device, ridge_points=ridge_points(device))


def ridge_points(device: HasCeilings) -> tuple[RidgePoint, ...]:
    """Return peak compute over DRAM bandwidth per precision: nominal, as printed, practical.

    Source: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009: ridge point.
    """
    resources = [c.resource for c in device.ceilings if c.kind == NOMINAL and c.unit == "FLOP/s"]
    pairs = [
        (resource, kind, peak(device, resource, kind), peak(device, "dram", kind))
        for kind in (NOMINAL, PROJECT, PRACTICAL)
        for resource in resources
    ]
    return tuple(
        RidgePoint(
            resource=resource,
            kind=kind,
            value=peak.value / bandwidth.value,
            confidence=lower_confidence(peak.confidence, bandwidth.confidence),
        )
        for resource, kind, peak, bandwidth in pairs
        if peak is not None and bandwidth is not None
    )


def peak(device: HasCeilings, resource: str, kind: str) -> Ceiling | None:
    """Return the ceiling; a practical one that nobody printed is the nominal one's fraction.

    There is no such fraction for memories other than DRAM.
    """
    printed = device.ceiling(resource, kind)
    if printed is not None or kind != PRACTICAL:
        return printed
    nominal = device.ceiling(resource)
    if nominal is None or (nominal.unit == "B/s" and resource != "dram"):
        return None
    fraction = device.ceiling("dram" if resource == "dram" else "compute", ACHIEVABLE_FRACTION)
    if fraction is None:
        return None
    return Ceiling(
        resource=resource,
        kind=PRACTICAL,
        value=nominal.value * fraction.value,
        unit=nominal.unit,
        basis=f"nominal × {fraction.value:g}",
        source=fraction.source,
        confidence=lower_confidence(nominal.confidence, fraction.confidence),
    )


def lower_confidence(*words: str) -> str:
    """Return the lowest of low, medium and high."""
    return min(words, key=("low", "medium", "high").index)


def _summary(device: DeviceSpec) -> DeviceSummary:
    def value(resource: str) -> float | None:
        found = device.ceiling(resource)
        return None if found is None else found.value

    return DeviceSummary(
        device_id=device.device_id,
        name=device.name,
        vendor=device.vendor,
        architecture=device.architecture,
        compute_capability=device.compute_capability,
        unit_count=device.unit_count,
        memory_bytes=device.memory_bytes,
        dram_bandwidth=value("dram"),
        vector_fp32=value("vector_fp32"),
        tensor_fp16=value("tensor_fp16") or value("tensor_bf16"),
        confidence=device.confidence,
    )
