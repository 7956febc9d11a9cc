"""Rows of a query by the names of its columns."""

from __future__ import annotations

from typing import Any


def rows_of_cursor(cursor: Any) -> list[dict[str, Any]]:
    """Return the rows of the query that was executed last, each by the names of its columns."""
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
