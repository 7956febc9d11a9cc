"""Rows of the views as mappings, and typed ways to read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from advisor.database.fetching import rows_of_cursor
from advisor.quoting import quoted

if TYPE_CHECKING:
    import duckdb

Row = Mapping[str, Any]


def fetch(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Sequence[object] = ()
) -> list[Row]:
    """Return the rows of a query, each a mapping from column to value."""
    return list(rows_of_cursor(connection.execute(query, list(parameters))))


def rows_of(connection: duckdb.DuckDBPyConnection, table: str) -> list[Row]:
    """Return all rows of a table."""
    return fetch(connection, f"FROM {quoted(table)}")


def number(row: Row, name: str) -> float | None:
    """Return a finite number, or None."""
    return finite(row.get(name))


def finite(value: Any) -> float | None:
    """Return a value that is a finite number, else None."""
    if type(value) is not float:  # most are, and this is asked very often
        return None if value is None or isinstance(value, bool | str) else float(value)
    return value if math.isfinite(value) else None


def text(row: Row, name: str) -> str | None:
    """Return a text, or None where it is missing or empty."""
    value = row.get(name)
    return None if value is None else str(value) or None


def flag(row: Row, name: str) -> bool | None:
    """Return a truth value, or None."""
    value = row.get(name)
    return None if value is None else bool(value)


def whole(row: Row, name: str) -> int:
    """Return a count; 0 where it is missing."""
    return int(number(row, name) or 0)


def lacks_peaks(row: Row) -> bool:
    """Return whether bytes or operations were counted, so that peaks are what a roof lacks."""
    counted = number(row, "dram_bytes") is not None or number(row, "flops") is not None
    peak = number(row, "peak_dram_bandwidth")
    return counted and peak is None and number(row, "t_sol") is None
