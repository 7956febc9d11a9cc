"""``python -m studies.mutation [RULE …]``: do the tests inside rules notice when a rule changes?

Every rule is changed in one place at a time (``studies.mutants``) and its own tests are run over
the changed rule, through the SQL of production. Printed: the mutants and the share noticed of each
rule, those that none of its tests noticed with their place, and the score in all. Mutants that
cannot be distinguished from the rule by any test stand in ``mutation.yaml``, each with the reason.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.documents import load
from advisor.errors import RuleError
from advisor.facts.vocabulary import load_vocabulary
from advisor.rules.engine.examples import run_examples
from advisor.rules.language.load import load_rules
from advisor.rules.language.settings import load_settings
from advisor.rules.language.subjects import SUBJECTS
from studies.mutants import mutants

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.errors import Location
    from advisor.facts.vocabulary import Vocabulary
    from advisor.rules.language.rule import Rule
    from advisor.rules.language.settings import EvaluationSettings
    from studies.mutants import Mutant

TARGET = 0.95
AT_ONCE = 100  # mutants in one statement
EQUIVALENTS = Path(__file__).with_name("mutation.yaml")


@dataclass(frozen=True, kw_only=True)
class Score:
    """The outcome of the mutants of one rule; ``equivalent`` ones are not counted in ``made``."""

    rule: Rule
    made: int
    survivors: tuple[Mutant, ...]
    equivalent: int

    @property
    def killed(self) -> int:
        """Return how many mutants the rule's tests noticed."""
        return self.made - len(self.survivors)


def score(rule: Rule, vocabulary: Vocabulary, settings: EvaluationSettings) -> Score:
    """Return the outcome of every mutant of a rule.

    Raises:
        RuleError: a mutant that ``mutation.yaml`` calls equivalent was noticed, or does not exist.
    """
    symbols = SUBJECTS[rule.subject].vocabulary(vocabulary, settings)
    made = mutants(rule, symbols)
    noticed: set[str] = set()
    for start in range(0, len(made), AT_ONCE):
        rules = [mutant.rule for mutant in made[start : start + AT_ONCE]]
        results = run_examples(rules, vocabulary=vocabulary, settings=settings)
        noticed.update(result.rule.id for result in results if not result.passed)
    survivors = [mutant for mutant in made if mutant.rule.id not in noticed]
    marked = _equivalents(rule.id)
    for text, at in marked.items():
        if text not in {mutant.text for mutant in survivors}:
            raise RuleError(f"{rule.id}: no surviving mutant reads {text!r}", at=at)
    alive = tuple(mutant for mutant in survivors if mutant.text not in marked)
    equivalent = len(survivors) - len(alive)
    return Score(rule=rule, made=len(made) - equivalent, survivors=alive, equivalent=equivalent)


def _equivalents(rule_id: str) -> dict[str, Location]:
    """Return the texts of the mutants that equal their rule for every kernel, and their places."""
    document = load(EQUIVALENTS)
    if rule_id not in document:
        return {}
    found = {}
    for entry in document.sequence(rule_id):
        entry.as_mapping().text("because")
        found[entry.as_mapping().text("mutant")] = entry.at
    return found


def main(names: Sequence[str]) -> int:
    """Print the scores of the named rules, of all where none is named; return the exit status."""
    vocabulary = load_vocabulary()
    settings = load_settings(vocabulary.symbols)
    rules = load_rules(vocabulary, settings=settings)
    if unknown := set(names) - {rule.id for rule in rules}:
        print(f"there is no rule {min(unknown)!r}", file=sys.stderr)
        return 2
    scores = []
    print("| rule | mutants | noticed | equivalent |\n| --- | --- | --- | --- |")
    for rule in rules:
        if not names or rule.id in names:
            each = score(rule, vocabulary, settings)
            scores.append(each)
            print(_row(rule.id, [each]), flush=True)
    print(_row("all", scores))
    print("\n".join(("", *_survivors(scores))))
    below = [each for each in scores if each.killed < TARGET * each.made]
    if below:
        print(f"\nbelow {TARGET:.0%}: {', '.join(each.rule.id for each in below)}")
    return 1 if below else 0


def _row(name: str, scores: Sequence[Score]) -> str:
    made, killed = sum(each.made for each in scores), sum(each.killed for each in scores)
    share = killed / made if made else 1
    return f"| {name} | {made} | {share:.1%} | {sum(each.equivalent for each in scores)} |"


def _survivors(scores: Sequence[Score]) -> Iterator[str]:
    for each in scores:
        for mutant in each.survivors:
            at = f"{os.path.relpath(mutant.at.name)}:{mutant.at.line}"
            yield f"{at}: {mutant.part}: {mutant.text}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
