from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import alembic.migration
import duckdb
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from duckdb_sqlalchemy.datatypes import Map

from advisor.api.checks import examine
from advisor.api.storage import current_revision
from advisor.database import schema, upgrade
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.read import list_runs
from advisor.database.rows import RunRow
from advisor.database.tables import metadata
from advisor.database.write import insert_rows
from advisor.errors import DatabaseError
from advisor.quantities import load_quantities

RELEASED = sorted((Path(__file__).parent / "released").glob("*.sql"))


def spelled(kind: object) -> str:
    """Return the type as DuckDB spells it; the dialect calls one type by several classes."""
    return "DOUBLE" if isinstance(kind, sa.Double) else str(kind)


def differs(
    _context: object, _column: object, _described: object, found: object, meant: object
) -> bool | None:
    """Compare maps by what they hold; alembic takes any two Map objects for unlike."""
    if isinstance(found, Map) and isinstance(meant, Map):
        pairs = ((found.key_type, meant.key_type), (found.value_type, meant.value_type))
        return any(spelled(one) != spelled(other) for one, other in pairs)
    return None


def test_head_equals_the_tables(database: Path) -> None:
    engine = sa.create_engine(f"duckdb:///{database}", poolclass=sa.pool.NullPool)
    with engine.connect() as connection:
        context = alembic.migration.MigrationContext.configure(
            connection, opts={"compare_type": differs}
        )
        found = compare_metadata(context, metadata())
    changes = [change for step in found for change in (step if isinstance(step, list) else [step])]
    # Meanings and units live in tables.py only, so that rewording one needs no migration.
    assert [change for change in changes if change[0] != "modify_comment"] == []
    engine.dispose()


def test_head_has_the_columns_and_types_of_the_tables_in_their_order(database: Path) -> None:
    query = (
        "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns"
        " WHERE table_name <> 'alembic_version' ORDER BY table_name, ordinal_position"
    )
    engine = sa.create_engine("duckdb:///:memory:", poolclass=sa.pool.StaticPool)
    metadata().create_all(engine)
    with engine.connect() as made:
        expected = [tuple(row) for row in made.exec_driver_sql(query).fetchall()]
    engine.dispose()
    with duckdb.connect(str(database), read_only=True) as connection:
        assert connection.execute(query).fetchall() == expected


def test_every_column_says_what_it_means() -> None:
    columns = [column for table in metadata().tables.values() for column in table.columns]
    assert [str(column) for column in columns if not column.comment] == []
    dram_bytes = metadata().tables["launch"].columns["dram_bytes"]
    assert dram_bytes.comment is not None
    assert dram_bytes.comment.endswith("[B]")


def test_launch_has_a_column_for_each_quantity_and_remembered_source() -> None:
    columns = metadata().tables["launch"].columns
    for quantity in load_quantities().quantities.values():
        assert quantity.name in columns
        assert (f"{quantity.name}_source" in columns) == quantity.remember_source


def test_values_of_a_device_have_their_column() -> None:
    wanted = {q.attribute for q in load_quantities().device.values() if q.attribute}
    assert wanted <= set(metadata().tables["device"].columns.keys())


def test_uses_no_foreign_key_index_or_check(database: Path) -> None:
    with duckdb.connect(str(database), read_only=True) as connection:
        kinds = connection.execute(
            "SELECT DISTINCT constraint_type FROM duckdb_constraints()"
        ).fetchall()
        indexes = connection.execute("SELECT count(*) FROM duckdb_indexes()").fetchone()
    assert {kind for (kind,) in kinds} == {"PRIMARY KEY", "NOT NULL"}
    assert indexes == (0,)


@pytest.mark.parametrize("asset", RELEASED, ids=lambda path: path.stem)
def test_upgrades_every_released_schema_and_uses_it(
    asset: Path, tmp_path: Path, run: RunRow
) -> None:
    path = tmp_path / "old.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(asset.read_text())
    upgrade.upgrade(path)
    with open_for_writing(path) as connection:
        insert_rows(connection, "run", [run])
        assert {found.run_id for found in list_runs(connection)} == {"text", run.run_id}
        old = connection.execute("SELECT duration, counter_values, flags FROM launch").fetchall()
    assert old == [(0.5, [0.5], ["text"])]


def test_keeps_an_asset_of_every_revision() -> None:
    assert tuple(path.stem for path in RELEASED) == schema.revisions()


