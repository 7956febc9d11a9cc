"""Time that could be saved: named estimators, the least time a kernel can take, and the cut.

An estimate is cut so that no advice promises more than physics allows: ``high`` at what lies
above the profiled speed-of-light time, ``likely`` at what lies above the achievable one. Where a
rule says what following it would change (``assumes``), both are computed anew with those values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from advisor.expression import Expression, quote
from advisor.facts.layers import Column
from advisor.facts.vocabulary import Vocabulary

Columns = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class Seconds:
    """A gain in seconds of its subject; low ≤ likely ≤ high, all at least 0."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Raw:
    """What the database computed for one finding, before the cut; NULL is None. All in seconds."""

    duration: float | None
    low: float | None
    likely: float | None
    high: float | None
    floor: float | None
    floor_achievable: float | None

    @property
    def cap(self) -> float | None:
        """Return the most that can be saved; None without a duration."""
        if self.duration is None:
            return None
        return max(0.0, self.duration - (self.floor or 0.0))

    @property
    def cap_likely(self) -> float | None:
        """Return the most that can be saved in practice; None without a duration."""
        cap = self.cap
        if self.duration is None or cap is None:
            return None
        return min(cap, max(0.0, self.duration - (self.floor_achievable or 0.0)))


def cut(raw: Raw) -> Seconds | None:
    """Return the gain within its caps and in order; None where an estimate or the time is unknown.

    ``low`` keeps its proportion to ``likely``, so a gain that was cut is still a range.

    >>> cut(Raw(duration=10, low=2, likely=8, high=9, floor=5, floor_achievable=6))
    Seconds(low=1.0, likely=4, high=5)
    """
    cap, cap_likely = raw.cap, raw.cap_likely
    if cap is None or cap_likely is None:
        return None
    if raw.low is None or raw.likely is None or raw.high is None:
        return None
    high = min(max(raw.high, 0.0), cap)
    wanted = max(raw.likely, 0.0)
    likely = min(wanted, cap_likely, high)
    low = min(max(raw.low, 0.0), wanted)
    return Seconds(low=shrunk(low, wanted, likely), likely=likely, high=high)


@dataclass(frozen=True, kw_only=True)
class Assumed:
    """Columns to add to a table of facts, and under which name each changed value then stands."""

    columns: tuple[Column, ...]
    names: Mapping[str, str]


def shrunk(low: float, likely: float, likely_after: float) -> float:
    """Return the lower bound after the likely gain shrank; both are at least 0."""
    return low if likely_after >= likely else low * (likely_after / likely)


def assume(
    assumptions: Mapping[str, Expression],
    wanted: Iterable[str],
    vocabulary: Vocabulary,
    *,
    facts: Columns,
    prefix: str,
) -> Assumed:
    """Return the columns that ``wanted`` facts have when quantities have the assumed values.

    ``facts`` gives the SQL of what is not assumed. What does not depend on an assumed quantity gets
    no column. An assumption that comes to NULL changes nothing. A fact that is computed per launch
    and added up is not recomputed from totals: it is scaled by what its formula gives for them with
    and without the assumption.
    """
    names = {name: prefix + name for name in _to_recompute(assumptions, wanted, vocabulary)}

    def changed(name: str) -> str:
        return quote(names[name]) if name in names else facts(name)

    columns = []
    for name, column in names.items():
        if name in assumptions:
            sql = f"coalesce({assumptions[name].sql(facts)}, {facts(name)})"
            columns.append(Column(name=column, sql=sql, names=frozenset()))
            continue
        fact = vocabulary.facts[name]
        needs = frozenset(names[other] for other in fact.expression.names & names.keys())
        after = fact.expression.sql(changed)
        if fact.level == "launch":
            before, actual = fact.expression.sql(facts), facts(name)
            after = f"coalesce({actual} * ({after}) / nullif({before}, 0), {after}, {actual})"
        columns.append(Column(name=column, sql=after, names=needs))
    return Assumed(columns=tuple(columns), names=names)


def _to_recompute(
    assumptions: Mapping[str, Expression], wanted: Iterable[str], vocabulary: Vocabulary
) -> list[str]:
    """Return the assumed quantities, and the facts between them and what is wanted."""
    touched: dict[str, None] = dict.fromkeys(assumptions)
    for name, fact in vocabulary.facts.items():  # in order of dependency
        if fact.expression.names & touched.keys():
            touched[name] = None
    needed: set[str] = set()
    waiting = [name for name in wanted if name in touched]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            if name not in assumptions:
                waiting += vocabulary.facts[name].expression.names & touched.keys()
    return [name for name in touched if name in needed]
