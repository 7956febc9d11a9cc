"""Tables of a connection over a lake that take what rules say, before it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import duckdb

from advisor.database.records import insert_records
from advisor.database.relations import Relations
from advisor.quoting import listed, literal, quoted

JUDGED = {
    "finding": "FROM temp.judged_finding",
    "outcome": "FROM temp.outcome ORDER BY ALL",
    "fact": "FROM temp.judged_fact",
}
"""The SELECT of what was judged, by the table that it is about; facts are of kernels."""

MOVED = {
    "followed": "FROM temp.followed ORDER BY history_id",
    "moved": """
        SELECT moved.*, state_id FROM temp.moved JOIN temp.followed USING (history_id) ORDER BY ALL
    """,
}
"""The SELECT of which histories the detector looked at, and of what moved in them."""

_BATCH = "judged_variant"
_ORDERS = {"finding": "run_id, rule_id, variant_id", "fact": "run_id, variant_id"}
_LACKING = """
    SELECT run_id FROM run
    WHERE rules_hash IS DISTINCT FROM $digest AND pruned_at IS NULL
        AND ($since IS NULL OR coalesce(started_at, ingested_at) >= $since)
    ORDER BY strftime(coalesce(started_at, ingested_at), '%Y-%m'), device_names, run_id
"""
_NUMBERED = """
    SELECT finding.* REPLACE (numbered.run_number AS run_number) FROM temp.finding
    JOIN (SELECT run_id, run_number FROM main.run) AS numbered USING (run_id)
"""
_ALL_FINDINGS = """
    CREATE TEMP VIEW finding AS
    FROM temp.judged_finding UNION ALL BY NAME
    SELECT * FROM memory.main.finding ANTI JOIN temp.judged_now USING (run_id)
"""


def runs_without(
    connection: duckdb.DuckDBPyConnection, digest: str, since: datetime | None
) -> list[str]:
    """Return the runs that were not judged by the rules with this hash, by month and device.

    ``since`` is UTC without a zone; older nights are left out. So are pruned runs: what is left of
    them does not decide rules about whole runs.
    """
    rows = connection.execute(_LACKING, {"digest": digest, "since": since}).fetchall()
    return [run_id for (run_id,) in rows]


def make_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables that findings and outcomes of runs are written to, empty; the lake stays."""
    for table in ("finding", "outcome"):
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS FROM shape.{table} LIMIT 0")


def write_judged(connection: duckdb.DuckDBPyConnection, folder: Path, number: int) -> None:
    """Write findings and facts of the runs that were judged as files of a folder, and drop them."""
    for table, name in (("finding", "temp.finding"), ("fact", "temp.judged_fact")):
        path = folder / f"{table}-{number:06}.parquet"
        rows = _NUMBERED if table == "finding" else f"FROM {name}"
        query = f"{rows} ORDER BY {_ORDERS[table]}"
        connection.execute(f"COPY ({query}) TO {literal(str(path))} (FORMAT parquet)")
        connection.execute(f"DROP TABLE {name}")


def read_judged(
    connection: duckdb.DuckDBPyConnection, folder: Path, run_ids: Sequence[str]
) -> None:
    """Have ``finding`` show what was judged now, and of all other runs what was before."""
    connection.execute("CREATE TEMP TABLE judged_now AS SELECT unnest($1) AS run_id", [run_ids])
    connection.execute("CREATE TEMP TABLE outcome AS FROM shape.outcome LIMIT 0")
    for table in _ORDERS:
        files = f"read_parquet({literal(f'{folder}/{table}-*.parquet')}, union_by_name = true)"
        connection.execute(f"CREATE TEMP VIEW judged_{table} AS FROM {files}")
    connection.execute(_ALL_FINDINGS)


def variants_of(
    connection: duckdb.DuckDBPyConnection, relations: Relations, run_ids: Sequence[str]
) -> Relations:
    """Return relations with the stored variants of some runs alone, in a table of the connection.

    Sums over all variants of a run would else read those of the whole lake.
    """
    if relations.variant is None:
        return relations
    table, runs = f"temp.{_BATCH}", listed(run_ids)
    query = f"SELECT * FROM {relations.variant} WHERE run_id IN ({runs})"
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {_BATCH} AS {query}")
    return replace(relations, variant=table)


def keep_facts(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Add the rows of a table to the facts that are kept, and drop it."""
    name = quoted(table)
    connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS judged_fact AS FROM {name} LIMIT 0")
    connection.execute(f"INSERT INTO judged_fact BY NAME FROM {name}")
    connection.execute(f"DROP TABLE {name}")


def take_over(
    connection: duckdb.DuckDBPyConnection, folder: Path, table: str, order: str, which: str = ""
) -> None:
    """Make a table of the Parquet files in a folder, or of ``which`` of its rows, in an order."""
    files = f"read_parquet({literal(f'{folder}/*.parquet')})"
    made = f"CREATE OR REPLACE TEMP TABLE {quoted(table)}"
    connection.execute(f"{made} AS FROM {files} {which} ORDER BY {order}")


def make_moved(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table that what moved is written to."""
    connection.execute("CREATE TEMP TABLE moved AS SELECT * EXCLUDE (state_id) FROM shape.moved")


def keep_moved(
    connection: duckdb.DuckDBPyConnection, columns: Mapping[str, Sequence[object]]
) -> None:
    """Add what moved in a history."""
    names = list(columns)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    insert_records(connection, "moved", rows)


def count_of(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    """Return how many rows a SELECT of ``JUDGED`` or ``MOVED`` gives."""
    query = {**JUDGED, **MOVED}[table]
    ((rows,),) = connection.execute(f"SELECT count(*) FROM ({query})").fetchall()
    return int(rows)
