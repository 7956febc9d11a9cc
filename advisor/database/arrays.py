"""NumPy arrays as something that SQL can select from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from advisor.database.records import quoted

Array = NDArray[Any]


def register_arrays(
    connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, Array]
) -> None:
    """Make ``columns``, arrays of one length, a temporary view ``name``.

    What is masked or not finite is NULL. DuckDB does not look at masks, so masked numbers travel
    as NaN, and the view turns into NULL what is not finite. Texts are arrays of objects, with
    ``None`` for NULL. The arrays are held until the name is used again or the connection closes.
    """
    arrays = f"{name}_arrays"
    connection.register(arrays, {column: _plain(array) for column, array in columns.items()})
    selected = ", ".join(_selected(column, array) for column, array in columns.items())
    view = ("CREATE OR REPLACE TEMP VIEW", quoted(name), "AS SELECT", selected, "FROM")
    connection.execute(" ".join((*view, quoted(arrays))))


def register_lists(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    rows: Iterable[tuple[Sequence[Any], Sequence[float | str]]],
    *,
    ordered: bool = True,
) -> None:
    """Make a temporary view ``name`` with columns ``row``, ``keys`` and ``items``.

    Each of ``rows`` has as many keys as items; ``row`` is its place, from 0. An empty one is left
    out. Unless ``ordered``, keys come in any order, each with its item. The lists travel end to end
    in three arrays and are put together in the database: handing over one Python list per row takes
    200 times as long.
    """
    lengths: list[int] = []
    keys: list[Any] = []
    items: list[Any] = []
    for row_keys, row_items in rows:
        lengths.append(len(row_keys))
        keys.extend(row_keys)
        items.extend(row_items)
    arrays = f"{name}_items"
    flat = {"row": np.repeat(np.arange(len(lengths)), lengths), "place": np.arange(len(keys))}
    register_arrays(connection, arrays, {**flat, "key": _array(keys), "item": _array(items)})
    view = ("CREATE OR REPLACE TEMP VIEW", quoted(name), "AS SELECT row,")
    order = " ORDER BY place" if ordered else ""
    lists = f"list(key{order}) AS keys, list(item{order}) AS items FROM"
    connection.execute(" ".join((*view, lists, quoted(arrays), "GROUP BY row")))


def objects(values: Sequence[object]) -> NDArray[np.object_]:
    """Return ``values`` as an array of objects; NumPy guesses nothing."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Return ``values`` as doubles, ``None`` as NaN."""
    return np.array(values, dtype=np.float64)


def _array(values: list[Any]) -> Array:
    is_text = bool(values) and isinstance(values[0], str)
    return objects(values) if is_text else np.array(values)


def _plain(array: Array) -> Array:
    if not isinstance(array, np.ma.MaskedArray):
        return array
    is_object = array.dtype.kind == "O"
    plain: Array = np.array(array.data, dtype=object if is_object else np.float64)
    plain[np.ma.getmaskarray(array)] = None if is_object else np.nan
    return plain


def _selected(column: str, array: Array) -> str:
    name = quoted(column)
    masked_number = isinstance(array, np.ma.MaskedArray) and array.dtype.kind != "O"
    if array.dtype.kind == "f" or masked_number:
        return f"CASE WHEN isfinite({name}) THEN {name} END AS {name}"
    return name
