"""A lake of Parquet files gives the rows of the database, whole or not at all, whoever writes."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

from advisor.database.connect import FETCHES_NOTHING, open_for_reading, opened
from advisor.database.lake.compact import compact
from advisor.database.lake.door import opened_beside
from advisor.database.lake.scan import Lake, scan
from advisor.database.lake.tables import Columns, columns_of
from advisor.database.lake.verify import damage, remove
from advisor.database.lake.write import (
    Unchanging,
    add_marks,
    add_run,
    make_lake,
    runs_of,
    writing,
)
from advisor.database.parts import findings_of_vendor
from advisor.database.tables import metadata
from advisor.errors import DatabaseError, UsageError
from advisor.ingest.lake import add_database
from advisor.ingest.profiles import RunLabels
from advisor.resources import data_dir
from tests.support.shared import ingest_nights

TABLES = sorted(set(metadata().tables) - {"meta"})
NIGHTS = 4
SEED = data_dir("seed") / "runs" / "nightly"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database of four nights, two of them in February, with a mark of each kind."""
    path = tmp_path_factory.mktemp("nights") / "nights.duckdb"
    days = enumerate(("01-30", "01-31", "02-01", "02-02"), start=1)
    ingest_nights(path, {n: RunLabels(at=datetime.fromisoformat(f"2026-{d}")) for n, d in days})
    with duckdb.connect(str(path)) as connection:
        now = "TIMESTAMP '2026-02-03'"
        connection.execute(
            f"INSERT INTO accepted SELECT series_id, 'x', 'meant', {now} FROM series LIMIT 1"
        )
        connection.execute(f"INSERT INTO series_link VALUES ('a', 'b', {now})")
        connection.execute(f"INSERT INTO calibration VALUES ('a', 7, 0.01, {now})")
    return path


