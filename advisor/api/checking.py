"""The gate of continuous integration: one run against a baseline and against budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor.cache import collector_off
from advisor.configuration import DEFAULTS, Configuration, in_force
from advisor.database.connect import open_for_reading
from advisor.database.parts import variants_of
from advisor.database.planning import plan_for
from advisor.database.read import find_run, other_run
from advisor.errors import UsageError
from advisor.knowledge.load import load_knowledge
from advisor.rules.engine.findings import kernel_names

if TYPE_CHECKING:
    import duckdb

    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.gate import Gate, Looked
    from advisor.rules.language.rule import Severity


def check(
    database: str,
    run: str,
    *,
    baseline: str | None,
    fail_on: Sequence[str],
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> Gate:
    """Return what trips: ``regression``, ``budget``, ``new-finding:SEVERITY`` as asked for.

    Raises:
        UsageError: there is no such run, a word of ``fail_on`` is unknown, or lacks a baseline.
        ConfigError: a budget is wrong, or there is none.
        DatabaseError: the database cannot be opened.
    """
    from advisor.reports.record.comparison import compare_runs
    from advisor.reports.record.gate import (
        BUDGET,
        REGRESSION,
        budgets,
        make_gate,
        new_findings,
        regressions,
    )
    from advisor.rules.engine.evaluate import run_words

    severity = _severity(fail_on)
    knowledge = load_knowledge(configuration)
    if baseline is None and (REGRESSION in fail_on or severity is not None):
        raise UsageError("regressions and new findings need a baseline", hint="add --baseline RUN")
    if BUDGET in fail_on and not configuration.budgets:
        hint = "add `budgets:` to advisor.yaml; docs/configuration.md shows how"
        raise UsageError("there are no budgets", hint=hint)
    comparison = None
    with open_for_reading(database, wait) as connection, collector_off():
        head = find_run(connection, run)
        base = None if baseline is None else other_run(connection, baseline, head)
        plan_for(connection, max(head.launches, 0 if base is None else base.launches))
        looked: list[Looked] = []
        if base is not None and (REGRESSION in fail_on or severity is not None):
            comparison = compare_runs(connection, base, head, knowledge)
            looked += regressions(comparison, database) if REGRESSION in fail_on else ()
            if severity:
                wanted = _as_severe_as(severity, knowledge)
                is_suppressed = _suppressed(connection, head.run_id, configuration)
                looked += new_findings(connection, comparison, wanted, is_suppressed, database)
        if BUDGET in fail_on:
            words = run_words(connection, [head.run_id], knowledge.settings)[head.run_id]
            looked += budgets(
                connection, head, configuration.budgets, knowledge.vocabulary, words, database
            )
    return make_gate(head, base, looked, comparison)


def _as_severe_as(least: Severity, knowledge: Knowledge) -> dict[str, Severity]:
    """Return the severity of each rule that is at least as severe as one."""
    order = list(type(least))
    return {
        rule.id: rule.severity
        for rule in knowledge.rules
        if order.index(rule.severity) <= order.index(least)
    }


def _suppressed(
    connection: duckdb.DuckDBPyConnection, run_id: str, configuration: Configuration
) -> Callable[[str, str], bool]:
    """Return what tells whether the configuration suppresses a rule's finding on a variant."""
    names = kernel_names(variants_of(connection, run_id))
    holding = in_force(configuration.suppress, datetime.now(tz=UTC).date())
    return lambda rule, variant: any(each.covers(rule, names[variant]) for each in holding)


def _severity(fail_on: Sequence[str]) -> Severity | None:
    from advisor.reports.record.gate import BUDGET, NEW_FINDING, REGRESSION
    from advisor.rules.language.rule import Severity as Severities

    found = None
    for word in fail_on:
        if word in (REGRESSION, BUDGET):
            continue
        name, _, level = word.partition(":")
        levels = {each.value: each for each in Severities}
        if name != NEW_FINDING or level not in levels:
            known = [REGRESSION, BUDGET, *(f"{NEW_FINDING}:{each}" for each in levels)]
            raise UsageError(f"{word!r} is nothing to fail on", hint=f"known: {', '.join(known)}")
        found = levels[level]
    return found
