"""The numbers of a page and where each comes from: formula, unit, counters, source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from advisor.expression import written
from advisor.facts.formulas import Formula
from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.counters.mapping import Ways
    from advisor.facts import Vocabulary
    from advisor.rules.language.words import VendorWords

_MOST_WAYS = 3
_LONGEST = 400

WrittenWays = Mapping[str, tuple[str, ...]]
"""By quantity: from which counters it is worked out, the best way first."""


@dataclass(frozen=True, kw_only=True)
class NumberUsed:
    """A number that a formula reads; ``place`` is that of its own entry, None where it has none."""

    name: str
    label: str
    place: int | None


@dataclass(frozen=True, kw_only=True)
class NumberTerm:
    """What one number means. ``unit`` is SI, empty for a text; ``ways`` are formulas of counters.

    ``place`` tells entries apart on a page; ``formula`` is in the words of readers.
    """

    place: int
    name: str
    label: str
    unit: str
    about: str
    formula: str
    reads: tuple[NumberUsed, ...]
    ways: tuple[str, ...]
    more_ways: int
    source: str


def written_ways(ways: Ways) -> dict[str, tuple[str, ...]]:
    """Return the formulas of a profiler's counters as text."""
    return {
        name: tuple(
            dict.fromkeys(
                _short(written(way.formula.expression.tree).replace('"', ""))
                for way in one.alternatives
            )
        )
        for name, one in ways.formulas.items()
    }


def glossary(
    names: Iterable[str], vocabulary: Vocabulary, words: VendorWords, ways: WrittenWays
) -> tuple[NumberTerm, ...]:
    """Return entries for numbers and all that they rest on, in the order of their labels."""
    known = {*vocabulary.facts, *vocabulary.quantities.quantities}
    needed = vocabulary.rests_on(name for name in names if name in known) & known
    labels = {name: words.name(name).text for name in needed}
    ordered = sorted(needed, key=lambda name: (labels[name].lower(), name))
    places = {name: place for place, name in enumerate(ordered, start=1)}
    return tuple(_term(name, vocabulary, labels, places, ways) for name in ordered)


def _term(
    name: str,
    vocabulary: Vocabulary,
    labels: Mapping[str, str],
    places: Mapping[str, int],
    ways: WrittenWays,
) -> NumberTerm:
    fact = vocabulary.facts.get(name)
    quantity = vocabulary.quantities.quantities.get(name)
    formula, reads = "", tuple[NumberUsed, ...]()
    if fact is not None:
        reads = tuple(_used(fact.expression.names, labels, places))
        if isinstance(fact.expression, Formula):
            tree = fact.expression.expression.tree
            formula = _short(written(tree, lambda one: labels.get(one, one.replace("_", " "))))
    from_counters: Sequence[str] = () if fact is not None else ways.get(name, ())
    described = fact or quantity
    return NumberTerm(
        place=places[name],
        name=name,
        label=labels[name],
        unit=vocabulary.unit(name) or "",
        about="" if described is None else described.about,
        formula=formula,
        reads=reads,
        ways=tuple(from_counters[:_MOST_WAYS]),
        more_ways=max(0, len(from_counters) - _MOST_WAYS),
        source="" if fact is None else fact.source,
    )


def _used(
    names: Iterable[str], labels: Mapping[str, str], places: Mapping[str, int]
) -> Iterator[NumberUsed]:
    for name in sorted(names):
        if name in places:
            yield NumberUsed(name=name, label=labels[name], place=places[name])


def _short(text: str) -> str:
    cut = text[:_LONGEST]
    return text if cut == text else f"{cut} …"