def test_opening_a_database_imports_neither_alembic_nor_sqlalchemy(database: Path) -> None:
    code = (
        "import sys; from advisor.database.connect import open_for_writing\n"
        f"with open_for_writing({str(database)!r}): pass\n"
        "print({'alembic', 'sqlalchemy'} & set(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "set()"


def with_revision(path: Path, revision: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [revision])
        connection.execute("UPDATE meta SET value = '9.8.7'")
    return path


@pytest.mark.parametrize("opened", [open_for_reading, open_for_writing])
def test_names_the_command_that_upgrades_an_older_file(opened, database: Path) -> None:
    path = with_revision(database, "0000")
    with pytest.raises(DatabaseError, match="has schema 0000") as caught, opened(path):
        pass
    assert caught.value.hint == f"run: advisor --db {path} db upgrade"


@pytest.mark.parametrize("opened", [open_for_reading, open_for_writing])
def test_names_the_version_that_a_newer_file_needs(opened, database: Path) -> None:
    path = with_revision(database, "9999")
    with pytest.raises(DatabaseError, match="has schema 9999") as caught, opened(path):
        pass
    assert caught.value.hint == "install advisor 9.8.7 or newer"
    with pytest.raises(DatabaseError, match="has schema 9999"):
        upgrade.upgrade(path)


SECOND = """
import sqlalchemy as sa
from alembic import op
revision = "9002"
down_revision = {head!r}
def upgrade() -> None:
    op.add_column("run", sa.Column("mood", sa.String))
    {then}
"""


def scripts_with_one_more(folder: Path, then: str = "") -> Path:
    real = Path(schema.data_dir("migrations"))
    (folder / "versions").mkdir(parents=True)
    for path in (real / "env.py", *(real / "versions").glob("*.py")):
        (folder / path.relative_to(real)).write_text(path.read_text())
    code = SECOND.format(head=schema.revisions()[-1], then=then)
    (folder / "versions" / "9002_mood.py").write_text(code)
    return folder


def test_upgrade_keeps_a_copy_and_every_row(database: Path, tmp_path: Path, run: RunRow) -> None:
    with open_for_writing(database) as connection:
        insert_rows(connection, "run", [run])
    done = upgrade.upgrade(database, scripts=scripts_with_one_more(tmp_path / "100 %" / "scripts"))
    assert (done.before, done.after) == (schema.revisions()[-1], "9002")
    with duckdb.connect(str(database)) as connection:
        query = "SELECT run_id, mood FROM run"
        assert connection.execute(query).fetchall() == [(run.run_id, None)]
    assert done.backup is not None
    with open_for_reading(done.backup) as connection:
        assert [found.run_id for found in list_runs(connection)] == [run.run_id]


def test_a_failed_upgrade_changes_nothing(database: Path, tmp_path: Path) -> None:
    scripts = scripts_with_one_more(tmp_path / "s", then='op.execute("SELECT * FROM nowhere")')
    with pytest.raises(DatabaseError, match="nowhere"):
        upgrade.upgrade(database, scripts=scripts)
    assert upgrade.current(database).revision == schema.revisions()[-1]
    with open_for_reading(database) as connection:
        names = [row[0] for row in connection.execute("DESCRIBE run").fetchall()]
    assert "mood" not in names


def test_upgrade_of_a_current_file_does_nothing(database: Path) -> None:
    assert upgrade.upgrade(database).backup is None
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_backup_goes_where_it_is_told_but_over_nothing(database: Path, tmp_path: Path) -> None:
    to = tmp_path / "copy it's.duckdb"
    assert upgrade.backup(database, to) == to
    with open_for_reading(to) as connection:
        assert list_runs(connection) == []
    with pytest.raises(DatabaseError, match="exists already"):
        upgrade.backup(database, to)


@pytest.mark.parametrize("name", ["backup_copy", "copy of x", "memory"])
def test_a_database_may_have_any_name(database: Path, tmp_path: Path, name: str) -> None:
    named = database.rename(database.with_name(f"{name}.duckdb"))
    with open_for_reading(upgrade.backup(named, tmp_path / "copy.duckdb")) as connection:
        assert list_runs(connection) == []


def test_an_unknown_schema_is_not_upgraded(database: Path) -> None:
    path = with_revision(database, "0000")
    with pytest.raises(DatabaseError, match=r"to the newest schema: .*0000"):
        upgrade.upgrade(path)


@pytest.mark.parametrize(("revision", "state"), [("0000", "older"), ("9999", "newer")])
def test_tells_older_from_newer(database: Path, revision: str, state: str) -> None:
    told = current_revision(str(with_revision(database, revision)), wait=0)
    assert told.endswith(f"{state} than this version")


def test_a_backup_has_blocks_of_the_size_of_a_new_file(database: Path, tmp_path: Path) -> None:
    sizes = []
    for path in (database, upgrade.backup(database, tmp_path / "copy.duckdb")):
        with open_for_reading(path) as connection:
            found = connection.execute("SELECT block_size FROM pragma_database_size()")
            sizes.append(found.fetchall())
    assert sizes == [[(32_768,)]] * 2


def test_migrations_do_not_lean_on_the_program() -> None:
    for path in (Path(schema.data_dir("migrations")) / "versions").glob("*.py"):
        assert re.search(r"^(from|import) advisor", path.read_text(), re.MULTILINE) is None


@pytest.fixture
def unreleased(database: Path) -> Path:
    """A file with the number of the newest schema, made before two of its columns were."""
    with duckdb.connect(str(database)) as connection:
        for table, column in (("run", "note"), ("variant", "warp_latency")):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    return database


def test_a_file_that_lacks_columns_of_its_schema_is_named(unreleased: Path) -> None:
    problem = "no run.note and 1 other column"
    for query in ("SELECT note FROM run", "SELECT warp_latency FROM variant"):
        with (
            pytest.raises(DatabaseError, match=problem) as caught,
            open_for_reading(unreleased) as connection,
        ):
            connection.execute(query)
        assert "ingest its profiles into a new file" in str(caught.value.hint)
    with pytest.raises(DatabaseError, match=problem):
        upgrade.upgrade(unreleased)
    checks = {check.subject: check for check in examine(str(unreleased), wait=9)}
    assert not checks["database"].good
    assert problem in checks["database"].text


def test_a_column_that_no_schema_has_is_the_fault_of_the_query(database: Path) -> None:
    with pytest.raises(duckdb.BinderException), open_for_reading(database) as connection:
        connection.execute("SELECT nothing FROM run")
