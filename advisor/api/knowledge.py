"""The rules: to load with all they rest on, to list, to read, to test."""

from __future__ import annotations

from advisor.facts import load_vocabulary
from advisor.ingest import Knowledge
from advisor.rules.load import load_rules
from advisor.rules.settings import load_settings


def load_knowledge() -> Knowledge:
    """Return vocabulary, rules and settings.

    Raises:
        RuleError: a file is wrong; with its place.
    """
    vocabulary = load_vocabulary()
    settings = load_settings(vocabulary.symbols)
    rules = load_rules(vocabulary, settings=settings)
    return Knowledge(vocabulary=vocabulary, rules=rules, settings=settings)
