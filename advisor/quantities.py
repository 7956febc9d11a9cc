"""The vocabulary of ``rules/quantities/*.yaml`` as records: what every canonical quantity means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from advisor.errors import Location, RuleError
from advisor.records import dataclass
from advisor.resources import data_dir, installed_packs, rule_dirs

Group = Literal["launch", "quantities", "device"]

GROUPS: tuple[Group, ...] = ("launch", "quantities", "device")
AGGREGATES = frozenset({"none", "sum", "time_weighted", "max", "same"})
_WEIGHTED_BY = "weighted_by"
KEYS = frozenset(
    {"unit", "type", "aggregate", "about", "remember_source", "ceiling", "attribute", "occupancy"}
)
_SOURCE = "_source"


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One canonical value of a launch or of its device.

    ``unit`` is the stored SI unit and ``None`` for a text. ``aggregate`` says how the launches of a
    variant become one number; ``weight`` names the quantity that weighs a ``weighted_by`` mean.
    Values of the device come from exactly one of ``ceiling`` (resource and kind), ``attribute``
    (a column of the table ``device``) and ``occupancy`` (a limit of its instruction set).
    ``of_pack`` marks what an installed pack defines.
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
    of_pack: bool = False

    @property
    def is_text(self) -> bool:
        """Whether the value is a text."""
        return self.unit is None

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns: the value and, where that is remembered, which way gave it."""
        return (self.name, source_of(self.name)) if self.remember_source else (self.name,)


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


def source_of(name: str) -> str:
    """Return the column that says which way gave a quantity."""
    return f"{name}{_SOURCE}"


def quantity_of(name: str) -> str:
    """Return the quantity that a column belongs to, which may be that of its source."""
    return name.removesuffix(_SOURCE)


def load_quantities(paths: Sequence[Path] | None = None) -> Quantities:
    """Return the vocabulary of the files ``paths``, by default what ships and what packs add.

    Raises:
        RuleError: a file does not say what a quantity must say, or says it again.
    """
    groups: dict[Group, dict[str, Quantity]] = {group: {} for group in GROUPS}
    places: dict[str, Location] = {}
    for path in quantity_files() if paths is None else paths:
        for quantity in _read(path):
            at = Location(name=str(path))
            if quantity.name in places:
                hint = f"the other one is in {places[quantity.name].name}"
                raise RuleError(f"{quantity.name}: named twice", at=at, hint=hint)
            places[quantity.name] = at
            groups[quantity.group][quantity.name] = quantity
    vocabulary = Quantities(**groups)
    for quantity in vocabulary:
        _check_aggregate(quantity, vocabulary, places[quantity.name])
    return vocabulary


def quantity_files() -> list[Path]:
    """Return the files of quantities: what everyone has first, then vendors, then packs."""
    return [path for each in rule_dirs() for path in sorted((each / "quantities").glob("*.yaml"))]


def pack_quantities() -> tuple[Quantity, ...]:
    """Return the quantities of launches that installed packs define.

    Raises:
        RuleError: a file does not say what a quantity must say.
    """
    found = (path for each in installed_packs() for path in (each / "quantities").glob("*.yaml"))
    named = (quantity for path in sorted(found) for quantity in _read(path))
    return tuple(quantity for quantity in named if quantity.group == "quantities")


def _read(path: Path) -> Iterator[Quantity]:
    import yaml  # what is remembered needs no parser

    at = Location(name=str(path))
    try:
        content = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise RuleError(f"cannot be read: {error}", at=at) from error
    if not isinstance(content, dict) or not content or not set(content) <= set(GROUPS):
        raise RuleError(f"expected keys among {', '.join(GROUPS)}", at=at)
    of_pack = not path.is_relative_to(data_dir("rules"))
    for group in GROUPS:
        for quantity in _group(content.get(group, {}), group, at):
            _check_origin(quantity, at)
            yield replace(quantity, of_pack=of_pack)


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


def _group(entries: object, group: Group, at: Location) -> Iterator[Quantity]:
    if not isinstance(entries, dict):
        raise RuleError(f"{group}: expected a mapping", at=at)
    for name, entry in entries.items():
        yield _quantity(name, entry, group, at)


def _quantity(name: str, entry: object, group: Group, at: Location) -> Quantity:
    if not isinstance(entry, dict) or not isinstance(entry.get("about"), str):
        raise RuleError(f"{group}.{name}: expected a mapping with `about`", at=at)
    if unknown := entry.keys() - KEYS:
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


def _check_origin(quantity: Quantity, at: Location) -> None:
    origins = (quantity.ceiling, quantity.attribute, quantity.occupancy)
    if sum(origin is not None for origin in origins) != (quantity.group == "device"):
        problem = "expected one of `ceiling`, `attribute`, `occupancy` for a device's value"
        raise RuleError(f"{quantity.name}: {problem}, and none for a launch's", at=at)


def _check_aggregate(quantity: Quantity, vocabulary: Quantities, at: Location) -> None:
    if quantity.aggregate == _WEIGHTED_BY:
        if quantity.weight not in vocabulary.quantities:
            raise RuleError(f"{quantity.name}: weighted by unknown {quantity.weight}", at=at)
    elif quantity.aggregate not in AGGREGATES or quantity.weight is not None:
        raise RuleError(f"{quantity.name}: unknown aggregate {quantity.aggregate}", at=at)
