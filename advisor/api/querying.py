"""Read-only SQL over the documented views."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb

from advisor.configuration import DEFAULTS, Configuration
from advisor.database.connect import open_for_query
from advisor.database.records import storable
from advisor.errors import Location, UsageError
from advisor.facts import create_views
from advisor.knowledge.load import load_facts

_BATCH = 1_000
_VIEWS = "runs, launches, kernels, findings, devices, ceilings"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Columns and a stream of rows, to be read before the context ends."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


@contextmanager
def run_query(
    database: str, sql: str, *, wait: float, configuration: Configuration = DEFAULTS
) -> Iterator[Answer]:
    """Give the answer to one SELECT; the file is read-only and nothing else can be reached.

    The facts of configured directories are columns like the shipped ones.

    Raises:
        UsageError: the SQL is wrong, tries to change something, or is more than one statement.
        DatabaseError: the database cannot be opened.
    """
    with open_for_query(database, wait) as connection:
        statement = _single_select(connection, storable(sql))
        create_views(connection, load_facts(configuration))
        try:
            cursor = connection.execute(statement)
            columns = tuple(column[0] for column in cursor.description or ())
            yield Answer(columns=columns, rows=_rows(cursor))
        except duckdb.Error as error:
            raise _refused(error) from error


def _single_select(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise _refused(error) from error
    if len(statements) != 1:
        raise UsageError(f"expected one statement, found {len(statements)}")
    if statements[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise UsageError("only a SELECT can be asked", hint=f"the views are {_VIEWS}")
    return statements[0]


def _rows(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while batch := cursor.fetchmany(_BATCH):
        yield from batch


def _refused(error: duckdb.Error) -> UsageError:
    text = str(error).strip()
    hint = f"the views are {_VIEWS}; docs/schema.md names their columns"
    return UsageError(text, at=Location(name="query"), hint=hint)
