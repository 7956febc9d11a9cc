"""What the file of a fact declares of it, before its formula is compiled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from advisor.documents import MappingNode
from advisor.errors import RuleError
from advisor.expression import Kind
from advisor.facts.formulas import NamedNumber
from advisor.records import dataclass
from advisor.units import parse_unit

WAYS = ("formula", "known_of", "of_operation", "by_name")
FACT_KEYS = frozenset(
    {"kind", "unit", "level", "aggregate", "paired", "tracked", "about", "source", *WAYS}
)
LEVELS = ("launch", "kernel")
AGGREGATES = frozenset({"sum", "time_weighted", "max", "same"})
OF_NUMBERS = ("sum", "time_weighted")
"""The aggregates that neither texts nor truth values have."""

KINDS = {"text": Kind.TEXT, "boolean": Kind.BOOLEAN, "number": Kind.NUMBER}
_SPOKEN = {"text": "text", "boolean": "truth value"}


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A fact as its file declares it; ``stored`` where table ``variant`` has a column for it."""

    name: str
    node: MappingNode
    numbers: Mapping[str, NamedNumber]
    kind: Kind
    unit: str | None
    stored: bool


def read_declared(
    name: str, node: MappingNode, numbers: Mapping[str, NamedNumber], *, shipped: bool
) -> Declared:
    """Return what an entry declares; ``shipped`` where it is the program's own.

    Raises:
        RuleError: a key is unknown, or does not go with another one; with its place.
    """
    node.refuse_unknown(FACT_KEYS)
    tracked = "tracked" in node and node.boolean("tracked")
    if tracked and not shipped:
        problem = f"{name} cannot be tracked: only shipped facts have a column"
        raise RuleError(problem, at=node["tracked"].at)
    kind = one_of(node, "kind", KINDS, "number")
    if ("unit" in node) != (kind == "number"):
        raise RuleError("a number has a unit, a text or truth value has none", at=node.at)
    if sum(way in node for way in WAYS) != 1:
        ways = " or ".join(f"`{way}`" for way in WAYS)
        raise RuleError(f"expected either {ways}", at=node.at)
    unit = node.text("unit") if kind == "number" else None
    if unit is not None:
        parse_unit(unit, at=node["unit"].at)
    of_launch = one_of(node, "level", LEVELS, "kernel") == "launch"
    _check_together(name, node, kind, of_launch=of_launch)
    return Declared(
        name=name,
        node=node,
        numbers=numbers,
        kind=KINDS[kind],
        unit=unit,
        stored=shipped and (tracked or of_launch),
    )


def _check_together(name: str, node: MappingNode, kind: str, *, of_launch: bool) -> None:
    """Refuse keys that each are right, but have no meaning together."""
    if of_launch and "paired" in node and node.boolean("paired"):
        problem = f"{name} cannot be paired: it is computed per launch, and paired are sums of them"
        raise RuleError(problem, at=node["paired"].at)
    if kind != "number" and one_of(node, "aggregate", sorted(AGGREGATES), "") in OF_NUMBERS:
        problem = f"{name} cannot be added up: it is a {_SPOKEN[kind]}"
        raise RuleError(problem, at=node["aggregate"].at, hint="use max or same")
    if "known_of" in node and kind != "text":
        problem = f"{name} is a text: the labels of what is known"
        raise RuleError(problem, at=node["known_of"].at, hint="write `kind: text` and no unit")


def one_of(node: MappingNode, key: str, allowed: Iterable[str], default: str) -> str:
    """Return the word under a key, ``default`` where there is none.

    Raises:
        RuleError: it is none of those ``allowed``; with its place.
    """
    if key not in node:
        return default
    word = node.text(key)
    if word not in allowed:
        raise RuleError(f"{key} is one of {', '.join(allowed)}", at=node[key].at)
    return word
