"""Columns in memory as something that SQL can select from.

They are handed over as Arrow arrays, which the database reads where they lie.

Source: Apache Arrow, "The Arrow PyCapsule Interface"; DuckDB, "Import from Apache Arrow".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import duckdb
import nanoarrow as na
import numpy as np
from numpy.typing import NDArray

from advisor.records import dataclass

Array = NDArray[Any]

_KINDS = {"f": (na.float64(), np.float64), "i": (na.int64(), np.int64)}


@dataclass(frozen=True, kw_only=True)
class Lists:
    """A column of lists: their items end to end, and where each ends, after a 0 in front.

    A row that is not ``known`` is NULL and has no items.
    """

    items: Array
    ends: NDArray[np.int32]
    known: NDArray[np.bool_]


Column = Array | Lists


class ArrayTable:
    """A table of columns in memory, which can be filled again and again.

    Statements that were prepared before read what it was filled with last.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._held: Any = None

    def fill(self, columns: Mapping[str, Column]) -> None:
        """Hold ``columns``, of one length, in place of what was there.

        Names and types are the same each time. A number that is not finite is NULL. Texts are
        arrays of objects, with ``None`` for NULL.
        """
        arrays = {name: _arrow(column) for name, column in columns.items()}
        schema = na.struct({name: array.schema for name, array in arrays.items()})
        length = len(next(iter(arrays.values())))
        first = self._held is None
        self._held = na.c_array_from_buffers(schema, length, [None], children=arrays.values())
        if first:
            self._connection.register(self._name, self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table to the database, which asks each time that it reads it."""
        return na.c_array_stream(self._held).__arrow_c_stream__(requested_schema)


def objects(values: Sequence[object]) -> NDArray[np.object_]:
    """Return ``values`` as an array of objects; NumPy guesses nothing."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Return ``values`` as doubles, ``None`` as NaN."""
    return np.array(values, dtype=np.float64)


def lists(rows: Sequence[Array | None]) -> Lists:
    """Return a column of lists of numbers of one type, with ``None`` for NULL."""
    items = [row for row in rows if row is not None]
    return _lists(rows, np.concatenate(items) if items else np.zeros(0))


def text_lists(rows: Sequence[Sequence[str | None] | None]) -> Lists:
    """Return a column of lists of texts, with ``None`` for NULL in both."""
    return _lists(rows, objects([*chain.from_iterable(row for row in rows if row is not None)]))


def _lists(rows: Sequence[Array | Sequence[str | None] | None], items: Array) -> Lists:
    sizes = [0 if row is None else len(row) for row in rows]
    known = np.array([row is not None for row in rows], np.bool_)
    return Lists(items=items, ends=np.cumsum([0, *sizes], dtype=np.int32), known=known)


def _arrow(column: Column) -> Any:
    """Return the column as an Arrow array."""
    if isinstance(column, Lists):
        items = _arrow(column.items)
        buffers = [_bits(column.known), column.ends]
        kind, length = na.list_(items.schema), len(column.known)
        return na.c_array_from_buffers(kind, length, buffers, children=[items])
    if column.dtype.kind == "O":
        return na.c_array(column.tolist(), na.string())
    kind, stored = _KINDS[column.dtype.kind]
    buffers = [_bits(np.isfinite(column)), np.ascontiguousarray(column, stored)]
    return na.c_array_from_buffers(kind, len(column), buffers)


def _bits(known: NDArray[np.bool_]) -> Array | None:
    """Return which rows are not NULL as Arrow has it: None for all."""
    return None if known.all() else np.packbits(known, bitorder="little")
