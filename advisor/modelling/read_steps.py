"""A step of a scenario from YAML: every key checked, with its place."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.documents import MappingNode
from advisor.errors import RuleError
from advisor.modelling.given import Given, read_given
from advisor.modelling.read import (
    Known,
    find_operation,
    read_collectives,
    read_reaches,
    read_reuse,
    read_roof,
    read_served_by,
    read_works,
)
from advisor.modelling.scenario import ScenarioStep, Where

KEYS = (
    "name", "where", "sizes", "work", "roof", "collectives", "fuse", "reuse", "served_by",
    "reaches",
)  # fmt: skip
_CHANGES = frozenset(KEYS) - {"name", "where"}


def read_step(node: MappingNode, known: Known, sizes: Mapping[str, Given]) -> ScenarioStep:
    """Return a step; its formulas may use the sizes of the scenario.

    Raises:
        UsageError: a key, name or number is wrong; with its place.
    """
    node.refuse_unknown(KEYS)
    if not _CHANGES & set(node):
        hint = f"give one of {', '.join(sorted(_CHANGES))}"
        raise RuleError("the step changes nothing", at=node.at, hint=hint)
    given = node.mapping("sizes") if "sizes" in node else None
    return ScenarioStep(
        name=node.text("name"),
        at=node.at,
        where=_where(node.mapping("where"), known) if "where" in node else None,
        sizes={} if given is None else {k: read_given(each, sizes) for k, each in given.items()},
        works=read_works(node["work"], known) if "work" in node else (),
        roof=read_roof(node["roof"]) if "roof" in node else None,
        collectives=read_collectives(node["collectives"]) if "collectives" in node else None,
        fuse=_fuse(node) if "fuse" in node else (),
        reuse=read_reuse(node["reuse"]) if "reuse" in node else None,
        served_by=read_served_by(node["served_by"], known) if "served_by" in node else None,
        reaches=read_reaches(node["reaches"]) if "reaches" in node else None,
    )


def _where(node: MappingNode, known: Known) -> Where:
    node.refuse_unknown(("operation", "name"))
    if not len(node):
        raise node.unexpected("an operation, a name, or both")
    operation = node.text("operation") if "operation" in node else "*"
    if "*" not in operation:
        find_operation(operation, known.operations, node["operation"].at)
    return Where(operation=operation, name=node.text("name") if "name" in node else "*", at=node.at)


def _fuse(node: MappingNode) -> tuple[str, ...]:
    names = node.sequence("fuse").texts()
    if len(names) < 2 or len(set(names)) < len(names):
        raise node["fuse"].unexpected("two operations or more, each once")
    return names
