"""Numbers of a kernel, opened: the formula behind each, what it reads, down to the counters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.database.parts import rows_of
from advisor.expression import written
from advisor.expression.reduced import names_of
from advisor.facts import current, kernels_select
from advisor.facts.formulas import Formula
from advisor.records import dataclass
from advisor.reports.record.layout import layout
from advisor.reports.record.rows import Row
from advisor.wording import UNKNOWN, share, si

if TYPE_CHECKING:
    import duckdb

    from advisor.counters.opened import LaunchOpener, OpenedValue
    from advisor.expression.tree import ExpressionNode
    from advisor.facts import Fact, Vocabulary
    from advisor.facts.formulas import NamedNumber
    from advisor.quantities import Quantity
    from advisor.rules.language.rule import Value
    from advisor.rules.language.words import VendorWords

_ONE = " of one launch"
_KEYS = ("run_id", "variant_id", "launch_count", "duration")
_AGGREGATED = {
    "sum": "summed over its launches",
    "max": "the largest of its launches",
    "same": "where its launches agree",
    "time_weighted": "the mean of its launches, weighted by time",
}


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A value and how it came about; the value is in ``unit`` (SI).

    ``kind`` is fact, quantity, column (of a kernel), device, launch, counter, opcodes or breakdown.
    ``formula`` is in the language of rules, ``spoken`` in the reader's words, and ``way`` the label
    of the one that gave the value. ``over`` says how several launches became one number.
    """

    name: str
    kind: str
    label: str
    value: Value
    unit: str | None
    about: str = ""
    formula: str = ""
    spoken: str = ""
    way: str = ""
    source: str = ""
    over: str = ""
    rests_on: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OpenedKernel:
    """A kernel whose numbers are opened: its facts by name, and one of its launches.

    ``opener`` is None where the counters of its launches are gone.
    """

    row: Row
    vocabulary: Vocabulary
    words: VendorWords
    opener: LaunchOpener | None

    def open(self, names: Sequence[str]) -> dict[str, Opened]:
        """Return values by name, and all that they rest on, down to counters."""
        found: dict[str, Opened] = {}
        waiting = list(names)
        while waiting:
            name = waiting.pop(0)
            if name not in found:
                found = {each.name: each for each in self._open(name)} | found
                waiting += found[name].rests_on
        return found

    def _open(self, name: str) -> Iterator[Opened]:
        """Yield a name, and those that only its own formula knows."""
        vocabulary = self.vocabulary
        if name in vocabulary.facts:
            yield self._fact(vocabulary.facts[name])
        elif name in vocabulary.quantities.quantities:
            yield from self._quantity(vocabulary.quantities.quantities[name])
        else:
            yield self._column(name)

    def _column(self, name: str) -> Opened:
        """Return what a kernel has besides quantities and facts, or what its device is rated at."""
        group = next((each.group for each in self.vocabulary.quantities if each.name == name), None)
        return Opened(
            name=name,
            kind=group or "column",
            label=self._label(name),
            value=self.row.get(name),
            unit=self.vocabulary.unit(name),
        )

    def _fact(self, fact: Fact) -> Opened:
        formula = fact.expression if isinstance(fact.expression, Formula) else None
        tree = None if formula is None else formula.reduced(self.row.get)
        names = fact.expression.names if tree is None else names_of(tree)
        return Opened(
            name=fact.name,
            kind="fact",
            label=self._label(fact.name),
            value=self.row.get(fact.name),
            unit=fact.unit,
            about=fact.about,
            formula="" if formula is None else written(formula.expression.tree),
            spoken="" if formula is None or tree is None else self._spoken(tree, formula),
            source=fact.source,
            over=self._over(fact.aggregate),
            rests_on=tuple(name for name in names if name in fact.expression.names),
        )

    def _quantity(self, quantity: Quantity) -> Iterator[Opened]:
        """Yield a quantity, and what it rests on in the launch that is opened."""
        opened = [] if self.opener is None else list(self.opener.open(quantity.name))
        own = self._of_launch(opened[0]) if opened else self._column(quantity.name)
        yield replace(
            own,
            name=quantity.name,
            label=self._label(quantity.name),
            value=self.row.get(quantity.name, own.value),
            unit=quantity.unit,
            about=quantity.about,
            over=self._over(quantity.aggregate),
        )
        yield from map(self._of_launch, opened[1:])

    def _of_launch(self, opened: OpenedValue) -> Opened:
        formula, tree = opened.formula, opened.reduced
        return Opened(
            name=self._in_launch(opened.name),
            kind=opened.kind,
            label=self._label(self._in_launch(opened.name)),
            value=opened.value,
            unit=opened.unit,
            formula="" if formula is None else written(formula.expression.tree),
            spoken="" if formula is None or tree is None else self._spoken(tree, formula),
            way=opened.way,
            rests_on=tuple(map(self._in_launch, opened.rests_on)),
        )

    def _in_launch(self, name: str) -> str:
        """Return the name of a value of one launch: of several, it is not the kernel's."""
        return name if self._launches < 2 or name not in self.vocabulary.symbols else name + _ONE

    def _spoken(self, tree: ExpressionNode, formula: Formula) -> str:
        """Return a formula with the names that readers know, and its constants as numbers."""
        numbers = formula.numbers
        return written(
            tree,
            lambda name: _constant(numbers[name]) if name in numbers else self._label(name),
        )

    def _label(self, name: str) -> str:
        """Return what readers call a name; a counter by its own."""
        known = name.removesuffix(_ONE)
        if known in self.vocabulary.symbols:
            return self.words.name(known).text + name.removeprefix(known)
        return name if "." in name else name.replace("_", " ")

    def _over(self, aggregate: str | None) -> str:
        return "" if self._launches < 2 else _AGGREGATED.get(aggregate or "", "")

    @property
    def _launches(self) -> int:
        return int(self.row["launch_count"] or 0)


def read_kernels(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    names: Sequence[str],
    vocabulary: Vocabulary,
) -> dict[str, Row]:
    """Return the values of names, and of all that they rest on, by the variants of a run."""
    needed = vocabulary.rests_on(names) & vocabulary.symbols.keys()
    select = kernels_select(
        vocabulary, sorted({*needed, *_KEYS}), current(connection, vocabulary, [run_id])
    )
    return {str(row["variant_id"]): row for row in rows_of(connection, select, [run_id])}


def value_in_words(name: str, value: Value, unit: str | None) -> str:
    """Return a value with its unit as readers see it; a share in percent."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return share(value) if name in layout().shares else si(value, unit or "1")


def _constant(number: NamedNumber) -> str:
    """Return a constant of a formula: a count per something, a time, or a plain number."""
    unit = number.unit
    if unit.startswith("1/"):
        return f"{number.value:g} per {unit.removeprefix('1/')}"
    return si(number.in_si, "" if unit == "1" else unit)
