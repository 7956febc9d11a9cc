"""A scenario as records: operations with sizes, the devices they run on, steps that change them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.errors import Location
    from advisor.facts.operations import Calculated, Operation
    from advisor.hardware.machines import Machine
    from advisor.modelling.given import Given

Roof = Literal["nominal", "project", "practical"]
ROOFS: tuple[Roof, ...] = ("nominal", "project", "practical")


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What a compiler estimates of an operation: FLOP and B of one run. Modelled, not measured."""

    flops: float
    bytes: float


@dataclass(frozen=True, kw_only=True)
class DeclaredOperation:
    """One operation as it was declared.

    ``amounts`` give FLOP and B of one run over ``sizes``: of an operation's own formulas, or fixed.
    ``works`` are the ceilings that it may use, of which a device takes the first that it rates;
    where nobody names any, those of ``usual``, by the widest element [B] that each is for.
    ``reuse`` is how often a byte is used per time that DRAM moves it, ``served_by`` the memory that
    serves the rest, ``reaches`` the share of its roof that it is taken to reach.
    """

    name: str
    operation: Operation | None
    amounts: Mapping[str, Calculated]
    sizes: Mapping[str, Given]
    fixed: Mapping[str, Given]
    repeat: Given
    works: tuple[str, ...]
    usual: Mapping[float, tuple[str, ...]] = field(default_factory=dict)
    costs: Costs | None = None
    reuse: float = 1.0
    served_by: str | None = None
    reaches: float | None = None
    modelled: bool = False
    at: Location | None = None


@dataclass(frozen=True, kw_only=True)
class Item:
    """What runs as one kernel: an operation, or several that are fused."""

    name: str
    parts: tuple[DeclaredOperation, ...]


@dataclass(frozen=True, kw_only=True)
class ScenarioState:
    """Everything that steps change."""

    sizes: Mapping[str, Given]
    items: tuple[Item, ...]
    roof: Roof
    collectives: float
    per: Given


@dataclass(frozen=True, kw_only=True)
class Where:
    """Which operations a step means: by operation, by name, or both; ``*`` is anything."""

    operation: str = "*"
    name: str = "*"
    at: Location | None = None

    def means(self, part: DeclaredOperation, item: str) -> bool:
        """Return whether an operation is meant, by its own name or by that of its fusion."""
        kind = part.operation.id if part.operation is not None else ""
        named = _matches(self.name, part.name) or _matches(self.name, item)
        return named and _matches(self.operation, kind)


@dataclass(frozen=True, kw_only=True)
class ScenarioStep:
    """What one step changes; None and empty leave things as they are."""

    name: str
    at: Location | None = None
    where: Where | None = None
    sizes: Mapping[str, Given] = field(default_factory=dict)
    works: tuple[str, ...] = ()
    roof: Roof | None = None
    collectives: float | None = None
    fuse: tuple[str, ...] = ()
    reuse: float | None = None
    served_by: str | None = None
    reaches: float | None = None


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A scenario: its devices, how it is at first, and the steps, each upon those before."""

    title: str
    machines: tuple[Machine, ...]
    start: ScenarioState
    steps: tuple[ScenarioStep, ...] = ()


def _matches(pattern: str, text: str) -> bool:
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(expression, text, re.DOTALL) is not None
