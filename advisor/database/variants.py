"""The rows of the table ``variant``: made of launches when a run is stored, renewed by refresh.

Launches may be removed afterwards; what was stored of their variants stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from advisor.database.relations import Relations
from advisor.quoting import literal, quoted

INCOMING = "incoming_variant"
"""The table in which variants are complete but for the facts that are tracked."""

_OUTDATED = """
    SELECT DISTINCT run_id FROM {variant}
    WHERE ({condition}) AND run_id IN (SELECT run_id FROM {launch}) {which}
    ORDER BY run_id
"""
_LAUNCHES_LEFT = """
    SELECT run_id FROM (
        SELECT run_id, count(*) AS launches FROM launch WHERE {which} GROUP BY run_id
    ) LEFT JOIN (
        SELECT run_id, sum(launch_count) AS stored FROM variant WHERE {which} GROUP BY run_id
    ) USING (run_id) WHERE stored IS NULL OR launches >= stored
"""


@dataclass(frozen=True, kw_only=True)
class VariantStatements:
    """The SELECTs that make rows of ``variant``.

    ``totals`` aggregates launches. ``tracked`` has run, variant and the columns ``names``: facts
    over the table ``INCOMING``, which holds the totals of the runs to be stored.
    """

    totals: str
    tracked: str
    names: tuple[str, ...]


def store_variants(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str], statements: VariantStatements
) -> None:
    """Store the variants of runs in place of those they had.

    Of a run that has lost launches since, the totals stay, and the facts are renewed.
    """
    which = _of_runs(run_ids)
    left = connection.execute(_LAUNCHES_LEFT.format(which=which)).fetchall()
    whole = [run for (run,) in left]
    names = ", ".join(map(quoted, statements.names))
    made = f"CREATE OR REPLACE TEMP TABLE {INCOMING} AS SELECT * FROM"
    connection.execute(f"{made} ({statements.totals}) WHERE {_of_runs(whole)}")
    if pruned := [run for run in run_ids if run not in whole]:
        kept = f"SELECT * EXCLUDE ({names}) FROM variant WHERE {_of_runs(pruned)}"
        connection.execute(f"INSERT INTO {INCOMING} BY NAME {kept}")
    connection.execute(f"DELETE FROM variant WHERE {which}")
    connection.execute(
        f"INSERT INTO variant BY NAME SELECT {INCOMING}.*, {names} FROM {INCOMING}"
        f" JOIN ({statements.tracked}) AS tracked USING (run_id, variant_id)"
    )
    connection.execute(f"DROP TABLE {INCOMING}")


def _of_runs(run_ids: Sequence[str]) -> str:
    """Return a condition that the engine can decide for many rows at once."""
    return f"run_id IN ({', '.join(map(literal, run_ids))})" if run_ids else "false"


def outdated_runs(
    connection: duckdb.DuckDBPyConnection,
    relations: Relations,
    run_ids: Sequence[str] | None,
    *,
    totals_hash: str | None,
    sums: Sequence[str],
) -> tuple[str, ...]:
    """Return the runs with launches whose variants have other totals, or lack one of the sums.

    Without a hash, all runs that have launches.
    """
    which = "" if run_ids is None else f"AND {_of_runs(run_ids)}"
    condition = (
        "true"
        if totals_hash is None
        else (
            "totals_hash IS DISTINCT FROM $hash OR paired_sums IS NOT NULL"
            " AND NOT list_has_all(map_keys(paired_sums), string_split($sums, ';'))"
        )
    )
    query = _OUTDATED.format(
        variant=relations.item("variant"),
        launch=relations.item("launch"),
        condition=condition,
        which=which,
    )
    parameters = {"hash": totals_hash, "sums": ";".join(sums)} if totals_hash else {}
    return tuple(run for (run,) in connection.execute(query, parameters).fetchall())
