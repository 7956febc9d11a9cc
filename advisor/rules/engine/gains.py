"""Time that could be saved: named estimators, the least time a kernel can take, and the cut.

An estimate is cut so that no advice promises more than physics allows: ``high`` at what lies
above the profiled speed-of-light time, ``likely`` at what lies above the achievable one. Where a
rule says what following it would change (``assumes``), both are recomputed with those values;
and work that is removed from a unit saves only what the time of the busiest unit shrinks by.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from advisor.facts.layers import Column
from advisor.facts.vocabulary import Fact, Vocabulary
from advisor.quoting import quoted
from advisor.records import dataclass

ASSUMED_BY = "assumed by"  # no name of a fact has a space


@dataclass(frozen=True, kw_only=True)
class Seconds:
    """A gain in seconds of its subject; low ≤ likely ≤ high, all at least 0."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Share:
    """A gain as shares of the time of a kernel whose time is unknown, and the most it could be."""

    low: float
    likely: float
    high: float
    cap: float
    cap_likely: float


@dataclass(frozen=True, kw_only=True)
class Raw:
    """What the database computed for one finding, before the cut; NULL is None. All in seconds.

    ``busy`` and ``busy_after`` are the times of the busiest unit now and under what the rule
    assumes; None where it assumes nothing of units. ``goes_along`` is the share of the time left
    that goes at best with the work, for each share of the whole time that goes.
    """

    duration: float | None
    low: float | None
    likely: float | None
    high: float | None
    floor: float | None
    floor_achievable: float | None
    busy: float | None = None
    busy_after: float | None = None
    goes_along: float = 0.0

    @property
    def relief(self) -> float | None:
        """Return by how much the time of the busiest unit shrinks; None where that is unknown."""
        if self.busy is None or self.busy_after is None:
            return None
        return max(0.0, self.busy - self.busy_after)

    @property
    def relief_high(self) -> float | None:
        """Return the same for a kernel whose whole time follows its busiest unit."""
        busy = self.busy or 0.0
        if self.relief is None or busy <= 0 or self.duration is None:
            return self.relief
        return self.relief * max(1.0, self.duration / busy)

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

    @property
    def most(self) -> float | None:
        """Return what ``high`` is cut at; None without a duration.

        The more of its work the busiest unit loses, the less it says about what remains: so much
        of the way to the floor is open beyond the relief, as long as no unit works for longer.
        """
        cap, relief, relief_high = self.cap, self.relief, self.relief_high
        if cap is None or self.duration is None:
            return None
        busy = self.busy or 0.0
        if relief is None or relief_high is None or busy <= 0:
            return _least(cap, relief_high)
        beyond = max(0.0, cap - relief_high) * relief / busy
        after = max(0.0, self.duration - (self.busy_after or 0.0))
        return _least(cap, relief_high + beyond, after)

    @property
    def most_likely(self) -> float | None:
        """Return what ``likely`` is cut at; None without a duration.

        Between a kernel that stays idle for as long as it was, and one that is idle in proportion.
        """
        if self.relief is None or self.relief_high is None:
            return self.cap_likely
        between = (self.relief + self.relief_high) / 2
        return None if self.cap_likely is None else _least(self.cap_likely, between)

    def at_best(self, high: float) -> float:
        """Return the upper bound with what goes along where work is removed from units.

        The other units are measured while they serve that work, too. Source: docs/corpus.md.
        """
        if self.relief is None or not self.duration or self.cap is None:
            return high
        left = max(0.0, self.duration - high)
        return max(high, min(self.cap, high + self.goes_along * left * high / self.duration))


def cut(raw: Raw) -> Seconds | None:
    """Return the gain within its caps and in order; None where an estimate or the time is unknown.

    ``low`` keeps its proportion to ``likely``, so a gain that was cut is still a range.

    >>> cut(Raw(duration=10, low=2, likely=8, high=9, floor=5, floor_achievable=6))
    Seconds(low=1.0, likely=4, high=5)
    """
    most, most_likely = raw.most, raw.most_likely
    if most is None or most_likely is None:
        return None
    if raw.low is None or raw.likely is None or raw.high is None:
        return None
    high = min(max(raw.high, 0.0), most)
    wanted = max(raw.likely, 0.0)
    likely = min(wanted, most_likely, high)
    low = min(max(raw.low, 0.0), wanted)
    return Seconds(low=shrunk(low, wanted, likely), likely=likely, high=raw.at_best(high))


