"""The rows of the table ``variant``: made of launches when a run is stored, renewed by refresh.

Launches may be removed afterwards; what was stored of their variants stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import duckdb

from advisor.database.facts_table import FactsTable
from advisor.database.relations import Relations
from advisor.quoting import literal, quoted
from advisor.records import dataclass

INCOMING = "incoming_variant"
"""The table in which variants are complete but for the facts that are tracked."""

UNEVEN = "is_uneven"
"""The column that is true of variants whose totals the shorter SELECTs do not give."""

_STATE = """
    SELECT run_id, bool_or({outdated}), bool_and(facts_hash IS NOT DISTINCT FROM $facts),
        count(paired_sums) = 0
    FROM {variant} GROUP BY run_id ORDER BY run_id
"""
_OTHER_TOTALS = """
    totals_hash IS DISTINCT FROM $totals OR paired_sums IS NOT NULL
    AND NOT list_has_all(map_keys(paired_sums), string_split($sums, ';'))
"""
_WITH_LAUNCHES = "SELECT DISTINCT run_id FROM {launch} WHERE {which} ORDER BY run_id"
_SINGLE = "SELECT count(*) = count(DISTINCT (run_id, variant_id)) FROM launch WHERE {which}"
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
    over the table ``INCOMING``, which holds the totals of the runs to be stored, by definitions
    that have ``facts_hash``. Most variants are even, and many a single launch; for them shorter
    SELECTs say the same, and have the column ``UNEVEN``.
    """

    single_totals: str
    even_totals: str
    totals: str
    even_tracked: str
    tracked: str
    names: tuple[str, ...]
    facts_hash: str


@dataclass(frozen=True, kw_only=True)
class StoredState:
    """What of stored variants holds.

    Those of the runs ``from_launches`` have other totals. ``tracked`` tells whether all facts that
    are stored have the hash asked for, ``even`` whether no variant has sums of its own.
    """

    from_launches: tuple[str, ...]
    tracked: bool
    even: bool


def store_variants(
    connection: duckdb.DuckDBPyConnection,
    run_ids: Sequence[str],
    statements: VariantStatements,
    facts_of_few: Callable[[], FactsTable | None] = lambda: None,
) -> FactsTable | None:
    """Store the variants of runs in place of those they had.

    Of a run that has lost launches since, the totals stay, and the facts are renewed. Where these
    are even, ``facts_of_few`` may return all facts over ``INCOMING``, which then are returned.
    """
    which = _of_runs(run_ids)
    left = connection.execute(_LAUNCHES_LEFT.format(which=which)).fetchall()
    whole = [run for (run,) in left]
    names = ", ".join(map(quoted, statements.names))
    _total_up(connection, whole, statements)
    if pruned := [run for run in run_ids if run not in whole]:
        renewed = f"run_number, facts_hash, {names}"
        kept = f"SELECT * EXCLUDE ({renewed}) FROM variant WHERE {_of_runs(pruned)}"
        connection.execute(f"INSERT INTO {INCOMING} BY NAME {kept}")
    query = f"SELECT count(paired_sums) = 0 FROM {INCOMING}"
    is_even = connection.execute(query).fetchall() == [(True,)]
    tracked, few = statements.tracked, None
    if is_even:
        tracked, few = statements.even_tracked, facts_of_few()
    if few is not None:
        of_few = few.in_database(connection, {"run_id", "variant_id", *statements.names})
        tracked = f"FROM {of_few}"
    connection.execute(f"DELETE FROM variant WHERE {which}")
    connection.execute(
        f"INSERT INTO variant BY NAME SELECT {INCOMING}.* EXCLUDE ({UNEVEN}), {names},"
        f" {literal(statements.facts_hash)} AS facts_hash,"
        " coalesce(numbered.run_number, 0) AS run_number"
        f" FROM {INCOMING} JOIN ({tracked}) AS tracked USING (run_id, variant_id)"
        " LEFT JOIN (SELECT run_id, run_number FROM run) AS numbered USING (run_id)"
    )
    connection.execute(f"DROP TABLE {INCOMING}")
    if few is not None:
        connection.execute(f"DROP TABLE {of_few}")
    return few


def _total_up(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str], statements: VariantStatements
) -> None:
    """Make the table ``INCOMING``: what the launches of runs add up to."""
    made = f"CREATE OR REPLACE TEMP TABLE {INCOMING} AS SELECT * FROM"
    query = _SINGLE.format(which=_of_runs(run_ids))
    is_single = connection.execute(query).fetchall() == [(True,)]
    totals = statements.single_totals if is_single else statements.even_totals
    connection.execute(f"{made} ({totals}) WHERE {_of_runs(run_ids)}")
    rows = connection.execute(f"SELECT DISTINCT run_id FROM {INCOMING} WHERE {UNEVEN}").fetchall()
    if rows:
        which = _of_runs(sorted(run for (run,) in rows))
        connection.execute(f"DELETE FROM {INCOMING} WHERE {which}")
        totals = f"SELECT * FROM ({statements.totals}) WHERE {which}"
        connection.execute(f"INSERT INTO {INCOMING} BY NAME {totals}")


def _of_runs(run_ids: Sequence[str]) -> str:
    """Return a condition that the engine can decide for many rows at once."""
    return f"run_id IN ({', '.join(map(literal, run_ids))})" if run_ids else "false"


def stored_state(
    connection: duckdb.DuckDBPyConnection,
    relations: Relations,
    *,
    totals_hash: str | None,
    facts_hash: str,
    sums: Sequence[str],
) -> StoredState:
    """Return what holds of the variants of the runs that relations have.

    Totals hold where they have the hash and each of the ``sums``; without a hash, those of no run
    that has launches.
    """
    query = _STATE.format(
        variant=relations.item("variant"),
        outdated="true" if totals_hash is None else _OTHER_TOTALS,
    )
    parameters: dict[str, object] = {"facts": facts_hash}
    if totals_hash is not None:
        parameters |= {"totals": totals_hash, "sums": ";".join(sums)}
    rows = connection.execute(query, parameters).fetchall()
    outdated = [row[0] for row in rows if row[1]]
    return StoredState(
        from_launches=_with_launches(connection, relations, outdated),
        tracked=all(row[2] for row in rows),
        even=all(row[3] for row in rows),
    )


def _with_launches(
    connection: duckdb.DuckDBPyConnection, relations: Relations, run_ids: Sequence[str]
) -> tuple[str, ...]:
    """Return those of some runs that have launches."""
    if not run_ids:
        return ()
    query = _WITH_LAUNCHES.format(launch=relations.item("launch"), which=_of_runs(run_ids))
    return tuple(run for (run,) in connection.execute(query).fetchall())
