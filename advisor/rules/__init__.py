"""Advice as data: rule files become records, records become one SELECT over all kernels."""

from advisor.rules.collect import Collection, collect, named_launches
from advisor.rules.evaluate import Evaluation, evaluate
from advisor.rules.examples import ExampleResult, run_examples
from advisor.rules.gains import Seconds
from advisor.rules.load import load_rules
from advisor.rules.rank import Action, rank
from advisor.rules.rule import Outcome, Rule, Severity, Subject
from advisor.rules.settings import Settings, load_settings
from advisor.rules.store import rules_hash, store_evaluations

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
    "evaluate",
    "load_rules",
    "load_settings",
    "named_launches",
    "rank",
    "rules_hash",
    "run_examples",
    "store_evaluations",
]
