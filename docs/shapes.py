"""The pieces that JSON Schemas are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Schema = dict[str, Any]


def only(properties: Mapping[str, Schema], keys: Iterable[str]) -> dict[str, Schema]:
    """Return the properties, which must be those that the loader knows."""
    if set(properties) != set(keys):
        raise ValueError(f"the loader knows other keys: {set(properties) ^ set(keys)}")
    return dict(properties)


def mapping_of(
    properties: Mapping[str, Schema], *, required: Iterable[str] = (), about: str = ""
) -> Schema:
    """Return the schema of an object with these keys and no others."""
    found: Schema = {"description": about} if about else {}
    found |= {"type": "object", "additionalProperties": False, "properties": dict(properties)}
    return {**found, "required": list(required)} if required else found


def pair(**properties: Schema) -> Schema:
    """Return the schema of an object that must have these keys."""
    return mapping_of(properties, required=properties)


def map_of(values: Schema, about: str) -> Schema:
    """Return the schema of an object with keys of the user's choice."""
    return {"description": about, "type": "object", "additionalProperties": values}


def list_of(items: Schema, about: str) -> Schema:
    """Return the schema of a list."""
    return {"description": about, "type": "array", "items": items}


def text(about: str, **more: str) -> Schema:
    """Return the schema of a text."""
    return {"description": about, "type": "string", **more}


def texts(about: str) -> Schema:
    """Return the schema of a list of texts."""
    return list_of({"type": "string"}, about)


def choice(words: Iterable[str], about: str) -> Schema:
    """Return the schema of one of some words."""
    return {"description": about, "enum": list(words)}


def named_numbers(about: str) -> Schema:
    """Return the schema of numbers with unit and source, by name."""
    entry = mapping_of(
        {
            "value": {"type": "number"},
            "unit": text("1 where left out"),
            "source": text("a document, or uncalibrated"),
        },
        required=("value", "source"),
    )
    return map_of(entry, about)
