"""Values of devices, as a SELECT of one row per device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from advisor.facts.layers import identifier, select, text
from advisor.quantities import Quantity

DEVICE_ID = "device_id"


def device_values(quantities: Mapping[str, Quantity]) -> str:
    """Return the SELECT of some values of devices by name, beside ``device_id``.

    They come from the tables ``device``, ``ceiling`` and ``occupancy_limit``.
    """
    values = [f"{_value(quantity)} as {identifier(name)}" for name, quantity in quantities.items()]
    return select(", ".join((f"device.{DEVICE_ID}", *values)), "main.device")


def _value(quantity: Quantity) -> str:
    if quantity.attribute is not None:
        return f"device.{identifier(quantity.attribute)}"
    return f"({' '.join(_looked_up(quantity))})"


def _looked_up(quantity: Quantity) -> Iterator[str]:
    yield "select max(value) from"
    if quantity.ceiling is not None:
        resource, kind = map(text, quantity.ceiling)
        yield f"main.ceiling where ceiling.{DEVICE_ID} = device.{DEVICE_ID}"
        yield f"and resource = {resource} and kind = {kind}"
    else:
        limit = text(quantity.occupancy or "")
        yield f"main.occupancy_limit where occupancy_limit.isa = device.isa and resource = {limit}"
