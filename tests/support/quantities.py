"""What the mapping makes of launches, as records."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np

from advisor.counters.staging import Mapping
from advisor.database.arrays import ArrayTable, is_empty
from advisor.model import Launch


def quantity_rows(
    connection: duckdb.DuckDBPyConnection,
    mapping: Mapping,
    launches: Sequence[Launch],
    *,
    plans_for_empty: bool = True,
) -> list[dict[str, object]]:
    """Return one dict per launch, in order: every quantity by name, sources and flags.

    By default as a batch is stored: without formulas of what is empty.
    """
    staged, values = ArrayTable(connection, "staging"), mapping.stage(launches)
    staged.fill({"row": np.arange(len(launches)), **values})
    empty = {name for name, each in values.items() if plans_for_empty and is_empty(each)}
    result = connection.execute(f"select * from ({mapping.sql('staging', empty)}) order by row")
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
