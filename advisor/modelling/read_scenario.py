"""A scenario from a YAML file: every key checked, with its place."""

from __future__ import annotations

from pathlib import Path

from advisor.documents import MappingNode, load
from advisor.modelling.given import number, read_given
from advisor.modelling.read import (
    Known,
    read_collectives,
    read_devices,
    read_operations,
    read_roof,
    read_sizes,
    read_works,
)
from advisor.modelling.read_steps import read_step
from advisor.modelling.scenario import Item, Scenario, ScenarioState

KEYS = (
    "title", "devices", "roof", "sizes", "per", "work", "operations", "collectives", "steps",
)  # fmt: skip


def read_scenario(path: Path, known: Known) -> Scenario:
    """Return the scenario that a file describes; it may name no device.

    Raises:
        UsageError: a key, name or number is wrong; with its place.
    """
    return scenario_of(load(path, name=str(path)), known, path.parent)


def scenario_of(node: MappingNode, known: Known, base: Path) -> Scenario:
    """Return the scenario that a mapping describes; files are looked for in ``base``.

    Raises:
        UsageError: a key, name or number is wrong; with its place.
    """
    node.refuse_unknown(KEYS)
    sizes = read_sizes(node.mapping("sizes")) if "sizes" in node else {}
    works = read_works(node["work"], known) if "work" in node else ()
    items = tuple(
        Item(name=part.name, parts=(part,))
        for part in read_operations(node.sequence("operations"), known, sizes, works, base)
    )
    start = ScenarioState(
        sizes=sizes,
        items=items,
        roof=read_roof(node["roof"]) if "roof" in node else "nominal",
        collectives=read_collectives(node["collectives"]) if "collectives" in node else 0.0,
        per=read_given(node["per"], sizes, what="a count") if "per" in node else number(1),
    )
    steps = node.sequence("steps") if "steps" in node else ()
    return Scenario(
        title=node.text("title") if "title" in node else "",
        machines=read_devices(node["devices"], known) if "devices" in node else (),
        start=start,
        steps=tuple(read_step(each.as_mapping(), known, sizes) for each in steps),
    )
