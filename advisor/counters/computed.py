"""Quantities and helpers as columns: of the ways to know each, those that some launches allow.

A profile holds a sixth of the counters that all versions of a profiler have. To plan the SELECT of
the rest takes longer than to run it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from advisor.facts.layers import Column
from advisor.quantities import source_of
from advisor.quoting import literal
from advisor.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to know a quantity: ``sql`` over ``names``, NULL where one of ``required`` is.

    ``label`` is kept where sources are remembered.
    """

    label: str
    sql: str
    names: frozenset[str]
    required: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Computed:
    """A quantity or a helper of formulas, and the ways to know it, best first."""

    name: str
    ways: tuple[Way, ...]
    remember_source: bool = False

    def columns(self, known: Collection[str]) -> Iterator[Column]:
        """Yield the column of the value and, where it is remembered, of the source.

        There is none where each way requires a name that is not ``known``.
        """
        ways = [way for way in self.ways if way.required.issubset(known)]
        if not ways:
            return
        names = frozenset[str]().union(*(way.names for way in ways))
        values = ", ".join(way.sql for way in ways)
        yield Column(name=self.name, sql=f"coalesce({values})", names=names)
        if self.remember_source:
            cases = " ".join(f"when ({w.sql}) is not null then {literal(w.label)}" for w in ways)
            yield Column(name=source_of(self.name), sql=f"case {cases} end", names=names)


def known_columns(computed: Sequence[Computed], staged: Collection[str]) -> list[Column]:
    """Return the columns that can have a value where ``staged`` have one.

    ``computed`` stand in dependency order.
    """
    known, columns = set(staged), list[Column]()
    for each in computed:
        found = [*each.columns(known)]
        known.update(column.name for column in found)
        columns += found
    return columns
