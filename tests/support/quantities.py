"""What the mapping makes of launches, as records."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np

from advisor.counters.staging import Mapping
from advisor.database.arrays import ArrayTable
from advisor.model import Launch


def quantity_rows(
    connection: duckdb.DuckDBPyConnection, mapping: Mapping, launches: Sequence[Launch]
) -> list[dict[str, object]]:
    """Return one dict per launch, in order: every quantity by name, sources and flags."""
    staged, values = ArrayTable(connection, "staging"), mapping.stage(launches)
    staged.fill({"row": np.arange(len(launches)), **values})
    result = connection.execute(f"select * from ({mapping.sql('staging', values)}) order by row")
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
