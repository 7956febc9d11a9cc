"""Facts of made-up launches, through the SQL of production."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import duckdb
from duckdb_sqlalchemy import Dialect
from sqlalchemy.schema import CreateTable

from advisor.database.relations import STORED
from advisor.database.tables import metadata
from advisor.facts import Vocabulary, create_views, load_vocabulary
from advisor.quoting import quoted

FROM_LAUNCHES = replace(STORED, variant=None)
"""The tables of the open file, of whose variants nothing is stored."""

Value = float | str | bool | None
Row = Mapping[str, Value]

_IDENTITY = {
    "run_id": "run",
    "variant_id": "variant",
    "kernel_id": "kernel",
    "series_id": "series",
    "device_id": "device",
}


def facts_of(**values: Value) -> dict[str, Value]:
    """Return the row of the view ``kernels`` for one launch with these quantities.

    Values of the device go by their names, too. What is not given is NULL.
    """
    (row,) = kernels_of([values])
    return row


def kernels_of(launches: Sequence[Row]) -> list[dict[str, Value]]:
    """Return the rows of ``kernels``; launches are of one variant unless they say otherwise."""
    with database_of(launches) as connection:
        result = connection.execute("select * from kernels order by run_id, variant_id")
        names = [column[0] for column in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


@contextmanager
def database_of(launches: Sequence[Row]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return an empty database in memory with the views, these launches and their one device."""
    vocabulary = vocabulary_once()
    device = vocabulary.quantities.device
    connection = _connection()
    given = {name: v for launch in launches for name, v in launch.items() if v is not None}
    try:
        for index, launch in enumerate(launches):
            own = {name: v for name, v in launch.items() if name not in device}
            _insert(connection, "launch", {**_IDENTITY, "launch_index": index, **own})
        _insert_device(connection, vocabulary, given)
        yield connection
    finally:
        for table in ("launch", "device", "ceiling", "occupancy_limit"):
            connection.execute(f"delete from {table}")


@cache
def vocabulary_once() -> Vocabulary:
    """Return the shipped vocabulary."""
    return load_vocabulary()


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    return empty_database()


def empty_database(path: str = ":memory:") -> duckdb.DuckDBPyConnection:
    """Return an empty database, with the tables of today and the views."""
    connection = duckdb.connect(path, config={"threads": 1})
    for table in metadata().sorted_tables:
        connection.execute(str(CreateTable(table).compile(dialect=Dialect())))
    create_views(connection, vocabulary_once(), relations=FROM_LAUNCHES)
    return connection


def _insert_device(
    connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary, given: Row
) -> None:
    device: dict[str, Value] = {"device_id": "device", "isa": "isa"}
    for name, quantity in vocabulary.quantities.device.items():
        if name not in given:
            continue
        if quantity.attribute:
            device[quantity.attribute] = given[name]
        elif quantity.ceiling:
            resource, kind = quantity.ceiling
            ceiling = {"device_id": "device", "resource": resource, "kind": kind, "unit": "1"}
            _insert(connection, "ceiling", {**ceiling, "value": given[name]})
        else:
            limit = {"isa": "isa", "resource": quantity.occupancy, "value": given[name]}
            _insert(connection, "occupancy_limit", limit)
    _insert(connection, "device", device)


def _insert(connection: duckdb.DuckDBPyConnection, table: str, row: Row) -> None:
    names = ", ".join(map(quoted, row))
    marks = ", ".join("?" for _ in row)
    connection.execute(f"insert into {table} ({names}) values ({marks})", list(row.values()))
