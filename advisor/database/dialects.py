"""One statement, spelled for another engine.

Facts and rules are written once, in DuckDB's spelling, out of constructs that mean the same on
every engine that is listed here; what one cannot say is an error, never left out.
"""

from __future__ import annotations


def spelled(sql: str, dialect: str) -> str:
    """Return a statement or expression of DuckDB's as ``dialect`` spells it.

    Raises:
        sqlglot.errors.UnsupportedError: that engine has nothing that means the same.
    """
    if dialect == "duckdb":
        return sql
    import sqlglot  # the open file needs none

    (statement,) = sqlglot.transpile(
        sql, read="duckdb", write=dialect, unsupported_level=sqlglot.ErrorLevel.RAISE
    )
    return statement
