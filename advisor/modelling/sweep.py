"""One size over a range of values: times at each, and where the bound changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from advisor.modelling.given import Sizes
from advisor.modelling.needs import WEIGHTS, need, needs
from advisor.modelling.operations import operations_on, total
from advisor.modelling.ranges import check_size
from advisor.modelling.results import Crossing, Sweep, SweepRow

if TYPE_CHECKING:
    from advisor.modelling.needs import Need
    from advisor.modelling.ranges import Range
    from advisor.modelling.roofs import Bound, DeviceRoofs
    from advisor.modelling.scenario import Item, ScenarioState

_MOST_HALVINGS = 2100  # more than there are between any two floats
_DOMINATE = 0.5  # more than half: what the word means


def swept(state: ScenarioState, roofs: DeviceRoofs, sweep: Range) -> Sweep:
    """Return a state on a device over a range.

    Raises:
        UsageError: there is no such size, or a value makes no sense.
    """
    check_size(sweep, state.sizes)
    rows = []
    for value in sweep.values:
        needed, per = needs(state, {sweep.size: value})
        operations = operations_on(roofs, needed, state.collectives)
        all_of_them = total(operations, per)
        rows.append(
            SweepRow(
                value=value,
                time=all_of_them.time,
                time_per_unit=all_of_them.time_per_unit,
                operations=operations,
            )
        )
    crossings = tuple(
        crossing
        for index, item in enumerate(state.items)
        for crossing in _crossings(_Line(state, item, roofs, sweep.size), rows, index)
    )
    return Sweep(size=sweep.size, rows=tuple(rows), crossings=crossings)


class _Line:
    """One kernel on one device, as a function of the swept size."""

    def __init__(self, state: ScenarioState, item: Item, roofs: DeviceRoofs, size: str) -> None:
        self._state, self._item, self._roofs, self._size = state, item, roofs, size

    def need(self, value: float) -> Need:
        return need(self._item, Sizes(self._state.sizes, {self._size: value}), WEIGHTS)

    def bound(self, value: float) -> Bound:
        return self._roofs.place(self.need(value)).bound

    def ridge(self, value: float) -> float | None:
        return self._roofs.place(self.need(value)).ridge_point


def _crossings(line: _Line, rows: Sequence[SweepRow], index: int) -> Iterator[Crossing]:
    ordered = sorted(rows, key=lambda row: row.value)
    for low, high in pairwise(ordered):
        before, after = low.operations[index], high.operations[index]
        if before.bound != after.bound:
            value = _solve(line, low.value, high.value)
            yield Crossing(
                operation=after.name,
                value=value,
                first_whole=_first_whole(line, value, after.bound),
                approximation=_approximation(line, low.value, value),
            )


def _solve(line: _Line, low: float, high: float) -> float:
    """Return the value at which the bound is the new one, and is not for the float before it."""
    old = line.bound(low)
    for _ in range(_MOST_HALVINGS):
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if line.bound(middle) == old:
            low = middle
        else:
            high = middle
    return high


def _first_whole(line: _Line, value: float, new: Bound) -> float:
    """Return the first whole value on the new side: the solved one may be a rounding too high."""
    near = float(round(value))
    if math.isclose(near, value, rel_tol=1e-12) and near > 0 and line.bound(near) == new:
        return near
    whole = float(math.ceil(value))
    return whole if line.bound(whole) == new else whole + 1


def _approximation(line: _Line, low: float, value: float) -> float | None:
    """Return where the ridge would be if weights were all that moves; None where they are not.

    Work must grow with the size and weights must not: for a product over a batch of 16 bit that is
    batch ≈ ridge, in general ridge × bytes of a weight / 2.
    """
    first, last, ridge = line.need(low), line.need(value), line.ridge(value)
    weights = last.weights
    if not weights or ridge is None or first.weights != weights or len(last.pieces) != 1:
        return None
    proportional = math.isclose(first.flops * value, last.flops * low, rel_tol=1e-9)
    plain = last.bytes == last.dram_bytes and last.served_by is None
    if not proportional or not plain or weights < _DOMINATE * last.bytes:
        return None
    return ridge * weights * value / last.flops
