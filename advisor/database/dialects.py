"""One statement, spelled for another engine.

Facts and rules are written once, in DuckDB's spelling, out of constructs that mean the same on
every engine that is listed here; what one cannot say is an error, never left out.
"""

from __future__ import annotations

_AS_IT_IS = ("duckdb", "sqlite")  # the second has the functions of the first (``few.FewRows``)


def spelled(sql: str, dialect: str) -> str:
    """Return a statement or expression of DuckDB's as ``dialect`` spells it.

    Raises:
        sqlglot.errors.UnsupportedError: that engine has nothing that means the same.
    """
    if dialect in _AS_IT_IS:
        return sql
    import sqlglot  # the open file needs none

    (statement,) = sqlglot.transpile(
        sql, read="duckdb", write=dialect, unsupported_level=sqlglot.ErrorLevel.RAISE
    )
    return statement
