"""``python -m studies.promises [FOLDER …]``: what advice promises and says of every real profile.

Ingests the profiles below the folders (by default what people published, ``../shared/data``),
judges all of their kernels, and prints one table: how often each property was looked at, and where
it does not hold. Ends with an error where one does not.
``tests/rules/test_promises_real.py`` asks the same.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from advisor.api.collecting import UNDECIDED, settling
from advisor.database.connect import open_for_reading
from advisor.database.parts import variants_of
from advisor.database.read import list_runs
from advisor.facts import create_views, current, kernels_select
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.knowledge.load import load_knowledge
from advisor.profilers import Profiler, load_profilers, version_key
from advisor.rules import Action, Evaluation, Outcome, rank
from advisor.rules.engine.collect import Collection
from advisor.rules.engine.evaluate import evaluate_runs, run_words
from advisor.rules.engine.gains import Share
from advisor.rules.language.relations import load_relations
from studies.advised import DATA

FOLDERS = tuple(DATA / name for name in ("ncu-rep", "ncu-csv", "ncu-text"))
ROUNDING = 1e-9  # of the time


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """One variant of one real profile, with what the rules say of it."""

    name: str
    facts: dict[str, Any]
    said: tuple[Evaluation, ...]

    @property
    def found(self) -> tuple[Evaluation, ...]:
        """Return what fires."""
        return tuple(each for each in self.said if each.outcome is Outcome.FIRES)

    @property
    def actions(self) -> list[Action]:
        """Return what to do, in order."""
        return rank(self.said)

    def fact(self, name: str) -> float | None:
        """Return a number of the kernel."""
        value = self.facts[name]
        return None if value is None else float(value)


def kernels_of(database: str) -> list[Kernel]:
    """Return every kernel of every run of a database."""
    knowledge = load_knowledge()
    vocabulary, compiled = knowledge.vocabulary, knowledge.compiled
    with open_for_reading(database, wait=0) as connection:
        create_views(connection, vocabulary)
        runs = dict(connection.execute("SELECT run_id, name FROM main.run").fetchall())
        relations = current(connection, vocabulary, sorted(runs))
        answer = connection.execute(kernels_select(vocabulary, relations=relations))
        names = [column[0] for column in answer.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
        said = evaluate_runs(connection, compiled, sorted(runs), relations)
    by_kernel: dict[tuple[str, str], list[Evaluation]] = defaultdict(list)
    for run_id, evaluations in said.items():
        for each in evaluations:
            by_kernel[run_id, each.variant_id].append(each)
    return [
        Kernel(
            name=f"{runs[row['run_id']]} {row['short_name']}",
            facts=row,
            said=tuple(by_kernel[row["run_id"], row["variant_id"]]),
        )
        for row in rows
    ]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One property: how often it was looked at, and where it does not hold."""

    what: str
    checked: int
    wrong: list[str]


def no_gain_goes_below_what_the_advice_itself_leaves(kernels: list[Kernel]) -> Check:
    """Gains are ordered, and within what the advice leaves of the time."""
    wrong, count = [], 0
    for kernel in kernels:
        for each in kernel.found:
            if each.share is not None and not _is_ordered(each.share):
                wrong.append(f"{kernel.name}: {each.rule.id} {each.share}")
            if each.gain is None or each.cap is None or each.cap_likely is None:
                continue
            count += 1
            slack = ROUNDING * (kernel.fact("duration") or 0.0)
            gain = each.gain
            ordered = 0 <= gain.low <= gain.likely + slack and gain.likely <= gain.high + slack
            if not ordered or gain.high > each.cap + slack or gain.likely > each.cap_likely + slack:
                wrong.append(f"{kernel.name}: {each.rule.id} {gain} of {each.cap}")
    return Check(what="gains within their caps", checked=count, wrong=wrong)


def _is_ordered(share: Share) -> bool:
    steps = (0, share.low, share.likely, share.high, share.cap, 1)
    return all(less <= more + ROUNDING for less, more in pairwise(steps))


def no_launch_becomes_shorter_than_an_empty_one(kernels: list[Kernel]) -> Check:
    """No gain but of fusing launches goes below their start."""
    wrong, count = [], 0
    for kernel in kernels:
        duration, floor = kernel.fact("duration"), kernel.fact("t_launch")
        if duration is None or floor is None:
            continue
        for each in kernel.found:
            if each.gain is None or "t_launch" in each.rule.assumes:
                continue
            count += 1
            if duration - each.gain.high < floor * (1 - ROUNDING):
                wrong.append(f"{kernel.name}: {each.rule.id} leaves {duration - each.gain.high}")
    return Check(what="gains above the launch floor", checked=count, wrong=wrong)


