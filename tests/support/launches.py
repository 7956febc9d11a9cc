"""Launches that are at hand, stored as ingest stores those that stream in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import duckdb

from advisor.database.arrays import Array
from advisor.database.launches import LaunchWriter
from advisor.database.rows import PlacedLaunch


def insert_launches(
    connection: duckdb.DuckDBPyConnection,
    launches: Sequence[PlacedLaunch],
    *,
    values: Mapping[str, Array] | None = None,
    quantities: Callable[[str, Collection[str]], str] | None = None,
) -> None:
    """Store launches; ``values`` and ``quantities`` are as for ``LaunchWriter``."""
    writer = LaunchWriter(connection, quantities)
    writer.write(launches, values)
    writer.finish()
