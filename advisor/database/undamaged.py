"""Read all that a file holds: DuckDB compares the checksum of each block that it reads."""

from __future__ import annotations

from pathlib import Path

import duckdb

from advisor.database.planning import memory_limit
from advisor.database.waiting import RESTORE, first_line, is_damage
from advisor.errors import DatabaseError, Location
from advisor.quoting import literal, quoted

_TABLES = "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND NOT temporary"
_MEMORY = "24MB"  # unless a vector of rows takes more


def require_undamaged(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Read every row of every table of the file that is open, in little memory.

    Indexes are not read: what is in them is in the tables, too. It takes 2 s per GB, unless the
    disk takes longer.

    Raises:
        DatabaseError: a block holds other bytes than were written; ``path`` is its place.
    """
    usual = memory_limit(connection)
    connection.execute("SET threads = 1")
    try:
        for (table,) in connection.execute(_TABLES).fetchall():
            query = f"SELECT bit_xor(hash(everything)) FROM {quoted(table)} AS everything"
            _read(connection, query, usual)
    except duckdb.Error as error:
        problem = f"cannot be read: {first_line(error)}"
        if is_damage(error):
            problem = "is damaged: a block holds other bytes than were written"
        raise DatabaseError(problem, at=Location(name=str(path)), hint=RESTORE) from error
    connection.execute("RESET threads")


def _read(connection: duckdb.DuckDBPyConnection, query: str, usual: str) -> None:
    """Run a query, in the usual memory where little is not enough."""
    connection.execute(f"SET memory_limit = {literal(_MEMORY)}")
    try:
        connection.execute(query).fetchall()
    except duckdb.OutOfMemoryException:
        connection.execute(f"SET memory_limit = {literal(usual)}")
        connection.execute(query).fetchall()
    connection.execute(f"SET memory_limit = {literal(usual)}")
