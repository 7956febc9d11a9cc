"""What advice promises and says of every real profile: bounds, one roof, no contradiction.

Counts are printed: ``pytest -m real -s tests/rules/test_promises_real.py``.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from advisor.database.connect import open_for_reading
from advisor.facts import create_views, current, kernels_select
from advisor.rules import Action, Evaluation, Outcome, rank
from advisor.rules.engine.evaluate import evaluate_runs
from advisor.rules.language.relations import load_relations
from tests.support.facts import vocabulary_once
from tests.support.knowledge import compiled_once

pytestmark = [pytest.mark.real, pytest.mark.slow]

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


@pytest.fixture(scope="module")
def kernels(real_database: Path) -> list[Kernel]:
    """Return every kernel of every real profile."""
    vocabulary, compiled = vocabulary_once(), compiled_once()
    with open_for_reading(str(real_database), wait=0) as connection:
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


def report(what: str, count: int, wrong: list[str]) -> None:
    print(f"{what}: {count} checked, {len(wrong)} wrong")
    assert count
    assert not wrong, "\n".join(wrong[:20])


def test_no_gain_goes_below_what_the_advice_itself_leaves(kernels: list[Kernel]) -> None:
    wrong, count = [], 0
    for kernel in kernels:
        for each in kernel.found:
            if each.gain is None or each.cap is None or each.cap_likely is None:
                continue
            count += 1
            slack = ROUNDING * (kernel.fact("duration") or 0.0)
            gain = each.gain
            ordered = 0 <= gain.low <= gain.likely + slack and gain.likely <= gain.high + slack
            if not ordered or gain.high > each.cap + slack or gain.likely > each.cap_likely + slack:
                wrong.append(f"{kernel.name}: {each.rule.id} {gain} of {each.cap}")
    report("gains within their caps", count, wrong)


def test_no_launch_becomes_shorter_than_an_empty_one(kernels: list[Kernel]) -> None:
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
    report("gains above the launch floor", count, wrong)


def test_what_keeps_the_work_stays_above_the_roof(kernels: list[Kernel]) -> None:
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
    report("kernels whose actions stay within the distance to the roof", count, wrong)


def test_one_least_time(kernels: list[Kernel]) -> None:
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
    report("kernels with one least time", count, wrong)


SENTENCES = {
    # What a sentence calls the peak or roof, and the facts whose quotient its percentage must be.
    "roofline/below-compute-roof": ("performance", "effective_peak"),
    "roofline/below-memory-roof": ("t_dram", "duration"),
    "roofline/dram-bound": ("t_dram", "duration"),
    "roofline/compute-bound": ("performance", "effective_peak"),
}


def test_a_percentage_belongs_to_the_roof_of_its_sentence(kernels: list[Kernel]) -> None:
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
    report("sentences with a percentage of a roof", count, wrong)


def test_no_finding_stands_beside_one_that_excludes_it(kernels: list[Kernel]) -> None:
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
    report("findings that exclude others", count, wrong)


def test_no_symptom_stands_before_its_cause(kernels: list[Kernel]) -> None:
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
                if cause.evaluation.gain.likely >= enough > 0:
                    wrong.append(f"{kernel.name}: {symptom.rule.id} beside its cause {name}")
    print(f"symptoms that keep an action of their own beside a cause: {count}")
    assert not wrong, "\n".join(wrong[:20])


def test_a_void_profile_promises_nothing(kernels: list[Kernel]) -> None:
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
    report("kernels whose profile is void", count, wrong)