def what_keeps_the_work_stays_above_the_roof(kernels: list[Kernel]) -> Check:
    """Together, too: actions that assume nothing of the work never promise more than the gap."""
    wrong, count = [], 0
    for kernel in kernels:
        duration, least = kernel.fact("duration"), kernel.fact("t_least")
        actions = [each for each in kernel.actions if each.gain is not None]
        proven = [each for each in actions if not each.evaluation.rule.is_unproven]
        if duration is None or least is None or not proven:
            continue
        count += 1
        gap = max(0.0, duration - least)
        same = [each for each in proven if not each.evaluation.rule.assumes]
        together = sum(each.gain.likely for each in same if each.gain)
        if together > gap + ROUNDING * duration:
            wrong.append(f"{kernel.name}: {together} of {gap}")
        largest = max(e.evaluation.cap or 0.0 for e in proven)
        if sum(e.gain.likely for e in proven if e.gain) > largest + ROUNDING * duration:
            wrong.append(f"{kernel.name}: all together more than {largest}")
    return Check(
        what="kernels whose actions stay above the roof",
        checked=count,
        wrong=wrong,
    )


def one_least_time(kernels: list[Kernel]) -> Check:
    """Share of the roof, wasted time and caps rest on one least time."""
    wrong, count = [], 0
    for kernel in kernels:
        duration, least = kernel.fact("duration"), kernel.fact("t_least")
        if duration is None or least is None or kernel.fact("t_sol") is None:
            continue
        count += 1
        slack = ROUNDING * duration
        share, wasted = kernel.fact("roof_fraction"), kernel.fact("wasted_time")
        if share is None or abs(share * duration - least) > slack:
            wrong.append(f"{kernel.name}: share of the roof {share}, least time {least}")
        if wasted is None or abs(duration - wasted - least) > slack:
            wrong.append(f"{kernel.name}: wasted {wasted}, least time {least}")
        caps = [e.cap for e in kernel.found if e.cap is not None and not e.rule.assumes]
        if any(abs(cap - max(0.0, duration - least)) > slack for cap in caps):
            wrong.append(f"{kernel.name}: caps {caps}, least time {least}")
    return Check(what="kernels with one least time", checked=count, wrong=wrong)


SENTENCES = {
    # What a sentence calls the peak or roof, and the facts whose quotient its percentage must be.
    "roofline/below-compute-roof": ("performance", "effective_peak"),
    "roofline/below-memory-roof": ("t_dram", "duration"),
    "roofline/dram-bound": ("t_dram", "duration"),
    "roofline/compute-bound": ("performance", "effective_peak"),
}


def a_percentage_belongs_to_the_roof_of_its_sentence(kernels: list[Kernel]) -> Check:
    """A sentence prints the share of the roof that it names."""
    wrong, count = [], 0
    for kernel in kernels:
        for each in kernel.found:
            if each.rule.id not in SENTENCES:
                continue
            over, under = (kernel.fact(name) for name in SENTENCES[each.rule.id])
            if not over or not under:
                continue
            count += 1
            said = f"{100 * over / under:.0f}\N{NO-BREAK SPACE}%"
            close = f"{100 * over / under:.1f}\N{NO-BREAK SPACE}%"
            small = "<\N{NO-BREAK SPACE}1\N{NO-BREAK SPACE}%" if over < 0.01 * under else said
            if not any(share in each.evidence for share in (said, close, small)):
                wrong.append(f"{kernel.name}: {each.rule.id} {said}: {each.evidence}")
    return Check(what="sentences with a percentage of a roof", checked=count, wrong=wrong)


def no_finding_stands_beside_one_that_excludes_it(kernels: list[Kernel]) -> Check:
    """No finding contradicts another of its kernel."""
    exclusions = load_relations().exclusions
    wrong, count = [], 0
    for kernel in kernels:
        rules = {each.rule.id for each in kernel.found}
        unproven = {each.rule.id for each in kernel.found if each.rule.is_unproven}
        for exclusion in exclusions:
            if exclusion.found in rules - unproven:
                count += 1
                beside = [rule for rule in rules if exclusion.excludes(rule)]
                wrong += [f"{kernel.name}: {rule} beside {exclusion.found}" for rule in beside]
    return Check(what="findings that exclude others", checked=count, wrong=wrong)


