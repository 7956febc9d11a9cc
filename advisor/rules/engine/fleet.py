"""Judge runs of a lake: what rules say goes into tables of the connection, not into the lake.

Where the facts of kernels come from is an engine: DuckDB on this machine, or another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from advisor.database import judged
from advisor.database.facts_table import FactsTable
from advisor.database.outcomes import affected_series
from advisor.database.relations import STORED, Relations
from advisor.database.write import insert_rows
from advisor.facts import current
from advisor.quoting import listed, quoted
from advisor.rules.engine.compiled import FACTS_TABLE, Compiled, facts_of_kernels
from advisor.rules.engine.evaluate import evaluate_facts, run_words
from advisor.rules.engine.findings import rows_of_findings
from advisor.rules.engine.outcomes import renew_outcomes
from advisor.rules.language.subjects import KERNEL

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from advisor.rules.language.settings import EvaluationSettings
    from advisor.tracking.settings import OutcomeSettings

    Compute = Callable[[duckdb.DuckDBPyConnection, Compiled, Sequence[str], Relations], FactsTable]

OUTCOMES_TABLE = "rule_outcomes"
"""The table of what rules about kernels decide, where another engine than DuckDB did."""

_SERIES_AT_ONCE = 256  # whose nights are held in memory


def compute_here(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    run_ids: Sequence[str],
    relations: Relations,
) -> FactsTable:
    """Make the table of facts by DuckDB on this machine."""
    of_them = judged.variants_of(connection, relations, run_ids)
    return facts_of_kernels(connection, compiled, run_ids, of_them, in_database=True)


def take_computed(
    computed: tuple[Path, Path],
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    run_ids: Sequence[str],
    _: Relations,
) -> FactsTable:
    """Make the table of facts of files that another engine wrote, which decided the outcomes."""
    facts, outcomes = computed
    key = compiled.parts[KERNEL].kind.key
    runs = f"WHERE run_id IN ({listed(run_ids)})"
    judged.take_over(connection, facts, FACTS_TABLE, "run_id, variant_id", runs)
    of_them = f"SEMI JOIN {FACTS_TABLE} USING ({quoted(key)})"
    judged.take_over(connection, outcomes, OUTCOMES_TABLE, key, of_them)
    return FactsTable(engine=connection, name=FACTS_TABLE, decided=OUTCOMES_TABLE)


def judge_runs(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    run_ids: Sequence[str],
    settings: EvaluationSettings,
    compute: Compute,
) -> None:
    """Add facts and findings of runs to the tables that ``judged.make_tables`` made.

    ``compute`` makes the table of facts, in the connection.
    """
    relations = current(connection, compiled.vocabulary, run_ids, STORED)
    table = compute(connection, compiled, run_ids, relations)
    words = run_words(connection, run_ids, settings)
    found = evaluate_facts(connection, compiled, table, run_ids, relations, words=words)
    judged.keep_facts(connection, table.name)
    rows = [row for evaluations in found.values() for row in rows_of_findings(evaluations)]
    insert_rows(connection, "finding", rows)


def follow_runs(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    run_ids: Sequence[str],
    settings: OutcomeSettings,
) -> Mapping[str, str]:
    """Recompute outcomes of advice from all runs; return the SELECTs of what was judged."""
    series = affected_series(connection, run_ids)
    for first in range(0, len(series), _SERIES_AT_ONCE):
        some = series[first : first + _SERIES_AT_ONCE]
        renew_outcomes(connection, compiled, some, settings)
    return judged.JUDGED
