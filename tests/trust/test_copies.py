"""Copies of a database: whole, verified, in little memory; and back in its place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from advisor.api.runs import remove_run
from advisor.database import pruning, upgrade
from advisor.database.connect import ROW_GROUP, open_for_reading, open_for_writing
from advisor.database.planning import memory_limit
from advisor.errors import DatabaseError

Contents = Callable[[Path, Path], object]
Start = Callable[..., "subprocess.Popen[str]"]
WholeRuns = Callable[[Path], set[str]]

LARGE = 96  # MB of a database
HEADERS = 3 * 4096  # bytes before the first block of a file
SPENT = """
import resource, sys
from advisor.database import pruning, upgrade
small, large = sys.argv[1:]
upgrade.backup(small, small + ".copy")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
upgrade.backup(large, large + ".copy")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
DIE = """
import os, signal, sys
import duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("PRAGMA disable_checkpoint_on_shutdown")
connection.execute("INSERT INTO meta VALUES ('in the log', 'x')")
os.kill(os.getpid(), signal.SIGKILL)
"""


def damage(database: Path) -> None:
    """Write other bytes into a block that holds durations of launches."""
    of_durations = "pragma_storage_info('launch') WHERE column_name = 'duration'"
    blocks = f"SELECT max(block_id) FROM {of_durations}"
    sizes = "SELECT block_size FROM pragma_database_size()"
    with duckdb.connect(str(database), read_only=True) as connection:
        (block,), (size,) = (connection.execute(each).fetchall()[0] for each in (blocks, sizes))
    with database.open("r+b") as file:
        file.seek(HEADERS + block * size + 100)
        file.write(b"damaged")


@pytest.fixture
def copy(stored: Path, tmp_path: Path) -> Path:
    return upgrade.backup(stored, tmp_path / "copy.duckdb")


def test_one_command_restores_a_copy(
    stored: Path,
    copy: Path,
    tmp_path: Path,
    start: Start,
    contents: Contents,
    whole_runs: WholeRuns,
) -> None:
    """The one that README and the command's help name."""
    database = upgrade.backup(stored, tmp_path / "runs.duckdb")
    lost = sorted(whole_runs(database))[0]
    remove_run(str(database), lost, wait=0)
    without = contents(database, database)
    process = start(database, "db", "restore", copy)
    out, err = process.communicate()
    assert process.returncode == 0, err
    (before,) = tmp_path.glob("runs.*.replaced.duckdb")
    assert out == f"{database}: restored from {copy}; the database before is {before}\n"
    assert contents(database, stored) == contents(stored, stored) == contents(copy, stored)
    assert contents(before, before) == without
    with open_for_writing(database, wait=0):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {database.name, before.name, copy.name}


def test_restores_what_is_missing_and_what_is_damaged(
    stored: Path, copy: Path, tmp_path: Path, contents: Contents
) -> None:
    database = tmp_path / "runs.duckdb"
    assert upgrade.restore(database, copy, wait=0) is None
    database.write_bytes(database.read_bytes()[:5000])
    before = upgrade.restore(database, copy, wait=0)
    assert before is not None
    assert before.stat().st_size == 5000
    assert contents(database, stored) == contents(stored, stored)


