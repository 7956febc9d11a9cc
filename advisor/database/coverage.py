"""Which quantities have a value."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from advisor.quoting import quoted


def known_quantities(
    connection: duckdb.DuckDBPyConnection, run_id: str, names: Sequence[str]
) -> dict[str, frozenset[str]]:
    """Return those of some quantities that a launch of a variant has, by variant of a run.

    Of a run whose launches were dropped, those that its variants have.
    """
    counts = ", ".join(("variant_id", *(f"count({quoted(name)})" for name in names)))
    query = "SELECT {} FROM main.{} WHERE run_id = ? GROUP BY variant_id"
    rows = (
        connection.execute(query.format(counts, "launch"), [run_id]).fetchall()
        or connection.execute(query.format(counts, "variant"), [run_id]).fetchall()
    )
    return {
        row[0]: frozenset(name for name, count in zip(names, row[1:], strict=True) if count)
        for row in rows
    }
