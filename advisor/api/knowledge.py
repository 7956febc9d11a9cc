"""The rules: to load with all they rest on, to list, to read, to test."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from advisor.api.remembered import remembered
from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import ConfigError, Location, UsageError
from advisor.facts import Vocabulary, load_vocabulary
from advisor.ingest.knowledge import Knowledge
from advisor.resources import data_dir
from advisor.rules import Rule, Settings, Severity, load_rules, load_settings
from advisor.rules.load import is_shipped, rule_paths
from advisor.rules.proven import Evidence, load_proven
from advisor.rules.thresholds import Override

Rows = list[tuple[object, ...]]

_LIST = (
    "rule", "severity", "subject", "mechanism", "thresholds", "proven", "fired", "silent", "title",
)  # fmt: skip
_WIDTH = 92
_CODE = Path(__file__).parent.parent
PROVEN, UNPROVEN = "proven", "unproven"


def load_knowledge(configuration: Configuration = DEFAULTS) -> Knowledge:
    """Return vocabulary, rules and settings: the shipped ones, changed as configured.

    Raises:
        RuleError: a file is wrong; with its place.
        ConfigError: a directory holds neither rules nor facts, or the configuration speaks of a
            rule or threshold that does not exist; with the place where it does.
    """
    _check_packs(configuration)
    vocabulary, rules, settings = remembered(
        "knowledge",
        _files(configuration.rule_dirs),
        repr(configuration),
        lambda: _loaded(configuration),
    )
    return Knowledge(vocabulary=vocabulary, rules=rules, settings=settings)


def _loaded(configuration: Configuration) -> tuple[Vocabulary, tuple[Rule, ...], Settings]:
    packs = configuration.rule_dirs
    vocabulary = load_vocabulary(packs)
    settings = load_settings(vocabulary.symbols)
    rules = load_rules(vocabulary, packs, overrides=_overrides(configuration), settings=settings)
    return vocabulary, _configured(rules, configuration), settings


def _files(packs: Iterable[Path]) -> list[Path]:
    """Return every file that the knowledge rests on: rules, facts, and the code that reads them."""
    data = [path for folder in (data_dir("rules"), *packs) for path in folder.rglob("*.yaml")]
    return [path for path in (*data, *_CODE.rglob("*.py")) if path.is_file()]


def _check_packs(configuration: Configuration) -> None:
    for setting in configuration.rules:
        pack = setting.value
        if not pack.is_dir():
            raise ConfigError("there is no such directory", at=Location(name=str(pack)))
        if any(rule_paths(pack)) or any((pack / "facts").glob("*.yaml")):
            continue
        problem = f"{str(pack)!r} holds neither rules nor facts"
        hint = "rules are FAMILY/SLUG.yaml in it, facts are facts/NAME.yaml"
        raise ConfigError(problem, at=Location(name=setting.origin), hint=hint)


def _overrides(configuration: Configuration) -> dict[str, dict[str, Override]]:
    return {
        rule: {
            name: Override(value=said.value, unit=said.unit, origin=str(said.at))
            for name, said in thresholds.items()
        }
        for rule, thresholds in configuration.thresholds.items()
    }


def _configured(rules: Sequence[Rule], configuration: Configuration) -> tuple[Rule, ...]:
    """Return the rules that are not disabled, with the severities of the configuration."""
    known = [rule.id for rule in rules]
    places: Mapping[str, Location] = {
        **{rule: Location(name=said.origin) for rule, said in configuration.severity.items()},
        **configuration.disable,
        **{each.rule: each.at for each in configuration.suppress if "*" not in each.rule},
    }
    for rule_id, at in places.items():
        if rule_id not in known:
            hint = _nearest(known, rule_id)
            raise ConfigError(f"there is no rule {rule_id!r}", at=at, hint=hint)
    severity = {rule: Severity(said.value) for rule, said in configuration.severity.items()}
    return tuple(
        replace(rule, severity=severity.get(rule.id, rule.severity))
        for rule in rules
        if rule.id not in configuration.disable
    )


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
    rules = load_knowledge(configuration).rules
    families = sorted({rule.family for rule in rules})
    if family is not None and family not in families:
        near = difflib.get_close_matches(family, families, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"one of {', '.join(families)}"
        raise UsageError(f"no family of rules is called {family!r}", hint=hint)
    counted = load_proven()
    chosen = [
        rule
        for rule in rules
        if family in (None, rule.family) and subject in (None, rule.subject.value)
    ]
    rows = [(rule, _row(rule, counted.get(rule.id))) for rule in chosen]
    return _LIST, [row for _, row in rows if proven is None or (row[5] == PROVEN) is proven]


def _row(rule: Rule, counted: Evidence | None) -> tuple[object, ...]:
    evidence = counted if is_shipped(rule) else None
    is_proof = evidence is not None and evidence.is_proof
    return (
        rule.id,
        rule.severity.value,
        rule.subject.value,
        rule.mechanism,
        _sources(rule),
        PROVEN if is_proof else UNPROVEN if is_shipped(rule) else "yours",
        None if evidence is None else evidence.fired,
        None if evidence is None else evidence.silent,
        rule.title,
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
    rule = find_rule(load_knowledge(configuration).rules, name)
    parts = [
        f"{rule.id}: {rule.title}",
        f"{rule.severity.value}, about a {rule.subject.value}, mechanism {rule.mechanism}",
        _proof(rule),
        _section("When", [rule.when.text]),
        _section("Unless", [f"{g.when.text}: {g.because.text}" for g in rule.unless]),
        _section("Thresholds", [_threshold(rule, name, configuration) for name in rule.thresholds]),
        _section("Shown in instructions by", [rule.instructions] if rule.instructions else []),
        _section("Why", [rule.why]),
        _section("What to do", [step.text for step in rule.recommendation]),
        _section("Verify", [*rule.verify.expect, *(f"but {g}" for g in rule.verify.guard)]),
        _section("Mind", rule.caveats),
        _section("Sources", rule.references),
    ]
    return "\n".join(part for part in parts if part)


def _proof(rule: Rule) -> str:
    if not is_shipped(rule):
        return ""
    counted = load_proven().get(rule.id)
    if counted is None:
        return "unproven: it was not run over real profiles yet"
    word = PROVEN if counted.is_proof else UNPROVEN
    subjects = f"real {rule.subject.value}s"
    return f"{word}: fired on {counted.fired:,} {subjects}, silent on {counted.silent:,}"


def find_rule(rules: Sequence[Rule], name: str) -> Rule:
    """Return the rule with an id.

    Raises:
        UsageError: there is no such rule; names the nearest.
    """
    by_id = {rule.id: rule for rule in rules}
    if name in by_id:
        return by_id[name]
    raise UsageError(f"no rule is called {name!r}", hint=_nearest(by_id, name))


def _nearest(known: Iterable[str], name: str) -> str:
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.4)
    return f"did you mean {' or '.join(near)}?" if near else "advisor rules list names them"


def _threshold(rule: Rule, name: str, configuration: Configuration) -> str:
    threshold = rule.thresholds[name]
    unit = "" if threshold.unit == "1" else f" {threshold.unit}"
    said = f"{name} = {threshold.shown:g}{unit}"
    if name in configuration.thresholds.get(rule.id, {}):
        return f"{said} (set in {threshold.origin}; the rule's own rests on: {threshold.source})"
    if not Path(threshold.origin).is_relative_to(data_dir("rules")):
        return f"{said} ({threshold.source}; in {threshold.origin})"
    return f"{said} ({threshold.source})"


def _section(heading: str, lines: Sequence[str]) -> str:
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
