"""Runs are made in a draft: the file is locked for the commit alone."""

from __future__ import annotations

import contextlib
import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from advisor.database import draft
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.write import tables_of_runs
from advisor.errors import DatabaseError
from advisor.ingest import batches, store
from advisor.ingest.batches import Ingested
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.ingest.records import HELD
from advisor.resources import data_dir

NIGHTS = data_dir("seed") / "runs" / "nightly"
FIRST, SECOND = NIGHTS / "night-01.ncu-rep", NIGHTS / "night-02.ncu-rep"
LAUNCHES = 14  # of a night


def ingested(database: Path, *paths: Path) -> list[Ingested]:
    return list(ingest_paths(str(database), [*map(str, paths)], labels=RunLabels(), wait=0))


@pytest.fixture
def database(one_night: Path, tmp_path: Path) -> Path:
    """Return a database of the first night, of the test's own."""
    return Path(shutil.copy(one_night, tmp_path / "advisor.duckdb"))


def runs(database: Path) -> int:
    """Return how many runs a reader sees, who does not wait."""
    with open_for_reading(database, wait=0) as connection:
        return len(connection.execute("SELECT run_id FROM run").fetchall())


def test_others_may_read_while_a_profile_is_read(database: Path) -> None:
    seen = []

    def look(progress: str) -> None:
        if "launches" in progress:  # the launches of the second night are in the draft
            seen.append(runs(database))

    results = list(
        ingest_paths(str(database), [str(SECOND)], labels=RunLabels(), wait=0, progress=look)
    )
    assert [each.status for each in results] == ["new"]
    assert seen
    assert set(seen) == {1}
    assert runs(database) == 2


def test_what_another_stores_meanwhile_is_known(database: Path) -> None:
    others: list[Ingested] = []

    def overtake(progress: str) -> None:
        if "launches" in progress and not others:
            others.extend(ingested(database, SECOND))

    results = list(
        ingest_paths(str(database), [str(SECOND)], labels=RunLabels(), wait=0, progress=overtake)
    )
    assert [each.status for each in others] == ["new"]
    assert [each.status for each in results] == ["known"]
    assert results[0].launches == LAUNCHES
    assert runs(database) == 2
    with open_for_reading(database) as connection:
        counted = connection.execute("SELECT count(*) FROM launch").fetchall()
    assert counted == [(2 * LAUNCHES,)]


def test_a_writer_is_waited_for_once_the_profile_was_read(database: Path) -> None:
    told: list[str] = []
    results = ingest_paths(
        str(database), [str(SECOND)], labels=RunLabels(), wait=0, progress=told.append
    )
    with open_for_writing(database), pytest.raises(DatabaseError, match="locked by"):
        list(results)
    assert runs(database) == 1


def test_a_core_is_taken_to_prepare_and_given_back_to_write(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    publish = store._publish

    @contextlib.contextmanager
    def take() -> Iterator[None]:
        told.append("prepares")
        yield
        told.append("has prepared")

    def write(*arguments: Any) -> None:
        told.append("writes")
        publish(*arguments)

    monkeypatch.setattr(store, "taking_a_core", take)
    monkeypatch.setattr(store, "_publish", write)
    ingested(database, SECOND)
    assert told == ["prepares", "has prepared", "writes"]


def test_profiles_that_were_unpacked_share_a_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = sorted((data_dir("seed") / "h200" / "full").glob("bank-conflicts-2-*.gz"))
    sizes = [len(gzip.decompress(path.read_bytes())) for path in packed]
    assert 2**20 < min(sizes) < max(sizes) < HELD
    drafts = []
    monkeypatch.setattr(
        batches,
        "open_draft",
        lambda *args, **options: drafts.append(args) or draft.open_draft(*args, **options),
    )
    results = ingested(tmp_path / "advisor.duckdb", *packed)
    assert [each.status for each in results] == ["new", "new"]
    assert len(drafts) == 1


def test_a_draft_in_a_file_gives_the_same_rows(
    one_night: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_file = tmp_path / "file.duckdb"
    monkeypatch.setattr(batches, "_IN_MEMORY", 0)
    monkeypatch.setattr(draft, "_AT_ONCE", 4)  # so that 14 launches are copied in four parts
    ingested(in_file, FIRST)
    assert [path.name for path in tmp_path.glob(".*")] == []
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"ATTACH '{one_night}' AS one (READ_ONLY)")
        connection.execute(f"ATTACH '{in_file}' AS other (READ_ONLY)")
        connection.execute("USE one")
        for table in tables_of_runs(connection):
            columns = "* EXCLUDE (ingested_at, tags)" if table == "run" else "*"
            for a, b in ((f"one.{table}", f"other.{table}"), (f"other.{table}", f"one.{table}")):
                query = f"SELECT {columns} FROM {a} EXCEPT ALL SELECT {columns} FROM {b}"
                assert connection.execute(query).fetchall() == [], table
        assert connection.execute("SELECT count(*) FROM other.launch").fetchall() == [(LAUNCHES,)]
