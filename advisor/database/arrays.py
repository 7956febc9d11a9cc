"""NumPy arrays as something that SQL can select from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray


def register_arrays(
    connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, NDArray[Any]]
) -> None:
    """Make ``columns``, arrays of one length, a temporary view ``name`` on ``connection``.

    What is masked or not finite is NULL: DuckDB does not look at a mask, so masked numbers travel
    as NaN and the view turns whatever is not finite into NULL. Texts are arrays of objects, with
    ``None`` for NULL. The arrays are read when the view is; unregister ``name + "_arrays"`` or close
    the connection to let go of them.
    """
    arrays = f"{name}_arrays"
    connection.register(arrays, {column: _plain(array) for column, array in columns.items()})
    selected = ", ".join(_selected(column, array) for column, array in columns.items())
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW {quoted(name)} AS SELECT {selected} FROM {quoted(arrays)}"
    )


def objects(values: list[Any]) -> NDArray[np.object_]:
    """Return ``values`` as an array of objects, even where they are sequences."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def quoted(name: str) -> str:
    """Return ``name`` as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if array.dtype.kind == "f":
        return array.filled(np.nan)
    if array.dtype.kind == "O":
        return array.filled(None)
    return array.astype(np.float64).filled(np.nan)


def _selected(column: str, array: NDArray[Any]) -> str:
    name = quoted(column)
    if array.dtype.kind == "f" or (
        isinstance(array, np.ma.MaskedArray) and array.dtype.kind in "iub"
    ):
        return f"CASE WHEN isfinite({name}) THEN {name} END AS {name}"
    return name
