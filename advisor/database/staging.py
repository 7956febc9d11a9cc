"""A file beside the database that launches wait in until all of a run has been read.

An unfinished transaction keeps everything in memory, and arrays that were handed to it until it
ends. What is staged is committed batch by batch to a file of its own, and read from there by a few
statements at the end, so memory hardly grows with a profile, and each statement is planned once.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import duckdb
import numpy as np

from advisor.database.arrays import Array, register_arrays
from advisor.database.connect import ALONE
from advisor.database.launches import LISTS, insert_details, stage_launches
from advisor.database.records import quoted
from advisor.database.rows import PlacedLaunch

_ALIAS = "staged"
_BLOCK = 16_384  # bytes in which the file grows, and that each column holds in memory
_MEMORY = "64MB"  # what is on disk already need not stay
_VALUES = "staged_values"
_PACKED = """
    SELECT packed.numbers, staged_texts.* EXCLUDE (row)
    FROM (
        SELECT row, list(item ORDER BY place) AS numbers FROM staged_numbers GROUP BY row
    ) AS packed
    JOIN staged_texts USING (row)
"""


class Staging:
    """Launches that wait, and the values that their quantities are worked out from."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._numbers: list[str] = []
        self._texts: list[str] = []
        self.launches = 0

    def add(self, launches: Sequence[PlacedLaunch], values: Mapping[str, Array] | None) -> None:
        """Take launches of a batch; ``values`` are arrays in their order, one per staged column.

        Every batch has the same columns.
        """
        if not launches:
            return
        stage_launches(self._connection, launches, first=self.launches)
        if values:
            self._add_values(values)
        self.launches += len(launches)

    def add_details(self, launches: Sequence[PlacedLaunch]) -> None:
        """Take what launches hold beside their counters; those of ``add`` need it once."""
        insert_details(self._connection, launches)

    @contextlib.contextmanager
    def attached(self, connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
        """Make what waits readable on ``connection``; yield the view of the staged values."""
        self._connection.close()
        path = str(self._path).replace("'", "''")
        connection.execute(" ".join(("ATTACH", f"'{path}'", "AS", _ALIAS, "(READ_ONLY)")))
        try:
            if self.launches and self._numbers:
                view = ("CREATE OR REPLACE TEMP VIEW", _VALUES, "AS SELECT", self._unpacked())
                connection.execute(" ".join((*view, "FROM", f"{_ALIAS}.{_VALUES}")))
            yield _VALUES
        finally:
            connection.execute(f"DROP VIEW IF EXISTS {_VALUES}")
            connection.execute(f"DETACH {_ALIAS}")

    def _add_values(self, values: Mapping[str, Array]) -> None:
        """Pack the numbers of a launch into one list: each column of a table costs half a MB."""
        self._texts = [name for name, array in values.items() if array.dtype.kind == "O"]
        self._numbers = [name for name in values if name not in self._texts]
        matrix = np.column_stack([np.ma.filled(values[name], np.nan) for name in self._numbers])
        rows, width = matrix.shape
        flat = {
            "row": np.repeat(np.arange(self.launches, self.launches + rows), width),
            "place": np.tile(np.arange(width), rows),
            "item": matrix.ravel(),
        }
        register_arrays(self._connection, "staged_numbers", flat)
        texts = {name: values[name] for name in self._texts}
        where = {"row": np.arange(self.launches, self.launches + rows)}
        register_arrays(self._connection, "staged_texts", {**where, **texts})
        verb = f"INSERT INTO {_VALUES}" if self.launches else f"CREATE TABLE {_VALUES} AS"
        self._connection.execute(" ".join((verb, _PACKED)))

    def _unpacked(self) -> str:
        numbers = (f"numbers[{n}] AS {quoted(name)}" for n, name in enumerate(self._numbers, 1))
        return ", ".join((*numbers, *map(quoted, self._texts)))


@contextlib.contextmanager
def staging() -> Iterator[Staging]:
    """Give an empty place for launches; it is gone when the block ends."""
    with tempfile.TemporaryDirectory(prefix="advisor-") as folder:
        path = Path(folder) / "staged.duckdb"
        with duckdb.connect(
            str(path), config={**ALONE, "default_block_size": _BLOCK}
        ) as connection:
            connection.execute("SET threads = 1")
            connection.execute(f"SET memory_limit = '{_MEMORY}'")
            for table, columns in LISTS.items():
                connection.execute(" ".join(("CREATE TABLE", table, f"({columns})")))
            yield Staging(connection, path)


def load_staged(connection: duckdb.DuckDBPyConnection, *, quantities: str | None) -> None:
    """Store what an attached staging holds, inside of the caller's transaction.

    ``quantities`` is a SELECT of ``row`` (the place of a launch in the order of staging, from 0),
    quantities and perhaps ``flags``; launches that it leaves out have none.
    """
    for table in LISTS:
        conflict = " ON CONFLICT DO NOTHING" if table.endswith("_set") else ""
        source = ("SELECT * FROM", f"{_ALIAS}.{table}{conflict}")
        connection.execute(" ".join(("INSERT INTO", f"main.{table}", "BY NAME", *source)))
    statement = ["INSERT INTO main.launch BY NAME SELECT * EXCLUDE (row) FROM"]
    statement.append(f"{_ALIAS}.staged_launch")
    if quantities is not None:
        statement += ["LEFT JOIN (", quantities, ") USING (row)"]
    connection.execute(" ".join(statement))


def insert_launches(
    connection: duckdb.DuckDBPyConnection,
    launches: Sequence[PlacedLaunch],
    *,
    quantities: str | None = None,
) -> None:
    """Store launches that are at hand, with everything that profiles say about each of them.

    ``quantities`` is as for ``load_staged``. Not inside of a transaction.
    """
    with staging() as staged:
        staged.add(launches, None)
        staged.add_details(launches)
        if staged.launches:
            with staged.attached(connection):
                load_staged(connection, quantities=quantities)
