"""A database of the newest schema, and rows to put into it."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

import pytest

from advisor.database.connect import open_for_writing
from advisor.database.rows import RunRow


@pytest.fixture(scope="session")
def new_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty database to copy: making one takes longer than most tests."""
    path = tmp_path_factory.mktemp("new") / "new.duckdb"
    with open_for_writing(path):
        pass
    return path


@pytest.fixture
def database(new_database: Path, tmp_path: Path) -> Path:
    """Return a database of the test's own."""
    return Path(shutil.copy(new_database, tmp_path / "test.duckdb"))


@pytest.fixture
def run() -> RunRow:
    """Return a run of which little is known."""
    return RunRow(
        run_id="0123456789ab",
        content_hash="0123456789abcdef",
        format="test",
        ingested_at=datetime.fromisoformat("2026-11-20T12:00"),
        advisor_version="0.1.0",
    )
