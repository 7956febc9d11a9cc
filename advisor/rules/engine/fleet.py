"""Judge runs of a lake: what rules say goes into tables of the connection, not into the lake.

Where the facts of kernels come from is an engine: DuckDB on this machine, or another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from advisor.database import judged as door
from advisor.database.outcomes import affected_series
from advisor.database.parts import keep_rows
from advisor.database.relations import STORED, Relations
from advisor.facts import current
from advisor.rules.engine.compiled import FACTS_TABLE, Compiled
from advisor.rules.engine.evaluate import evaluate_facts, run_words
from advisor.rules.engine.findings import store_evaluations
from advisor.rules.engine.outcomes import renew_outcomes

if TYPE_CHECKING:
    import duckdb

    from advisor.rules.language.settings import EvaluationSettings
    from advisor.tracking.settings import OutcomeSettings

    Compute = Callable[[duckdb.DuckDBPyConnection, Compiled, Sequence[str], Relations], str | None]


def compute_here(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    run_ids: Sequence[str],
    relations: Relations,
) -> None:
    """Make the table ``FACTS_TABLE`` by DuckDB on this machine."""
    of_them = door.variants_of(connection, relations, run_ids)
    keep_rows(connection, FACTS_TABLE, compiled.kernels_from(of_them), run_ids)


def judge_runs(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    run_ids: Sequence[str],
    settings: EvaluationSettings,
    compute: Compute,
) -> None:
    """Add facts and findings of runs to the tables that ``door.make_tables`` made.

    ``compute`` makes the table ``FACTS_TABLE`` and returns that of outcomes, if it decided them.
    """
    relations = current(connection, compiled.vocabulary, run_ids, STORED)
    decided = compute(connection, compiled, run_ids, relations)
    words = run_words(connection, run_ids, settings)
    found = evaluate_facts(connection, compiled, run_ids, relations, words=words, decided=decided)
    door.keep_facts(connection, FACTS_TABLE)
    for run_id, evaluations in found.items():
        store_evaluations(connection, run_id, evaluations)


def follow_runs(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    run_ids: Sequence[str],
    settings: OutcomeSettings,
) -> Mapping[str, str]:
    """Recompute outcomes of advice from all runs; return the SELECTs of what was judged."""
    door.join_findings(connection)
    series = affected_series(connection, run_ids)
    renew_outcomes(connection, compiled, series, settings)
    return door.JUDGED
