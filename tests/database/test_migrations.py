"""The recipe of ``migrations/README.md``, followed in a copy."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import duckdb
import pytest

from advisor.database import schema, upgrade
from advisor.errors import DatabaseError
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.quoting import quoted
from advisor.resources import data_dir
from migrations import freeze

SCRIPTS = Path(freeze.__file__).parent
NIGHT = data_dir("seed") / "runs" / "nightly" / "night-01.ncu-rep"
RECIPE = (SCRIPTS / "README.md").read_text(encoding="utf-8")

THIRD = '''
"""Measured ceilings of a run."""

import sqlalchemy as sa
from alembic import op

revision = "9003"
down_revision = "9002"


def upgrade() -> None:
    op.create_table(
        "run_ceiling",
        sa.Column("run_id", sa.String, nullable=False),
        sa.Column("resource", sa.String, nullable=False),
        sa.Column("value", sa.Double, nullable=False),
    )
    op.alter_column("run", "room", new_column_name="place")
    op.alter_column("run", "size", type_=sa.Double)
    op.drop_column("launch", "nvtx")
    op.rename_table("series", "old_series")
    op.execute(
        "CREATE TABLE series AS SELECT old_series.*, short_name"
        " FROM old_series JOIN kernel USING (kernel_id)"
    )
    op.drop_table("old_series")
'''


def as_in_the_recipe() -> str:
    """Return the migration that the recipe shows, as one that comes after the newest."""
    (code,) = re.findall(r"```python\n(.*?)```", RECIPE, re.DOTALL)
    code = "\n".join(line.removeprefix("   ") for line in code.splitlines())
    return code.replace('"0002"', '"9002"').replace('"0001"', repr(schema.revisions()[-1]))


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """Return a copy of the migrations that has the one of the recipe."""
    copy = tmp_path / "migrations"
    shutil.copytree(SCRIPTS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "versions" / "9002_room.py").write_text(as_in_the_recipe())
    return copy


def rows_of(path: Path, table: str, *columns: str) -> list[tuple[object, ...]]:
    names = ", ".join(map(quoted, columns)) or "*"
    with duckdb.connect(str(path), read_only=True) as connection:
        words = ("SELECT", names, "FROM", quoted(table), "ORDER BY ALL")
        return connection.execute(" ".join(words)).fetchall()


def columns_of(path: Path) -> dict[str, list[str]]:
    """Return the columns of every table but those that tell of the file itself."""
    query = (
        "SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns()"
        " WHERE NOT internal AND table_name NOT IN ('alembic_version', 'meta') GROUP BY ALL"
    )
    with duckdb.connect(str(path), read_only=True) as connection:
        return dict(connection.execute(query).fetchall())


def test_a_full_database_is_upgraded_by_a_second_and_a_third_migration(
    scripts: Path, tmp_path: Path
) -> None:
    path = tmp_path / "test.duckdb"
    list(ingest_paths(str(path), [str(NIGHT)], labels=RunLabels(tags=("a", "b")), wait=10))
    first = Path(shutil.copy(path, tmp_path / "first.duckdb"))
    assert upgrade.upgrade(path, scripts=scripts).after == "9002"
    for table, columns in columns_of(first).items():
        assert rows_of(path, table, *columns) == rows_of(first, table, *columns), table
    assert rows_of(path, "run", "room") == [("simulated",)]
    second = Path(shutil.copy(path, tmp_path / "second.duckdb"))
    (scripts / "versions" / "9003_ceilings.py").write_text(THIRD)
    assert upgrade.upgrade(path, scripts=scripts).after == "9003"
    for table, columns in columns_of(second).items():
        old = [column for column in columns if column != "nvtx"]
        new = ["place" if column == "room" else column for column in old]
        assert rows_of(path, table, *new) == rows_of(second, table, *old), table
    assert len(rows_of(path, "series", "short_name")) == 14
    assert rows_of(path, "run_ceiling") == []


def test_several_migrations_at_once_alter_one_table(scripts: Path, tmp_path: Path) -> None:
    (scripts / "versions" / "9003_ceilings.py").write_text(THIRD)
    path = tmp_path / "test.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute((freeze.RELEASED / "0001.sql").read_text())
    assert upgrade.upgrade(path, scripts=scripts).after == "9003"
    assert rows_of(path, "run", "run_id", "place", "size") == [("text", "text", 7.0)]


def test_an_update_before_a_change_of_its_table_is_refused(scripts: Path, tmp_path: Path) -> None:
    """The reason for what the recipe forbids; once DuckDB can do it, the recipe gets shorter."""
    code = as_in_the_recipe()
    other = re.sub(r'"ALTER TABLE run .*"', '"UPDATE run SET room = host"', code)
    assert other != code
    (scripts / "versions" / "9002_room.py").write_text(other)
    path = tmp_path / "test.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute((freeze.RELEASED / "0001.sql").read_text())
    with pytest.raises(DatabaseError, match="outstanding updates"):
        upgrade.upgrade(path, scripts=scripts)
    assert rows_of(path, "alembic_version") == [("0001",)]


def test_migrations_fill_columns_without_changing_rows() -> None:
    for path in (SCRIPTS / "versions").glob("*.py"):
        found = re.search(r"\b(UPDATE|DELETE)\b|\.update\(|\.delete\(", path.read_text())
        assert found is None, path


def test_one_command_keeps_the_new_schema(scripts: Path, tmp_path: Path) -> None:
    released = Path(shutil.copytree(freeze.RELEASED, tmp_path / "released"))
    assert freeze.freeze(scripts, released) == released / "9002.sql"
    assert "room VARCHAR NOT NULL" in (scripts / schema.NEWEST).read_text()
    path = tmp_path / "asset.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute((released / "9002.sql").read_text())
    assert upgrade.upgrade(path, scripts=scripts).backup is None
    for table in columns_of(path):
        (row,) = rows_of(path, table)
        assert None not in row, table
    assert "room" in columns_of(path)["run"]


def test_a_released_schema_stays_unless_it_never_was(scripts: Path, tmp_path: Path) -> None:
    (tmp_path / "released").mkdir()
    asset = freeze.freeze(scripts, tmp_path / "released")
    whole = asset.read_text()
    assert freeze.freeze(scripts, asset.parent) == asset  # it is the same: nothing to refuse
    asset.write_text("other")
    with pytest.raises(FileExistsError, match="write the next migration"):
        freeze.freeze(scripts, asset.parent)
    assert asset.read_text() == "other"
    freeze.freeze(scripts, asset.parent, unreleased=True)
    assert asset.read_text() == whole


def test_the_newest_schema_and_its_asset_are_what_the_migrations_make() -> None:
    asset = freeze.RELEASED / f"{schema.revisions()[-1]}.sql"
    made = freeze.newest()
    assert (SCRIPTS / schema.NEWEST).read_text() == made
    assert asset.read_text() == freeze.asset(made)


def test_an_unreleased_first_schema_follows_the_tables(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(SCRIPTS, tmp_path / "migrations"))
    first = copy / "versions" / "0001_first_schema.py"
    for path in (copy / "versions").glob("*.py"):
        path.unlink()
    first.write_text("")
    (tmp_path / "released").mkdir()
    freeze.freeze(copy, tmp_path / "released", unreleased=True)
    assert first.read_text() == freeze.first_migration()


@pytest.mark.parametrize(("words", "status"), [(["--help"], 2), (["--unreleased", "x"], 2)])
def test_other_words_are_refused(
    words: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert freeze.main(words) == status
    assert "usage" in capsys.readouterr().err
