"""Write the first migration from ``advisor/database/tables.py``: ``python -m migrations.freeze``.

Only for as long as revision 0001 is not released. From then on that file never changes, this
script goes, and every change of the schema is a new, hand-written migration.
"""

from __future__ import annotations

from pathlib import Path

from duckdb_sqlalchemy.datatypes import Map
from sqlalchemy import ARRAY, BigInteger, Boolean, Column, DateTime, Double, Table
from sqlalchemy.types import TypeEngine

from advisor.database.tables import metadata

TARGET = Path(__file__).parent / "versions" / "0001_first_schema.py"

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


if __name__ == "__main__":
    TARGET.write_text(HEAD + "".join(map(table_code, metadata().tables.values())), encoding="utf-8")
