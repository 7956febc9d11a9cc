"""Databases and queries of strangers: they reach nothing, and they end."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from advisor.api.querying import TIMEOUT, run_query
from advisor.database.connect import (
    DEFAULT_MEMORY,
    create,
    open_for_reading,
    open_for_writing,
)
from advisor.database.limits import ended_after
from advisor.database.upgrade import backup, upgrade
from advisor.errors import DatabaseError, UsageError

HANGS = 120.0  # seconds after which nothing ends a query any more, on however busy a machine


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "made.duckdb"
    create(path)
    return path


@pytest.fixture
def database(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path))


def add(path: Path, sql: str) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(sql)


STORED = [
    "CREATE VIEW shadow AS SELECT * FROM read_text('/etc/hostname')",
    "CREATE MACRO lower(text) AS 'forged'",
    "CREATE MACRO kernels() AS TABLE SELECT 1",
]


@pytest.mark.parametrize("sql", STORED)
def test_a_file_with_stored_sql_is_refused(database: Path, sql: str) -> None:
    add(database, sql)
    for use in (open_for_reading, open_for_writing):
        with pytest.raises(DatabaseError, match="which advisor did not make"), use(database):
            pass
    with pytest.raises(DatabaseError, match="which advisor did not make"):
        upgrade(database)


def test_no_connection_reaches_another_file(database: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    for use in (open_for_reading, open_for_writing):
        with use(database) as connection, pytest.raises(duckdb.PermissionException):
            connection.execute(f"SELECT * FROM read_text('{secret}')")


def test_a_backup_runs_no_stored_view(database: Path, tmp_path: Path) -> None:
    add(database, f"CREATE VIEW shadow AS SELECT * FROM read_text('{tmp_path}/none')")
    assert backup(database, tmp_path / "copy.duckdb").exists()


def ask(
    database: Path, sql: str, *, timeout: float = TIMEOUT, memory: str = DEFAULT_MEMORY
) -> list[tuple[object, ...]]:
    with run_query(str(database), sql, wait=1, timeout=timeout, memory=memory) as answer:
        return list(answer.rows)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM arrow_scan(1, 2, 3)",
        'SELECT (SELECT max(i) FROM "ARROW_SCAN_DUMB"(1, 1, 1) AS t(i))',
        "WITH a AS (SELECT * FROM pandas_scan(1)) SELECT * FROM a",
        "EXPLAIN ANALYZE SELECT * FROM python_map_function(1)",
        "SELECT * FROM query('SELECT * FROM arrow' || '_scan(1, 2, 3)')",
        "SELECT * FROM json_execute_serialized_sql('{}')",
    ],
)
def test_functions_that_crash_or_hide_sql_are_refused(database: Path, sql: str) -> None:
    with pytest.raises(UsageError, match="may not call"):
        ask(database, sql)


def test_a_text_may_hold_their_names(database: Path) -> None:
    assert ask(database, "SELECT 'arrow_scan(1)'") == [("arrow_scan(1)",)]


ENDLESS = "SELECT count(*) FROM range(100000000000) AS a, range(1000000) AS b WHERE hash(a, b) = 1"


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt what nothing ended: to wait for ever would be no failure."""

    @contextlib.contextmanager
    def ended(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
        timer = threading.Timer(HANGS, connection.interrupt)
        timer.start()
        with contextlib.ExitStack() as stack:
            stack.callback(timer.cancel)
            stack.enter_context(ended_after(connection, seconds))
            yield

    monkeypatch.setattr("advisor.api.querying.ended_after", ended)


@pytest.mark.usefixtures("bounded")
def test_an_endless_query_ends(database: Path) -> None:
    with pytest.raises(UsageError, match=r"did not end within 0\.2 s") as caught:
        ask(database, ENDLESS, timeout=0.2)
    assert caught.value.hint is not None
    assert "--timeout" in caught.value.hint


@pytest.mark.usefixtures("bounded")
def test_endless_rows_end(database: Path) -> None:
    with pytest.raises(UsageError, match=r"did not end within 0\.2 s"):
        ask(
            database,
            "SELECT hash(range) FROM range(100000000000) WHERE hash(range) < 9",
            timeout=0.2,
        )


def test_a_query_takes_no_more_memory_than_it_may(database: Path) -> None:
    large = "SELECT len(list(range)) FROM range(100000000)"
    with pytest.raises(UsageError, match="more memory than 50MB"):
        ask(database, large, memory="50MB")


@pytest.mark.parametrize("memory", ["", "much", "-1", "10%", "1'; DROP TABLE run; --"])
def test_a_wrong_size_is_an_error_of_usage(database: Path, memory: str) -> None:
    with pytest.raises(UsageError, match="is no size of memory"):
        ask(database, "SELECT 1", memory=memory)
