"""What one profiler can know about the names that rules use, and what to ask it for.

Facts follow from quantities, and quantities from counters: both by formulas, whose trees say what
is needed to know a value. A quantity that no formula gives is beyond the profiler's reach, and so
is every fact that cannot do without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from advisor.expression.needs import NOTHING, Needs, needs
from advisor.facts.naming import OfKernel
from advisor.facts.runs import KERNELS, RunFacts
from advisor.facts.vocabulary import KERNEL_COLUMNS, Fact, KnownOf, Vocabulary
from advisor.profilers import Profiler, load_profilers, version_key
from advisor.quantities import quantity_of
from advisor.records import Seldom, dataclass
from advisor.rules.language.rule import Rule
from advisor.rules.language.subjects import KERNEL, SUBJECTS

if TYPE_CHECKING:
    from advisor.counters.staging import Mapping as Counters

_OF = {column.name: column.of for column in KERNEL_COLUMNS}

OfName = Callable[[str], Needs]
Ways = Mapping[str, tuple[frozenset[str], ...]]


@dataclass(frozen=True, kw_only=True)
class ProfilerRequest:
    """What to ask a profiler for: sections in the order of its file, and counters by name.

    ``needs_version`` is the first version that has all of it, where the one that was used has not.
    """

    sections: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    needs_version: str | None = None


@dataclass(frozen=True, kw_only=True)
class Mode:
    """How counters are had: in sections of a version (None: the newest).

    With ``by_name`` also by their names, and in sections that are kept in reserve.
    """

    version: str | None = None
    by_name: bool = False


@dataclass(frozen=True, kw_only=True)
class CountersWanted:
    """Counters to ask for: of the profiler's version, and of later ones only."""

    now: frozenset[str] = NOTHING
    later: frozenset[str] = NOTHING


