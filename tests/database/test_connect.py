from __future__ import annotations

import contextlib
import math
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest

from advisor.database import schema
from advisor.database.connect import (
    STORAGE_VERSION,
    open_for_query,
    open_for_reading,
    open_for_writing,
)
from advisor.database.pruning import compact
from advisor.database.read import list_runs
from advisor.errors import DatabaseError

HANGS = "900"  # seconds after which nothing will come any more, on however busy a machine
HOLD = """
import sys, time
from advisor.database.connect import open_for_writing
with open_for_writing(sys.argv[1]) as connection:
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


@pytest.fixture
def holder(database: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that writes to the database until it is killed."""
    command = [sys.executable, "-c", HOLD, str(database), HANGS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("opened", [open_for_writing, open_for_reading, open_for_query])
def test_waits_and_then_names_the_process_that_holds_the_lock(
    opened, database: Path, holder: subprocess.Popen[str]
) -> None:
    began = time.monotonic()
    with pytest.raises(DatabaseError) as caught, opened(database, wait=0.5):
        pass
    assert time.monotonic() - began >= 0.5
    assert f"locked by process {holder.pid} (" in str(caught.value)
    assert database.name in caught.value.problem  # from the command line of the holder
    assert caught.value.hint is not None
    assert "--wait" in caught.value.hint


@pytest.mark.parametrize("wait", [float(HANGS), math.inf])
def test_gets_the_file_when_the_other_process_is_done(database: Path, wait: float) -> None:
    command = [sys.executable, "-c", HOLD, str(database), "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with open_for_writing(database, wait=wait):
            assert process.wait() == 0


def test_many_may_read_at_once(database: Path) -> None:
    code = HOLD.replace("open_for_writing", "open_for_reading")
    command = [sys.executable, "-c", code, str(database), HANGS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            with open_for_reading(database, wait=0) as connection:
                assert list_runs(connection) == []
        finally:
            process.kill()


def test_two_that_create_it_at_once_both_work(tmp_path: Path) -> None:
    path = tmp_path / "new.duckdb"
    code = """
import sys
from advisor.database.connect import open_for_writing
with open_for_writing(sys.argv[1], wait=900) as connection:
    connection.execute("INSERT INTO meta VALUES (?, 'x')", [sys.argv[2]])
"""
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(path), f"key {n}"]) for n in range(3)
    ]
    assert [process.wait() for process in started] == [0, 0, 0]
    with open_for_reading(path) as connection:
        keys = connection.execute("SELECT key FROM meta WHERE key LIKE 'key %'").fetchall()
    assert sorted(keys) == [("key 0",), ("key 1",), ("key 2",)]
    assert [entry.name for entry in tmp_path.iterdir()] == ["new.duckdb"]


@pytest.mark.parametrize("pause", [0.1, 0.2, 0.4])
def test_a_crash_while_creating_leaves_no_half_database(tmp_path: Path, pause: float) -> None:
    path = tmp_path / "new.duckdb"
    command = [sys.executable, "-c", HOLD, str(path), HANGS]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
    with open_for_writing(path) as connection:
        assert schema.revision_of(connection, path) == schema.revisions()[-1]


