"""Launches of a variant become one row: the SQL aggregate of every quantity and launch fact.

``same`` looks at all launches. Everything else leaves out launches that are not valid, unless none
of the variant was timed: then what they counted is all that is known. Each value leaves out the
launches where it is NULL, in numerator and denominator together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from advisor.facts.vocabulary import Fact, Vocabulary
from advisor.quantities import Quantity, source_of
from advisor.quoting import literal, quoted
from advisor.records import dataclass

NO_COVERAGE = "map([]::varchar[], []::bigint[])"
"""What ``coverage`` says about most variants: no quantity that only some launches have."""

_VALID = "launch_valid"
COUNTED = "launch_counted"
RAN = "coalesce(grid_size > 0, true)"
"""The condition of launches that may have run: no empty grid is known of them."""

_TIME = "duration"


def aggregate(name: str, how: str, weight: str | None = None) -> str:
    """Return the aggregate expression over the column ``name``.

    Means fall back where the weight is unknown: from ``weight`` to time, then to equal weights.
    """
    column = quoted(name)
    if how == "sum":
        return _sum(column, COUNTED)
    if how == "max":
        return f"max({column})"
    if how == "same":
        return f"case when min({column}) = max({column}) then min({column}) end"
    weights = [_TIME] if weight is None else [weight, _TIME]
    means = ", ".join(_mean(column, by) for by in weights)
    return f"coalesce({means}, avg({column}))"


def of_one(name: str, how: str, weight: str | None = None) -> str:
    """Return what ``aggregate`` gives for a single launch that is valid, from its own row."""
    column = quoted(name)
    if how in {"sum", "max", "same"}:
        return column
    by = map(quoted, [_TIME] if weight is None else [weight, _TIME])
    means = ", ".join(f"{column} * {each} / nullif({each}, 0)" for each in by)
    return f"coalesce({means}, {column})"


def _mean(column: str, weight: str) -> str:
    by = quoted(weight)
    return (
        f"{_sum(f'{column} * {by}', _VALID)}"
        f" / nullif({_sum(by, f'{_VALID} and {column} is not null')}, 0)"
    )


def _sum(value: str, condition: str) -> str:
    """Return the sum of ``value`` where ``condition`` holds.

    Not FILTER: the engine sets aside room for all columns of the SELECT for each filter, which
    makes hundreds of them take a second before the first row.
    """
    return f"sum(case when {condition} then {value} end)"


def aggregated_columns(
    vocabulary: Vocabulary, written: Callable[[str, str, str | None], str] = aggregate
) -> Iterator[tuple[str, str]]:
    """Yield name and aggregate of every quantity, source and launch fact, as ``written``."""
    for quantity in _aggregated(vocabulary):
        yield quantity.name, written(quantity.name, quantity.aggregate, quantity.weight)
        if quantity.remember_source:
            source = source_of(quantity.name)
            yield source, written(source, "same", None)
    for fact in _launch_facts(vocabulary):
        if fact.name != _VALID:
            yield fact.name, written(fact.name, fact.aggregate or "same", None)


@dataclass(frozen=True, kw_only=True)
class PairedSum:
    """The sum of ``of`` over the launches in which all ``names`` are known."""

    of: str
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the column that holds it."""
        return paired_name(self.of, self.names)

    @property
    def aggregate(self) -> str:
        """Return the aggregate over launches: those that count, else any that ran.

        A ratio holds for launches without a time as well, as where some counters were collected
        by themselves, so that only such launches have them.
        """
        counted, ran = f"{COUNTED} and {self._known}", f"{RAN} and {self._known}"
        return f"coalesce({_sum(quoted(self.of), counted)}, {_sum(quoted(self.of), ran)})"

    @property
    def whole(self) -> str:
        """Return what it is for a variant of which each launch has all values, or none has."""
        return f"case when {self._known} then {quoted(self.of)} end"

    @property
    def _known(self) -> str:
        return " and ".join(f"{quoted(name)} is not null" for name in self.names)


def paired_sums(vocabulary: Vocabulary) -> list[PairedSum]:
    """Return the sums that paired facts read; facts that read the same names share them."""
    pairs = {fact.expression.names for fact in vocabulary.facts.values() if fact.paired}
    return [each for names in sorted(pairs, key=sorted) for each in sums_of(names)]


def sums_of(names: Iterable[str]) -> list[PairedSum]:
    """Return the sums that a paired fact over some names reads."""
    ordered = tuple(sorted(names))
    return [PairedSum(of=name, names=ordered) for name in ordered]


def paired_name(name: str, names: Iterable[str]) -> str:
    """Return the column that holds the sum of ``name`` where all of ``names`` are known."""
    return f"{name} where {', '.join(sorted(names))}"


def coverage(vocabulary: Vocabulary) -> tuple[str, str]:
    """Return two expressions: the list of how many launches have each quantity, and a map.

    The first is an aggregate that the second calls ``coverage_counts``. The map holds the
    quantities that some launches of ``launch_count`` have and others lack.
    """
    names = [quantity.name for quantity in _aggregated(vocabulary)]
    counts = ", ".join(f"count({quoted(name)})" for name in names)
    keys = ", ".join(map(literal, names))
    entries = f"map_entries(map([{keys}], coverage_counts))"
    partial = "lambda entry: entry.value > 0 and entry.value < launch_count"
    found = f"map_from_entries(list_filter({entries}, {partial}))"
    some = "lambda each: each > 0 and each < launch_count"
    lacks = f"launch_count > 1 and len(list_filter(coverage_counts, {some})) > 0"
    return f"[{counts}]", f"case when {lacks} then {found} else {NO_COVERAGE} end"


def _aggregated(vocabulary: Vocabulary) -> Iterator[Quantity]:
    for group in (vocabulary.quantities.launch, vocabulary.quantities.quantities):
        yield from (quantity for quantity in group.values() if quantity.aggregate != "none")


def _launch_facts(vocabulary: Vocabulary) -> Iterator[Fact]:
    return (fact for fact in vocabulary.facts.values() if fact.level == "launch")
