"""What comparing runs goes by, from ``rules/comparing.yaml``."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from advisor.cache import remembered
from advisor.documents import load
from advisor.errors import RuleError
from advisor.records import dataclass
from advisor.resources import data_dir
from advisor.tracking.attribution import Format, Resource
from advisor.tracking.settings import read_number

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.documents import MappingNode

FILE = "comparing.yaml"
_WHOLE = (
    "least_launches",
    "exact_launches",
    "past_nights",
    "machine_series",
    "levels_launches",
)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The thresholds of the file, which gives the meaning and source of each."""

    least_launches: int
    exact_launches: int
    false_discoveries: float
    smallest_effect: float
    noise_multiple: float
    noise_floor: float
    past_nights: int
    machine_series: int
    machine_share: float
    work_share: float
    levels_launches: int
    levels_share: float
    levels_gap: float
    equal_work: float
    same_value: float

    @property
    def least_effect(self) -> float:
        """Return the smallest effect as a natural logarithm."""
        return math.log1p(self.smallest_effect)


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """Everything in the file: thresholds, resources, the clock of last resort, the environment.

    ``environment`` and ``around``, what else may differ, are columns of a run.
    """

    limits: Limits
    resources: tuple[Resource, ...]
    clock: str
    environment: tuple[str, ...]
    around: tuple[str, ...]

    @cached_property
    def amounts(self) -> tuple[str, ...]:
        """Return the names of all amounts, with those that count them."""
        names = [each.amount for one in self.resources for each in one.formats]
        names += [one.counted_by for one in self.resources if one.counted_by is not None]
        return tuple(dict.fromkeys(names))

    @cached_property
    def peaks(self) -> tuple[str, ...]:
        """Return the names of all peaks."""
        return tuple(dict.fromkeys(e.peak for one in self.resources for e in one.formats))

    @cached_property
    def clocks(self) -> tuple[str, ...]:
        """Return the names of all clocks."""
        return tuple(dict.fromkeys((self.clock, *(one.clock for one in self.resources))))


def load_comparing(path: Path | None = None) -> Comparing:
    """Return what the file says.

    Raises:
        RuleError: an entry is missing, unknown or wrong; with its place.
    """
    return _read(path) if path else _shipped()


@lru_cache(maxsize=1)
def _shipped() -> Comparing:
    """Return what the program's own file says, from the cache where it is unchanged."""
    path = data_dir("rules") / FILE
    return remembered("comparing", [path], "", lambda: _read(path))


def _read(path: Path) -> Comparing:
    document = load(path)
    document.refuse_unknown(("thresholds", "resources", "clock", "environment", "around"))
    entries = document.mapping("thresholds")
    names = tuple(Limits.__dataclass_fields__)
    entries.refuse_unknown(names)
    values = {name: read_number(entries.mapping(name)) for name in names}
    for name in _WHOLE:
        if not values[name].is_integer():
            raise RuleError("expected a whole number", at=entries[name].at)
    numbers: dict[str, Any] = {**values, **{name: int(values[name]) for name in _WHOLE}}
    resources = document.mapping("resources")
    return Comparing(
        limits=Limits(**numbers),
        resources=tuple(_resource(name, resources.mapping(name)) for name in resources),
        clock=document.text("clock"),
        environment=document.sequence("environment").texts(),
        around=document.sequence("around").texts(),
    )


def _resource(name: str, entry: MappingNode) -> Resource:
    entry.refuse_unknown(("clock", "counted_by", "formats"))
    formats = []
    for node in entry.sequence("formats"):
        each = node.as_mapping()
        each.refuse_unknown(("amount", "peak"))
        formats.append(Format(amount=each.text("amount"), peak=each.text("peak")))
    counted_by = entry.text("counted_by") if "counted_by" in entry else None
    return Resource(
        name=name, clock=entry.text("clock"), formats=tuple(formats), counted_by=counted_by
    )
