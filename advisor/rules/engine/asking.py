"""What the rules that cannot decide about a run lack, and what to ask its profiler for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from advisor.database.coverage import known_quantities
from advisor.expression.needs import NOTHING
from advisor.profilers.command import asking_words
from advisor.rules.engine.reach import CountersWanted, Mode, OfName, ProfilerRequest, Reach
from advisor.rules.language.rule import Outcome
from advisor.rules.language.subjects import KERNEL

if TYPE_CHECKING:
    import duckdb

    from advisor.rules.engine.evaluation import Evaluation

Known = frozenset[str]
Lacking = tuple[str, Sequence[str]]
"""A variant, and the facts that it lacks."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What a profiler would tell about the kernels of a run.

    ``version`` is that of the profiler that made the run, ``known`` are the quantities that have a
    value, by variant.
    """

    reach: Reach
    version: str | None
    known: Mapping[str, Known]
    _lacking: dict[tuple[Known, Mode], OfName] = field(default_factory=dict, compare=False)
    _wanted: dict[tuple[Known, str], CountersWanted] = field(default_factory=dict, compare=False)

    def ask(self, lacking: Iterable[Lacking]) -> ProfilerRequest:
        """Return what to ask for so that subjects get the facts that they lack."""
        wanted = (self._want(variant, missing) for variant, missing in lacking)
        return self.reach.asked(wanted, self.version)

    def can_tell(self, variant: str, missing: Sequence[str]) -> bool:
        """Return whether there is a counter that may give one of the facts that a variant lacks."""
        wanted = self._want(variant, missing)
        return bool(wanted.now or wanted.later)

    def words(self, variant: str, missing: Sequence[str]) -> str:
        """Return the words of a command that ask for the facts that a variant lacks."""
        asked = self.ask([(variant, missing)])
        return " ".join(asking_words(self.reach.profiler, asked.sections, asked.metrics))

    def _want(self, variant: str, missing: Sequence[str]) -> CountersWanted:
        known = self.known.get(variant, NOTHING)
        found = [self._of_fact(name, known) for name in missing]
        return CountersWanted(
            now=NOTHING.union(*(each.now for each in found)),
            later=NOTHING.union(*(each.later for each in found)),
        )

    def _of_fact(self, name: str, known: Known) -> CountersWanted:
        """Return the counters that a fact lacks: in sections, else by name, else of later versions.

        Where the profiler's version is not known, the newest is meant.
        """
        key = (known, name)
        if key not in self._wanted:
            self._wanted[key] = self._worked_out(name, known)
        return self._wanted[key]

    def _worked_out(self, name: str, known: Known) -> CountersWanted:
        for version in dict.fromkeys((self.version, None)):
            for by_name in (False, True):
                mode = Mode(version=version, by_name=by_name)
                lacking = self._lacking.setdefault((known, mode), self.reach.lacking(known, mode))
                quantities = lacking(name)
                if quantities is not None:
                    counters = self.reach.counters(quantities, known, mode)
                    is_later = version != self.version
                    return (
                        CountersWanted(later=counters) if is_later else CountersWanted(now=counters)
                    )
        return CountersWanted()


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
    lacking = reach.lacking(NOTHING, Mode(by_name=True))
    found = NOTHING.union(*(each for name in missing if (each := lacking(name))))
    names = sorted(reach.below(found))
    known = known_quantities(connection, run_id, names) if names else {}
    return Asking(reach=reach, version=version, known=known)


def missing_facts(evaluations: Iterable[Evaluation]) -> frozenset[str]:
    """Return the facts for want of which rules about kernels cannot decide."""
    return NOTHING.union(*(each.missing for each in evaluations if is_open(each)))


def is_open(evaluation: Evaluation) -> bool:
    """Return whether more counters could decide what a rule says about a kernel."""
    unknown = evaluation.outcome is Outcome.UNKNOWN
    return unknown and evaluation.rule.subject == KERNEL
