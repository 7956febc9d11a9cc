"""Advice as data: rule files become records, records become one SELECT over all kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.late import imported_late
from advisor.rules.engine.collect import Collection, collect, named_launches
from advisor.rules.engine.compiled import compile_rules
from advisor.rules.engine.evaluate import evaluate_runs
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.engine.gains import Seconds
from advisor.rules.engine.rank import Action, rank
from advisor.rules.language.rule import Outcome, Rule, Severity, rules_hash
from advisor.rules.language.settings import EvaluationSettings, load_settings

if TYPE_CHECKING:
    from advisor.rules.engine.examples import ExampleResult, run_examples
    from advisor.rules.engine.findings import store_evaluations
    from advisor.rules.language.load import load_rules

__all__ = [
    "Action",
    "Collection",
    "Evaluation",
    "EvaluationSettings",
    "ExampleResult",
    "Outcome",
    "Rule",
    "Seconds",
    "Severity",
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

# Remembered rules need none of these, nor the libraries that come with them.
__getattr__ = imported_late(
    __name__,
    {
        "ExampleResult": "engine.examples",
        "load_rules": "language.load",
        "run_examples": "engine.examples",
        "store_evaluations": "engine.findings",
    },
)
