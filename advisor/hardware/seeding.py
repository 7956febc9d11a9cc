"""Bring the devices of the seed data, and those that profiles report, into a database."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from advisor.database.read import get_meta
from advisor.database.records import insert_records
from advisor.database.write import set_meta, transaction
from advisor.hardware.devices import CUDA, load_seed, seed_files
from advisor.hardware.matching import ReportedProperties, find_part
from advisor.hardware.part import is_part

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb

    from advisor.hardware.devices import DeviceSpec, OccupancyLimits, SeedData
    from advisor.hardware.matching import DeviceMatch

_HASH = "seed_hash"
_FORGET_CEILINGS = """
    DELETE FROM ceiling WHERE list_contains(string_split(?, ' '), device_id)
        OR device_id IN (SELECT device_id FROM device WHERE origin = 'seed')
"""
_FORGET_DEVICES = """
    DELETE FROM device WHERE origin = 'seed' AND NOT list_contains(string_split(?, ' '), device_id)
"""
Value = float | str | list[str] | None
Row = dict[str, Value]


def seed_database(
    connection: duckdb.DuckDBPyConnection,
    seed: SeedData | None = None,
    *,
    folder: Path | None = None,
) -> bool:
    """Bring the tables device, ceiling and occupancy_limit to the seed data; tell if they changed.

    Nothing is done where the file already holds these very data. Devices that the user added or a
    profile reported stay; instances get their share of the new data. All or nothing; call it
    outside of a transaction. ``folder`` holds the seed data, None means the shipped ones; ``seed``
    is what they say, where that is loaded already.
    """
    digest = seed_hash(folder)
    if get_meta(connection, _HASH) == digest:
        return False
    seed = seed or load_seed(folder)
    with transaction(connection):
        _replace(connection, seed.devices, seed.occupancy)
        set_meta(connection, _HASH, digest)
    return True


def store_device(connection: duckdb.DuckDBPyConnection, match: DeviceMatch) -> str:
    """Return the id of the profile's device, which is then a row of the table device.

    A device that the seed data lack gets a row of what the profile says about it, without ceilings;
    an instance of one that they have, with its share of them. The first profile that reports it
    decides.
    """
    known = connection.execute("SELECT 1 FROM device WHERE device_id = ?", [match.device_id])
    if known.fetchone() is not None:
        return match.device_id
    if match.spec is None:
        row = _reported_row(match)
        insert_records(connection, "device", [row])
        insert_records(connection, "occupancy_limit", _reported_limits(row), known="keep")
    elif is_part(match.spec):
        _store_part(connection, match.spec)
    return match.device_id


def seed_hash(folder: Path | None = None) -> str:
    """Return the SHA-256 over names and contents of the seed files."""
    digest = hashlib.sha256()
    for path in seed_files(folder):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _replace(
    connection: duckdb.DuckDBPyConnection,
    devices: Sequence[DeviceSpec],
    occupancy: Sequence[OccupancyLimits],
) -> None:
    rows = [_device_row(device) for device in sorted(devices, key=lambda d: d.device_id)]
    ids = " ".join(device.device_id for device in devices)  # the driver takes long for a list
    connection.execute(_FORGET_CEILINGS, [ids])
    connection.execute(_FORGET_DEVICES, [ids])
    insert_records(connection, "device", rows, known="replace")
    insert_records(connection, "ceiling", [row for d in devices for row in _ceiling_rows(d)])
    insert_records(connection, "occupancy_limit", _occupancy_rows(occupancy), known="replace")
    _renew_parts(connection, devices)


def _renew_parts(connection: duckdb.DuckDBPyConnection, devices: Sequence[DeviceSpec]) -> None:
    """Recompute the instances that profiles reported; one whose device is gone stays."""
    query = (
        "SELECT name, unit_count, memory_bus_width, memory_size, l2_size"
        " FROM device WHERE origin = 'part'"
    )
    for name, units, bus_width, memory, l2 in connection.execute(query).fetchall():
        reported = ReportedProperties(
            unit_count=units, bus_width=bus_width, memory_bytes=memory, l2_bytes=l2
        )
        part = find_part(name, reported, devices)
        if part is not None:
            _store_part(connection, part)


def _store_part(connection: duckdb.DuckDBPyConnection, part: DeviceSpec) -> None:
    row = {**_device_row(part), "origin": "part"}
    insert_records(connection, "device", [row], known="replace")
    connection.execute("DELETE FROM ceiling WHERE device_id = ?", [part.device_id])
    insert_records(connection, "ceiling", _ceiling_rows(part))


def _device_row(device: DeviceSpec) -> Row:
    return {
        "device_id": device.device_id,
        "name": device.name,
        "vendor": device.vendor,
        "architecture": device.architecture,
        "chip": device.chip,
        "form_factor": device.form_factor,
        "aliases": list(device.aliases),
        "isa": device.occupancy,
        "unit_kind": device.unit_kind,
        "unit_count": device.unit_count,
        "base_clock": device.base_clock,
        "boost_clock": device.boost_clock,
        "memory_type": device.memory_type,
        "memory_size": device.memory_bytes,
        "memory_bus_width": device.bus_width,
        "l2_size": device.l2_bytes,
        "unit_memory_size": device.unit_memory_bytes,
        "power_limit": device.power,
        "tensor_fp16_rate": _rate(device, "tensor_fp16"),
        "tensor_tf32_rate": _rate(device, "tensor_tf32"),
        "tensor_int8_rate": _rate(device, "tensor_int8"),
        "notes": list(device.notes),
        "sources": list(device.sources),
        "confidence": device.confidence,
        "origin": "seed",
    }


def _reported_row(match: DeviceMatch) -> Row:
    reported = match.properties
    capability = reported.compute_capability
    return {
        "device_id": match.device_id,
        "name": match.name,
        "aliases": [match.name],
        "isa": None if capability is None else f"{CUDA}{capability}",
        "unit_count": reported.unit_count,
        "boost_clock": reported.boost_clock,
        "memory_size": reported.memory_bytes,
        "memory_bus_width": reported.bus_width,
        "l2_size": reported.l2_bytes,
        "notes": [] if match.note is None else [match.note],
        "sources": ["the profile"],
        "origin": "report",
    }


def _reported_limits(device: Row) -> list[Row]:
    isa = device["isa"]
    return [
        {"isa": isa, "resource": resource, "value": value, "source": "the profile"}
        for resource, value in (_capability(isa) if isinstance(isa, str) else {}).items()
    ]


def _ceiling_rows(device: DeviceSpec) -> list[Row]:
    return [
        {
            "device_id": device.device_id,
            "resource": ceiling.resource,
            "kind": ceiling.kind,
            "value": ceiling.value,
            "unit": ceiling.unit,
            "basis": ceiling.basis,
            "method": ceiling.method,
            "reference": ceiling.reference,
            "source": ceiling.source,
            "confidence": ceiling.confidence,
            "note": ceiling.note,
        }
        for ceiling in sorted(device.ceilings, key=lambda c: (c.resource, c.kind))
    ]


def _occupancy_rows(occupancy: Sequence[OccupancyLimits]) -> list[Row]:
    rows: list[Row] = []
    for entry in sorted(occupancy, key=lambda o: o.key):
        limits = {**entry.limits, **_capability(entry.key)}
        rows += [
            {
                "isa": entry.key,
                "resource": resource,
                "value": value,
                "source": entry.source,
                "confidence": entry.confidence,
            }
            for resource, value in sorted(limits.items())
        ]
    return rows


def _capability(isa: str) -> dict[str, float]:
    """Return the number in the name of NVIDIA's instruction sets, which rules compare."""
    return {"compute_capability": float(isa.removeprefix(CUDA))} if isa.startswith(CUDA) else {}


def _rate(device: DeviceSpec, resource: str) -> float | None:
    found = device.ceiling(resource)
    return None if found is None else found.rate