@pytest.fixture(scope="module")
def made(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a lake of the runs of the database; only to read."""
    root = (tmp_path_factory.mktemp("lake") / "lake").resolve()
    make_lake(root)
    add_all(database, root)
    return root


@pytest.fixture
def lake(made: Path, tmp_path: Path) -> Path:
    """Return a lake of this test."""
    return Path(shutil.copytree(made, tmp_path / "lake")).resolve()


def add_all(database: Path, root: Path) -> list[bool]:
    """Add the runs of a database and its marks; return which runs were new."""
    with opened(database, wait=9, read_only=True, reaches_others=True) as connection:
        added = [add_run(connection, root, run_id) for run_id in runs_of(connection)]
        add_marks(connection, root)
    return added


def everything(path: str) -> dict[str, tuple[list[tuple[str, str]], list[tuple[object, ...]]]]:
    """Return the columns and the rows of each table."""
    with open_for_reading(path) as connection:
        return {
            table: (
                [row[:2] for row in connection.execute(f"DESCRIBE main.{table}").fetchall()],
                connection.execute(f"FROM main.{table} ORDER BY ALL").fetchall(),
            )
            for table in TABLES
        }


everything_once = cache(everything)
"""Of what nobody writes to."""


def rows(path: str, table: str) -> list[tuple[object, ...]]:
    """Return the rows of a table in an order of their own."""
    with open_for_reading(path) as connection:
        return connection.execute(f"FROM main.{table} ORDER BY ALL").fetchall()


def runs_in(lake: Path) -> int:
    """Return how many runs readers of a lake see."""
    with open_for_reading(f"lake:{lake}") as connection:
        ((runs,),) = connection.execute("SELECT count(*) FROM run").fetchall()
    return int(runs)


def folders(lake: Path) -> list[Path]:
    """Return the folders of single runs, in the order of their paths."""
    return sorted(lake.glob("runs/month=*/device=*/run_id=*/*"))


@pytest.mark.parametrize("table", TABLES)
def test_each_table_has_the_columns_and_rows_of_the_database(
    database: Path, made: Path, table: str
) -> None:
    found = everything_once(f"lake:{made}")[table]
    stored = everything_once(str(database))[table]
    assert found[0] == stored[0]
    assert found[1] == stored[1]


def test_a_run_is_named_after_its_content_and_partitioned(made: Path) -> None:
    months = sorted(path.name for path in (made / "runs").iterdir())
    assert months == ["month=2026-01", "month=2026-02"]
    (device,) = {path.parent.parent.name for path in folders(made)}
    assert device == "device=nvidia-a100-sxm4-80gb"
    for folder in folders(made):
        told = json.loads((folder / "manifest.json").read_text())["runs"][0]
        assert folder.name == f"{told['content_hash']}-0"
        assert folder.parent.name == f"run_id={told['content_hash'][:12]}"


def test_memory_of_a_database_is_given_back_while_its_runs_are_added(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []

    def watched(
        connection: duckdb.DuckDBPyConnection, root: Path, run_id: str, **more: Any
    ) -> bool:
        query = "SELECT memory_usage_bytes FROM duckdb_memory() WHERE tag = 'BASE_TABLE'"
        ((size,),) = connection.execute(query).fetchall()
        held.append(size)
        return add_run(connection, root, run_id, **more)

    monkeypatch.setattr("advisor.database.lake.write.add_run", watched)
    monkeypatch.setattr("advisor.ingest.lake._RELEASED", 2)
    monkeypatch.setattr("advisor.database.planning._KEPT", "1MB")  # this database is small
    list(add_database(str(tmp_path / "lake"), str(database), wait=9))
    assert len(held) == NIGHTS
    assert held[2] < held[1]


def test_row_groups_of_wide_tables_are_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.database.lake.write.ROW_GROUP", 2048)
    monkeypatch.setattr("advisor.database.lake.write._WIDE", 4096)
    make_lake(tmp_path)
    wide = {f"quantity_{number}": "DOUBLE" for number in range(100)}
    columns = Columns(of={"launch": wide, "run": {"run_id": "VARCHAR"}})
    with duckdb.connect() as connection, writing(connection, tmp_path, columns) as part:
        for table, groups in (("launch", 1), ("run", 2)):
            part.add(table, "FROM range(4096)", {})
            file = str(part.folder / f"{table}.parquet")
            asked = connection.execute(
                "SELECT num_row_groups FROM parquet_file_metadata(?)", [file]
            )
            assert asked.fetchall() == [(groups,)]


def test_a_process_of_a_pool_shows_no_progress(made: Path) -> None:
    program = """if True:
        import sys
        from pathlib import Path
        from advisor.database.lake.door import opened_beside
        from advisor.database.lake.scan import scan
        with opened_beside(scan(Path(sys.argv[1])), {}) as (connection, _):
            print(*connection.execute("SELECT current_setting('enable_progress_bar')").fetchone())
    """
    told = subprocess.run(
        [sys.executable, "-c", program, str(made)], capture_output=True, text=True, check=True
    )
    assert told.stdout == "False\n"


@pytest.mark.parametrize("together", [True, False])
def test_a_file_that_runs_share_is_written_once_unless_it_is_cut_off(
    database: Path, tmp_path: Path, together: bool
) -> None:
    make_lake(tmp_path / "lake")
    with opened(database, wait=9, read_only=True, reaches_others=True) as connection:
        first, second, third, *_ = runs_of(connection)
        same = Unchanging(columns=columns_of(connection)) if together else None
        add_run(connection, tmp_path / "lake", first, unchanging=same)
        (file,) = (tmp_path / "lake" / "shared" / "device").iterdir()
        before = file.stat()
        add_run(connection, tmp_path / "lake", second, unchanging=same)
        assert file.stat().st_ino == before.st_ino
        os.truncate(file, 9)
        add_run(connection, tmp_path / "lake", third, unchanging=same)
        assert file.stat().st_size == before.st_size
    assert not list(damage(scan(tmp_path / "lake")))


def test_what_nights_share_is_there_once(made: Path) -> None:
    assert len(list((made / "shared" / "device").iterdir())) == 1
    assert len(list((made / "shared" / "kernel").iterdir())) == 1


def test_added_twice_is_once(database: Path, lake: Path) -> None:
    before = sorted(path for path in lake.rglob("*.parquet") if "marks" not in path.parts)
    assert add_all(database, lake) == [False] * NIGHTS
    after = sorted(path for path in lake.rglob("*.parquet") if "marks" not in path.parts)
    assert after == before
    assert list((lake / "tmp").iterdir()) == []
    assert rows(f"lake:{lake}", "accepted") == rows(str(database), "accepted")


def test_writers_at_once_write_each_run_once(database: Path, tmp_path: Path) -> None:
    root = (tmp_path / "lake").resolve()
    added: list[list[bool]] = []

    def write() -> None:
        make_lake(root)
        added.append(add_all(database, root))

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(added) == len(writers)
    assert [sum(each) for each in zip(*added, strict=True)] == [1] * NIGHTS
    assert rows(f"lake:{root}", "launch") == rows(str(database), "launch")


def test_a_question_about_one_run_opens_its_file_alone(made: Path) -> None:
    with open_for_reading(f"lake:{made}") as connection:
        for which in ("run_id = ?", "list_contains([?], run_id)"):
            query = f"EXPLAIN ANALYZE SELECT sum(duration) FROM launch WHERE {which}"
            run_id = folders(made)[0].parent.name.partition("=")[2]
            plan = connection.execute(query, [run_id]).fetchall()[0][1]
            assert f"Scanning Files: 1/{NIGHTS}" in plan


def test_reaches_no_file_outside_of_the_lake(made: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a\n1\n")
    with open_for_reading(f"lake:{made}") as connection, pytest.raises(duckdb.PermissionException):
        connection.execute(f"FROM read_csv('{tmp_path / 'other.csv'}')")


def _lose(folder: Path) -> None:
    (folder / "launch.parquet").unlink()


def _cut(folder: Path) -> None:
    file = folder / "launch.parquet"
    file.write_bytes(file.read_bytes()[:100])


def _lose_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def _break_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def _from_the_future(folder: Path) -> None:
    told = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(told | {"format": 2, "advisor": "9.0"}))


def _lead_out(folder: Path) -> None:
    told = json.loads((folder / "manifest.json").read_text())
    told["tables"]["launch"]["path"] = "../../secret.parquet"
    (folder / "manifest.json").write_text(json.dumps(told))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_lose, "half-written: launch.parquet is missing"),
        (_cut, "half-written: launch.parquet has 100 B of"),
        (_lose_manifest, "half-written or foreign: it has no manifest"),
        (_break_manifest, "its manifest is no JSON"),
        (_from_the_future, "a newer advisor wrote it (9.0), install that"),
        (_lead_out, "its manifest names a file outside of the lake"),
    ],
)
def test_what_is_not_whole_is_left_out_and_named(
    lake: Path, change: object, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = folders(lake)[1]
    assert callable(change)
    change(folder)
    (left_out,) = scan(lake).left_out
    assert left_out.place == str(folder.relative_to(lake))
    assert left_out.reason.startswith(reason)
    assert runs_in(lake) == NIGHTS - 1
    assert left_out.place in caplog.text


def test_what_is_foreign_is_named(lake: Path) -> None:
    (lake / "runs" / "month=2026-01" / "notes").mkdir()
    (lake / "runs" / "readme.txt").write_text("hello")
    (lake / "runs" / "old").mkdir()
    (lake / "runs" / "old" / "data").mkdir()
    places = {each.place for each in scan(lake).left_out}
    assert places == {"runs/month=2026-01/notes", "runs/old/data"}
    assert runs_in(lake) == NIGHTS


def test_of_two_versions_of_a_run_one_is_read_and_the_other_named(lake: Path) -> None:
    first = folders(lake)[0]
    other = lake / "runs" / "month=2025-12" / first.parent.parent.name / first.parent.name
    shutil.copytree(first, other / first.name)
    manifest = other / first.name / "manifest.json"
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(told | {"written_at": "2099-01-01T00:00:00+00:00"}))
    (left_out,) = scan(lake).left_out
    assert left_out.place == str((other / first.name).relative_to(lake))
    assert "another version of run" in left_out.reason
    assert runs_in(lake) == NIGHTS


def test_a_compacted_lake_has_the_same_rows_in_fewer_files(database: Path, lake: Path) -> None:
    done = compact(lake, FETCHES_NOTHING)
    assert (done.packs, done.runs, done.deleted, done.left_out) == (2, NIGHTS, 0, ())
    assert len(scan(lake).parts) == 2
    found, stored = everything(f"lake:{lake}"), everything_once(str(database))
    for table in TABLES:
        assert found[table] == stored[table], table
    assert compact(lake, FETCHES_NOTHING).packs == 0
    assert add_all(database, lake) == [False] * NIGHTS


def test_compact_opens_a_lake_once_and_keeps_nothing_of_its_files(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[int]] = []

    @contextmanager
    def watched(
        found: Lake, settings: Mapping[str, bool | int]
    ) -> Iterator[tuple[duckdb.DuckDBPyConnection, Columns]]:
        query = "SELECT memory_usage_bytes FROM duckdb_memory() WHERE tag = 'EXTERNAL_FILE_CACHE'"
        with opened_beside(found, settings) as given:
            yield given
            kept.extend(given[0].execute(query).fetchall())

    monkeypatch.setattr("advisor.database.lake.compact.opened_beside", watched)
    assert compact(lake, FETCHES_NOTHING).packs == 2
    assert compact(lake, FETCHES_NOTHING).packs == 0
    assert kept == [(0,)]


def test_a_pack_holds_for_runs_whose_clock_was_ahead(lake: Path) -> None:
    for folder in folders(lake):
        told = json.loads((folder / "manifest.json").read_text())
        ahead = json.dumps(told | {"written_at": "2099-01-01T00:00:00+00:00"})
        (folder / "manifest.json").write_text(ahead)
    compact(lake, FETCHES_NOTHING)
    shutil.rmtree(lake / "tmp")
    run_id = folders(lake)[0].parent.name.partition("=")[2]
    remove(lake, run_id)
    assert compact(lake, FETCHES_NOTHING).runs == 1  # the other of its month
    assert compact(lake, FETCHES_NOTHING).packs == 0
    assert runs_in(lake) == NIGHTS - 1


def test_who_reads_goes_on_while_a_lake_is_compacted(lake: Path) -> None:
    with open_for_reading(f"lake:{lake}") as connection:
        compact(lake, FETCHES_NOTHING)
        compact(lake, FETCHES_NOTHING)
        ((launches,),) = connection.execute("SELECT count(*) FROM launch").fetchall()
        assert launches == NIGHTS * 14
    assert compact(lake, FETCHES_NOTHING, grace=0).deleted == NIGHTS
    assert folders(lake) == []
    assert runs_in(lake) == NIGHTS


def test_a_reader_whose_files_are_gone_is_told(lake: Path) -> None:
    def read() -> None:
        with open_for_reading(f"lake:{lake}") as connection:
            compact(lake, FETCHES_NOTHING)
            compact(lake, FETCHES_NOTHING, grace=0)
            connection.execute("SELECT count(*) FROM launch").fetchall()

    with pytest.raises(DatabaseError, match="a file cannot be read") as caught:
        read()
    assert "repeat" in str(caught.value.hint)


def test_a_partition_that_another_process_compacts_is_named(lake: Path) -> None:
    (lake / "compacting").mkdir()
    lock = lake / "compacting" / "2026-01 nvidia-a100-sxm4-80gb"
    lock.write_text(json.dumps({"host": "elsewhere", "process": 7}))
    done = compact(lake, FETCHES_NOTHING)
    assert done.packs == 1
    (left_out,) = done.left_out
    assert left_out.reason == "process 7 on elsewhere compacts it"
    assert runs_in(lake) == NIGHTS


def test_the_lock_of_a_dead_process_holds_nobody_up(lake: Path) -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    (lake / "compacting").mkdir()
    lock = lake / "compacting" / "2026-01 nvidia-a100-sxm4-80gb"
    lock.write_text(json.dumps({"host": socket.gethostname(), "process": child}))
    assert compact(lake, FETCHES_NOTHING).packs == 2


def test_a_removed_run_is_gone_and_can_be_added_again(database: Path, lake: Path) -> None:
    run_id = folders(lake)[0].parent.name.partition("=")[2]
    compact(lake, FETCHES_NOTHING)
    assert remove(lake, run_id[:8]) == run_id
    assert runs_in(lake) == NIGHTS - 1
    with open_for_reading(f"lake:{lake}") as connection:
        found = connection.execute("FROM launch WHERE run_id = ?", [run_id]).fetchall()
    assert found == []
    assert compact(lake, FETCHES_NOTHING).runs == 1  # the other of its month
    assert sorted(add_all(database, lake)) == [False] * (NIGHTS - 1) + [True]
    assert rows(f"lake:{lake}", "launch") == rows(str(database), "launch")


@pytest.mark.parametrize("wanted", ["", "zzz"])
def test_only_a_run_that_is_there_is_removed(lake: Path, wanted: str) -> None:
    with pytest.raises(UsageError, match="there is no run"):
        remove(lake, wanted)


def test_older_files_lack_columns_and_get_them_when_compacted(lake: Path) -> None:
    folder = folders(lake)[0]
    file, older = folder / "variant.parquet", folder / "older.parquet"
    with duckdb.connect() as connection:
        query = (
            f"SELECT * EXCLUDE (duration_first) FROM read_parquet('{file}', hive_partitioning=0)"
        )
        connection.execute(f"COPY ({query}) TO '{older}' (FORMAT parquet)")
    older.replace(file)
    told = json.loads((folder / "manifest.json").read_text())
    told["tables"]["variant"]["bytes"] = file.stat().st_size
    (folder / "manifest.json").write_text(json.dumps(told | {"columns": "older"}))
    run_id = folder.parent.name.partition("=")[2]
    query = f"SELECT count(*), count(duration_first) FROM variant WHERE run_id = '{run_id}'"
    for _ in range(2):
        with open_for_reading(f"lake:{lake}") as connection:
            ((variants, known),) = connection.execute(query).fetchall()
            assert (variants > 0, known) == (True, 0)
        assert compact(lake, FETCHES_NOTHING).left_out == ()


def test_verify_finds_every_changed_byte(lake: Path) -> None:
    assert list(damage(scan(lake))) == []
    file = folders(lake)[0] / "launch.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    (folders(lake)[1] / "more.parquet").write_text("foreign")
    (lake / "stranger").mkdir()
    found = {each.place: each.reason for each in damage(scan(lake))}
    assert found == {
        str(file.relative_to(lake)): "its hash is not that of its manifest",
        str((folders(lake)[1] / "more.parquet").relative_to(lake)): (
            "foreign: its manifest does not name it"
        ),
        "stranger": "no part of this lake",
    }


def test_marks_that_were_said_later_hold(database: Path, lake: Path, tmp_path: Path) -> None:
    later = Path(shutil.copy(database, tmp_path / "later.duckdb"))
    with duckdb.connect(str(later)) as connection:
        connection.execute("UPDATE series_link SET continued_by = 'c'")
    add_all(later, lake)
    links = rows(f"lake:{lake}", "series_link")
    assert [link[:2] for link in links] == [("a", "c")]


def test_a_folder_of_other_things_becomes_no_lake(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_text("mine")
    with pytest.raises(DatabaseError, match="other files"):
        make_lake(tmp_path)


@pytest.mark.parametrize(
    ("mark", "problem"),
    [(None, "there is no such lake"), ("?", "cannot be read"), ('{"format": 2}', "version 2")],
)
def test_what_is_no_lake_of_ours_is_refused(tmp_path: Path, mark: str | None, problem: str) -> None:
    if mark is not None:
        (tmp_path / "lake.json").write_text(mark)
    with pytest.raises(DatabaseError, match=problem):
        scan(tmp_path)


def test_the_vendors_messages_do_not_depend_on_the_order_of_rows(
    database: Path, tmp_path: Path
) -> None:
    """Two messages of one rule about one launch: title and text are of the one that counts more."""
    path = Path(shutil.copy(database, tmp_path / "messages.duckdb"))
    found = []
    with duckdb.connect(str(path)) as connection:
        ((run, launch, of_run),) = connection.execute(
            "SELECT run_id, launch_index, run_number FROM launch ORDER BY ALL LIMIT 1"
        ).fetchall()
        for order in ((1, 2), (2, 1)):
            connection.execute("DELETE FROM reference_finding")
            for number in order:
                connection.execute(
                    "INSERT INTO reference_finding BY NAME SELECT ? AS run_id, ? AS launch_index,"
                    " ? AS run_number, 'Stalls' AS rule, 'warning' AS severity,"
                    " ? AS title, ? AS text",
                    [run, launch, of_run, f"title {number}", f"{11 - number} sectors"],
                )
            (row,) = findings_of_vendor(connection, run)
            found.append((row["title"], row["text"]))
    assert found == [("title 1", "10 sectors")] * 2


@pytest.mark.parametrize(("most", "is_read_again"), [(200_000, False), (0, True)])
def test_small_tables_are_read_once(
    lake: Path, monkeypatch: pytest.MonkeyPatch, most: int, is_read_again: bool
) -> None:
    monkeypatch.setattr("advisor.database.lake.views._MOST_HELD", most)
    with open_for_reading(f"lake:{lake}") as connection:
        for file in lake.rglob("run.parquet"):
            file.write_bytes(b"nothing to read")
        told = pytest.raises(duckdb.InvalidInputException) if is_read_again else nullcontext()
        with told:
            assert connection.execute("SELECT count(*) FROM run").fetchall() == [(NIGHTS,)]
            connection.execute("SELECT max(started_at) FROM run").fetchall()
