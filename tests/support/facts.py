"""Facts of made-up launches, through the SQL of production."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import groupby

import duckdb
from duckdb_sqlalchemy import Dialect
from sqlalchemy.schema import CreateTable

from advisor.database.planning import plan_for
from advisor.database.relations import STORED
from advisor.database.tables import metadata
from advisor.facts import Vocabulary, create_views, kernels_select
from advisor.facts.variants import COVERAGE
from advisor.knowledge.load import load_knowledge
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


def facts_of(**values: Value) -> Row:
    """Return the row of the view ``kernels`` for one launch with these quantities.

    Values of the device go by their names, too. What is not given is NULL.
    """
    return _Kernel(_Kernels([values], alone=True), 0)


def told_by_names(fact: str, names: Iterable[str]) -> dict[str, Value]:
    """Return what a fact tells of kernels by their names."""
    told = vocabulary_once().facts[fact].expression
    query = f"select kernel_name, {told.sql()} from (select unnest(?) as kernel_name)"
    with duckdb.connect() as connection:
        return dict(connection.execute(query, [list(names)]).fetchall())


def kernels_of(launches: Sequence[Row], names: Collection[str] = ()) -> list[Row]:
    """Return the rows of ``kernels``; launches are of one variant unless they say otherwise.

    A column is computed when it is asked for, as a report does: to plan all takes half a second.
    Those in ``names`` are computed at once.
    """
    kernels = _Kernels(launches, names)
    return [_Kernel(kernels, place) for place in range(len(kernels.column("variant_id")))]


class _Kernels:
    """The columns of ``kernels`` over some launches, as far as they were asked for."""

    def __init__(
        self, launches: Sequence[Row], names: Collection[str] = (), *, alone: bool = False
    ) -> None:
        self._launches = launches
        self._columns: dict[str, list[Value]] = {}
        self._alone = alone
        if names:
            self._add(names)

    def column(self, name: str) -> list[Value]:
        """Return the values of a column, in the order of runs and variants."""
        if name not in self._columns:
            self._add(None if name == COVERAGE else (name,))  # it is of all that is asked for
        return self._columns[name]

    def names(self) -> Collection[str]:
        """Return the names of all columns, and compute them."""
        self._add(None)
        return self._columns

    def _add(self, names: Collection[str] | None) -> None:
        wanted = None if names is None else list(dict.fromkeys(("run_id", "variant_id", *names)))
        select = kernels_select(vocabulary_once(), wanted, FROM_LAUNCHES)
        result = self._held().execute(f"select * from ({select}) order by run_id, variant_id")
        found = [column[0] for column in result.description or ()]
        rows = result.fetchall()
        assert not self._alone or len(rows) == 1
        for place, name in enumerate(found):
            self._columns[name] = [row[place] for row in rows]

    def _held(self) -> duckdb.DuckDBPyConnection:
        """Return the database with these launches, which often are those asked of before."""
        connection = _connection()
        if not _HELD or _HELD[0] is not self:
            _release(connection)
            _fill(connection, self._launches)
            _HELD.append(self)
        return connection


_HELD: list[_Kernels] = []
"""What is in the database in memory, though nobody has it open."""


class _Kernel(Mapping[str, Value]):
    """One row of ``kernels``."""

    def __init__(self, kernels: _Kernels, place: int) -> None:
        self._kernels = kernels
        self._place = place

    def __getitem__(self, name: str) -> Value:
        return self._kernels.column(name)[self._place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels.names())

    def __len__(self) -> int:
        return len(self._kernels.names())


@contextmanager
def database_of(launches: Sequence[Row]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return an empty database in memory with the views, these launches and their one device."""
    connection = _connection()
    _release(connection)
    _fill(connection, launches)
    try:
        yield connection
    finally:
        _empty(connection)


def _release(connection: duckdb.DuckDBPyConnection) -> None:
    if _HELD:
        _HELD.clear()
        _empty(connection)


def _empty(connection: duckdb.DuckDBPyConnection) -> None:
    for table in ("run", "launch", "device", "ceiling", "occupancy_limit"):
        connection.execute(f"delete from {table}")


def _fill(connection: duckdb.DuckDBPyConnection, launches: Sequence[Row]) -> None:
    """Insert launches and their one device, all or nothing."""
    vocabulary = vocabulary_once()
    device = vocabulary.quantities.device
    given = {name: v for launch in launches for name, v in launch.items() if v is not None}
    rows = [
        {
            **_IDENTITY,
            "launch_index": index,
            **{name: v for name, v in launch.items() if name not in device},
        }
        for index, launch in enumerate(launches)
    ]
    try:
        for _, alike in groupby(rows, key=tuple):
            _insert(connection, "launch", *alike)
        _insert_device(connection, vocabulary, given)
    except duckdb.Error:
        _empty(connection)
        raise


@cache
def vocabulary_once() -> Vocabulary:
    """Return the shipped vocabulary, as every command has it."""
    return load_knowledge().vocabulary


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    connection = empty_database()
    plan_for(connection, 1)  # as where one run is read
    return connection


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
    ceilings: list[Row] = []
    limits: list[Row] = []
    for name, quantity in vocabulary.quantities.device.items():
        if name not in given:
            continue
        if quantity.attribute:
            device[quantity.attribute] = given[name]
        elif quantity.ceiling:
            resource, kind = quantity.ceiling
            ceiling = {"device_id": "device", "resource": resource, "kind": kind, "unit": "1"}
            ceilings.append({**ceiling, "value": given[name]})
        else:
            limits.append({"isa": "isa", "resource": quantity.occupancy, "value": given[name]})
    for table, found in (("ceiling", ceilings), ("occupancy_limit", limits), ("device", [device])):
        if found:
            _insert(connection, table, *found)


def _insert(connection: duckdb.DuckDBPyConnection, table: str, *rows: Row) -> None:
    """Insert rows of the same columns."""
    names = ", ".join(map(quoted, rows[0]))
    marks = ", ".join(f"({', '.join('?' for _ in row)})" for row in rows)
    values = [value for row in rows for value in row.values()]
    connection.execute(f"insert into {table} ({names}) values {marks}", values)
