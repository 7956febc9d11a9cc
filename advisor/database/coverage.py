"""Which quantities have a value."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from advisor.database.relations import of_runs
from advisor.quoting import quoted


def known_quantities(
    connection: duckdb.DuckDBPyConnection, run_id: str, names: Sequence[str]
) -> dict[str, frozenset[str]]:
    """Return those of some quantities that a launch of a variant has, by variant of a run.

    Of a run whose launches were dropped, those that its variants have.
    """
    counts = ", ".join(("variant_id", *(f"count({quoted(name)})" for name in names)))
    query = "SELECT {} FROM main.{} WHERE {} GROUP BY variant_id"
    of_run = of_runs([run_id])
    rows = (
        connection.execute(query.format(counts, "launch", of_run)).fetchall()
        or connection.execute(query.format(counts, "variant", of_run)).fetchall()
    )
    return {
        row[0]: frozenset(name for name, count in zip(names, row[1:], strict=True) if count)
        for row in rows
    }


def isas_of(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[str]:
    """Return what instruction sets the devices of a run have, by ``device.isa``."""
    query = "SELECT DISTINCT isa FROM main.variant JOIN main.device USING (device_id) WHERE "
    rows = connection.execute(query + of_runs([run_id])).fetchall()
    return [isa for (isa,) in rows if isa is not None]
