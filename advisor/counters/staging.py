"""Counters of launches → quantities: a staging table, and the one SELECT over it.

The table has one column per counter, NULL where a launch has none, in the profiler's units. The
SELECT yields one column per quantity. ``mapping`` makes it from the files of a profiler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from advisor.counters.computed import Computed, known_columns
from advisor.facts.devices import DEVICE_ID, device_values
from advisor.facts.layers import Column, layered, select
from advisor.model import Launch, Packed
from advisor.quantities import Quantities, quantity_of
from advisor.quoting import quoted
from advisor.records import dataclass
from advisor.units import Dimension

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64] | NDArray[np.object_]

_SHAPE: dict[str, Callable[[Launch], float | None]] = {
    "grid_size": lambda launch: None if launch.grid_size is None else float(launch.grid_size),
    "grid_x": lambda launch: None if launch.grid is None else float(launch.grid[0]),
    "grid_y": lambda launch: None if launch.grid is None else float(launch.grid[1]),
    "grid_z": lambda launch: None if launch.grid is None else float(launch.grid[2]),
    "block_size": lambda launch: None if launch.block_size is None else float(launch.block_size),
    "block_x": lambda launch: None if launch.block is None else float(launch.block[0]),
    "block_y": lambda launch: None if launch.block is None else float(launch.block[1]),
    "block_z": lambda launch: None if launch.block is None else float(launch.block[2]),
}


@dataclass(frozen=True, kw_only=True)
class Weight:
    """Opcodes that match count ``weight`` times the number that the group ``times`` holds."""

    pattern: re.Pattern[str]
    weight: float
    times: str | None = None

    def of(self, opcode: str) -> float | None:
        """Return what one instruction of ``opcode`` counts; None if the pattern does not match."""
        match = self.pattern.search(opcode)
        if match is None:
            return None
        return self.weight * (1 if self.times is None else float(match[self.times]))


@dataclass(frozen=True, kw_only=True)
class OpcodeColumn:
    """A weighted sum over the histogram ``counter``; the first weight that matches counts.

    Opcodes that one of the columns ``excepted`` counts are left out.
    """

    name: str
    counter: str
    weights: tuple[Weight, ...]
    excepted: tuple[str, ...] = ()

    def weigh(self, opcode: str) -> float:
        """Return what one instruction of ``opcode`` counts, 0 where nothing matches."""
        return next((w for w in (weight.of(opcode) for weight in self.weights) if w is not None), 0)


@dataclass(frozen=True, kw_only=True)
class UnitName:
    """Counters that match a pattern belong to the unit of that name."""

    pattern: re.Pattern[str]
    unit: str


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """A text quantity: the unit of the largest counter that the report's lists name."""

    name: str
    lists: tuple[str, ...]
    units: tuple[UnitName, ...]

    def members(self, launch: Launch) -> tuple[str, ...]:
        """Return the counters that the lists of a launch's report name."""
        texts = (launch.texts.get(text, "") for text in self.lists)
        return tuple(chain.from_iterable(map(_members, texts)))

    def unit(self, counter: str) -> str | None:
        """Return the unit that ``counter`` belongs to."""
        return next((u.unit for u in self.units if u.pattern.fullmatch(counter)), None)


@lru_cache(maxsize=256)
def _members(text: str) -> tuple[str, ...]:
    return tuple(map(str.strip, text.split(",")))


