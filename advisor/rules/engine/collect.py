"""What undecided rules lack of a run, and the one profiler command that decides most of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

import duckdb

from advisor.database.coverage import isas_of, known_quantities
from advisor.database.parts import launches_of
from advisor.expression.needs import NOTHING
from advisor.model import names_function
from advisor.profilers.command import Profiled, asking_words, command_words
from advisor.records import dataclass
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.engine.reach import CountersWanted, Mode, ProfilerRequest, Reach, Search
from advisor.rules.language.rule import Outcome
from advisor.rules.language.settings import CollectSettings
from advisor.rules.language.subjects import KERNEL

Known = frozenset[str]
Lacking = tuple[str, Sequence[str]]
"""A variant, and the facts that it lacks."""


@dataclass(frozen=True, kw_only=True)
class NamedLaunch:
    """A launch of a run, in the order of the profile; ``function`` without scopes and arguments."""

    variant_id: str
    function: str


@dataclass(frozen=True, kw_only=True)
class Collection:
    """A command, and what it would settle.

    ``is_complete`` is false where the profile does not hold the program with its arguments.
    ``value`` is the time in seconds that could still be saved in the kernels it asks about, going
    by what is known of them, None where no duration is; ``rule_ids`` are the rules that it would
    decide. ``needs_version`` is the profiler's version that has all of it, where the one that made
    the profile has not. ``unsplit`` is a stored command line that could not be split into words.
    """

    command: str
    is_complete: bool
    sections: tuple[str, ...]
    metrics: tuple[str, ...]
    functions: tuple[str, ...]
    variant_ids: tuple[str, ...]
    rule_ids: tuple[str, ...]
    value: float | None
    profiler: str = ""
    needs_version: str | None = None
    unsplit: str | None = None


def named_launches(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[NamedLaunch]:
    """Return the launches of a run in the order of the profile."""
    return [
        NamedLaunch(
            variant_id=variant_id,
            function=name.rsplit("::", 1)[-1] if names_function(name) else name,
        )
        for variant_id, name in launches_of(connection, run_id)
    ]


def collect(
    evaluations: Iterable[Evaluation],
    launches: Sequence[NamedLaunch],
    settings: CollectSettings,
    program: Profiled,
    asking: Asking | None,
) -> Collection | None:
    """Return the command that settles the most valuable unknowns; None where none is worth it.

    Unknown rules about a kernel are worth what that kernel could save at most. Kernels are taken in
    order of worth until ``share_of_value`` of all of it is covered, and for those every counter
    that could decide an unknown rule. Kernels without a duration, whose worth is unknown, are taken
    where no other is worth anything. Where the call that made the profile chose launches, the same
    are asked for again, else those of these kernels, or of all where one of these has no name that
    the profiler would know. Of a profiler that nobody described, or that
    has no command, nothing is asked.
    """
    if asking is None or not asking.reach.profiler.command:
        return None
    unknown = _unknown(evaluations)
    worth = {variant: _worth(found) for variant, found in unknown.items()}
    chosen = _most_valuable(worth, settings.share_of_value)
    askable = [
        each
        for variant in chosen
        for each in unknown[variant]
        if asking.can_tell(variant, each.missing)
    ]
    if not askable:
        return None
    asked = asking.ask((each.variant_id, each.missing) for each in askable)
    functions = _ordered(each.function for each in launches if each.variant_id in chosen)
    again = program.chooses_launches or not all(map(names_function, functions))
    matching = [each for each in launches if again or each.function in functions]
    before, after = command_words(
        asking.reach.profiler,
        sections=asked.sections,
        metrics=asked.metrics,
        options=program.options,
        functions=() if again else functions,
        launches=_launches_needed(matching, chosen, settings.launches_per_kernel),
    )
    return Collection(
        command=program.command(before, after),
        is_complete=program.is_complete,
        sections=asked.sections,
        metrics=asked.metrics,
        functions=functions,
        variant_ids=tuple(chosen),
        rule_ids=tuple(sorted({each.rule.id for each in askable})),
        value=total(worth[variant] for variant in chosen),
        profiler=asking.reach.profiler.name,
        needs_version=asked.needs_version,
        unsplit=program.unsplit,
    )


def _unknown(evaluations: Iterable[Evaluation]) -> dict[str, list[Evaluation]]:
    """Return what is unknown of kernels in which time could be saved, for each of them.

    What could not change the advice, beside what is found already, is left out.
    """
    unknown: dict[str, list[Evaluation]] = defaultdict(list)
    promised: dict[str, dict[str, float]] = defaultdict(dict)
    for each in evaluations:
        if is_open(each) and each.cap != 0:
            unknown[each.variant_id].append(each)
        elif each.outcome is Outcome.FIRES and not each.rule.is_unproven and each.gain is not None:
            promised[each.variant_id][each.rule.id] = each.gain.likely
    kept = {
        variant: [each for each in undecided if _could_change(each, promised[variant])]
        for variant, undecided in unknown.items()
    }
    return {variant: undecided for variant, undecided in kept.items() if undecided}


def _could_change(unknown: Evaluation, promised: Mapping[str, float]) -> bool:
    """Return whether a rule could change the advice for a kernel, beside the gains ``promised``.

    It cannot where a finding that explains it promises all that it could save, or where it could
    not save enough to explain what promises most.
    """
    cap, rule = unknown.cap, unknown.rule
    explained = max((promised.get(name, 0.0) for name in rule.explained_by), default=0.0)
    most = max(explained, rule.explained_at * max(promised.values(), default=0.0))
    return cap is None or cap > most


def _worth(unknown: Iterable[Evaluation]) -> float | None:
    return max((each.cap for each in unknown if each.cap is not None), default=None)


def total(worth: Iterable[float | None]) -> float | None:
    """Return the sum of what is known, None where nothing is."""
    known = [each for each in worth if each is not None]
    return sum(known) if known else None


def _most_valuable(worth: Mapping[str, float | None], share: float) -> list[str]:
    """Return the variants that make up ``share`` of the worth of all, the largest first.

    Where no worth is known these are all of them.
    """
    known = {variant: value for variant, value in worth.items() if value is not None}
    wanted = share * sum(known.values())
    chosen: list[str] = []
    covered = 0.0
    for variant in sorted(known, key=lambda each: (-known[each], each)):
        if covered >= wanted:
            break
        chosen.append(variant)
        covered += known[variant]
    return chosen or sorted(worth)


def _launches_needed(
    matching: Sequence[NamedLaunch], chosen: Sequence[str], per_kernel: int
) -> int:
    """Return how many launches must pass until each chosen variant had its share.

    The profiler counts all ``matching`` launches together.
    """
    seen: dict[str, int] = defaultdict(int)
    needed = 0
    for position, launch in enumerate(matching, start=1):
        seen[launch.variant_id] += 1
        if launch.variant_id in chosen and seen[launch.variant_id] <= per_kernel:
            needed = position
    return needed


def _ordered(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What a profiler would tell about the kernels of a run.

    ``version`` is that of the profiler that made the run, ``newest`` the last one that profiles the
    devices of the run, None where the newest of all does. ``known`` are the quantities that have a
    value, by variant.
    """

    reach: Reach
    version: str | None
    newest: str | None = None
    known: Mapping[str, Known]
    _searches: dict[tuple[Known, Mode], Search] = field(default_factory=dict, compare=False)
    _wanted: dict[tuple[Known, str], CountersWanted] = field(default_factory=dict, compare=False)
    _words: dict[tuple[Known, tuple[str, ...]], str] = field(default_factory=dict, compare=False)

    def ask(self, lacking: Iterable[Lacking]) -> ProfilerRequest:
        """Return what to ask for so that subjects get the facts that they lack."""
        wanted = (self._want(variant, missing) for variant, missing in lacking)
        return self.reach.asked(wanted, self.version or self.newest)

    def can_tell(self, variant: str, missing: Sequence[str]) -> bool:
        """Return whether there is a counter that may give one of the facts that a variant lacks."""
        wanted = self._want(variant, missing)
        return bool(wanted.now or wanted.later)

    def words(self, variant: str, missing: Sequence[str]) -> str:
        """Return the words of a command that ask for the facts that a variant lacks."""
        key = self.known.get(variant, NOTHING), tuple(missing)
        if key not in self._words:
            asked = self.ask([(variant, missing)])
            words = asking_words(self.reach.profiler, asked.sections, asked.metrics)
            self._words[key] = " ".join(words)
        return self._words[key]

    def _want(self, variant: str, missing: Sequence[str]) -> CountersWanted:
        known = self.known.get(variant, NOTHING)
        found = [self._of_fact(name, known) for name in missing]
        if len(found) == 1:
            return found[0]
        return CountersWanted(
            now=NOTHING.union(*[each.now for each in found]),
            later=NOTHING.union(*[each.later for each in found]),
        )

    def _of_fact(self, name: str, known: Known) -> CountersWanted:
        """Return the counters that a fact lacks: in sections, else by name, else of later versions.

        Where the profiler's version is not known, the newest that profiles these devices is meant.
        """
        key = (known, name)
        if key not in self._wanted:
            self._wanted[key] = self._worked_out(name, known)
        return self._wanted[key]

    def _worked_out(self, name: str, known: Known) -> CountersWanted:
        retired = self.newest is not None
        versions = (self.version or self.newest,) if retired else (self.version, None)
        for version in dict.fromkeys(versions):
            for by_name in (False, True):
                mode = Mode(version=version, by_name=by_name)
                search = self._search(known, mode)
                quantities = search.lacking(name)
                if quantities is not None:
                    counters = search.counters(quantities)
                    is_later = not retired and version != self.version
                    return (
                        CountersWanted(later=counters) if is_later else CountersWanted(now=counters)
                    )
        return CountersWanted()

    def _search(self, known: Known, mode: Mode) -> Search:
        if (known, mode) not in self._searches:
            self._searches[known, mode] = Search(self.reach, known, mode)
        return self._searches[known, mode]


def asking(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    reach: Reach | None,
    version: str | None,
    missing: Iterable[str],
) -> Asking | None:
    """Return what a run's profiler can provide for facts that are ``missing`` somewhere in it.

    None where nobody described the profiler.
    """
    if reach is None:
        return None
    lacking = Search(reach, NOTHING, Mode(by_name=True)).lacking
    found = NOTHING.union(*(each for name in missing if (each := lacking(name))))
    names = sorted(reach.below(found))
    known = known_quantities(connection, run_id, names) if names else {}
    newest = reach.profiler.last_for(isas_of(connection, run_id))
    return Asking(reach=reach, version=version, newest=newest, known=known)


def missing_facts(evaluations: Iterable[Evaluation]) -> frozenset[str]:
    """Return the facts for want of which rules about kernels cannot decide."""
    return NOTHING.union(*[each.missing for each in evaluations if each.missing and is_open(each)])


def is_open(evaluation: Evaluation) -> bool:
    """Return whether more counters could decide what a rule says about a kernel."""
    unknown = evaluation.outcome is Outcome.UNKNOWN
    return unknown and evaluation.rule.subject == KERNEL
