"""Which quantities have a value."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from advisor.quoting import quoted


def known_quantities(
    connection: duckdb.DuckDBPyConnection, run_id: str, names: Sequence[str]
) -> dict[str, frozenset[str]]:
    """Return those of some quantities that a launch of a variant has, by variant of a run."""
    counts = [f"count({quoted(name)})" for name in names]
    query = ("SELECT", ", ".join(("variant_id", *counts)), "FROM main.launch WHERE run_id = ?")
    rows = connection.execute(" ".join((*query, "GROUP BY variant_id")), [run_id]).fetchall()
    return {
        row[0]: frozenset(name for name, count in zip(names, row[1:], strict=True) if count)
        for row in rows
    }
