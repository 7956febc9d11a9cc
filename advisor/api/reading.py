"""A run, opened to be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from advisor.database.connect import open_for_reading
from advisor.database.planning import plan_for
from advisor.database.read import StoredRun, find_run

if TYPE_CHECKING:
    import duckdb


@contextmanager
def open_run(
    database: str, run: str, *, wait: float
) -> Iterator[tuple[duckdb.DuckDBPyConnection, StoredRun]]:
    """Yield a connection that may only read, and the run that ``run`` names.

    Raises:
        UsageError: there is no such run.
        DatabaseError: the database cannot be opened.
    """
    with open_for_reading(database, wait) as connection:
        found = find_run(connection, run)
        plan_for(connection, found.launches)
        yield connection, found
