"""The rules, with all they rest on: loaded once, and remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from advisor.cache import remembered
from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import UsageError
from advisor.facts import Vocabulary
from advisor.knowledge.knowledge import Knowledge
from advisor.knowledge.parts import knowledge_files, nearest
from advisor.rules.language.rule import Rule


def load_knowledge(configuration: Configuration = DEFAULTS) -> Knowledge:
    """Return vocabulary, rules and settings: the shipped ones, changed as configured.

    Raises:
        RuleError: a file is wrong; with its place.
        ConfigError: a directory holds nothing of the kind, or the configuration speaks of a rule,
            threshold, fact, operation or size that does not exist; with the place where it does.
    """
    if configuration.rules:
        from advisor.knowledge.compile import check_packs

        check_packs(configuration)
    files = knowledge_files(configuration.rule_dirs)
    asked = repr(_of_rules(configuration))
    knowledge = remembered("knowledge", files, asked, lambda: _loaded(configuration))
    _check(configuration, knowledge.vocabulary, knowledge.rules)
    return knowledge


def load_facts(configuration: Configuration = DEFAULTS) -> Vocabulary:
    """Return the vocabulary, with the facts of configured directories and what kernels need.

    Raises:
        RuleError: a file is wrong; with its place.
        ConfigError: the configuration speaks of a fact, operation or size that does not exist.
    """
    packs = configuration.rule_dirs
    asked = repr(([str(pack) for pack in packs], configuration.operations))
    files = knowledge_files(packs)
    vocabulary = remembered("facts", files, asked, lambda: _loaded_facts(configuration))
    _check(configuration, vocabulary)
    return vocabulary


def _of_rules(configuration: Configuration) -> Configuration:
    """Return what the rules are changed by, and nothing else, such as the database."""
    return replace(
        DEFAULTS,
        rules=configuration.rules,
        thresholds=configuration.thresholds,
        disable=configuration.disable,
        severity=configuration.severity,
        operations=configuration.operations,
    )


def _check(
    configuration: Configuration, vocabulary: Vocabulary, rules: Sequence[Rule] | None = None
) -> None:
    """Check that the facts, devices and rules that a configuration names exist, if loaded.

    Raises:
        ConfigError: names the nearest.
    """
    if not (configuration.suppress or configuration.budgets or configuration.devices):
        return
    from advisor.knowledge import configured

    configured.check_device_folder(configuration)
    configured.check_budgets(configuration, vocabulary)
    if rules is not None:
        configured.check_suppressed(configuration, rules)


def _loaded(configuration: Configuration) -> Knowledge:
    from advisor.knowledge.compile import loaded  # and every parser with it

    return loaded(configuration)


def _loaded_facts(configuration: Configuration) -> Vocabulary:
    from advisor.knowledge.compile import load_bound_vocabulary

    return load_bound_vocabulary(configuration)


def find_rule(rules: Sequence[Rule], name: str) -> Rule:
    """Return the rule with an id.

    Raises:
        UsageError: there is no such rule; names the nearest.
    """
    by_id = {rule.id: rule for rule in rules}
    if name in by_id:
        return by_id[name]
    raise UsageError(f"no rule is called {name!r}", hint=nearest(by_id, name))
