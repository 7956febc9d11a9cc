"""The vocabulary of ``rules/quantities.yaml`` as records: what every canonical quantity means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from advisor.errors import Location, RuleError
from advisor.resources import data_dir

Group = Literal["launch", "quantities", "device"]

_GROUPS: tuple[Group, ...] = ("launch", "quantities", "device")
_AGGREGATES = frozenset({"none", "sum", "time_weighted", "max", "same"})
_WEIGHTED_BY = "weighted_by"
_KEYS = frozenset(
    {"unit", "type", "aggregate", "about", "remember_source", "ceiling", "attribute", "occupancy"}
)


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One canonical value of a launch or of its device.

    ``unit`` is the stored SI unit and ``None`` for a text. ``aggregate`` says how the launches of a
    variant become one number; ``weight`` names the quantity that weighs a ``weighted_by`` mean.
    Values of the device come from exactly one of ``ceiling`` (resource and kind), ``attribute``
    (a column of the table ``device``) and ``occupancy`` (a limit of its instruction set).
    """

    name: str
    group: Group
    about: str
    unit: str | None = None
    aggregate: str = "none"
    weight: str | None = None
    remember_source: bool = False
    ceiling: tuple[str, str] | None = None
    attribute: str | None = None
    occupancy: str | None = None

    @property
    def is_text(self) -> bool:
        """Whether the value is a text."""
        return self.unit is None


@dataclass(frozen=True, kw_only=True)
class Quantities:
    """The whole vocabulary, each group by name in the file's order."""

    launch: Mapping[str, Quantity]
    quantities: Mapping[str, Quantity]
    device: Mapping[str, Quantity]

    def __iter__(self) -> Iterator[Quantity]:
        """Yield every quantity, group after group."""
        for group in (self.launch, self.quantities, self.device):
            yield from group.values()


def load_quantities(path: Path | None = None) -> Quantities:
    """Return the vocabulary of ``path``, by default the one that comes with the project.

    Raises:
        RuleError: the file does not say what a quantity must say.
    """
    import yaml  # what is remembered needs no parser

    path = path or data_dir("rules") / "quantities.yaml"
    at = Location(name=str(path))
    try:
        content = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise RuleError(f"cannot be read: {error}", at=at) from error
    if not isinstance(content, dict) or set(content) != set(_GROUPS):
        raise RuleError(f"expected the keys {', '.join(_GROUPS)}", at=at)
    groups = {group: _group(content[group], group, at) for group in _GROUPS}
    vocabulary = Quantities(**groups)
    _check_together(vocabulary, at)
    return vocabulary


@dataclass(frozen=True, kw_only=True)
class StoredFact:
    """A fact that the table ``variant`` has a column for; ``kind`` is number, text or boolean."""

    name: str
    kind: str
    unit: str | None
    about: str


VALID = "launch_valid"
"""The fact that says which launches count; it is not known of several."""


def load_stored_facts(folder: Path | None = None) -> tuple[StoredFact, ...]:
    """Return the facts of ``folder`` that are computed per launch, or tracked.

    They are read here, and not compiled, for the schema lies below the facts.
    """
    import yaml

    found = []
    for path in sorted((folder or data_dir("rules") / "facts").glob("*.yaml")):
        facts = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)["facts"]
        for name, fact in facts.items():
            if name != VALID and (fact.get("level") == "launch" or fact.get("tracked")):
                kind = fact.get("kind", "number")
                stored = StoredFact(
                    name=name, kind=kind, unit=fact.get("unit"), about=fact["about"]
                )
                found.append(stored)
    return tuple(found)


def _group(entries: object, group: Group, at: Location) -> dict[str, Quantity]:
    if not isinstance(entries, dict):
        raise RuleError(f"{group}: expected a mapping", at=at)
    return {name: _quantity(name, entry, group, at) for name, entry in entries.items()}


def _quantity(name: str, entry: object, group: Group, at: Location) -> Quantity:
    if not isinstance(entry, dict) or not isinstance(entry.get("about"), str):
        raise RuleError(f"{group}.{name}: expected a mapping with `about`", at=at)
    if unknown := entry.keys() - _KEYS:
        raise RuleError(f"{group}.{name}: unknown key {min(map(str, unknown))}", at=at)
    if ("unit" in entry) == (entry.get("type") == "text"):
        raise RuleError(f"{group}.{name}: expected either `unit` or `type: text`", at=at)
    aggregate, _, weight = str(entry.get("aggregate", "none")).partition(" ")
    ceiling = entry.get("ceiling")
    return Quantity(
        name=name,
        group=group,
        about=entry["about"],
        unit=entry.get("unit"),
        aggregate=aggregate,
        weight=weight or None,
        remember_source=bool(entry.get("remember_source", False)),
        ceiling=None if ceiling is None else (ceiling[0], ceiling[1]),
        attribute=entry.get("attribute"),
        occupancy=entry.get("occupancy"),
    )


def _check_together(vocabulary: Quantities, at: Location) -> None:
    seen: set[str] = set()
    for quantity in vocabulary:
        if quantity.name in seen:
            raise RuleError(f"{quantity.name}: named twice", at=at)
        seen.add(quantity.name)
        _check_aggregate(quantity, vocabulary, at)
        origins = (quantity.ceiling, quantity.attribute, quantity.occupancy)
        if sum(origin is not None for origin in origins) != (quantity.group == "device"):
            problem = "expected one of `ceiling`, `attribute`, `occupancy` for a device's value"
            raise RuleError(f"{quantity.name}: {problem}, and none for a launch's", at=at)


def _check_aggregate(quantity: Quantity, vocabulary: Quantities, at: Location) -> None:
    if quantity.aggregate == _WEIGHTED_BY:
        if quantity.weight not in vocabulary.quantities:
            raise RuleError(f"{quantity.name}: weighted by unknown {quantity.weight}", at=at)
    elif quantity.aggregate not in _AGGREGATES or quantity.weight is not None:
        raise RuleError(f"{quantity.name}: unknown aggregate {quantity.aggregate}", at=at)
