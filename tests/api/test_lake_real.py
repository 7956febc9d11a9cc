"""Real profiles through a lake: every answer equals that of the database, but for its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.database.connect import open_for_reading
from advisor.database.read import list_runs
from advisor.ingest.lake import add_database, add_profiles
from advisor.ingest.profiles import RunLabels, ingest_paths
from tests.cli.conftest import Run, advisor

__all__ = ["advisor"]  # the fixture

pytestmark = [pytest.mark.real, pytest.mark.slow]

LARGEST = 400_000  # bytes
EACH = 2
COMPARED = ("run", "launch", "variant", "finding", "kernel", "launch_keyed", "keyed_set")
UNLIKE = {
    "run": ("ingested_at", "skipped_reasons"),  # when; and where, with the profile's path
}


def spread(folder: Path) -> Iterator[Path]:
    """Yield a few files of a kind, as far apart as they are."""
    files = sorted(f for f in folder.rglob("*.*") if f.is_file() and f.stat().st_size < LARGEST)
    yield from files[:: max(len(files) // EACH, 1)][:EACH]


@pytest.fixture(scope="module")
def files(real_data: Path) -> list[str]:
    """Return files of each kind that is read."""
    kinds = ("ncu-rep", "ncu-csv", "ncu-text")
    return [str(file) for kind in kinds for file in spread(real_data / kind)]


@pytest.fixture(scope="module")
def both(files: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return a database of the files, and a lake of it."""
    folder = tmp_path_factory.mktemp("both")
    database, lake = str(folder / "real.duckdb"), str(folder / "lake")
    results = list(ingest_paths(database, files, labels=RunLabels(), wait=9))
    assert sum(result.status == "new" for result in results) >= 2 * EACH
    list(add_database(lake, database, wait=9))
    return database, f"lake:{lake}"


def test_reports_and_histories_are_equal(advisor: Run, both: tuple[str, str]) -> None:
    database, lake = both
    with open_for_reading(database) as connection:
        runs = [run.run_id for run in list_runs(connection)]
    asked = [("report", run, "--format", "json") for run in runs]
    asked += [("history", "--format", "json")]
    for words in asked:
        expected, found = advisor("--db", database, *words), advisor("--db", lake, *words)
        assert _plain(found.out, lake) == _plain(expected.out, database), words
        assert found.status == expected.status


def _plain(text: str, name: str) -> str:
    return re.sub(r'"written_at": ?[^,\n]*', "", text.replace(name, "DB"))


def test_profiles_that_are_added_alone_give_the_same_rows(
    files: list[str], both: tuple[str, str], tmp_path: Path
) -> None:
    database, _ = both
    lake = str(tmp_path / "alone")
    for file in files:
        list(add_profiles(lake, [file], labels=RunLabels(), wait=9))
    with (
        open_for_reading(database) as stored,
        open_for_reading(f"lake:{lake}") as found,
    ):
        for table in COMPARED:
            without = f"EXCLUDE ({', '.join(UNLIKE[table])})" if table in UNLIKE else ""
            query = f"SELECT * {without} FROM main.{table} ORDER BY ALL"
            rows = stored.execute(query).fetchall()
            assert found.execute(query).fetchall() == rows, table
