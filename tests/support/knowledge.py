"""The shipped knowledge, loaded once in a process: what tests read and do not change."""

from __future__ import annotations

from functools import cache

from advisor.rules import EvaluationSettings, Rule, load_rules, load_settings
from advisor.rules.engine.compiled import Compiled, compile_rules
from tests.support.facts import vocabulary_once


@cache
def settings_once() -> EvaluationSettings:
    """Return what holds for all rules."""
    return load_settings(vocabulary_once().symbols)


@cache
def rules_once() -> tuple[Rule, ...]:
    """Return every shipped rule."""
    return load_rules(vocabulary_once(), settings=settings_once())


@cache
def compiled_once() -> Compiled:
    """Return the shipped rules, compiled."""
    return compile_rules(rules_once(), vocabulary=vocabulary_once(), settings=settings_once())
