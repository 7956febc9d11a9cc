"""How the tables of the schema are kept in a lake: by run, shared by runs, or as marks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import duckdb

from advisor.database.columns import add_pack_columns
from advisor.database.ids import key_id
from advisor.database.schema import make
from advisor.quoting import quoted
from advisor.records import dataclass

SHAPE = "shape"
"""The schema of an open lake that holds every table of the database, empty."""

SHARED: Mapping[str, tuple[tuple[str, ...], Literal["first", "last"]]] = {
    "kernel": (("kernel_id",), "first"),
    "series": (("series_id",), "first"),
    "device": (("device_id",), "last"),
    "ceiling": (("device_id",), "last"),
    "occupancy_limit": (("isa",), "last"),
}
"""Tables that runs share, the columns that name what rows are about, and whose rows hold of it.

As in a database, the first spelling of a name stays, and what is known of a device is renewed.
"""

MARKS: Mapping[str, tuple[str, ...]] = {
    "accepted": ("series_id", "run_id"),
    "series_link": ("series_id",),
    "calibration": ("series_id",),
    "outcome": ("series_id",),
}
"""Tables of what is said about series over nights, and the key of which the newest rows hold."""

DETAILS: Mapping[str, str] = {
    "key_set": """
        SELECT * FROM key_set WHERE key_set IN (
            SELECT counter_keys FROM launch WHERE run_id = $run
            UNION SELECT key_set FROM keyed_set
                SEMI JOIN (FROM launch_keyed WHERE run_id = $run) USING (keyed_set)
        )""",
    "text_set": """
        SELECT * FROM text_set WHERE text_set IN (SELECT text_set FROM launch WHERE run_id = $run)
    """,
    "keyed_set": """
        SELECT * FROM keyed_set
        SEMI JOIN (FROM launch_keyed WHERE run_id = $run) USING (keyed_set)""",
}
"""Tables whose ids are made of what they hold, and which rows of them a run needs."""

FOLLOWED: Mapping[str, Mapping[str, str]] = {
    "followed": {
        "history_id": "VARCHAR",
        "state_id": "VARCHAR",
        "branch": "VARCHAR",
        "label": "VARCHAR",
        "configuration": "VARCHAR",
        "device_names": "VARCHAR",
        "simulated": "BOOLEAN",
        "until_run": "VARCHAR",
        "runs": "BIGINT",
        "nights": "BIGINT",
    },
    "moved": {
        "history_id": "VARCHAR",
        "state_id": "VARCHAR",
        "series_id": "VARCHAR",
        "launch_shape": "VARCHAR",
        "verdict": "VARCHAR",
        "state": "VARCHAR",
        "kind": "VARCHAR",
        "run_id": "VARCHAR",
        "base_run": "VARCHAR",
        "base": "DOUBLE",
        "head": "DOUBLE",
        "relative": "DOUBLE",
        "p_value": "DOUBLE",
        "noise": "DOUBLE",
        "around": "VARCHAR",
    },
}
"""Tables that only a lake has: histories that the detector looked at, and what moved in them.

A history is looked at again when its runs change; what moved holds of the newest look.
"""

_OF_FILE = ("meta", "alembic_version")
"""Tables about a file, which a lake is not."""

_COLUMNS = """
    SELECT table_name, column_name, data_type FROM duckdb_columns()
    WHERE database_name = current_database() AND schema_name = $schema AND NOT internal
    ORDER BY table_name, column_index
"""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of every table with DuckDB's types, and the hash of them all."""

    of: dict[str, dict[str, str]]

    @property
    def digest(self) -> str:
        """12 hex digits of BLAKE2b over tables, columns and types."""
        words = [f"{t} {c} {kind}" for t, columns in self.of.items() for c, kind in columns.items()]
        return key_id("columns", *words)

    def of_runs(self) -> list[str]:
        """Return the tables whose rows are of one run."""
        return [table for table, columns in self.of.items() if _is_of_run(table, columns)]


def _is_of_run(table: str, columns: Mapping[str, str]) -> bool:
    return "run_id" in columns and table not in MARKS


def columns_of(connection: duckdb.DuckDBPyConnection, schema: str = "main") -> Columns:
    """Return the columns of the tables that a lake can keep, in a schema of an open database."""
    found: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(_COLUMNS, {"schema": schema}).fetchall():
        if table not in _OF_FILE:
            found.setdefault(table, {})[column] = kind
    return Columns(of=found)


def make_shape(connection: duckdb.DuckDBPyConnection) -> Columns:
    """Give an empty database every table, empty, in the schema ``SHAPE``; return their columns.

    In ``main`` are the tables about the file.
    """
    connection.execute(f"CREATE SCHEMA {SHAPE}")
    connection.execute(f"USE {SHAPE}")
    make(connection)
    add_pack_columns(connection)
    connection.execute("USE main")
    columns = columns_of(connection, SHAPE)
    for table in _OF_FILE:
        connection.execute(f"CREATE TABLE main.{table} AS FROM {SHAPE}.{table}")
        connection.execute(f"DROP TABLE {SHAPE}.{table}")
    for table, kinds in FOLLOWED.items():
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in kinds.items())
        connection.execute(f"CREATE TABLE {SHAPE}.{table} ({declared})")
    return columns