@dataclass(frozen=True, kw_only=True)
class Reach(Seldom):
    """What a profiler can tell.

    ``ways`` are the ways to know a quantity or a helper of formulas, best first: the names that
    each needs, which are counters where they are no quantity and no key. ``unknowable`` are the
    names that it can never know, ``hopeless`` the ids of rules that therefore never fire.
    """

    SELDOM: ClassVar = ("profiler", "ways")

    profiler: Profiler
    vocabulary: Vocabulary
    ways: Ways
    unknowable: frozenset[str] = frozenset()
    hopeless: frozenset[str] = frozenset()

    def lost(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of some names that the profiler can never know."""
        return tuple(name for name in names if name in self.unknowable)

    def why(self, names: Iterable[str]) -> str | None:
        """Return why the profiler can never know some names, where its file says it."""
        reasons = (self.profiler.why_never(name) for name in names)
        return next((reason for reason in reasons if reason), None)

    def asked(self, wanted: Iterable[CountersWanted], version: str | None) -> ProfilerRequest:
        """Return what to ask for: few sections that bring the counters, and the rest by name."""
        now, later = set[str](), set[str]()
        for each in wanted:
            now |= each.now
            later |= each.later
        firsts = (self.profiler.first_with(counter, version) for counter in later)
        needed = max((first for first in firsts if first), key=version_key, default=None)
        offers = {
            each: self.profiler.sections_with(each, needed or version)
            for each in sorted(now | later)
            if not self.profiler.brings_always(each)
        }
        chosen = {sections[0] for sections in offers.values() if len(sections) == 1}
        left = [sections for sections in offers.values() if sections and not chosen & {*sections}]
        while left:
            order = self.profiler.in_order(name for sections in left for name in sections)
            best = max(order, key=lambda name: sum(name in sections for sections in left))
            chosen.add(best)
            left = [sections for sections in left if best not in sections]
        return ProfilerRequest(
            sections=self.profiler.in_order(chosen),
            metrics=tuple(
                counter
                for counter, sections in offers.items()
                if not sections and self.profiler.takes_name(counter, needed or version)
            ),
            needs_version=needed,
        )

    def below(self, quantities: Iterable[str]) -> frozenset[str]:
        """Return quantities, with all that are read by the ways to know them."""
        found: set[str] = set()
        waiting = list(quantities)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += (each for way in self.ways.get(name, ()) for each in way)
        known = self.vocabulary.quantities
        return frozenset(found & (known.quantities.keys() | known.launch.keys()))


class Search:
    """How to know what kernels lack whose quantities ``known`` have a value.

    Each name is worked out once: thousands of ways lead over the same few counters.
    """

    def __init__(self, reach: Reach, known: Collection[str], mode: Mode) -> None:
        self._reach = reach
        self._known = known
        self._mode = mode
        self._counters = _once(self._by_ways)
        self.lacking = _of_facts(reach.vocabulary, self._lacks)
        """Tells which quantities a name lacks; None where they cannot be had."""

    def counters(self, quantities: Iterable[str]) -> frozenset[str]:
        """Return the counters that tell quantities."""
        found = (self._counters(name) for name in quantities)
        return NOTHING.union(*(each for each in found if each is not None))

    def _lacks(self, name: str) -> Needs:
        """Return what a name that is no fact lacks: itself, where it is an unknown quantity."""
        name = _plain(name)
        reach = self._reach
        if name in self._known or (name not in reach.ways and name not in reach.unknowable):
            return NOTHING
        return None if self._counters(name) is None else frozenset({name})

    def _by_ways(self, name: str) -> Needs:
        """Return the counters of the way to a quantity that is open and takes the least.

        Sections that stand first in the profiler's file are preferred, then the better way.
        """
        reach = self._reach
        quantities = reach.vocabulary.quantities
        if name in self._known or name in quantities.device:
            return NOTHING
        if name in reach.ways:
            ways = ([self._counters(each) for each in way] for way in reach.ways[name])
            found = [NOTHING.union(*filter(None, way)) for way in ways if None not in way]
            return min(found, key=self._cost, default=None)
        if name in quantities.launch:
            return NOTHING
        return frozenset({name}) if self._is_offered(name) else None

    def _is_offered(self, counter: str) -> bool:
        profiler, mode = self._reach.profiler, self._mode
        if profiler.brings_always(counter):
            return True
        if counter in self._reach.vocabulary.quantities.quantities:
            return False
        if profiler.sections_with(counter, mode.version, reserve=mode.by_name):
            return True
        return mode.by_name and profiler.takes_name(counter, mode.version)

    def _cost(self, counters: Iterable[str]) -> int:
        """Return the place in the file of the last section that is needed; at the end is none."""
        place_of, version = self._reach.profiler.place_of, self._mode.version
        return max((place_of(each, version) for each in counters), default=-1)


def make_reach(
    profiler: Profiler,
    counters: Counters,
    vocabulary: Vocabulary,
    run: RunFacts,
    rules: Sequence[Rule],
) -> Reach:
    """Return what a profiler can tell, by the mapping of its ``counters``."""
    never = frozenset(name for each in profiler.never for name in each.names)
    ways = dict(counters.ways)
    ways |= {name: (frozenset({counter}),) for name, counter in profiler.launch.items()}
    of_quantity = _possible(ways, vocabulary, never)
    of_kernel = _of_facts(vocabulary, of_quantity, never)
    of_run = _of_run(run, of_kernel, never)
    names = {*vocabulary.quantities.quantities, *vocabulary.facts, *never}
    hopeless = (
        rule.id
        for rule in rules
        if SUBJECTS[rule.subject].is_part_of_run
        and not _can_fire(rule, of_kernel if rule.subject == KERNEL else of_run)
    )
    return Reach(
        profiler=profiler,
        vocabulary=vocabulary,
        ways=ways,
        unknowable=frozenset(name for name in names if of_kernel(name) is None)
        | {name for name in run.facts if of_run(name) is None and name not in names},
        hopeless=frozenset(hopeless),
    )


def load_reaches(
    vocabulary: Vocabulary,
    run: RunFacts,
    rules: Sequence[Rule],
    *,
    load_mapping: Callable[[str], Counters],
) -> dict[str, Reach]:
    """Return what each described profiler can tell, by its name.

    ``load_mapping`` returns how its counters become quantities.

    Raises:
        RuleError: a file is wrong; with its place.
    """
    return {
        name: make_reach(profiler, load_mapping(name), vocabulary, run, rules)
        for name, profiler in load_profilers().items()
    }


def _can_fire(rule: Rule, of_name: OfName) -> bool:
    """Return whether all that a rule needs to fire can be known."""
    conditions = [rule.when, *(guard.when for guard in rule.unless if guard.required)]
    if rule.applies_to is not None:
        conditions.append(rule.applies_to)
    numbers = rule.thresholds.keys()
    return all(
        needs(each.tree, lambda name: NOTHING if name in numbers else of_name(name)) is not None
        for each in conditions
    )


def _possible(ways: Ways, vocabulary: Vocabulary, never: Collection[str]) -> OfName:
    """Return a test of whether a name that is no fact can be known."""
    stored = vocabulary.quantities.quantities

    def of_name(name: str) -> Needs:
        name = _plain(name)
        if name in never:
            return None
        if name in ways:
            open_ways = (all(of_name(each) is not None for each in way) for way in ways[name])
            return NOTHING if any(open_ways) else None
        return None if name in stored else NOTHING

    return _once(of_name)


def _of_facts(vocabulary: Vocabulary, of_other: OfName, never: Collection[str] = ()) -> OfName:
    """Return a function from a name to what it needs; ``of_other`` is for names of no fact."""

    def of_name(name: str) -> Needs:
        if name in never:
            return None
        fact = vocabulary.facts.get(name)
        return of_other(name) if fact is None else _of_fact(fact, found)

    found = _once(of_name)
    return found


def _of_fact(fact: Fact, of_name: OfName) -> Needs:
    if isinstance(fact.expression, OfKernel):
        return NOTHING
    if isinstance(fact.expression, KnownOf):
        parts = [of_name(name) for name in fact.expression.columns.values()]
        possible = [part for part in parts if part is not None]
        return min(possible, key=len, default=None)
    numbers = fact.expression.numbers
    tree = fact.expression.expression.tree
    return needs(tree, lambda name: NOTHING if name in numbers else of_name(name))


def _of_run(run: RunFacts, of_kernel: OfName, never: Collection[str]) -> OfName:
    """Return a test of whether a fact of a run can be known.

    What follows from pairs of kernels, or describes the run as a whole, can be.
    """

    def of_name(name: str) -> Needs:
        if name in never:
            return None
        fact = run.facts.get(name)
        if fact is None or fact.over != KERNELS:
            return NOTHING
        below = found if fact.aggregate is None else of_kernel
        numbers = fact.formula.numbers
        tree = fact.formula.expression.tree
        return needs(tree, lambda name: NOTHING if name in numbers else below(name))

    found = _once(of_name)
    return found


def _plain(name: str) -> str:
    """Return the quantity that a column follows from, or the name itself."""
    return _OF.get(name) or quantity_of(name)


def _once(of_name: OfName) -> OfName:
    """Return a function that works out each name once."""
    found: dict[str, Needs] = {}

    def remembered(name: str) -> Needs:
        if name not in found:
            found[name] = of_name(name)
        return found[name]

    return remembered