def no_symptom_stands_before_its_cause(kernels: list[Kernel]) -> Check:
    """A symptom comes behind the cause that explains it, with what that leaves of it."""
    wrong, count = [], 0
    for kernel in kernels:
        actions = kernel.actions
        found = {e.evaluation.rule.id: e for e in actions if not e.evaluation.rule.is_unproven}
        for action in actions:
            symptom = action.evaluation
            for name in symptom.rule.explained_by:
                cause = found.get(name)
                if cause is None or symptom.gain is None or cause.evaluation.gain is None:
                    continue
                count += 1
                enough = symptom.gain.likely * symptom.rule.explained_at
                if cause.evaluation.gain.likely < enough or enough <= 0:
                    continue
                if action.position < cause.position or action.gain == symptom.gain:
                    wrong.append(f"{kernel.name}: {symptom.rule.id} before its cause {name}")
    return Check(what="symptoms with an action beside their cause", checked=count, wrong=wrong)


def a_void_profile_promises_nothing(kernels: list[Kernel]) -> Check:
    """Where a profile is void, that comes first and nothing is promised."""
    wrong, count = [], 0
    for kernel in kernels:
        void = [each for each in kernel.found if each.rule.voids]
        if not void:
            continue
        count += 1
        if any(each.gain is not None for each in kernel.found):
            wrong.append(f"{kernel.name}: promises beside {void[0].rule.id}")
        if kernel.actions[0].evaluation not in void:
            wrong.append(f"{kernel.name}: {void[0].rule.id} is not first")
    return Check(what="kernels whose profile is void", checked=count, wrong=wrong)


def commands_run(database: str) -> Check:
    """Commands ask a profiler for sections and counters that the version meant has."""
    knowledge, profilers = load_knowledge(), load_profilers()
    wrong, count = [], 0
    with open_for_reading(database, wait=0) as connection:
        runs = list_runs(connection)
        ids = [run.run_id for run in runs]
        words = run_words(connection, ids, knowledge.settings)
        judged = evaluate_runs(connection, knowledge.compiled, ids, words=words)
        for run in runs:
            rows = variants_of(connection, run.run_id)
            unknown = [each for each in judged[run.run_id] if each.outcome in UNDECIDED]
            asked = settling(connection, run.run_id, rows, unknown, knowledge).collection
            if asked is None or run.profiler is None:
                continue
            count += 1
            profiler, needed = profilers[run.profiler], asked.needs_version
            meant = _later(run.profiler_version, needed)
            wrong += [f"{run.name}: {each}" for each in _absent(profiler, asked, meant)]
    return Check(what="commands that their version runs", checked=count, wrong=wrong)


def _later(version: str | None, needed: str | None) -> str | None:
    known = [each for each in (version, needed) if each is not None]
    return max(known, key=version_key, default=None)


def _absent(profiler: Profiler, asked: Collection, version: str | None) -> list[str]:
    return [
        *(each for each in asked.sections if not profiler.has_section(each, version)),
        *(each for each in asked.metrics if not profiler.takes_name(each, version)),
    ]


CHECKS = (
    no_gain_goes_below_what_the_advice_itself_leaves,
    no_launch_becomes_shorter_than_an_empty_one,
    what_keeps_the_work_stays_above_the_roof,
    one_least_time,
    a_percentage_belongs_to_the_roof_of_its_sentence,
    no_finding_stands_beside_one_that_excludes_it,
    no_symptom_stands_before_its_cause,
    a_void_profile_promises_nothing,
)


def checks_of(database: str) -> list[Check]:
    """Return all checks of the runs of a database."""
    kernels = kernels_of(database)
    return [*(check(kernels) for check in CHECKS), commands_run(database)]


def main(folders: Sequence[Path]) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "promises.duckdb")
        paths = [str(each) for each in folders]
        for _ in ingest_paths(database, paths, labels=RunLabels(), wait=0):
            pass
        found = checks_of(database)
    for each in found:
        print(f"{each.checked:6,} {each.what:56} {len(each.wrong):4} wrong")
        print("".join(f"       {line}\n" for line in each.wrong[:20]), end="")
    sys.exit(1 if any(each.wrong for each in found) else 0)


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]] or FOLDERS)