def glob_pattern(text: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern with ``*`` and ``?``."""
    return re.compile(translate(text))


class OpcodeTable:
    """What opcodes count in each of some columns, worked out once for each opcode that is met."""

    def __init__(self, columns: Sequence[OpcodeColumn]) -> None:
        self._columns = {column.name: column for column in columns}
        self._known: dict[str, tuple[float, ...]] = {}

    def weights(self, opcode: str) -> tuple[float, ...]:
        """Return what one instruction of ``opcode`` counts in each column."""
        if opcode not in self._known:
            counts = {name: column.weigh(opcode) for name, column in self._columns.items()}
            self._known[opcode] = tuple(
                0.0 if any(counts[other] for other in column.excepted) else counts[name]
                for name, column in self._columns.items()
            )
        return self._known[opcode]


@dataclass(frozen=True, kw_only=True)
class Mapping:
    """How one profiler's counters become quantities.

    ``counters`` are the scalar counters that formulas read, ``measures`` what the units that pages
    print them in measure. ``keyed`` and ``instructions`` are the counters with many values that are
    kept. ``curves`` are those of the keyed ones that hold the resident warps of a multiprocessor
    over a parameter of the launch: parameter → counter. ``builds`` are the counters that differ
    between launches of one kernel and shape only where it was compiled twice.
    ``devices`` are the values of the device that formulas read; they are joined to the launches.
    ``ways`` are the ways to know a quantity, helper or weighted sum, best first: the names that
    each cannot do without. ``computed`` are the quantities and helpers in dependency order;
    ``flags`` is the SQL, over columns of ``launch``, that lists what is odd about it. Both are text
    already: what is kept needs no formula again.
    """

    profiler: str
    counters: tuple[str, ...]
    measures: dict[str, frozenset[Dimension]]
    keyed: tuple[str, ...]
    curves: tuple[tuple[str, str], ...]
    instructions: tuple[str, ...]
    builds: tuple[str, ...]
    opcodes: tuple[OpcodeColumn, ...]
    breakdowns: tuple[Breakdown, ...]
    devices: tuple[str, ...]
    ways: dict[str, tuple[frozenset[str], ...]]
    computed: tuple[Computed, ...]
    flags: str
    quantities: Quantities

    def stage(
        self, launches: Sequence[Launch], device_ids: Sequence[str | None] = ()
    ) -> dict[str, Array]:
        """Return an array per column of the staging table that a launch has a value of.

        They are in the order of ``launches``. ``device_ids`` say on which device each of them ran;
        where they are left out, none is known.
        """
        columns = stage(launches, self.counters, self.opcodes, self.breakdowns)
        if self.devices:
            import numpy as np  # what only reads the database needs none

            known = device_ids or [None] * len(launches)
            columns[DEVICE_ID] = np.array(known, dtype=np.object_)
        return columns

    def sql(self, staging: str, staged: Collection[str]) -> str:
        """Return a SELECT over ``staging``, which has ``row`` and the columns ``staged``.

        It gives ``row``, quantities (numbers are DOUBLE in SI), their sources, and ``flags``.
        """
        columns, known = self._computed(staged)
        shape = [quoted(name) for name in shape_columns()]
        read = ("row", *shape_columns(), *(name for name in self._outputs() if name in known))
        values = (
            f"{quoted(name) if name in known else 'null'}::{self._kind(name)} as {quoted(name)}"
            for name in self._outputs()
        )
        lacking = set[str]().union(*(column.names for column in columns)) - known
        computed = layered(self._source(staging, lacking), columns, read)
        inner = select(", ".join(("row", *shape, *values)), f"({computed})")
        return select(f"* exclude ({', '.join(shape)}), {self.flags} as flags", f"({inner})")

    def known(self, staged: Collection[str]) -> frozenset[str]:
        """Return the quantities and sources that ``staged`` columns can give."""
        _, known = self._computed(staged)
        return known.intersection(self._outputs())

    def _computed(self, staged: Collection[str]) -> tuple[list[Column], frozenset[str]]:
        """Return what ``staged`` columns can give, and the names of all that has a value then."""
        given = {*staged, *self.devices}
        columns = known_columns(self.computed, given)
        return columns, frozenset(given.union(column.name for column in columns))

    def _source(self, staging: str, lacking: Collection[str]) -> str:
        """Return the staging table with columns that are NULL, and with the values of devices."""
        nothing = [f"null::{self._kind(name)} as {quoted(name)}" for name in sorted(lacking)]
        source = f"({select(', '.join(('*', *nothing)), quoted(staging))})"
        if not self.devices:
            return source
        device = {name: self.quantities.device[name] for name in self.devices}
        joined = f"left join ({device_values(device)}) using ({DEVICE_ID})"
        return f"({select('*', source, joined)})"

    def _outputs(self) -> Iterator[str]:
        return chain.from_iterable(each.columns for each in self.quantities.quantities.values())

    def _kind(self, name: str) -> str:
        quantity = self.quantities.quantities.get(quantity_of(name))
        is_text = quantity is not None and (quantity.is_text or quantity.name != name)
        return "varchar" if is_text else "double"


def stage(
    launches: Sequence[Launch],
    counters: Sequence[str],
    opcodes: Sequence[OpcodeColumn],
    breakdowns: Sequence[Breakdown],
) -> dict[str, Array]:
    """Return one array per column, in the order of ``launches``; absent numbers are NaN.

    Counters and histograms that no launch has are left out.
    """
    import numpy as np  # what only reads the database needs none

    columns = {name: _numbers([get(launch) for launch in launches]) for name, get in _SHAPE.items()}
    named = {id(names): names for names in (Packed.of(x.counters).named for x in launches)}
    known = [name for name in counters if any(name in names.places for names in named.values())]
    columns |= dict(zip(known, _columns(launches, known), strict=True))
    met = set(chain.from_iterable(launch.keyed for launch in launches))
    weighed = [column for column in opcodes if column.counter in met]
    names = [column.name for column in weighed]
    columns |= dict(zip(names, _weighted(launches, weighed), strict=True))
    for breakdown in breakdowns:
        columns[breakdown.name] = np.array(_busiest(launches, breakdown), dtype=np.object_)
    return columns


def shape_columns() -> tuple[str, ...]:
    """Return the columns that come from the launch itself, not from counters."""
    return tuple(_SHAPE)


def _columns(launches: Sequence[Launch], counters: Sequence[str]) -> NDArray[np.float64]:
    """Return a row per counter and a column per launch, NaN where a launch lacks the counter."""
    import numpy as np

    found = np.full((len(counters), len(launches)), np.nan)
    alike: dict[int, list[tuple[int, Packed[str]]]] = {}
    for place, launch in enumerate(launches):
        numbers = Packed.of(launch.counters)
        alike.setdefault(id(numbers.named), []).append((place, numbers))
    for members in alike.values():
        where = [place for place, _ in members]
        named = members[0][1].named.places
        known = [row for row, counter in enumerate(counters) if counter in named]
        values = np.array([numbers.numbers for _, numbers in members])
        found[np.ix_(known, where)] = values[:, [named[counters[row]] for row in known]].T
    return found


def _weighted(launches: Sequence[Launch], opcodes: Sequence[OpcodeColumn]) -> NDArray[np.float64]:
    """Return a row per weighted sum and a column per launch, NaN where it has no histogram."""
    import numpy as np

    found = np.full((len(opcodes), len(launches)), np.nan)
    table = OpcodeTable(opcodes)
    for counter in {column.counter for column in opcodes}:
        rows = [row for row, column in enumerate(opcodes) if column.counter == counter]
        alike: dict[tuple[str, ...], list[int]] = {}
        for place, launch in enumerate(launches):
            if histogram := launch.keyed.get(counter):
                alike.setdefault(histogram.keys, []).append(place)
        for keys, where in alike.items():
            counts = np.array([launches[place].keyed[counter].values for place in where])
            weights = np.array([table.weights(opcode) for opcode in keys])
            weights = weights.reshape(len(keys), len(opcodes))[:, rows]  # of no opcode, too
            found[np.ix_(rows, where)] = (counts @ weights).T
    return found


def _busiest(launches: Sequence[Launch], breakdown: Breakdown) -> list[str | None]:
    """Return the busiest unit of each launch; None if nothing tells or names it."""
    found: list[str | None] = [None] * len(launches)
    alike: dict[tuple[int, tuple[str, ...]], list[tuple[int, Packed[str]]]] = {}
    for place, launch in enumerate(launches):
        numbers = Packed.of(launch.counters)
        key = (id(numbers.named), breakdown.members(launch))
        alike.setdefault(key, []).append((place, numbers))
    for (_, members), its in alike.items():
        named = its[0][1].named.places
        known = [member for member in members if member in named]
        units = [breakdown.unit(member) for member in known]
        columns = [named[member] for member in known]
        for place, numbers in its:
            values = numbers.numbers[columns].tolist()
            largest = max(values, default=0)
            pairs = zip(units, values, strict=True)
            names = (unit for unit, value in pairs if value == largest and unit is not None)
            found[place] = next(names, None) if largest > 0 else None
    return found


def _numbers(values: Sequence[float | None]) -> Array:
    import numpy as np

    return np.array(values, dtype=np.float64)