def cut_share(raw: Raw) -> Share | None:
    """Return the same of a kernel whose own time is the unit: its duration is 1."""
    found, cap, cap_likely = cut(raw), raw.cap, raw.cap_likely
    if found is None or cap is None or cap_likely is None:
        return None
    return Share(
        low=found.low, likely=found.likely, high=found.high, cap=cap, cap_likely=cap_likely
    )


def _least(first: float, *others: float | None) -> float:
    return min([first, *(each for each in others if each is not None)])


def shrunk(low: float, likely: float, likely_after: float) -> float:
    """Return the lower bound after the likely gain shrank; both are at least 0."""
    return low if likely_after >= likely else min(low * (likely_after / likely), likely_after)


def assumed(name: str) -> str:
    """Return the column that holds a quantity or fact as it is under assumptions."""
    return f"{name} assumed"


def given(name: str) -> str:
    """Return the column that holds what the rule of a row assumes; NULL where it assumes none."""
    return f"{name} given"


def assume(
    assumptions: Mapping[int, Mapping[str, str]],
    reads: Mapping[int, frozenset[str]],
    wanted: Sequence[str],
    vocabulary: Vocabulary,
) -> list[Column]:
    """Return the columns that ``wanted`` facts have under what each of several rules assumes.

    ``assumptions`` are SQL by rule and quantity; ``reads`` are the facts that those of a rule read.
    The columns go to a table with a row per subject and rule; its column ``ASSUMED_BY`` holds the
    rule. What no rule touches gets no column; what the rule of a row does not touch stays as it is.
    An assumption that comes to NULL changes nothing.
    """
    touched: dict[str, list[int]] = defaultdict(list)
    for rule, quantities in assumptions.items():
        for name in _to_recompute(quantities, wanted, vocabulary):
            touched[name].append(rule)
    columns = []
    for name, rules in touched.items():
        says = [rule for rule in rules if name in assumptions[rule]]
        followed = [rule for rule in rules if name not in assumptions[rule]]
        added: list[Column] = []
        sql = quoted(name)
        if followed:
            fact = vocabulary.facts[name]
            added = _recomputed(fact, touched.keys())
            sql = _of_rule([(followed, _after(fact, sql))], sql)
        if says:
            cases = [([rule], assumptions[rule][name]) for rule in says]
            read = frozenset[str]({ASSUMED_BY}).union(*(reads[rule] for rule in says))
            added.append(Column(name=given(name), sql=_of_rule(cases, "NULL"), names=read))
            sql = f"coalesce({quoted(given(name))}, {sql})"
        needs = frozenset({name, ASSUMED_BY, *(column.name for column in added)})
        columns += [*added, Column(name=assumed(name), sql=sql, names=needs)]
    return columns


def _recomputed(fact: Fact, touched: Collection[str]) -> list[Column]:
    """Return what the formula of a fact gives with assumed values, and perhaps without."""
    expression = fact.expression
    changed = {name: assumed(name) if name in touched else name for name in expression.names}
    after = Column(
        name=f"{fact.name} recomputed",
        sql=expression.sql(lambda name: quoted(changed[name])),
        names=frozenset(changed.values()),
    )
    if fact.level == "kernel":
        return [after]
    before = expression.sql(quoted)
    return [after, Column(name=f"{fact.name} of totals", sql=before, names=expression.names)]


def _after(fact: Fact, actual: str) -> str:
    """Return a fact with assumed values, from the columns of ``_recomputed``.

    What is computed per launch and added up is not what its formula gives for totals: it is scaled
    by what the formula gives with and without the assumption.
    """
    after, before = quoted(f"{fact.name} recomputed"), quoted(f"{fact.name} of totals")
    if fact.level == "kernel":
        return after
    return f"coalesce({actual} * {after} / nullif({before}, 0), {after}, {actual})"


def _of_rule(cases: Sequence[tuple[Sequence[int], str]], otherwise: str) -> str:
    """Return the CASE over the rule of a row."""
    branches = (
        f"WHEN {quoted(ASSUMED_BY)} IN ({', '.join(map(str, rules))}) THEN {sql}"
        for rules, sql in cases
    )
    return f"(CASE {' '.join(branches)} ELSE {otherwise} END)"


def _to_recompute(
    given: Collection[str], wanted: Iterable[str], vocabulary: Vocabulary
) -> list[str]:
    """Return the assumed quantities, and the facts between them and what is wanted."""
    touched: dict[str, None] = dict.fromkeys(given)
    for name, fact in vocabulary.facts.items():  # in order of dependency
        if fact.expression.names & touched.keys():
            touched[name] = None
    needed: set[str] = set()
    waiting = [name for name in wanted if name in touched]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            if name not in given:
                waiting += vocabulary.facts[name].expression.names & touched.keys()
    return [name for name in touched if name in needed]
