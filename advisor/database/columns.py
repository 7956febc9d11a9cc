"""Columns of quantities: those that ship are made by migrations, those of installed packs here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb

from advisor.database.schema import COLUMNS
from advisor.errors import DatabaseError, Location
from advisor.quantities import Quantity, pack_quantities
from advisor.quoting import quoted

_TABLES = ("launch", "variant")  # that have a column per quantity


def require_columns(
    connection: duckdb.DuckDBPyConnection, quantities: Iterable[Quantity], path: Path | None = None
) -> None:
    """Check that an open file can store quantities; ``path`` is what messages call it.

    Raises:
        DatabaseError: it has no column for one of them; says how it gets one.
    """
    lacking = _lacking(connection, quantities)
    first = next(iter(lacking), None)
    if first is None:
        return
    table, _, quantity = first
    more = len({each.name for _, _, each in lacking}) - 1
    others = "" if not more else " and 1 other" if more == 1 else f" and {more} others"
    of_file = "" if path is None else f" --db {path}"
    made_by = (
        f"run: advisor{of_file} db upgrade"
        if quantity.of_pack
        else "what ships needs a migration, and migrations/README.md says how to make one: "
        "python -m migrations.freeze --unreleased, while 0001 is not released"
    )
    raise DatabaseError(
        f"has no column in table {table} for the quantity {quantity.name}{others}",
        at=Location(name=str(path or "the database")),
        hint=made_by,
    )


@contextlib.contextmanager
def lacking_columns_told(
    connection: duckdb.DuckDBPyConnection, quantities: Iterable[Quantity]
) -> Iterator[None]:
    """Where the block finds no column, say so if it is that of a quantity.

    Raises:
        DatabaseError: as ``require_columns``.
    """
    try:
        yield
    except duckdb.BinderException:
        require_columns(connection, quantities)
        raise


def require_pack_columns(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Check that an open file can store what installed packs define.

    Raises:
        DatabaseError: as ``require_columns``.
    """
    if defined := pack_quantities():
        require_columns(connection, defined, path)


def add_pack_columns(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Add the columns that installed packs need and an open file lacks; return their names."""
    lacking = _lacking(connection, pack_quantities())
    for table, column, quantity in lacking:
        kind = "VARCHAR" if column != quantity.name or quantity.is_text else "DOUBLE"
        statement = ("ALTER TABLE", table, "ADD COLUMN", quoted(column), kind)
        connection.execute(" ".join(statement))
    return tuple(dict.fromkeys(column for _, column, _ in lacking))


def lacks_pack_columns(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether installed packs need columns that an open file lacks."""
    return bool(_lacking(connection, pack_quantities()))


def _lacking(
    connection: duckdb.DuckDBPyConnection, quantities: Iterable[Quantity]
) -> list[tuple[str, str, Quantity]]:
    """Return the columns that are not there, each with its table and quantity."""
    wanted = [(column, quantity) for quantity in quantities for column in quantity.columns]
    if not wanted:
        return []
    found = set(connection.execute(COLUMNS).fetchall())
    tables = [table for table in _TABLES if (table, "duration") in found]
    return [
        (table, column, quantity)
        for table in tables
        for column, quantity in wanted
        if (table, column) not in found
    ]
