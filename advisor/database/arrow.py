"""Tables in memory, as other libraries take them: through the Arrow PyCapsule interface.

Source: Apache Arrow, "The Arrow PyCapsule Interface".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import nanoarrow as na
from nanoarrow._utils import NanoarrowException
from nanoarrow.c_array_stream import CArrayStream

from advisor.database.arrays import ArrayTable, numbers, objects
from advisor.database.records import storable
from advisor.quoting import quoted

_TYPES = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE"}
_NAME = "held"
_COPIED = "copied"


class ArrowTable:
    """Rows under named columns, held in memory; it can be read again and again."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        """Read all of a relation.

        Raises:
            duckdb.Error: what it is computed from does not let it.
        """
        stream = na.c_array_stream(relation)
        self._schema = stream.get_schema()
        try:
            self._chunks = list(stream)
        except NanoarrowException as error:  # what went wrong after the first rows
            raise duckdb.Error(str(error)) from error
        self.columns = tuple(relation.columns)

    def __len__(self) -> int:
        return sum(len(chunk) for chunk in self._chunks)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows to another library: ``polars.DataFrame(table)``."""
        stream = CArrayStream.from_c_arrays(self._chunks, self._schema, validate=False)
        return stream.__arrow_c_stream__(requested_schema)

    def rows(self, most: int | None = None) -> list[tuple[Any, ...]]:
        """Return the rows as Python values, at most so many; NULL is None."""
        with duckdb.connect() as connection:
            connection.register(_NAME, self)
            limit = "" if most is None else f" LIMIT {most}"
            return connection.execute(f"FROM {_NAME}{limit}").fetchall()


def typed_rows(
    connection: duckdb.DuckDBPyConnection,
    kinds: Mapping[str, type],
    rows: Sequence[Sequence[object]],
) -> duckdb.DuckDBPyRelation:
    """Return rows under columns that hold ``str``, ``int`` or ``float``; ``None`` is NULL."""
    columns = {}
    for place, (name, kind) in enumerate(kinds.items()):
        values = [row[place] for row in rows]
        columns[name] = (
            objects([None if value is None else storable(str(value)) for value in values])
            if kind is str
            else numbers([None if value is None else float(str(value)) for value in values])
        )
    chosen = ", ".join(f"{quoted(n)}::{_TYPES[kind]} AS {quoted(n)}" for n, kind in kinds.items())
    ArrayTable(connection, _NAME).fill(columns)
    return connection.sql(f"SELECT {chosen} FROM {_NAME}")


def arrow_table(kinds: Mapping[str, type], rows: Sequence[Sequence[object]]) -> ArrowTable:
    """Return such rows as a table.

    They are copied into the database before they are read: who reads holds Python's lock, and a
    thread that gives arrays back to Python would wait for that lock, and the reader for the thread.
    """
    with duckdb.connect() as connection:
        typed_rows(connection, kinds, rows).create(_COPIED)
        return ArrowTable(connection.table(_COPIED))
