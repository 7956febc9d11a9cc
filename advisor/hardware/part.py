"""An instance of a device (MIG) that reports itself as a device of its own.

It owns its multiprocessors, and that share of the memory system on which the reported bus width and
L2 size agree. Its ceilings are those shares of the whole device's.

Source: NVIDIA, Multi-Instance GPU User Guide, "Concepts" and "Device Enumeration" (the name of an
instance); CUPTI documentation, "Special Configurations".
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.hardware.devices import ACHIEVABLE_FRACTION, NOMINAL, Ceiling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.hardware.devices import DeviceSpec

WHOLE = "whole"
"""The kind of a ceiling of the whole device, kept beside the instance's own."""

_INSTANCE = re.compile(r"(?P<whole>.*\S)\s+MIG\s+(?P<profile>\S.*)", re.IGNORECASE)
_MEMORY = ("dram", "l2")


def name_of_whole(name: str) -> str | None:
    """Return the name of the device that ``name`` is an instance of, None where it is whole.

    >>> name_of_whole("Some Device MIG 3g.20gb"), name_of_whole("Some Device")
    ('Some Device', None)
    """
    found = _INSTANCE.fullmatch(name.strip())
    return None if found is None else found["whole"]


def model_of(name: str) -> str:
    """Return the name of the device model: of the whole, where ``name`` is of an instance.

    >>> model_of("Some Device MIG 3g.20gb"), model_of("Some Device")
    ('Some Device', 'Some Device')
    """
    return name_of_whole(name) or name


def partition_of(name: str) -> str | None:
    """Return the profile of the instance that ``name`` is of, None where it is a whole device.

    >>> partition_of("Some Device MIG 3g.20gb"), partition_of("Some Device")
    ('3g.20gb', None)
    """
    found = _INSTANCE.fullmatch(name.strip())
    return None if found is None else found["profile"]


def part_of(
    whole: DeviceSpec,
    name: str,
    *,
    unit_count: float,
    bus_width: float | None,
    memory_bytes: float | None,
    l2_bytes: float | None,
) -> DeviceSpec:
    """Return the instance of ``whole`` that reports itself so; ceilings are its share.

    Where the report does not record a share, the ceilings that it limits are left out.
    """
    part = replace(
        whole,
        device_id="part-" + re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-"),
        name=name,
        aliases=(name,),
        unit_count=int(unit_count),
        memory_bytes=memory_bytes,
        bus_width=bus_width,
        l2_bytes=l2_bytes,
        power=None,
    )
    return replace(part, ceilings=tuple(_ceilings(part, whole)))


def is_part(device: DeviceSpec) -> bool:
    """Return whether the device is an instance of another one."""
    return device.ceiling("units", WHOLE) is not None


def _ceilings(part: DeviceSpec, whole: DeviceSpec) -> Iterator[Ceiling]:
    units, memory = part.unit_count / whole.unit_count, _memory_share(part, whole)
    for ceiling in whole.ceilings:
        share = memory if ceiling.resource in _MEMORY else units
        if ceiling.kind == ACHIEVABLE_FRACTION:
            yield ceiling
        elif ceiling.kind == NOMINAL and share is not None:
            basis = f"{share:.4g} of the whole device's"
            yield replace(ceiling, value=ceiling.value * share, basis=basis)
    yield _of_whole(whole, "units", whole.unit_count, "1")
    if (dram := whole.ceiling("dram")) is not None:
        yield _of_whole(whole, "dram", dram.value, dram.unit)


def _memory_share(part: DeviceSpec, whole: DeviceSpec) -> float | None:
    bus = _ratio(part.bus_width, whole.bus_width)
    return bus if bus == _ratio(part.l2_bytes, whole.l2_bytes) else None


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _of_whole(whole: DeviceSpec, resource: str, value: float, unit: str) -> Ceiling:
    return Ceiling(
        resource=resource,
        kind=WHOLE,
        value=value,
        unit=unit,
        basis=f"the whole {whole.name}",
        source="; ".join(whole.sources),
        confidence=whole.confidence,
    )
