"""Columns in memory written as a Parquet file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from advisor.database.arrays import ArrayTable, numbers, objects
from advisor.database.records import storable
from advisor.errors import OutputError
from advisor.quoting import literal, quoted

_TYPES = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE"}
_TABLE = "written"


def write_parquet(path: Path, kinds: Mapping[str, type], rows: Sequence[Sequence[object]]) -> None:
    """Write rows under columns that hold ``str``, ``int`` or ``float``; ``None`` is NULL.

    The file appears when it is whole.

    Raises:
        OutputError: the file cannot be written.
    """
    columns = {}
    for place, (name, kind) in enumerate(kinds.items()):
        values = [row[place] for row in rows]
        columns[name] = (
            objects([None if value is None else storable(str(value)) for value in values])
            if kind is str
            else numbers([None if value is None else float(str(value)) for value in values])
        )
    chosen = ", ".join(f"{quoted(n)}::{_TYPES[kind]} AS {quoted(n)}" for n, kind in kinds.items())
    part = path.with_name(path.name + ".part")
    try:
        with duckdb.connect() as connection:
            ArrayTable(connection, _TABLE).fill(columns)
            connection.execute(
                f"COPY (SELECT {chosen} FROM {_TABLE}) TO {literal(str(part))}"
                " (FORMAT parquet, COMPRESSION zstd)"
            )
        part.replace(path)
    except (duckdb.IOException, OSError) as error:
        part.unlink(missing_ok=True)
        hint = "choose another place with -o"
        raise OutputError(f"cannot write {path}: {error}", hint=hint) from error
