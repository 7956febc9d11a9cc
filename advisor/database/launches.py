"""Write launches by the hundred: as arrays, by a few statements.

Row by row, a launch of 150 columns takes milliseconds; this way it takes microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import duckdb
import numpy as np

from advisor.database.arrays import Array, ArrayTable, Column, lists, numbers, objects, text_lists
from advisor.database.connect import memory_limit, release_blocks
from advisor.database.details import Details
from advisor.database.rows import PlacedLaunch
from advisor.database.sets import Sets
from advisor.model import Dim3, Packed

_VALUES = "incoming_values"
_FREED_AFTER = 4096  # launches after which blocks that are on the disk are freed
_LAUNCHES = """
    PREPARE store_launches AS INSERT INTO launch BY NAME
    SELECT * EXCLUDE (row) FROM incoming
"""


class LaunchWriter:
    """Stores launches batch by batch, inside of the caller's transaction.

    ``quantities`` turns the name of a view of a batch's values into a SELECT of ``row`` (the place
    of a launch in the batch, from 0), quantities and perhaps ``flags``. That statement is planned
    once: it takes longer than to run it over a batch.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        quantities: Callable[[str], str] | None = None,
    ) -> None:
        self._connection = connection
        self._quantities = quantities
        self._prepared = False
        self._memory_limit = memory_limit(connection)
        self._unreleased = 0
        self._sets = Sets(connection)
        self._details = Details(connection, self._sets)
        self._launches = ArrayTable(connection, "incoming")
        self._values = ArrayTable(connection, _VALUES)

    def write(
        self, launches: Sequence[PlacedLaunch], values: Mapping[str, Column] | None = None
    ) -> None:
        """Store a batch; ``values`` has an array in its order per column that quantities need."""
        if not launches:
            return
        rows = {"row": np.arange(len(launches))}
        self._launches.fill({**rows, **_columns(launches, self._sets)})
        if values is not None:
            self._values.fill({**rows, **values})
        self._details.add(launches)
        self._sets.store()
        if not self._prepared:
            self._prepare()
        self._connection.execute("EXECUTE store_launches")
        self._unreleased += len(launches)
        if self._unreleased > _FREED_AFTER:
            release_blocks(self._connection, self._memory_limit)
            self._unreleased = 0

    def finish(self) -> None:
        """Store what is known once all launches were seen."""
        self._details.finish()
        if self._prepared:
            self._connection.execute("DEALLOCATE store_launches")
            self._prepared = False

    def _prepare(self) -> None:
        statement = _LAUNCHES
        if self._quantities is not None:
            statement += f"LEFT JOIN ({self._quantities(_VALUES)}) USING (row)"
        self._connection.execute(statement)
        self._prepared = True


def _columns(launches: Sequence[PlacedLaunch], sets: Sets) -> dict[str, Column]:
    counters = [Packed.of(placed.launch.counters) for placed in launches]
    read = [placed.launch for placed in launches]
    columns: dict[str, Column] = {
        "launch_index": numbers([x.index for x in read]),
        "device_ordinal": numbers([x.device for x in read]),
        "process": numbers([x.process for x in read]),
        "context": numbers([x.context for x in read]),
        "stream": numbers([x.stream for x in read]),
        "nvtx": text_lists([x.nvtx or None for x in read]),
        "started_at": numbers([placed.started_at for placed in launches]),
        "counter_keys": objects([sets.keys(x.named) for x in counters]),
        "counter_values": lists([x.numbers for x in counters]),
        "text_set": objects([sets.texts(x.texts) for x in read]),
        "clock_locked": numbers([x.clock_locked for x in read]),
        "invalid_counters": numbers([x.invalid_counters for x in read]),
        **_dimensions("grid", [x.grid for x in read]),
        **_dimensions("block", [x.block for x in read]),
    }
    for name in (
        "run_id",
        "kernel_id",
        "series_id",
        "variant_id",
        "launch_shape",
        "device_id",
        "device_name",
    ):
        columns[name] = objects([getattr(placed, name) for placed in launches])
    return columns


def _dimensions(name: str, shapes: Sequence[Dim3 | None]) -> dict[str, Array]:
    columns = {f"{name}_size": numbers([None if s is None else math.prod(s) for s in shapes])}
    for place, axis in enumerate("xyz"):
        columns[f"{name}_{axis}"] = numbers([None if s is None else s[place] for s in shapes])
    return columns
