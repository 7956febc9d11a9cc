"""Write revision 0001 and its test asset from ``tables.py``: ``python -m migrations.freeze``.

Only for as long as that revision is not released. From then on both files never change, this
script goes, and every change of the schema is a new, hand-written migration.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from duckdb_sqlalchemy.datatypes import Map
from sqlalchemy import ARRAY, BigInteger, Boolean, Column, DateTime, Double, Table
from sqlalchemy.types import TypeEngine

from advisor.database.connect import open_for_writing
from advisor.database.tables import metadata

HERE = Path(__file__).parent
MIGRATION = HERE / "versions" / "0001_first_schema.py"
RELEASED = HERE.parent / "tests" / "database" / "released" / "0001.sql"

HEAD = '''"""The first schema: runs, launches and their quantities, devices, findings."""

import sqlalchemy as sa
from alembic import op
from duckdb_sqlalchemy.datatypes import Map

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make every table."""
'''


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
    return f'        sa.Column("{column.name}", {kind(column.type)}{end}),\n'


def table_code(table: Table) -> str:
    """Return the Python text that makes a table."""
    columns = "".join(column_code(column) for column in table.columns)
    key = ", ".join(f'"{column.name}"' for column in table.primary_key.columns)
    if key:
        columns += f"        sa.PrimaryKeyConstraint({key}),\n"
    return f'    op.create_table(\n        "{table.name}",\n{columns}    )\n'


def example(of: TypeEngine[object]) -> str:
    """Return an SQL literal of a column's type."""
    if isinstance(of, ARRAY):
        return f"[{example(of.item_type)}]"
    if isinstance(of, Map):
        return f"MAP {{{example(of.key_type)}: {example(of.value_type)}}}"
    literals = {BigInteger: "7", Boolean: "true", DateTime: "TIMESTAMP '2026-11-20'", Double: "0.5"}
    return next((text for known, text in literals.items() if isinstance(of, known)), "'text'")


def released_code() -> str:
    """Return SQL that makes a file of this revision, with one row that fills every column."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_for_writing(Path(folder) / "new.duckdb") as connection,
    ):
        query = "SELECT sql FROM duckdb_tables() ORDER BY table_name"
        made = [sql for (sql,) in connection.execute(query).fetchall()]
    tables = [
        (t.name, ", ".join(example(c.type) for c in t.columns)) for t in metadata().sorted_tables
    ]
    rows = [" ".join(("INSERT INTO", name, "VALUES", f"({values});")) for name, values in tables]
    version = "INSERT INTO alembic_version VALUES ('0001');"
    return "\n".join((*made, version, *rows)) + "\n"


if __name__ == "__main__":
    code = HEAD + "".join(map(table_code, metadata().tables.values()))
    MIGRATION.write_text(code, encoding="utf-8")
    RELEASED.write_text(released_code(), encoding="utf-8")
