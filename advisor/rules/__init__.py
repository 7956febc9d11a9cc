"""Advice as data: rule files become records, records become one SELECT over all kernels."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from advisor.rules.collect import Collection, collect, named_launches
from advisor.rules.evaluate import Evaluation, compile_rules, evaluate_runs
from advisor.rules.gains import Seconds
from advisor.rules.rank import Action, rank
from advisor.rules.rule import Outcome, Rule, Severity, Subject, rules_hash
from advisor.rules.settings import Settings, load_settings

if TYPE_CHECKING:
    from advisor.rules.examples import ExampleResult, run_examples
    from advisor.rules.load import load_rules
    from advisor.rules.store import store_evaluations

# Remembered rules need none of these, nor the libraries that come with them.
_LATE = {
    "ExampleResult": "examples",
    "load_rules": "load",
    "run_examples": "examples",
    "store_evaluations": "store",
}

__all__ = [
    "Action",
    "Collection",
    "Evaluation",
    "ExampleResult",
    "Outcome",
    "Rule",
    "Seconds",
    "Settings",
    "Severity",
    "Subject",
    "collect",
    "compile_rules",
    "evaluate_runs",
    "load_rules",
    "load_settings",
    "named_launches",
    "rank",
    "rules_hash",
    "run_examples",
    "store_evaluations",
]


def __getattr__(name: str) -> object:
    """Import what only few need when it is first asked for."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
