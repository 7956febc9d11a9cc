"""Keep the newest schema as SQL: ``python -m migrations.freeze``.

It writes ``newest.sql``, what the migrations make, which new files are made of. It also writes the
test asset ``tests/database/released/REVISION.sql``: the same, and one row in each table that fills
every column. An asset that is there and differs belongs to a released revision and
stays; ``--unreleased`` says that this one was never released. Then it is written anew, and with it
revision 0001 itself, from ``advisor/database/tables.py``. ``README.md`` tells when to do what.
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
from duckdb_sqlalchemy.datatypes import Map
from sqlalchemy import ARRAY, BigInteger, Boolean, Column, DateTime, DefaultClause, Double, Table
from sqlalchemy.types import TypeEngine

from advisor.database import schema
from advisor.database.tables import metadata
from advisor.quoting import quoted

HERE = Path(__file__).parent
RELEASED = HERE.parent / "tests" / "database" / "released"
FIRST = "0001"

HEAD = '''"""The first schema: runs, launches and their quantities, devices, findings."""

import sqlalchemy as sa
from alembic import op
from duckdb_sqlalchemy.datatypes import Map

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make every table."""
'''

VALUES = {
    "BIGINT": "7",
    "BOOLEAN": "true",
    "DOUBLE": "0.5",
    "TIMESTAMP": "TIMESTAMP '2026-11-20'",
    "VARCHAR": "'text'",
}
"""An SQL literal of each type that a column, a list or a map may hold."""


def kind(of: TypeEngine[object]) -> str:
    """Return the Python text of a column's type."""
    if isinstance(of, ARRAY):
        return f"sa.ARRAY({kind(of.item_type)})"
    if isinstance(of, Map):
        return f"Map({kind(of.key_type)}, {kind(of.value_type)})"
    for known in (BigInteger, Boolean, DateTime, Double):
        if isinstance(of, known):
            return f"sa.{known.__name__}"
    return "sa.String"


def column_code(column: Column[object]) -> str:
    """Return the Python text of a column."""
    end = "" if column.nullable else ", nullable=False"
    if isinstance(column.server_default, DefaultClause):
        end += f', server_default=sa.text("{column.server_default.arg}")'
    return f'        sa.Column("{column.name}", {kind(column.type)}{end}),\n'


def table_code(table: Table) -> str:
    """Return the Python text that makes a table."""
    columns = "".join(column_code(column) for column in table.columns)
    key = ", ".join(f'"{column.name}"' for column in table.primary_key.columns)
    if key:
        columns += f"        sa.PrimaryKeyConstraint({key}),\n"
    return f'    op.create_table(\n        "{table.name}",\n{columns}    )\n'


def first_migration() -> str:
    """Return the Python text of revision 0001: the tables as they are described today."""
    return HEAD + "".join(map(table_code, metadata().tables.values()))


def newest(scripts: Path = HERE) -> str:
    """Return SQL that makes a file of the newest revision, as the migrations make it."""
    with duckdb.connect(":memory:") as connection:
        schema.migrate(connection, scripts, scripts)
        query = "SELECT sql FROM duckdb_tables() ORDER BY table_name"
        made = [sql for (sql,) in connection.execute(query).fetchall()]
    head = schema.revisions(scripts)[-1]
    version = " ".join(("INSERT INTO alembic_version VALUES", f"('{head}');"))
    return "\n".join((*made, version)) + "\n"


def asset(made: str) -> str:
    """Return the SQL ``made`` that makes tables, then a row that fills every column of each."""
    with duckdb.connect(":memory:") as connection:
        connection.execute(made)
        rows = [row_of(connection, name) for name in _tables(connection)]
    return made + "\n".join(rows) + "\n"


def row_of(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """Return SQL that inserts a row which fills every column of a table."""
    columns = connection.execute(" ".join(("DESCRIBE", quoted(table)))).fetchall()
    values = ", ".join(example(column[1]) for column in columns)
    return " ".join(("INSERT INTO", table, f"VALUES ({values});"))


def example(of: str) -> str:
    """Return an SQL literal of a type, as DuckDB spells it.

    >>> example("MAP(VARCHAR, BIGINT[])")
    "MAP {'text': [7]}"
    """
    if of.endswith("[]"):
        return f"[{example(of.removesuffix('[]'))}]"
    if of.startswith("MAP("):
        key, _, value = of.removeprefix("MAP(").removesuffix(")").partition(", ")
        return f"MAP {{{example(key)}: {example(value)}}}"
    return VALUES[of]


def freeze(scripts: Path = HERE, released: Path = RELEASED, *, unreleased: bool = False) -> Path:
    """Write the newest schema of ``scripts`` beside them, and its asset; return where that is.

    Raises:
        FileExistsError: it is there with another content, and nobody said ``unreleased``.
    """
    revision = schema.revisions(scripts)[-1]
    if unreleased and revision == FIRST:
        first = next((scripts / "versions").glob(f"{FIRST}_*.py"))
        first.write_text(first_migration(), encoding="utf-8")
    made = newest(scripts)
    path, code = released / f"{revision}.sql", asset(made)
    if path.exists() and path.read_text(encoding="utf-8") != code and not unreleased:
        raise FileExistsError(
            f"{path} differs from what the migrations make: a released revision stays as it is;"
            " write the next migration, or say --unreleased where this one was never released"
        )
    (scripts / schema.NEWEST).write_text(made, encoding="utf-8")
    path.write_text(code, encoding="utf-8")
    return path


def _tables(connection: duckdb.DuckDBPyConnection) -> list[str]:
    query = (
        "SELECT table_name FROM duckdb_tables() WHERE table_name <> 'alembic_version'"
        " ORDER BY table_name"
    )
    return [name for (name,) in connection.execute(query).fetchall()]


def main(words: list[str]) -> int:
    """Freeze, say where to, and return the exit status."""
    if words not in ([], ["--unreleased"]):
        sys.stderr.write("usage: python -m migrations.freeze [--unreleased]\n")
        return 2
    try:
        path = freeze(unreleased=bool(words))
    except FileExistsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"wrote {path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
