"""The rules, with all they rest on: loaded once, and remembered."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.api.remembered import code_files, remembered
from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import UsageError
from advisor.facts import Vocabulary
from advisor.ingest.knowledge import Knowledge
from advisor.resources import rule_dirs
from advisor.rules.rule import Rule

if TYPE_CHECKING:
    from advisor.facts.mapping import Mapping
    from advisor.hardware import DeviceSpec


def load_knowledge(configuration: Configuration = DEFAULTS) -> Knowledge:
    """Return vocabulary, rules and settings: the shipped ones, changed as configured.

    Raises:
        RuleError: a file is wrong; with its place.
        ConfigError: a directory holds nothing of the kind, or the configuration speaks of a rule,
            threshold, operation or size that does not exist; with the place where it does.
    """
    if configuration.rules:
        from advisor.api.loading import check_packs

        check_packs(configuration)
    files = _files(configuration.rule_dirs)
    return remembered("knowledge", files, repr(configuration), lambda: _loaded(configuration))


def load_facts(configuration: Configuration = DEFAULTS) -> Vocabulary:
    """Return the vocabulary, with the facts of configured directories and what kernels need.

    Raises:
        RuleError: a file is wrong; with its place.
        ConfigError: the configuration speaks of an operation or size that does not exist.
    """
    packs = configuration.rule_dirs
    asked = repr(([str(pack) for pack in packs], configuration.operations))
    return remembered("facts", _files(packs), asked, lambda: _loaded_facts(configuration))


def load_mapping(profiler: str) -> Mapping:
    """Return how the counters of a profiler become quantities, with the SQL of every formula.

    Raises:
        RuleError: a file of ``rules/counters`` is wrong; with its place.
    """
    from advisor.facts import mapping

    files = _files(())
    return remembered(f"counters-{profiler}", files, "", lambda: mapping.load_mapping(profiler))


def load_devices() -> tuple[DeviceSpec, ...]:
    """Return the devices of the seed data."""
    from advisor.hardware import devices

    files = (*devices.seed_files(), *code_files())
    return remembered("devices", files, "", devices.load_devices)


def _loaded(configuration: Configuration) -> Knowledge:
    from advisor.api.loading import loaded  # and every parser with it

    return loaded(configuration)


def _loaded_facts(configuration: Configuration) -> Vocabulary:
    from advisor.api.loading import load_bound_vocabulary

    return load_bound_vocabulary(configuration)


def _files(packs: Iterable[Path]) -> list[Path]:
    """Return every file that the knowledge rests on: rules, facts, and the code that reads them."""
    data = [path for folder in (*rule_dirs(), *packs) for path in folder.rglob("*.yaml")]
    return [path for path in (*data, *code_files()) if path.is_file()]


def find_rule(rules: Sequence[Rule], name: str) -> Rule:
    """Return the rule with an id.

    Raises:
        UsageError: there is no such rule; names the nearest.
    """
    by_id = {rule.id: rule for rule in rules}
    if name in by_id:
        return by_id[name]
    raise UsageError(f"no rule is called {name!r}", hint=nearest(by_id, name))


def nearest(known: Iterable[str], name: str) -> str:
    """Return a hint at the ids that are most like a name."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.4)
    return f"did you mean {' or '.join(near)}?" if near else "advisor rules list names them"
