"""NumPy arrays as something that SQL can select from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from advisor.database.records import quoted

Array = NDArray[Any]

_USED = "used"


class ArrayTable:
    """A temporary view over arrays, which can be filled again and again.

    A transaction holds every array that it was handed until it ends, so one that stores batch after
    batch hands over the same ones.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._arrays: dict[str, Array] = {_USED: np.zeros(0, dtype=np.bool_)}

    def fill(self, columns: Mapping[str, Array]) -> bool:
        """Hold ``columns``, arrays of one length, in place of what was there.

        The columns are the same each time. A number that is not finite is NULL. Texts are arrays of
        objects, with ``None`` for NULL. Return whether there was no room: statements that were
        prepared before read the former arrays then.
        """
        count = len(next(iter(columns.values())))
        renewed = count > len(self._arrays[_USED]) or len(columns) >= len(self._arrays)
        if renewed:
            self._make_room(count, columns)
        for name, array in columns.items():
            self._arrays[name][:count] = _finite(array)
        self._arrays[_USED][:count] = True
        self._arrays[_USED][count:] = False
        return renewed

    def _make_room(self, count: int, columns: Mapping[str, Array]) -> None:
        room = max(count, 2 * len(self._arrays[_USED]))
        self._arrays = {name: np.empty(room, array.dtype) for name, array in columns.items()}
        self._arrays[_USED] = np.zeros(room, dtype=np.bool_)
        held = f"{self._name}_arrays"
        self._connection.register(held, self._arrays)
        view = ("CREATE OR REPLACE TEMP VIEW", quoted(self._name), "AS SELECT * EXCLUDE", _USED)
        self._connection.execute(" ".join((*view, "FROM", quoted(held), "WHERE", _USED)))


class ListTable:
    """A temporary view of lists: ``row``, a place from 0, and a list in every other column.

    They travel end to end in one array per column and are put together in the database: handing
    over one Python list per row takes 200 times as long.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, name: str, *columns: str) -> None:
        self._connection = connection
        self._name = name
        self._columns = columns
        self._items = ArrayTable(connection, f"{name}_items")

    def fill(self, *lists: Sequence[Sequence[Any] | Array]) -> bool:
        """Hold ``lists``, for each column one per row; those of a row are of one length.

        Rows of empty lists are left out. Returns what ``ArrayTable.fill`` does.
        """
        rows = np.repeat(np.arange(len(lists[0]), dtype=np.int32), [*map(len, lists[0])])
        items = dict(zip(self._columns, map(_flat, lists), strict=True))
        places = np.arange(len(rows), dtype=np.int32)
        renewed = self._items.fill({"row": rows, "place": places, **items})
        if renewed:
            self._make_view()
        return renewed

    def _make_view(self) -> None:
        made = (f"list({quoted(each)} ORDER BY place) AS {quoted(each)}" for each in self._columns)
        view = ("CREATE OR REPLACE TEMP VIEW", quoted(self._name), "AS SELECT row,")
        source = ("FROM", quoted(f"{self._name}_items"), "GROUP BY row")
        self._connection.execute(" ".join((*view, ", ".join(made), *source)))


def objects(values: Sequence[object]) -> NDArray[np.object_]:
    """Return ``values`` as an array of objects; NumPy guesses nothing."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Return ``values`` as doubles, ``None`` as NaN."""
    return np.array(values, dtype=np.float64)


def _flat(rows: Sequence[Sequence[Any] | Array]) -> Array:
    """Return the items of all rows, which are arrays, or texts, integers or doubles."""
    if len(rows) and isinstance(rows[0], np.ndarray):
        return np.concatenate(rows)
    items = list(chain.from_iterable(rows))
    kind = type(items[0]) if items else float
    return objects(items) if kind is str else np.array(items, dtype=kind)


def _finite(array: Array) -> Array:
    """Return the array with NaN, which DuckDB takes for NULL, in place of infinities."""
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return array
    return np.where(np.isfinite(array), array, np.nan)
