"""Runs that are ingested again in other tests are judged once in a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import duckdb

from advisor.database.facts_table import FactsTable
from advisor.database.write import tables_of_runs
from advisor.rules import Evaluation
from advisor.rules.engine.compiled import Compiled
from advisor.rules.language.words import VendorWords

Judged = dict[str, list[Evaluation]]
Words = Mapping[str, VendorWords]

_FEW = 20  # runs, of which what is said is held in memory
_OF_DEVICES = ("device", "ceiling", "occupancy_limit")
_LABELS = "ingested_at, name, label, configuration, branch, commit, note, tags"
"""Columns of ``run`` that no fact follows from."""


def judged_once(evaluate: Callable[..., Judged]) -> Callable[..., Judged]:
    """Return ``evaluate_runs`` that judges runs once by the same rules, if nothing of them differs.

    All their rows are compared, and all of devices.
    """
    found: dict[tuple[int, object], list[Evaluation]] = {}
    known: dict[int, Compiled] = {}  # held, so that no other has its id

    def evaluate_once(
        connection: duckdb.DuckDBPyConnection,
        compiled: Compiled,
        run_ids: Sequence[str],
        *,
        words: Words,
        table: FactsTable | None = None,
    ) -> Judged:
        if len(run_ids) > _FEW:
            return evaluate(connection, compiled, run_ids, words=words, table=table)
        keys = {run: (id(compiled), rows) for run, rows in _rows(connection, run_ids).items()}
        if new := [run for run in run_ids if keys[run] not in found]:
            known[id(compiled)] = compiled
            of_them = table if len(new) == len(run_ids) else None
            judged = evaluate(connection, compiled, new, words=words, table=of_them)
            found.update((keys[run], evaluations) for run, evaluations in judged.items())
        return {run: found[keys[run]] for run in run_ids}

    return evaluate_once


def _rows(connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> dict[str, object]:
    """Return what tells the rows of runs from others, by run."""
    tables = [table for table in tables_of_runs(connection) if table != "run"]
    parts = [(table, f"SELECT * FROM {table}") for table in tables]
    parts.append(("run", f"SELECT * EXCLUDE ({_LABELS}) FROM run"))
    named = "SELECT DISTINCT run_id, kernel.* FROM variant JOIN kernel USING (kernel_id)"
    parts.append(("kernel", named))
    sums = [
        f"SELECT run_id, '{name}', sum(hash(rows)) FROM ({rows}) AS rows"
        " WHERE list_contains($runs, run_id) GROUP BY run_id"
        for name, rows in parts
    ]
    sums += [f"SELECT NULL, '{name}', sum(hash({name})) FROM {name}" for name in _OF_DEVICES]
    rows = connection.execute(" UNION ALL ".join(sums), {"runs": list(run_ids)}).fetchall()
    return {
        run: frozenset(row for row in rows if row[0] is None or row[0] == run) for run in run_ids
    }
