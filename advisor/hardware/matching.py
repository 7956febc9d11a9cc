"""Which device of the seed data a profile came from.

A name must be equal to an alias as a whole: prefixes name other products. Where several devices
share an alias, and where a name covers more than one product, the reported attributes decide.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.cache import remembered
from advisor.hardware.devices import load_devices, read_seed_file
from advisor.hardware.part import name_of_whole, part_of
from advisor.records import dataclass
from advisor.resources import data_dir

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from advisor.hardware.devices import DeviceSpec


@dataclass(frozen=True, kw_only=True)
class ReportedProperties:
    """What a profile says about its device; sizes in B, clock in Hz, None where it is silent."""

    compute_capability: str | None = None
    unit_count: float | None = None
    bus_width: float | None = None
    memory_bytes: float | None = None
    l2_bytes: float | None = None
    boost_clock: float | None = None


@dataclass(frozen=True, kw_only=True)
class DeviceMatch:
    """The device of a profile.

    ``spec`` is None for a device that the seed data do not have; ``device_id`` then follows from
    the profile's attributes. An instance of a known device has a spec of its own: its share of the
    whole. ``note`` is a sentence for the user, None where nothing is in doubt.
    """

    device_id: str
    name: str
    spec: DeviceSpec | None
    properties: ReportedProperties
    note: str | None = None


def identify_device(
    name: str,
    attributes: Mapping[str, float | str],
    devices: Sequence[DeviceSpec] | None = None,
) -> DeviceMatch:
    """Return the device that reports itself by this name and these attributes.

    ``attributes`` are under the vendor's names and in the vendor's units. ``devices`` None means
    the shipped ones.
    """
    known = load_devices() if devices is None else devices
    properties = read_properties(attributes)
    named = _named(name, known)
    fitting = [d for d in named if not _contradicts(d, properties)]
    if not fitting:
        part = find_part(name, properties, known)
        if part is None:
            return _unknown(name, properties, named)
        return DeviceMatch(device_id=part.device_id, name=name, spec=part, properties=properties)
    fitting = _nearest_memory(fitting, properties.memory_bytes)
    note = None
    if len(fitting) > 1:
        others = ", ".join(d.name for d in fitting[1:])
        note = f"{name!r} may also be {others}; {fitting[0].name} is assumed"
    return DeviceMatch(
        device_id=fitting[0].device_id,
        name=name,
        spec=fitting[0],
        properties=properties,
        note=note,
    )


def read_properties(attributes: Mapping[str, float | str]) -> ReportedProperties:
    """Return what the reported attributes say, in SI units."""
    path = data_dir("seed") / "reported-attributes.yaml"
    document = remembered("attributes", [path], "", lambda: read_seed_file(path))
    plain = {_without(document["prefixes"], name): value for name, value in attributes.items()}
    numbers = {name: v for name, v in plain.items() if isinstance(v, (int, float))}
    capability = document["compute_capability"]
    major, minor = numbers.get(capability["major"]), numbers.get(capability["minor"], 0)
    values = {
        name: numbers.get(entry["attribute"], 0) * entry.get("scale", 1) or None
        for name, entry in document["properties"].items()
    }
    return ReportedProperties(
        compute_capability=f"{major:.0f}.{minor:.0f}" if major else None, **values
    )


def _without(prefixes: Sequence[str], name: str) -> str:
    longest = max((prefix for prefix in prefixes if name.startswith(prefix)), key=len)
    return name.removeprefix(longest)


def _named(name: str, devices: Sequence[DeviceSpec]) -> list[DeviceSpec]:
    plain = _plain(name)
    return [d for d in devices if plain in {_plain(alias) for alias in (d.name, *d.aliases)}]


def find_part(
    name: str, reported: ReportedProperties, devices: Sequence[DeviceSpec]
) -> DeviceSpec | None:
    """Return the instance of the only device that can have it, None where there is none."""
    units, of = reported.unit_count, name_of_whole(name)
    if units is None or of is None:
        return None
    wholes = [
        device
        for device in _named(of, devices)
        if reported.compute_capability in (None, device.compute_capability)
        and units <= device.unit_count
    ]
    if len(wholes) != 1:
        return None
    return part_of(
        wholes[0],
        name,
        unit_count=units,
        bus_width=reported.bus_width,
        memory_bytes=reported.memory_bytes,
        l2_bytes=reported.l2_bytes,
    )


def _unknown(name: str, properties: ReportedProperties, named: Sequence[DeviceSpec]) -> DeviceMatch:
    if named:
        why = f"{name!r} is reported with other properties than {named[0].name}"
    elif name.strip():
        why = f"{name!r} is not among the known devices"
    else:
        why = "the profile does not name its device"
    return DeviceMatch(
        device_id=_reported_id(name, properties),
        name=name,
        spec=None,
        properties=properties,
        note=f"{why}: the peaks in the profile are used, rated ones are unknown",
    )


def _reported_id(name: str, properties: ReportedProperties) -> str:
    """Return the id of a device that the seed data lack: its name and its attributes.

    Devices of one name, or of none, are the same where what identifies known ones agrees.
    """
    words = [name if re.search("[a-z0-9]", name.casefold()) else "unnamed"]
    if properties.compute_capability is not None:
        words.append(f"cc {properties.compute_capability}")
    if properties.unit_count is not None:
        words.append(f"{properties.unit_count:.0f} units")
    if properties.bus_width is not None:
        words.append(f"{properties.bus_width:.0f} bit")
    return "reported-" + re.sub(r"[^a-z0-9]+", "-", " ".join(words).casefold()).strip("-")


def _plain(name: str) -> str:
    """Return the name without what drivers and people add or drop: case, spaces, vendor, brand."""
    plain = re.sub(r"\s+", " ", name).strip().casefold()
    return plain.removeprefix("nvidia ").removeprefix("geforce ")


def _contradicts(device: DeviceSpec, reported: ReportedProperties) -> bool:
    pairs = (
        (device.unit_count, reported.unit_count),
        (device.bus_width, reported.bus_width),
        (device.compute_capability, reported.compute_capability),
    )
    return any(a is not None and b is not None and a != b for a, b in pairs)


def _nearest_memory(devices: list[DeviceSpec], reported: float | None) -> list[DeviceSpec]:
    """Return the devices whose memory is nearest to the reported one; all, where nothing is known.

    Sizes are never equal: firmware and error correction take a part.
    """
    if reported is None:
        return devices
    distances = [abs(reported - (device.memory_bytes or 0)) for device in devices]
    return [d for d, distance in zip(devices, distances, strict=True) if distance == min(distances)]
