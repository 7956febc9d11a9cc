"""How long the database thinks about a statement before it runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_FEW = 2_000  # launches; below, a statement takes longer to plan than to run
_LEFT_OUT = "common_subexpressions,common_subplan,expression_rewriter,statistics_propagation"


def plan_for(connection: duckdb.DuckDBPyConnection, launches: int) -> None:
    """Have the statements that follow planned for so many launches: quickly for few of them."""
    few = launches < _FEW
    if few:
        connection.execute("SET threads = 1")
    connection.execute(f"SET disabled_optimizers = '{_LEFT_OUT if few else ''}'")
