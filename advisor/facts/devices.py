"""Devices as one row each: attributes, ceilings and limits under the names of the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.database.relations import STORED, Relations
from advisor.facts.layers import select
from advisor.facts.vocabulary import Vocabulary
from advisor.quantities import Quantity
from advisor.quoting import literal, quoted

DEVICE_ID = "device_id"


def devices_select(vocabulary: Vocabulary, relations: Relations) -> str:
    """Return the SELECT of all devices, with every column that is known of them."""
    own = ", ".join(
        quoted(name)
        for name, quantity in vocabulary.quantities.device.items()
        if quantity.attribute == name
    )
    columns = f"device.* exclude ({own})"
    return _of_devices(columns, vocabulary.quantities.device, relations)


def with_device(source: str, quantities: Mapping[str, Quantity], relations: Relations) -> str:
    """Return ``source`` (a FROM item with device_id) joined with some values of the device."""
    if not quantities:
        return source
    devices = relations.devices or f"({device_values(quantities, relations)})"
    joined = select("*", source, f"left join {devices} as of_device using (device_id)")
    return f"({joined}) as with_device"


def device_values(quantities: Mapping[str, Quantity], relations: Relations = STORED) -> str:
    """Return the SELECT of some values of devices by name, beside ``device_id``."""
    return _of_devices(DEVICE_ID, quantities, relations)


def _of_devices(columns: str, quantities: Mapping[str, Quantity], relations: Relations) -> str:
    joins = []
    if any(quantity.ceiling for quantity in quantities.values()):
        ceilings = _ceilings(quantities, relations)
        joins.append(f"left join ({ceilings}) as ceilings using (device_id)")
    if any(quantity.occupancy for quantity in quantities.values()):
        joins.append(f"left join ({_limits(quantities, relations)}) as limits using (isa)")
    return select(f"{columns}, {_values(quantities)}", relations.item("device"), *joins)


def _values(quantities: Mapping[str, Quantity]) -> str:
    return ", ".join(
        f"device.{quoted(quantity.attribute)} as {quoted(name)}"
        if quantity.attribute
        else quoted(name)
        for name, quantity in quantities.items()
    )


def _ceilings(quantities: Mapping[str, Quantity], relations: Relations) -> str:
    values = [
        _picked(
            name,
            f"resource = {literal(quantity.ceiling[0])} and kind = {literal(quantity.ceiling[1])}",
        )
        for name, quantity in quantities.items()
        if quantity.ceiling
    ]
    columns = ", ".join(["device_id", *values])
    return select(columns, relations.item("ceiling"), "group by device_id")


def _limits(quantities: Mapping[str, Quantity], relations: Relations) -> str:
    values = [
        _picked(name, f"resource = {literal(quantity.occupancy)}")
        for name, quantity in quantities.items()
        if quantity.occupancy
    ]
    columns = ", ".join(["isa", *values])
    return select(columns, relations.item("occupancy_limit"), "group by isa")


def _picked(name: str, condition: str) -> str:
    return f"max(case when {condition} then value end) as {quoted(name)}"
