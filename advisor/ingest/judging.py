"""What becomes of a run once its launches are stored: facts of kernels, findings and outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from advisor.database.facts_table import FactsTable
from advisor.database.variants import store_variants
from advisor.knowledge.knowledge import Knowledge
from advisor.rules.engine.compiled import facts_of_incoming
from advisor.rules.engine.evaluate import evaluate_runs, run_words
from advisor.rules.engine.findings import store_evaluations
from advisor.rules.engine.outcomes import renew_outcomes

if TYPE_CHECKING:
    import duckdb


def store_facts(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str], knowledge: Knowledge
) -> FactsTable | None:
    """Store the variants of runs; return the facts of their kernels where they are few."""
    few = partial(facts_of_incoming, connection, knowledge.compiled)
    return store_variants(connection, run_ids, knowledge.variants, few)


def judge(
    connection: duckdb.DuckDBPyConnection,
    run_ids: Sequence[str],
    knowledge: Knowledge,
    table: FactsTable | None,
) -> None:
    """Evaluate every rule over runs; store what fires and what was ruled out.

    ``table`` has the facts of their kernels, where ``store_facts`` returned it.
    """
    words = run_words(connection, run_ids, knowledge.settings)
    found = evaluate_runs(connection, knowledge.compiled, run_ids, words=words, table=table)
    for run_id, evaluations in found.items():
        store_evaluations(connection, run_id, evaluations)


def follow(
    connection: duckdb.DuckDBPyConnection,
    series: Sequence[str],
    knowledge: Knowledge,
    incoming: Sequence[str] = (),
) -> None:
    """Recompute the outcome of the advice for series, from all that is stored of them.

    Or from what was settled before the runs ``incoming``, where nothing else has changed.
    """
    if series:
        renew_outcomes(connection, knowledge.compiled, series, knowledge.outcomes, incoming)
