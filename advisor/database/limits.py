"""What SQL of a user's own may do: one SELECT, for so long, in so much memory.

The file it reads is read-only and the only one (``connect.open_for_query``). Here is the rest.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator

import duckdb

from advisor.errors import Location, UsageError

VIEWS = "runs, launches, kernels, findings, devices, ceilings"
"""The views a query may name, for hints."""

_REFUSED = frozenset({"arrow_scan", "arrow_scan_dumb", "pandas_scan", "python_map_function"})
"""Table functions of the Python driver: they take addresses of memory and crash the process."""

_NESTED = frozenset({"query", "json_execute_serialized_sql"})
"""Table functions that run SQL which is not known before."""

_EXPLAIN = re.compile(r"\s*explain(\s+analyze)?\b", re.IGNORECASE)


def single_select(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """Return the one SELECT, or EXPLAIN of one, that a text holds.

    Raises:
        UsageError: wrong SQL, another statement, several, or a function that may not be called.
    """
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise refused(error) from error
    if len(statements) != 1:
        raise UsageError(f"expected one statement, found {len(statements)}")
    if statements[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise UsageError("only a SELECT can be asked", hint=f"the views are {VIEWS}")
    _require_harmless(connection, _EXPLAIN.sub("", sql, count=1))
    return statements[0]


def refused(error: duckdb.Error) -> UsageError:
    """Return what is wrong with a query, in DuckDB's words."""
    hint = f"the views are {VIEWS}; docs/schema.md names their columns"
    return UsageError(str(error).strip(), at=Location(name="query"), hint=hint)


@contextlib.contextmanager
def ended_after(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupt what runs on the connection after ``seconds``; 0 means never.

    Raises:
        UsageError: the time was up.
    """
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    if seconds:
        timer.start()
    try:
        yield
    except duckdb.InterruptException as error:
        if not timer.finished.is_set():  # somebody else interrupted it
            raise
        problem = f"the query did not end within {seconds:g} s"
        raise UsageError(
            problem, hint="ask for less, or give it longer: --timeout SECONDS"
        ) from error
    finally:
        timer.cancel()


def _require_harmless(connection: duckdb.DuckDBPyConnection, select: str) -> None:
    """Look for functions that may not be called, wherever the parser finds one."""
    [(text,)] = connection.execute("SELECT json_serialize_sql(?)", [select]).fetchall()
    tree = json.loads(text)
    if tree["error"]:
        raise UsageError(str(tree["error_message"]), at=Location(name="query"))
    if found := sorted(set(_functions(tree)) & (_REFUSED | _NESTED)):
        raise UsageError(f"a query may not call {found[0]}", hint=f"the views are {VIEWS}")


def _functions(tree: object) -> Iterator[str]:
    """Yield the names of all functions in a parsed statement, in small letters."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            name = node.get("function_name")
            if isinstance(name, str):
                yield name.lower()
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
