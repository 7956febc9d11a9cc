"""Read-only SQL over the documented views."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

from advisor.configuration import DEFAULTS, Configuration
from advisor.database.connect import DEFAULT_MEMORY, open_for_query
from advisor.database.lake.place import is_lake
from advisor.database.limits import ended_after, refused, single_select
from advisor.database.questions import create_questions
from advisor.database.records import storable
from advisor.errors import UsageError
from advisor.facts import VIEWS, create_views
from advisor.knowledge.load import load_facts
from advisor.records import dataclass
from advisor.tracking.settings import load_settings

_BATCH = 1_000
_OF_CATALOG = "duckdb_"
"""How the functions begin that list views."""

TIMEOUT = 60.0
"""Seconds that a query may take by default."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Columns and a stream of rows, to be read before the context ends."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


@contextmanager
def run_query(
    database: str,
    sql: str,
    *,
    wait: float,
    configuration: Configuration = DEFAULTS,
    timeout: float = TIMEOUT,
    memory: str = DEFAULT_MEMORY,
) -> Iterator[Answer]:
    """Give the answer to one SELECT; the file is read-only and nothing else can be reached.

    The facts of configured directories are columns like the shipped ones. Computing the answer and
    reading it may take ``timeout`` seconds (0: any time) and ``memory``, such as "4GB".

    Raises:
        UsageError: the SQL is wrong, tries to change something, is more than one statement, or
            takes longer or more memory than it may.
        DatabaseError: the database cannot be opened.
    """
    with _asked(database, sql, wait, configuration, timeout, memory) as (connection, statement):
        cursor = connection.execute(statement)
        columns = tuple(column[0] for column in cursor.description or ())
        yield Answer(columns=columns, rows=_rows(cursor))


@contextmanager
def query_relation(
    database: str,
    sql: str,
    *,
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> Iterator[duckdb.DuckDBPyRelation]:
    """Give the answer to one SELECT, to be read before the context ends, as ``run_query`` does.

    Raises:
        UsageError: as ``run_query``.
        DatabaseError: as ``run_query``.
    """
    with _asked(database, sql, wait, configuration) as (connection, statement):
        if statement.type != duckdb.StatementType.SELECT:
            raise UsageError("only a SELECT can be asked here")
        yield connection.sql(statement)


@contextmanager
def _asked(
    database: str,
    sql: str,
    wait: float,
    configuration: Configuration,
    timeout: float = TIMEOUT,
    memory: str = DEFAULT_MEMORY,
) -> Iterator[tuple[duckdb.DuckDBPyConnection, duckdb.Statement]]:
    """Give a statement and what may run it; what goes wrong meanwhile is the query's error."""
    with open_for_query(database, wait, memory=memory) as connection:
        sql = storable(sql)
        statement = single_select(connection, sql)
        views = _views_of(connection, sql)
        create_views(connection, load_facts(configuration), views)
        if views is None and is_lake(database):
            settings = load_settings()
            create_questions(connection, settings.fewest_hosts, settings.fleet_days)
        try:
            with ended_after(connection, timeout):
                yield connection, statement
        except duckdb.OutOfMemoryException as error:
            problem = f"the query takes more memory than {memory}"
            raise UsageError(problem, hint="ask for less, or allow more: --memory SIZE") from error
        except duckdb.Error as error:
            raise refused(error) from error


def _views_of(connection: duckdb.DuckDBPyConnection, sql: str) -> set[str] | None:
    """Return the views that a SELECT reads, and None where it may ask for others as well.

    To make all takes longer than to answer most questions. Those of a lake alone are others.
    """
    try:
        tables = connection.get_table_names(sql)
    except duckdb.Error:  # what is wrong is said where it runs
        return None
    text = sql.lower()
    if not tables or not tables <= VIEWS or _OF_CATALOG in text:
        return None
    return {name for name in VIEWS if name in text}


def _rows(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while batch := cursor.fetchmany(_BATCH):
        yield from batch
