"""What refresh reads and writes: launches as profiled, and recomputed values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb

from advisor.quoting import quoted

_TABLE = "refreshed"
_KEY = "launch_index"
_LAUNCHES = """
    SELECT launch_index, grid_size, block_size,
        grid_x, grid_y, grid_z, block_x, block_y, block_z,
        key_set.keys, counter_values, text_set.texts, device_id
    FROM launch
    LEFT JOIN key_set ON key_set.key_set = counter_keys
    LEFT JOIN text_set ON text_set.text_set = launch.text_set
    WHERE run_id = ? AND launch_index IN (
        SELECT launch_index FROM launch WHERE run_id = ? AND launch_index > ?
        ORDER BY launch_index LIMIT ?
    )
    ORDER BY launch_index
"""
_KEYED = """
    SELECT launch_index, counter, key_set.keys, "values"
    FROM launch_keyed JOIN keyed_set USING (keyed_set) JOIN key_set USING (key_set)
    WHERE run_id = ? AND launch_index BETWEEN ? AND ?
"""
_FINDINGS = """
    SELECT rule_id, rule_hash, variant_id, outcome, severity, mechanism, rank,
        format('{:.8e}', gain_low), format('{:.8e}', gain_likely), format('{:.8e}', gain_high),
        format('{:.8e}', share_low), format('{:.8e}', share_likely),
        format('{:.8e}', share_high),
        confidence, evidence, because, unchecked
    FROM finding WHERE run_id = ? ORDER BY rule_id, variant_id
"""

Rows = list[tuple[Any, ...]]


def launches_after(
    connection: duckdb.DuckDBPyConnection, run_id: str, index: int, most: int
) -> Rows:
    """Return the next launches of a run: index, six sides, counters, values, texts, device."""
    return connection.execute(_LAUNCHES, [run_id, run_id, index, most]).fetchall()


def keyed_of(connection: duckdb.DuckDBPyConnection, run_id: str, first: int, last: int) -> Rows:
    """Return the histograms and curves of launches: index, counter, keys, values."""
    return connection.execute(_KEYED, [run_id, first, last]).fetchall()


def add_values(connection: duckdb.DuckDBPyConnection, values: str, *, first: bool) -> None:
    """Keep what a SELECT gives for launches, whose indexes it calls ``row``."""
    verb = f"CREATE OR REPLACE TEMP TABLE {_TABLE} AS" if first else f"INSERT INTO {_TABLE}"
    connection.execute(f"{verb} SELECT * RENAME (row AS {_KEY}) FROM ({values})")


def take_over(connection: duckdb.DuckDBPyConnection, run_id: str) -> dict[str, int]:
    """Store the values that were kept; return in how many launches each column changed."""
    changed = _changed(connection, run_id)
    if changed:
        values = ", ".join(f"{quoted(name)} = {_TABLE}.{quoted(name)}" for name in changed)
        which = f"run_id = ? AND launch.{_KEY} = {_TABLE}.{_KEY}"
        connection.execute(f"UPDATE launch SET {values} FROM {_TABLE} WHERE {which}", [run_id])
    connection.execute(f"DROP TABLE {_TABLE}")
    return changed


def findings(connection: duckdb.DuckDBPyConnection, run_id: str) -> Rows:
    """Return what the findings say; sums over launches are the same to nine digits only."""
    return connection.execute(_FINDINGS, [run_id]).fetchall()


def set_rules_hash(connection: duckdb.DuckDBPyConnection, run_id: str, digest: str) -> None:
    """Note the rules that the findings of a run come from."""
    connection.execute(
        "UPDATE run SET rules_hash = ? WHERE run_id = ? AND rules_hash IS DISTINCT FROM ?",
        [digest, run_id, digest],
    )


def _changed(connection: duckdb.DuckDBPyConnection, run_id: str) -> dict[str, int]:
    described: Sequence[tuple[Any, ...]] = connection.execute(f"DESCRIBE {_TABLE}").fetchall()
    names = [row[0] for row in described if row[0] != _KEY]
    counts = ", ".join(
        f"count(*) FILTER (launch.{quoted(name)} IS DISTINCT FROM {_TABLE}.{quoted(name)})"
        for name in names
    )
    joined = f"FROM launch JOIN {_TABLE} USING ({_KEY}) WHERE run_id = ?"
    found = connection.execute(f"SELECT {counts} {joined}", [run_id]).fetchall()[0]
    return {name: number for name, number in zip(names, found, strict=True) if number}
