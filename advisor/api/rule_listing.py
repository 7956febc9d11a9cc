"""The rules, to list and to read."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import UsageError
from advisor.knowledge.load import find_rule, load_knowledge
from advisor.resources import data_dir
from advisor.rules.language.load import is_shipped
from advisor.rules.language.proven import Evidence, load_proven
from advisor.rules.language.rule import Rule
from advisor.rules.language.verify_words import general_lines
from advisor.rules.language.words import VendorWords
from advisor.suggest import did_you_mean

Rows = list[tuple[object, ...]]

_LIST = (
    "rule", "severity", "subject", "mechanism", "thresholds", "proven", "fired", "silent", "title",
)  # fmt: skip
_WIDTH = 92
PROVEN, UNPROVEN = "proven", "unproven"


def list_rules(
    family: str | None,
    configuration: Configuration = DEFAULTS,
    *,
    subject: str | None = None,
    proven: bool | None = None,
) -> tuple[tuple[str, ...], Rows]:
    """Return columns and one row per rule; ``proven`` picks those that are, or are not.

    ``fired`` and ``silent`` count real kernels, None where nobody counted.

    Raises:
        UsageError: there is no such family; names those there are.
    """
    knowledge = load_knowledge(configuration)
    rules, words = knowledge.rules, knowledge.settings.vendors.default
    families = sorted({rule.family for rule in rules})
    if family is not None and family not in families:
        hint = did_you_mean(family, families, f"one of {', '.join(families)}")
        raise UsageError(f"no family of rules is called {family!r}", hint=hint)
    counted = load_proven()
    chosen = [
        rule for rule in rules if family in (None, rule.family) and subject in (None, rule.subject)
    ]
    rows = [(rule, _row(rule, counted.get(rule.id), words)) for rule in chosen]
    return _LIST, [row for _, row in rows if proven is None or (row[5] == PROVEN) is proven]


def _row(rule: Rule, counted: Evidence | None, words: VendorWords) -> tuple[object, ...]:
    evidence = counted if is_shipped(rule) else None
    is_proof = evidence is not None and evidence.is_proof
    return (
        rule.id,
        rule.severity.value,
        rule.subject,
        rule.mechanism,
        _sources(rule),
        PROVEN if is_proof else UNPROVEN if is_shipped(rule) else "yours",
        None if evidence is None else evidence.fired,
        None if evidence is None else evidence.silent,
        words.fill(rule.title),
    )


def _sources(rule: Rule) -> str:
    """Return what the rule's thresholds rest on, in a word."""
    kinds = {threshold.is_uncalibrated for threshold in rule.thresholds.values()}
    if not kinds:
        return "none"
    return "mixed" if len(kinds) > 1 else "uncalibrated" if True in kinds else "sourced"


def show_rule(name: str, configuration: Configuration = DEFAULTS) -> str:
    """Return a rule as a page: symptom, cause, advice, verification and sources.

    Raises:
        UsageError: there is no such rule; names the nearest.
    """
    knowledge = load_knowledge(configuration)
    rule = find_rule(knowledge.rules, name)
    words = knowledge.settings.vendors.default
    parts = [
        f"{rule.id}: {words.fill(rule.title)}",
        f"{rule.severity.value}, about a {rule.subject}, mechanism {rule.mechanism}",
        _proof(rule),
        section("When", [rule.when.text]),
        section("Unless", [f"{g.when.text}: {words.quote(g.because)}" for g in rule.unless]),
        section("Thresholds", [_threshold(rule, name, configuration) for name in rule.thresholds]),
        section("Shown in instructions by", [rule.instructions] if rule.instructions else []),
        section("Why", [words.fill(rule.why)]),
        section("What to do", [words.quote(step) for step in rule.recommendation]),
        section("Verify", list(general_lines(rule.verify, words.name))),
        section("Caveats", [words.fill(caveat) for caveat in rule.caveats]),
        section("Sources", rule.references),
    ]
    return "\n".join(part for part in parts if part)


def _proof(rule: Rule) -> str:
    if not is_shipped(rule):
        return ""
    counted = load_proven().get(rule.id)
    if counted is None:
        return "unproven: it was not run over real profiles yet"
    word = PROVEN if counted.is_proof else UNPROVEN
    subjects = f"real {rule.subject}s"
    pages = f"; right on {counted.elsewhere:,} judged public pages" if counted.elsewhere else ""
    return f"{word}: fired on {counted.fired:,} {subjects}, silent on {counted.silent:,}{pages}"


def _threshold(rule: Rule, name: str, configuration: Configuration) -> str:
    threshold = rule.thresholds[name]
    unit = "" if threshold.unit == "1" else f" {threshold.unit}"
    shown = f"{name} = {threshold.shown:g}{unit}"
    if name in configuration.thresholds.get(rule.id, {}):
        return f"{shown} (set in {threshold.origin}; the rule's own rests on: {threshold.source})"
    if not Path(threshold.origin).is_relative_to(data_dir("rules")):
        return f"{shown} ({threshold.source}; in {threshold.origin})"
    return f"{shown} ({threshold.source})"


def section(heading: str, lines: Sequence[str]) -> str:
    """Return a heading with a list of lines under it, wrapped; nothing without lines."""
    if not lines:
        return ""
    wrapped = [
        textwrap.fill(
            " ".join(line.split()),
            _WIDTH,
            initial_indent="  - ",
            subsequent_indent="    ",
            break_on_hyphens=False,
            break_long_words=False,
        )
        for line in lines
    ]
    return "\n".join(["", heading, *wrapped])
