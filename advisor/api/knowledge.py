"""The rules: to load with all they rest on, to list, to read, to test."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Sequence

from advisor.errors import UsageError
from advisor.facts import load_vocabulary
from advisor.ingest import Knowledge
from advisor.rules import Rule, load_rules, load_settings
from advisor.rules.examples import run_examples

Rows = list[tuple[object, ...]]

_LIST = ("rule", "severity", "subject", "mechanism", "title")
_WIDTH = 92


def load_knowledge() -> Knowledge:
    """Return vocabulary, rules and settings.

    Raises:
        RuleError: a file is wrong; with its place.
    """
    vocabulary = load_vocabulary()
    settings = load_settings(vocabulary.symbols)
    rules = load_rules(vocabulary, settings=settings)
    return Knowledge(vocabulary=vocabulary, rules=rules, settings=settings)


def list_rules(family: str | None) -> tuple[tuple[str, ...], Rows]:
    """Return columns and one row per rule.

    Raises:
        UsageError: there is no such family; names those there are.
    """
    rules = load_knowledge().rules
    chosen = [rule for rule in rules if family in (None, rule.family)]
    if not chosen:
        families = ", ".join(sorted({rule.family for rule in rules}))
        raise UsageError(f"no family of rules is called {family!r}", hint=f"one of {families}")
    rows: Rows = [
        (rule.id, rule.severity.value, rule.subject.value, rule.mechanism, rule.title)
        for rule in chosen
    ]
    return _LIST, rows


def show_rule(name: str) -> str:
    """Return a rule as a page: symptom, cause, advice, verification and sources.

    Raises:
        UsageError: there is no such rule; names the nearest.
    """
    rule = _find(load_knowledge().rules, name)
    parts = [
        f"{rule.id}: {rule.title}",
        f"{rule.severity.value}, about a {rule.subject.value}, mechanism {rule.mechanism}",
        _section("When", [rule.when.text]),
        _section("Unless", [f"{g.when.text}: {g.because.text}" for g in rule.unless]),
        _section("Thresholds", [_threshold(rule, name) for name in rule.thresholds]),
        _section("Why", [rule.why]),
        _section("What to do", [step.text for step in rule.recommendation]),
        _section("Verify", [*rule.verify.expect, *(f"but {g}" for g in rule.verify.guard)]),
        _section("Mind", rule.caveats),
        _section("Sources", rule.references),
    ]
    return "\n".join(part for part in parts if part)


def check_examples(name: str | None) -> tuple[int, list[str]]:
    """Run the examples of one rule, or of all; return how many and what was not as expected.

    Raises:
        UsageError: there is no such rule; names the nearest.
    """
    knowledge = load_knowledge()
    rules = knowledge.rules if name is None else [_find(knowledge.rules, name)]
    results = run_examples(rules, vocabulary=knowledge.vocabulary, settings=knowledge.settings)
    failures = [
        f"{result.example.at}: {result.rule.id}: {result.example.name}: {problem}"
        for result in results
        for problem in result.problems
    ]
    return len(results), failures


def _find(rules: Sequence[Rule], name: str) -> Rule:
    by_id = {rule.id: rule for rule in rules}
    if name in by_id:
        return by_id[name]
    near = difflib.get_close_matches(name, by_id, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "advisor rules list names them"
    raise UsageError(f"no rule is called {name!r}", hint=hint)


def _threshold(rule: Rule, name: str) -> str:
    threshold = rule.thresholds[name]
    unit = "" if threshold.unit == "1" else f" {threshold.unit}"
    return f"{name} = {threshold.shown:g}{unit} ({threshold.source})"


def _section(heading: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    wrapped = [
        textwrap.fill(
            " ".join(line.split()), _WIDTH, initial_indent="  - ", subsequent_indent="    "
        )
        for line in lines
    ]
    return "\n".join(["", heading, *wrapped])
