"""Rules, facts and operations from their files, changed as configured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from advisor.configuration import Configuration
from advisor.errors import ConfigError, Location
from advisor.facts import Vocabulary, load_vocabulary
from advisor.facts.bindings import bind
from advisor.facts.operations import load_operations, operation_paths
from advisor.knowledge.knowledge import Knowledge
from advisor.knowledge.parts import load_mapping, load_seed, require_rule
from advisor.rules.engine.reach import load_reaches
from advisor.rules.language.load import load_rules, rule_paths
from advisor.rules.language.rule import Rule, Severity
from advisor.rules.language.settings import load_settings
from advisor.rules.language.thresholds import Override
from advisor.tracking.settings import load_outcome_settings


def loaded(configuration: Configuration) -> Knowledge:
    """Return vocabulary, rules and settings: the shipped ones, changed as configured.

    Raises:
        RuleError: a file is wrong; with its place.
        ConfigError: the configuration speaks of a rule, threshold, operation or size that does not
            exist.
    """
    packs = configuration.rule_dirs
    vocabulary = load_bound_vocabulary(configuration)
    settings = load_settings(vocabulary.symbols, packs=packs)
    rules = load_rules(vocabulary, packs, overrides=_overrides(configuration), settings=settings)
    rules = _configured(rules, configuration)
    knowledge = Knowledge(
        vocabulary=vocabulary,
        rules=rules,
        settings=settings,
        load_mapping=load_mapping,
        load_seed=load_seed,
        load_outcomes=load_outcome_settings,
        reaches=load_reaches(vocabulary, settings.run, rules, load_mapping=load_mapping),
    )
    _ = knowledge.compiled, knowledge.variants  # and remembered with the rest
    return knowledge


def load_bound_vocabulary(configuration: Configuration) -> Vocabulary:
    """Return the vocabulary, with what the configuration says about the operations of kernels.

    Raises:
        RuleError: a file is wrong; with its place.
        ConfigError: the configuration speaks of an operation or size that does not exist.
    """
    packs = configuration.rule_dirs
    bound = bind(configuration.operations, load_operations(packs))
    return load_vocabulary(packs, bound=bound)


def check_packs(configuration: Configuration) -> None:
    """Refuse directories of rules that are not there, or hold none.

    Raises:
        ConfigError: names the directory, or what asked for it.
    """
    for setting in configuration.rules:
        pack = setting.value
        if not pack.is_dir():
            raise ConfigError("there is no such directory", at=Location(name=str(pack)))
        if has_rules(pack):
            continue
        problem = f"{str(pack)!r} holds neither rules nor facts nor operations"
        hint = (
            "rules are FAMILY/SLUG.yaml in it, facts facts/NAME.yaml, operations operations/ID.yaml"
        )
        raise ConfigError(problem, at=Location(name=setting.origin), hint=hint)


def has_rules(directory: Path) -> bool:
    """Return whether a directory is laid out as a pack: with rules, facts or operations."""
    facts = (directory / "facts").glob("*.yaml")
    return any(rule_paths(directory)) or any(facts) or bool(operation_paths(directory))


def _overrides(configuration: Configuration) -> dict[str, dict[str, Override]]:
    return {
        rule: {
            name: Override(value=setting.value, unit=setting.unit, origin=str(setting.at))
            for name, setting in thresholds.items()
        }
        for rule, thresholds in configuration.thresholds.items()
    }


def _configured(rules: Sequence[Rule], configuration: Configuration) -> tuple[Rule, ...]:
    """Return the rules that are not disabled, with the severities of the configuration."""
    known = [rule.id for rule in rules]
    places: Mapping[str, Location] = {
        **{rule: Location(name=setting.origin) for rule, setting in configuration.severity.items()},
        **configuration.disable,
    }
    for rule_id, at in places.items():
        require_rule(known, rule_id, at)
    severity = {rule: Severity(setting.value) for rule, setting in configuration.severity.items()}
    return tuple(
        replace(rule, severity=severity.get(rule.id, rule.severity))
        for rule in rules
        if rule.id not in configuration.disable
    )
