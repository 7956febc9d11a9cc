"""A few kernels in SQLite, which plans a long statement in a tenth of the time that DuckDB takes.

Statements are those of DuckDB; the functions that SQLite lacks it is given here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from advisor.database.facts_table import FactsTable, Parameters, Spelling
from advisor.database.records import document, records_select
from advisor.database.relations import Relations, named_by
from advisor.quoting import quoted
from advisor.records import dataclass

if TYPE_CHECKING:
    import duckdb

try:
    import sqlite3
except ImportError:  # this Python was built without it
    VERSION: str | None = None
    REFUSED: tuple[type[Exception], ...] = ()
else:
    VERSION, REFUSED = sqlite3.sqlite_version, (sqlite3.Error,)
    """What SQLite raises where it is too old for a statement, or that is nested too deeply."""

_FEW = 64
"""Kernels: of 36 SQLite takes two thirds of DuckDB's time, and each takes it longer."""

OF_DEVICE = "of_device"
ROWS = replace(named_by(lambda table: table), devices=OF_DEVICE, dialect="sqlite")
"""The tables that SQLite has: those of variants and of the values of devices."""

_COUNT = "SELECT count(*) FROM {variant}"


@dataclass(frozen=True, kw_only=True)
class RowsOfTable:
    """Rows of a table, with the types of its columns by their names."""

    types: Mapping[str, str]
    rows: Sequence[Sequence[Any]]


def are_few(connection: duckdb.DuckDBPyConnection, relations: Relations) -> bool:
    """Return whether SQLite takes less time for the variants of relations."""
    query = _COUNT.format(variant=relations.item("variant"))
    ((count,),) = connection.execute(query).fetchall()
    return bool(count <= _FEW)


def read_few(
    connection: duckdb.DuckDBPyConnection, relations: Relations, named: str, devices: str
) -> dict[str, RowsOfTable]:
    """Return the rows of tables by their names: of the variants of relations and their devices.

    ``named`` is the SELECT of run, variant and what the names of kernels tell about each,
    ``devices`` that of the values of devices.
    """
    variants = rows_of(connection, f"SELECT * FROM {relations.item('variant')}")
    return {
        "variant": _joined(variants, rows_of(connection, named)),
        OF_DEVICE: rows_of(connection, devices),
    }


def rows_of(connection: duckdb.DuckDBPyConnection, query: str) -> RowsOfTable:
    """Return the rows of a query, with the types of its columns."""
    found = connection.execute(query)
    types = {name: str(kind) for name, kind, *_ in found.description or ()}
    return RowsOfTable(types=types, rows=found.fetchall())


def _joined(variants: RowsOfTable, named: RowsOfTable) -> RowsOfTable:
    """Return variants with what the names of their kernels tell, behind run and variant."""
    names = [*variants.types]
    run, variant = names.index("run_id"), names.index("variant_id")
    by_key = {(row[0], row[1]): row for row in named.rows}
    return RowsOfTable(
        types={**variants.types, **named.types},
        rows=[(*row, *by_key[row[run], row[variant]][2:]) for row in variants.rows],
    )


class FewRows:
    """An engine: tables in memory. ``types`` are those of columns, by their names, as DuckDB has.

    What SQLite has no type for is given back as it was: truth values, counts and maps.
    """

    def __init__(self, types: Mapping[str, str]) -> None:
        self.types = types
        self._connection = sqlite3.connect(":memory:")
        for name, function in _FUNCTIONS.items():
            self._connection.create_function(name, -1, function, deterministic=True)

    def take(self, table: str, rows: RowsOfTable) -> None:
        """Make a table of rows. All numbers are DOUBLE, as in expressions."""
        names, places = ", ".join(map(quoted, rows.types)), ", ".join("?" * len(rows.types))
        self._connection.execute(f"CREATE TABLE {table} ({names})")
        values = (tuple(map(_stored, row)) for row in rows.rows)
        self._connection.executemany(f"INSERT INTO {table} VALUES ({places})", values)

    def execute(self, query: str, parameters: Parameters = (), /) -> FewFound:
        """Run a statement."""
        return FewFound(self._connection.execute(query, parameters), self.types)


class FewFound:
    """What a statement of ``FewRows`` found."""

    def __init__(self, cursor: sqlite3.Cursor, types: Mapping[str, str]) -> None:
        self._cursor = cursor
        self.description = cursor.description or ()
        kinds = (types.get(name, "").partition("(")[0] for name, *_ in self.description)
        self._read = [(place, _READ[kind]) for place, kind in enumerate(kinds) if kind in _READ]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        rows = self._cursor.fetchall()
        return [*map(self._typed, rows)] if self._read else rows

    def _typed(self, row: Sequence[Any]) -> tuple[Any, ...]:
        values = [*row]
        for place, read in self._read:
            if values[place] is not None:
                values[place] = read(values[place])
        return tuple(values)


@dataclass(frozen=True, kw_only=True)
class FewTable(FactsTable):
    """A table of ``FewRows``."""

    engine: FewRows
    dialect: Spelling = "sqlite"

    def in_database(self, connection: duckdb.DuckDBPyConnection, names: Collection[str]) -> str:
        """Make a table of the connection with some columns, under the same name."""
        columns = {name: self.engine.types[name] for name in sorted(names)}
        rows = f"CREATE OR REPLACE TEMP TABLE {self.name} AS {records_select(columns)}"
        connection.execute(rows, [document(self.rows(columns))])
        return self.name


def _stored(value: object) -> object:
    """Return a value as SQLite has it."""
    if type(value) is int:
        return float(value)
    return json.dumps(value) if isinstance(value, dict | list) else value


def _calculated(function: Callable[..., float]) -> Callable[..., float | None]:
    """Return a function that gives NULL for NULL, and for what is no finite number."""

    def calculated(*values: float | None) -> float | None:
        if None in values:
            return None
        try:
            return function(*values)
        except (ValueError, OverflowError):
            return None

    return calculated


def _rounded(value: float) -> float:
    """Return the nearest whole number, of two the one that is further from 0, as DuckDB does."""
    below = math.floor(abs(value))
    return math.copysign(below + (2 * (abs(value) - below) >= 1), value)


def _known(*values: Any) -> list[Any]:
    return [value for value in values if value is not None]


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "ceil": _calculated(lambda value: float(math.ceil(value))),
    "concat_ws": lambda between, *texts: between.join(_known(*texts)),
    "exp": _calculated(math.exp),
    "floor": _calculated(lambda value: float(math.floor(value))),
    "greatest": lambda *values: max(_known(*values), default=None),
    "isfinite": lambda value: None if value is None else math.isfinite(value),
    "least": lambda *values: min(_known(*values), default=None),
    "ln": _calculated(math.log),
    "log2": _calculated(math.log2),
    "power": _calculated(math.pow),
    "round": _calculated(_rounded),
    "sqrt": _calculated(math.sqrt),
    "starts_with": _calculated(str.startswith),
}
"""What expressions call, which SQLite lacks or has only where it was built so."""

_READ: Mapping[str, Callable[[Any], object]] = {
    "BIGINT": int,
    "BOOLEAN": bool,
    "MAP": json.loads,
}
