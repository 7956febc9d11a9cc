"""Rows in memory written as a Parquet file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from advisor.database.arrow import typed_rows
from advisor.errors import OutputError
from advisor.scratch import whole_file


def write_parquet(path: Path, kinds: Mapping[str, type], rows: Sequence[Sequence[object]]) -> None:
    """Write rows under columns that hold ``str``, ``int`` or ``float``; ``None`` is NULL.

    The file appears when it is whole.

    Raises:
        OutputError: the file cannot be written.
    """
    try:
        with whole_file(path) as part, duckdb.connect() as connection:
            typed_rows(connection, kinds, rows).write_parquet(str(part), compression="zstd")
    except (duckdb.IOException, OSError) as error:
        hint = "choose another place with -o"
        raise OutputError(f"cannot write {path}: {error}", hint=hint) from error
