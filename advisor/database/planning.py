"""What a statement may take: how long the database plans it, and in how much memory it runs."""

from __future__ import annotations

import contextlib

import duckdb

_FEW = 2_000  # launches; below, a statement takes longer to plan than to run
_LEFT_OUT = (
    "common_subexpressions,common_subplan,expression_rewriter,in_clause,statistics_propagation"
)
_KEPT = "80MB"  # rows that are not on the disk yet stay: each block of them would become a file
_GIVEN_BACK = "allocator_bulk_deallocation_flush_threshold = '1MB'"


def plan_for(connection: duckdb.DuckDBPyConnection, launches: int) -> None:
    """Have the statements that follow planned for so many launches: quickly for few of them."""
    few = launches < _FEW
    if few:
        connection.execute("SET threads = 1")
    connection.execute(f"SET disabled_optimizers = '{_LEFT_OUT if few else ''}'")


def memory_limit(connection: duckdb.DuckDBPyConnection) -> str:
    """Return how much memory DuckDB may take, as it writes that."""
    return str(connection.execute("SELECT current_setting('memory_limit')").fetchall()[0][0])


def release_blocks(connection: duckdb.DuckDBPyConnection, limit: str) -> None:
    """Free memory that holds blocks which are on the disk too: DuckDB does so at its limit only.

    ``limit`` is what it is to be again afterwards. A cursor does it, because a failure would end
    the transaction. From here on what is freed goes back to the system at once: there is much.
    """
    connection.execute(f"SET {_GIVEN_BACK}")
    with connection.cursor() as other:
        with contextlib.suppress(duckdb.OutOfMemoryException):  # other things must stay
            other.execute(f"SET memory_limit = '{_KEPT}'")
        other.execute(f"SET memory_limit = '{limit}'")
