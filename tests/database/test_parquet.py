"""Every table can become a Parquet file that any engine reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from advisor.database import schema
from advisor.database.tables import metadata
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.quoting import quoted
from advisor.resources import data_dir

TABLES = sorted(metadata().tables)
ASSET = Path(__file__).parent / "released" / f"{schema.revisions()[-1]}.sql"
NIGHT = data_dir("seed") / "runs" / "nightly" / "night-01.ncu-rep"

# What Apache Parquet itself defines and every engine reads; DuckDB has more, such as HUGEINT.
PHYSICAL = {None, "BOOLEAN", "INT64", "DOUBLE", "BYTE_ARRAY"}
CONVERTED = {None, "UTF8", "INT_64", "TIMESTAMP_MICROS", "LIST", "MAP"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database with a profile, a row that fills every column, and one that fills few."""
    path = tmp_path_factory.mktemp("parquet") / "test.duckdb"
    list(ingest_paths(str(path), [str(NIGHT)], labels=RunLabels(tags=("a", "b, c")), wait=10))
    rows = [line for line in ASSET.read_text().splitlines() if line.startswith("INSERT")]
    with duckdb.connect(str(path)) as connection:  # an own one: the program's write no other file
        for row in rows:
            if "alembic_version" not in row:
                connection.execute(row)
        for table in TABLES:
            connection.execute(_poor_row(connection, table))
        yield connection


def _poor_row(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """Return SQL that inserts a row with NULL, or where that cannot be, nothing inside."""
    empty = {
        "BIGINT": "-9223372036854775808",
        "BOOLEAN": "false",
        "DOUBLE": "5e-324",
        "TIMESTAMP": "TIMESTAMP '1970-01-01 00:00:00.000001'",
        "VARCHAR": "''",
    }
    described = connection.execute(" ".join(("DESCRIBE", quoted(table)))).fetchall()
    values = (
        "NULL" if nullable == "YES" else empty.get(kind, "map {}" if "MAP" in kind else "[]")
        for _, kind, nullable, *_ in described
    )
    return " ".join(("INSERT INTO", quoted(table), f"VALUES ({', '.join(values)})"))


def _content(connection: duckdb.DuckDBPyConnection, source: str) -> tuple[list[object], ...]:
    """Return names and types of the columns, and the rows in an order of their own."""
    described = connection.execute(" ".join(("DESCRIBE SELECT * FROM", source))).fetchall()
    rows = connection.execute(" ".join(("SELECT * FROM", source))).fetchall()
    return [column[:2] for column in described], sorted(rows, key=repr)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_comes_back_from_parquet_as_it_was(
    filled: duckdb.DuckDBPyConnection, table: str, tmp_path: Path
) -> None:
    path = str(tmp_path / f"{table}.parquet").replace("'", "''")
    filled.execute(" ".join(("COPY", quoted(table), f"TO '{path}' (FORMAT parquet)")))
    with duckdb.connect(":memory:") as other:
        columns, rows = _content(other, f"'{path}'")
        read = other.execute(
            f"SELECT DISTINCT type, converted_type FROM parquet_schema('{path}')"
        ).fetchall()
    assert (columns, rows) == _content(filled, quoted(table))
    assert len(rows) >= 2
    assert {kind for kind, _ in read} <= PHYSICAL
    assert {meaning for _, meaning in read} <= CONVERTED


def test_names_of_columns_can_be_told_apart_by_every_engine() -> None:
    for table in metadata().tables.values():
        names = [str(column.name) for column in table.columns]
        assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names), table.name
        assert len(set(names)) == len(names)


def test_no_table_is_left_out(filled: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND NOT temporary"
    found = {name for (name,) in filled.execute(query).fetchall()}
    assert found - {"alembic_version"} == set(TABLES)
