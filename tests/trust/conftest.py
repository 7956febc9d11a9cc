"""Profiles of the project's own, a database, and what must be true of it at any moment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.database.connect import open_for_reading, open_for_writing
from advisor.resources import data_dir

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="session")
def profiles() -> list[Path]:
    """Return the simulated nights, oldest first."""
    return sorted((data_dir("seed") / "runs" / "nightly").glob("*.ncu-rep"))


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty database to copy."""
    path = tmp_path_factory.mktemp("empty") / "empty.duckdb"
    with open_for_writing(path):
        pass
    return path


@pytest.fixture
def database(empty: Path, tmp_path: Path) -> Path:
    """Return a database of the test's own."""
    return Path(shutil.copy(empty, tmp_path / "test.duckdb"))


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Start ``advisor`` in a process of its own."""

    def started(database: Path, *words: object, wait: float = 120) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "advisor", "--db", database, "--wait", wait, *words]
        return subprocess.Popen(
            [str(word) for word in command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return started


@pytest.fixture(scope="session")
def whole_runs() -> Callable[[Path], set[str]]:
    """Return the runs of a database, after making sure that each is there with all it has."""

    def runs(database: Path) -> set[str]:
        with open_for_reading(database, wait=240) as connection:
            promised = dict(connection.execute("SELECT run_id, launches FROM run").fetchall())
            counted = "SELECT run_id, count(*) FROM launch GROUP BY run_id"
            found = dict(connection.execute(counted).fetchall())
            assert found == promised
            judged = connection.execute("SELECT DISTINCT run_id FROM finding").fetchall()
            assert {run_id for (run_id,) in judged} == set(promised)
            owned = "SELECT table_name FROM duckdb_columns() WHERE column_name = 'run_id'"
            for (table,) in connection.execute(owned).fetchall():
                query = f"SELECT DISTINCT run_id FROM {table}"
                others = {run_id for (run_id,) in connection.execute(query).fetchall()}
                assert others <= set(promised), table
        return set(promised)

    return runs
