"""Files of the same bytes are looked at once in a process for what the program stores in none."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import duckdb

_LARGE = 8_000_000  # bytes that take longer to read than the database to list what it stores

Look = Callable[[duckdb.DuckDBPyConnection, Path], None]


def looked_once(look: Look) -> Look:
    """Return ``require_tables_only`` that looks once at a file that is closed, and its copies."""
    fine: set[bytes] = set()

    def look_once(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        log = path.with_name(f"{path.name}.wal")
        if log.exists() or path.stat().st_size > _LARGE:
            look(connection, path)
            return
        content = sha256(path.read_bytes()).digest()
        if content not in fine:
            look(connection, path)
            fine.add(content)

    return look_once