def test_leaves_nothing_behind_when_the_schema_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise DatabaseError("no")

    monkeypatch.setattr(schema, "make", fail)
    with pytest.raises(DatabaseError, match="no"), open_for_writing(tmp_path / "new.duckdb"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("opened", [open_for_reading, open_for_query])
def test_reading_makes_no_file(opened, tmp_path: Path) -> None:
    path = tmp_path / "new.duckdb"
    with pytest.raises(DatabaseError, match="no such database") as caught, opened(path):
        pass
    assert caught.value.hint is not None
    assert "advisor ingest" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [b"no database at all " * 1000, b"\0" * 9000, b"short"],
    ids=["text", "zeros", "short"],
)
def test_refuses_what_is_no_database(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.duckdb"
    path.write_bytes(content)
    for opened in (open_for_reading, open_for_writing):
        with pytest.raises(DatabaseError, match="not a valid DuckDB database"), opened(path):
            pass
    assert path.read_bytes() == content


def test_refuses_a_truncated_database(database: Path) -> None:
    whole = database.read_bytes()
    database.write_bytes(whole[: len(whole) // 4])
    with pytest.raises(DatabaseError, match=str(database)), open_for_reading(database):
        pass


def test_refuses_the_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE launch (a INTEGER)")
    for opened in (open_for_reading, open_for_writing):
        with pytest.raises(DatabaseError, match="not one that advisor made"), opened(path):
            pass


def test_says_that_a_file_is_of_sqlite(tmp_path: Path) -> None:
    sqlite3 = pytest.importorskip("sqlite3")
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE launch (a)")
    for opened in (open_for_reading, open_for_writing):
        with pytest.raises(DatabaseError, match="is a file of SQLite") as refused, opened(path):
            pass
        assert refused.value.hint == "choose another file with --db"


def test_refuses_another_alembic_schema(database: Path) -> None:
    with duckdb.connect(str(database)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'ae1027a6acf'")
    problem = "not one that advisor made"
    with pytest.raises(DatabaseError, match=problem), open_for_reading(database):
        pass


@pytest.mark.parametrize("place", ["missing/new.duckdb", "/proc/new.duckdb"])
def test_says_why_a_file_cannot_be_made(tmp_path: Path, place: str) -> None:
    problem = "cannot be made: No such file or directory"
    with pytest.raises(DatabaseError, match=problem), open_for_writing(tmp_path / place):
        pass


def test_says_that_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="is not a file"), open_for_writing(tmp_path):
        pass


def test_says_that_the_disk_does_not_take_it(database: Path) -> None:
    # A limit on the size of files stands in for a full disk: the write fails in the same place.
    code = """
import resource, signal, sys
from advisor.database.connect import open_for_writing
from advisor.errors import DatabaseError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    with open_for_writing(sys.argv[1]) as connection:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))
        connection.execute(
            "INSERT INTO meta SELECT md5(range::VARCHAR), repeat(md5(range::VARCHAR), 99)"
            " FROM range(100_000)"
        )
except DatabaseError as error:
    print(error, "|", error.hint)
"""
    answer = subprocess.run(
        [sys.executable, "-c", code, str(database)], capture_output=True, text=True, check=False
    )
    assert "reading or writing failed" in answer.stdout, answer.stderr
    assert "disk has room" in answer.stdout
    with open_for_writing(database) as connection:
        assert connection.execute("SELECT count(*) FROM meta").fetchone() == (1,)


def test_of_a_full_disk_no_more_is_told_than_that(database: Path) -> None:
    problem = "TransactionContext Error: Failed to commit: No space left on device. Invalidated!"

    def fail() -> None:
        with open_for_writing(database):
            raise duckdb.TransactionException(problem)

    with pytest.raises(DatabaseError, match=r"failed: No space left on device$"):
        fail()


def test_makes_the_file_that_a_link_names(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link = tmp_path / "link.duckdb"
    link.symlink_to(tmp_path / "far" / "real.duckdb")
    with open_for_writing(link) as connection:
        assert connection.execute("SELECT count(*) FROM run").fetchone() == (0,)
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["real.duckdb"]
    assert link.is_symlink()


def test_two_threads_of_a_process_may_write(database: Path) -> None:
    def write(key: str) -> None:
        with open_for_writing(database) as connection:
            connection.execute("INSERT INTO meta VALUES (?, 'x')", [key])

    threads = [threading.Thread(target=write, args=(f"key {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_for_reading(database) as connection:
        assert connection.execute("SELECT count(*) FROM meta").fetchone() == (5,)


def test_keeps_what_memory_does_not_hold_beside_the_database(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with open_for_writing(database) as connection:
        connection.execute("SET memory_limit = '40MB'")
        numbers = "SELECT hash(range) AS number FROM range(5_000_000) ORDER BY number"
        connection.execute(f"CREATE TEMP TABLE sorted AS {numbers}")
        assert Path(f"{database}.tmp").is_dir()
    assert list(elsewhere.iterdir()) == []


def test_a_commit_describes_only_what_changed(database: Path) -> None:
    """Files of DuckDB's older versions have every column described anew by each commit.

    With 981,960 launches that took 0.9 s of processor time, whatever was written; else 0.06 s.
    """

    def version() -> str:
        with open_for_reading(database) as connection:
            query = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal"
            return str(connection.execute(query).fetchall()[0][0])

    with open_for_writing(database):
        pass
    assert version() == f"{STORAGE_VERSION}+"
    compact(database)
    assert version() == f"{STORAGE_VERSION}+"


def test_what_is_not_committed_is_rolled_back(database: Path) -> None:
    with open_for_writing(database) as connection:
        connection.begin()
        connection.execute("INSERT INTO meta VALUES ('a', 'b')")
    with open_for_reading(database) as connection:
        assert connection.execute("SELECT value FROM meta WHERE key = 'a'").fetchone() is None


FORBIDDEN = [
    "INSERT INTO meta VALUES ('a', 'b')",
    "CREATE TABLE t (a INTEGER)",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM '{file}'",
    "SELECT * FROM glob('{folder}/*')",
    "COPY meta TO '{folder}/stolen.csv'",
    "EXPORT DATABASE '{folder}/stolen'",
    "ATTACH '{folder}/other.duckdb'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{file}'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET lock_configuration",
    "SET autoinstall_known_extensions = true",
    "PRAGMA temp_directory='{folder}'",
    "SELECT * FROM frame",
    "SELECT getenv('HOME')",
]


@pytest.mark.parametrize("sql", FORBIDDEN)
def test_a_query_reaches_nothing_but_the_database(sql: str, database: Path, tmp_path: Path) -> None:
    frame = {"a": np.array([1])}  # DuckDB would find this variable, did the settings let it
    file = tmp_path / "secret.csv"
    file.write_text("secret\n1\n")
    with open_for_query(database) as connection, pytest.raises(duckdb.Error):
        connection.execute(sql.format(file=file, folder=tmp_path)).fetchall()
    assert frame
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["secret.csv", "test.duckdb"]


def test_a_query_may_read_and_make_temporary_views(database: Path) -> None:
    with open_for_query(database) as connection:
        connection.execute("CREATE TEMP VIEW v AS SELECT key FROM meta")
        assert connection.execute("SELECT key FROM v").fetchall() == [("schema_written_by",)]
