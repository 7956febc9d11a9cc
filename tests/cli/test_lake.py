"""``advisor lake``, and the reading commands over what it made."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from advisor.ingest.lake import add_database
from tests.cli.conftest import Run


@pytest.fixture(scope="session")
def lake_of_one(one_night: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a lake of the database with one profile; to copy."""
    folder = tmp_path_factory.mktemp("lake") / "lake"
    assert [each.status for each in add_database(str(folder), str(one_night), wait=0)] == ["new"]
    return folder


@pytest.fixture
def lake(filled: Run, lake_of_one: Path, tmp_path: Path) -> Path:
    """Return a lake of the test's own, of the database with one profile."""
    return Path(shutil.copytree(lake_of_one, tmp_path / "lake"))


def _lake(tmp_path: Path) -> str:
    return str(tmp_path / "lake")


def _plain(text: str, name: str) -> str:
    """Return an answer without the name of the database and the time of writing."""
    return re.sub(r'"written_at": ?[^,\n]*', "", text.replace(name, "DB"))


@pytest.mark.parametrize(
    "words",
    [
        ("report", "--format", "json"),
        ("show", "1"),
        ("history", "--format", "json"),
        ("runs", "list", "--format", "json"),
        ("runs", "show", "--format", "json"),
        ("query", "SELECT * FROM kernels ORDER BY ALL", "--format", "json"),
        ("query", "SELECT * FROM launches ORDER BY ALL", "--format", "json"),
        ("query", "SELECT * FROM findings ORDER BY ALL", "--format", "json"),
    ],
)
def test_reading_commands_answer_as_over_the_database(
    advisor: Run, lake: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    expected = advisor(*words)
    name = f"lake:{lake}"
    found = advisor("--db", name, *words)
    assert (found.status, expected.status) == (0, 0), found.err
    assert _plain(found.out, name) == _plain(expected.out, str(tmp_path / "test.duckdb"))


def test_a_database_is_added(filled: Run, tmp_path: Path) -> None:
    database, folder = str(tmp_path / "test.duckdb"), _lake(tmp_path)
    added = filled("lake", "add", "--from", database, "--lake", folder)
    assert added.status == 0, added.err
    words = ("runs", "list", "--format", "json")
    assert filled("--db", f"lake:{folder}", *words).out == filled(*words).out


def test_a_profile_is_added_once(advisor: Run, night: str, tmp_path: Path) -> None:
    words = ("lake", "add", night, "--label", "nightly", "--lake", _lake(tmp_path))
    first, second = advisor(*words), advisor(*words)
    assert (first.status, second.status) == (0, 0)
    assert first.out.startswith("new ")
    assert second.out.startswith("known ")
    assert first.out.split()[1:] == second.out.split()[1:]
    runs = advisor("--db", f"lake:{tmp_path / 'lake'}", "runs", "list", "--format", "json")
    (run,) = json.loads(runs.out)
    assert run["label"] == "nightly"
    assert not (tmp_path / "test.duckdb").exists()


def test_bundles_are_added(advisor: Run, night: str, tmp_path: Path) -> None:
    spool = str(tmp_path / "spool")
    assert advisor("ingest", night, "--spool", spool, "--label", "nightly").status == 0
    added = advisor("lake", "add", "--spool", spool, "--lake", _lake(tmp_path))
    assert (added.status, added.out[:4]) == (0, "new ")


def test_a_refused_profile_leaves_the_lake_as_it_was(advisor: Run, lake: Path) -> None:
    before = sorted(lake.rglob("*"))
    damaged = lake.parent / "damaged.ncu-rep"
    damaged.write_bytes(b"NVR\0\1\2\3")
    added = advisor("lake", "add", str(damaged), "--lake", str(lake))
    assert added.status == 3
    assert sorted(lake.rglob("*")) == before


def test_status_compact_remove_and_verify(advisor: Run, lake: Path) -> None:
    of_lake = ("--lake", str(lake))
    (row,) = json.loads(advisor("lake", "status", *of_lake, "--format", "json").out)
    assert (row["runs"], row["launches"], row["parts"]) == (1, 14, 1)
    assert advisor("lake", "compact", *of_lake).out.startswith("0 packs written")
    assert advisor("lake", "verify", *of_lake).out == "everything is as it was written\n"
    (file,) = lake.glob("runs/*/*/*/*/finding.parquet")
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    verified = advisor("lake", "verify", *of_lake)
    assert verified.status == 4
    assert "finding.parquet: its hash is not that of its manifest" in verified.err
    run_id = file.parent.parent.name.partition("=")[2]
    assert advisor("lake", "remove", run_id, *of_lake).out == f"removed {run_id}\n"
    emptied = advisor("lake", "status", *of_lake, "--format", "json")
    assert json.loads(emptied.out) == []
    assert "1 run removed" in emptied.err
    gone = advisor("lake", "remove", run_id, *of_lake)
    assert (gone.status, "there is no run" in gone.err) == (2, True)


def test_a_part_that_is_left_out_is_told_with_every_answer(
    advisor: Run, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (file,) = lake.glob("runs/*/*/*/*/launch.parquet")
    file.write_bytes(b"")
    assert advisor("--db", f"lake:{lake}", "runs", "list").status == 0
    assert "launch.parquet has 0 B of" in caplog.text


@pytest.mark.parametrize(
    "words",
    [
        ("ingest", "NIGHT"),
        ("ingest", "NIGHT", "--dry-run"),
        ("refresh",),
        ("db", "upgrade"),
        ("db", "backup"),
        ("db", "restore", "COPY"),
        ("runs", "prune", "--keep", "3"),
        ("runs", "prune", "--keep", "3", "--dry-run"),
    ],
)
def test_commands_that_write_refuse_a_lake(
    advisor: Run,
    lake: Path,
    night: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    places = {"NIGHT": night, "COPY": str(tmp_path / "test.duckdb")}
    given = [places.get(word, word) for word in words]
    refused = advisor("--db", f"lake:{lake}", *given)
    assert refused.status == 4
    assert "is a lake: this command needs a database file" in refused.err
    assert sorted(tmp_path.rglob("*")) == before


def test_doctor_examines_a_lake(advisor: Run, lake: Path) -> None:
    examined = advisor("--db", f"lake:{lake}", "doctor")
    assert examined.status == 0, examined.out
    assert f"lake:{lake}: 1 runs, 14 launches, " in examined.out
    (launches,) = lake.rglob("launch.parquet")
    launches.write_bytes(b"")
    examined = advisor("--db", f"lake:{lake}", "doctor")
    assert examined.status == 1
    (bad,) = [line for line in examined.out.splitlines() if line.startswith("BAD")]
    assert "1 part left out" in bad
    assert f"advisor lake status --lake {lake} names all" in bad


@pytest.mark.parametrize(
    ("words", "status", "problem"),
    [
        (("lake", "status"), 2, "which lake is meant?"),
        (("lake", "status", "--lake", "nowhere"), 4, "there is no such lake"),
        (("--db", "lake:nowhere", "report"), 4, "there is no such lake"),
        (("lake", "add", "--lake", "new"), 2, "name either profiles"),
        (("lake", "add", "a", "--from", "b", "--lake", "new"), 2, "name either profiles"),
        (("lake", "stats"), 2, "status"),
    ],
)
def test_what_cannot_be_is_refused(
    advisor: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    status: int,
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = advisor(*words)
    assert refused.status == status
    assert problem in refused.err
