"""How the quantities of one launch came about: which way gave each, and from which counters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from advisor.expression.reduced import names_of
from advisor.quantities import quantity_of
from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.counters.mapping import Alternative, Derived, Ways
    from advisor.expression.calculate import Value
    from advisor.expression.tree import ExpressionNode
    from advisor.facts.formulas import Formula
    from advisor.model import Launch


@dataclass(frozen=True, kw_only=True)
class OpenedValue:
    """A value of one launch and how it came about.

    ``kind`` is quantity, counter, opcodes, breakdown, device or launch; ``value`` is in ``unit``
    (SI). ``way`` is the label of the formula that gave it, ``reduced`` the part of it that did, and
    ``rests_on`` the names that this reads.
    """

    name: str
    kind: str
    value: Value
    unit: str | None
    way: str = ""
    formula: Formula | None = None
    reduced: ExpressionNode | None = None
    rests_on: tuple[str, ...] = ()


class LaunchOpener:
    """Opens the quantities of one launch."""

    def __init__(self, ways: Ways, launch: Launch, device: Mapping[str, float | None]) -> None:
        """Take the launch with its counters, and the values of its device by name."""
        self._ways = ways
        self._device = device
        staged = ways.mapping.stage([launch], [None])
        self._staged = {name: _plain(column[0]) for name, column in staged.items()}
        self._values: dict[str, Value] = {}
        self._opcodes = {column.name: column.counter for column in ways.mapping.opcodes}
        self._lists = {each.name: each.lists for each in ways.mapping.breakdowns}

    def open(self, name: str) -> Iterator[OpenedValue]:
        """Yield a quantity and all that it rests on, each after what needs it."""
        waiting, seen = [name], {name}
        while waiting:
            opened = self._opened(waiting.pop(0))
            yield opened
            new = [each for each in opened.rests_on if each not in seen]
            seen.update(new)
            waiting += new

    def _opened(self, name: str) -> OpenedValue:
        value = self._value(name)
        if name in self._ways.formulas:
            return self._derived(self._ways.formulas[name], value)
        if name in self._opcodes:
            rests = (self._opcodes[name],)
            return OpenedValue(name=name, kind="opcodes", value=value, unit="1", rests_on=rests)
        if name in self._lists:
            return OpenedValue(name=name, kind="breakdown", value=value, unit=None)
        if name in self._ways.units:
            unit = self._ways.units[name]
            scaled = value * float(unit.scale) if isinstance(value, float) else value
            return OpenedValue(name=name, kind="counter", value=scaled, unit=str(unit))
        kind = "device" if name in self._device else "launch"
        quantities = self._ways.mapping.quantities
        known = quantities.device.get(name) or quantities.launch.get(name)
        return OpenedValue(name=name, kind=kind, value=value, unit=known.unit if known else None)

    def _derived(self, derived: Derived, value: Value) -> OpenedValue:
        """Return a quantity by the way that gave it; one that none gave by the first."""
        way = self._way(derived) or derived.alternatives[0]
        quantity = self._ways.mapping.quantities.quantities.get(derived.name)
        unit = quantity.unit if quantity else str(way.formula.expression.unit or "1")
        tree = way.formula.reduced(self._value)
        return OpenedValue(
            name=derived.name,
            kind="quantity",
            value=value,
            unit=unit,
            way=way.label,
            formula=way.formula,
            reduced=tree,
            rests_on=tuple(n for n in names_of(tree) if n not in way.formula.numbers),
        )

    def _value(self, name: str) -> Value:
        if name not in self._values:
            self._values[name] = self._found(name)
        return self._values[name]

    def _found(self, name: str) -> Value:
        derived = self._ways.formulas.get(name)
        if derived is not None:
            way = self._way(derived)
            return None if way is None else self._calculate(way)
        if name in self._staged:
            return self._staged[name]
        labelled = self._ways.formulas.get(quantity_of(name))
        if labelled is not None:
            way = self._way(labelled)
            return None if way is None else way.label
        return self._device.get(name)

    def _way(self, derived: Derived) -> Alternative | None:
        """Return the first way that gives a value."""
        known = (way for way in derived.alternatives if self._calculate(way) is not None)
        return next(known, None)

    def _calculate(self, way: Alternative) -> Value:
        return way.formula.calculation()(self._value)


def _plain(value: Any) -> Value:
    """Return a staged value as numbers and texts are elsewhere; NaN is none."""
    if value is None or isinstance(value, str):
        return value
    number = float(value)
    return None if math.isnan(number) else number
