"""A run, opened to be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from advisor.database.connect import open_for_reading
from advisor.database.read import Run, find_run

if TYPE_CHECKING:
    import duckdb

_FEW = 2_000  # launches; below, a statement takes longer to plan than to run
_PLAN_QUICKLY = (
    "SET threads = 1",
    "SET disabled_optimizers ="
    " 'common_subexpressions,common_subplan,expression_rewriter,statistics_propagation'",
)


@contextmanager
def open_run(
    database: str, run: str, *, wait: float
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Run]]:
    """Yield a connection that may only read, and the run that ``run`` names.

    Raises:
        UsageError: there is no such run.
        DatabaseError: the database cannot be opened.
    """
    with open_for_reading(database, wait) as connection:
        found = find_run(connection, run)
        if found.launches < _FEW:
            for setting in _PLAN_QUICKLY:
                connection.execute(setting)
        yield connection, found
