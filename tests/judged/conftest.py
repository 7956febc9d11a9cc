"""Kernels of the judged reports and of a simulated night, as the tool sees them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.api.querying import run_query
from advisor.database.connect import open_for_reading
from advisor.facts.view import create_views
from advisor.rules import Action, Evaluation, Outcome, rank
from advisor.rules.engine.compiled import compile_rules
from advisor.rules.engine.evaluate import evaluate_runs
from tests.support.advice import Advised
from tests.support.facts import vocabulary_once
from tests.support.knowledge import rules_once, settings_once

JUDGED = Path(__file__).parents[2] / "docs" / "judged"
QUERY = """
    select runs.name as report, launch_index, limiter, limiting_unit, roofline_bound
    from launches join runs using (run_id) join kernels using (run_id, variant_id)
"""
LAUNCHES = "select name, launch_index, variant_id, run_id from launches join runs using (run_id)"
KERNELS = "select short_name, run_id, variant_id from kernels"


def judged(name: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = yaml.safe_load((JUDGED / f"{name}.yaml").read_text("utf-8"))[
        "judged"
    ]
    return entries


@pytest.fixture(scope="session")
def limiters(real_data: Path, real_database: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Return what the tool says limits each launch of the reports in limiter.yaml."""
    folder = real_data / "ncu-rep"
    reports = {str(folder / entry["report"]) for entry in judged("limiter")}
    with run_query(str(real_database), QUERY, wait=0) as answer:
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    return {
        (str(Path(row["report"]).relative_to(folder)), int(row["launch_index"])): row
        for row in rows
        if row["report"] in reports
    }


@cache
def _advised(
    database: str, runs: frozenset[str], *, simulated: bool = False
) -> dict[tuple[str, str], Advised]:
    """Return what the rules say about every kernel of some runs, by run and variant.

    Whether a rule was seen to work on real kernels does not matter for simulated ones.
    """
    vocabulary, settings, rules = vocabulary_once(), settings_once(), rules_once()
    if simulated:
        rules = tuple(replace(rule, is_unproven=False) for rule in rules)
    compiled = compile_rules(rules, vocabulary=vocabulary, settings=settings)
    with open_for_reading(database, wait=0) as connection:
        create_views(connection, vocabulary)
        evaluations = evaluate_runs(connection, compiled, sorted(runs))
    by_kernel: dict[tuple[str, str], list[Evaluation]] = {}
    for run_id, of_run in evaluations.items():
        for each in of_run:
            by_kernel.setdefault((run_id, each.variant_id), []).append(each)
    return {kernel: _of(rank(found)) for kernel, found in by_kernel.items()}


def _of(actions: list[Action]) -> Advised:
    said = [
        each
        for action in actions
        for each in (action.evaluation, *action.also, *action.overtaken)
        if each.outcome is Outcome.FIRES
    ]
    return Advised(
        first=actions[0].evaluation.rule.id if actions else None,
        fired={each.rule.id: each.rule.severity.value for each in said},
    )


@pytest.fixture(scope="session")
def advice(real_data: Path, real_database: Path) -> dict[tuple[str, int], Advised]:
    """Return the advice for each launch of the reports in advice.yaml and stop.yaml."""
    folder = real_data / "ncu-rep"
    entries = [*judged("advice"), *judged("stop")]
    reports = {str(folder / entry["report"]) for entry in entries}
    with run_query(str(real_database), LAUNCHES, wait=0) as answer:
        rows = [row for row in answer.rows if row[0] in reports]
    found = _advised(str(real_database), frozenset(run_id for *_, run_id in rows))
    return {
        (str(Path(name).relative_to(folder)), int(index)): found[run_id, variant_id]
        for name, index, variant_id, run_id in rows
    }


@pytest.fixture(scope="session")
def simulated(one_night: Path) -> dict[str, Advised]:
    """Return the advice for each kernel of the first simulated night."""
    database = str(one_night)
    with run_query(database, KERNELS, wait=0) as answer:
        rows = list(answer.rows)
    runs = frozenset(run_id for _, run_id, _ in rows)
    found = _advised(database, runs, simulated=True)
    return {name: found[run_id, variant_id] for name, run_id, variant_id in rows}