@pytest.mark.parametrize("what", ["text", "cut"])
def test_restores_nothing_that_is_no_database(what: str, copy: Path, database: Path) -> None:
    whole = copy.read_bytes()
    copy.write_bytes(b"no database" * 999 if what == "text" else whole[: len(whole) // 4])
    before = database.read_bytes()
    with pytest.raises(DatabaseError, match=r"copy\.duckdb"):
        upgrade.restore(database, copy, wait=0)
    assert database.read_bytes() == before


def test_restores_no_copy_with_a_damaged_block(copy: Path, database: Path) -> None:
    damage(copy)
    before = database.read_bytes()
    with pytest.raises(DatabaseError, match=r"copy\.duckdb: is damaged: a block holds other bytes"):
        upgrade.restore(database, copy, wait=0)
    assert database.read_bytes() == before
    assert {path.name for path in database.parent.iterdir()} == {database.name, copy.name}


def test_a_damaged_database_is_told_and_not_backed_up(
    stored: Path, tmp_path: Path, start: Start
) -> None:
    database = upgrade.backup(stored, tmp_path / "runs.duckdb")
    damage(database)
    restore = "put a backup in its place: advisor db restore COPY"
    for words, status in ((("db", "backup"), 4), (("doctor",), 1), (("runs", "prune"), 4)):
        process = start(database, *words, *(("--keep", "0") if "prune" in words else ()))
        out, err = process.communicate()
        assert process.returncode == status, out + err
        assert restore in out + err, words
        assert str(database) in out + err
        assert [path.name for path in tmp_path.iterdir()] == [database.name]


def test_restores_nothing_while_somebody_writes(copy: Path, database: Path) -> None:
    with open_for_writing(database), pytest.raises(DatabaseError, match=r"open already|locked by"):
        upgrade.restore(database, copy, wait=0)


def test_a_copy_holds_what_a_killed_writer_committed(database: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", DIE, str(database)], check=False)
    assert Path(f"{database}.wal").exists()
    copy = upgrade.backup(database, tmp_path / "copy.duckdb")
    assert not Path(f"{copy}.wal").exists()
    with duckdb.connect(str(copy), read_only=True) as connection:
        found = connection.execute("SELECT value FROM meta WHERE key = 'in the log'").fetchall()
    assert found == [("x",)]


def test_the_lock_holds_while_it_is_copied(
    database: Path, profiles: list[Path], tmp_path: Path, start: Start
) -> None:
    """Closing a descriptor of the file would give the lock away before the copy is whole."""
    told: list[int] = []

    def look(text: str) -> None:
        if text.startswith("comparing") and not told:
            process = start(database, "ingest", profiles[0], wait=0)
            _, err = process.communicate()
            assert "locked by process" in err
            told.append(process.returncode)

    upgrade.backup(database, tmp_path / "copy.duckdb", progress=look)
    assert told == [4]


def test_a_disk_that_gives_back_other_bytes_is_noticed(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(target: int, *_: object) -> None:
        os.pwrite(target, b"x", 8192)

    monkeypatch.setattr(os, "posix_fadvise", forgetful, raising=False)
    before = set(tmp_path.iterdir())
    with pytest.raises(DatabaseError, match="other bytes than were written"):
        upgrade.backup(database, tmp_path / "copy.duckdb")
    assert set(tmp_path.iterdir()) == before


def test_progress_is_told(database: Path, tmp_path: Path) -> None:
    told: list[str] = []
    upgrade.backup(database, tmp_path / "copy.duckdb", progress=told.append)
    size = database.stat().st_size / 1e3
    assert told[0].replace("\N{NO-BREAK SPACE}", " ") == f"100 % of {size:.3g} kB"
    assert told[-1].startswith("comparing ")


def test_a_copy_of_much_takes_little_memory(database: Path, tmp_path: Path) -> None:
    large = tmp_path / "large.duckdb"
    large.write_bytes(database.read_bytes())
    with duckdb.connect(str(large)) as connection:
        connection.execute("CREATE TABLE much AS SELECT hash(range) AS a FROM range(12_000_000)")
    assert large.stat().st_size > LARGE * 1e6 * 0.9
    command = [sys.executable, "-c", SPENT, str(database), str(large)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) * 1024 < 32e6  # a third of what is copied; it took 2.4 times as much


def test_a_file_is_compacted_in_bounded_memory(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without bounds, 5.1 GB of memory were taken for a file of 2.1 GB; with these 0.9 GB."""
    with open_for_writing(database) as connection:
        rows = f"SELECT 'r', 0, 'v', 'c', [range], [0] FROM range({2 * ROW_GROUP})"
        connection.execute(f"INSERT INTO variant_instruction {rows}")
    taken: list[str] = []
    copy_into = pruning._copy_into

    def copied(connection: duckdb.DuckDBPyConnection, path: Path, made: Path) -> None:
        taken.append(memory_limit(connection))
        copy_into(connection, path, made)

    monkeypatch.setattr(pruning, "_copy_into", copied)
    pruning.compact(database)
    assert taken == ["488.2 MiB"]
    with open_for_reading(database) as connection:
        rows = "SELECT count(DISTINCT row_group_id) FROM pragma_storage_info('variant_instruction')"
        assert connection.execute(rows).fetchall() == [(2,)]


def test_rows_that_need_more_memory_are_compacted_in_more(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_for_writing(database) as connection:
        rows = "SELECT 'r', 0, 'v', 'c', range(5_000), range(5_000) FROM range(200)"
        connection.execute(f"INSERT INTO variant_instruction {rows}")
    monkeypatch.setattr(pruning, "_MEMORY", "4MB")
    pruning.compact(database)
    with open_for_reading(database) as connection:
        query = "SELECT count(*), sum(len(addresses)) FROM variant_instruction"
        assert connection.execute(query).fetchall() == [(200, 1_000_000)]
    assert [each.name for each in database.parent.iterdir()] == [database.name]


def test_a_copy_is_never_written_over(database: Path, copy: Path) -> None:
    with pytest.raises(DatabaseError, match="exists already"):
        upgrade.backup(database, copy)
