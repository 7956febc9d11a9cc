"""What a fleet's engine does: facts of kernels, and what moved in histories, here or on Spark."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Literal

from advisor.database import judged as door
from advisor.database.histories import histories
from advisor.database.nights import accepted_levels
from advisor.records import dataclass
from advisor.reports.record.fleet_moved import moved_in
from advisor.rules.engine.fleet import compute_here

if TYPE_CHECKING:
    import duckdb

    from advisor.database.lake.scan import Lake
    from advisor.database.lake.spark import SparkLake
    from advisor.database.lake.tables import Columns
    from advisor.rules.engine.fleet import Compute

EngineName = Literal["duckdb", "spark"]

_AT_ONCE = 64  # runs whose facts DuckDB computes by one statement
_AT_ONCE_ON_SPARK = 4096


@dataclass(frozen=True, kw_only=True)
class Engine:
    """``compute`` works out facts of ``at_once`` runs; ``move`` fills the table of what moved.

    ``move`` calls back with the number of histories that are done.
    """

    compute: Compute
    at_once: int
    move: Callable[[duckdb.DuckDBPyConnection, Callable[[int], None]], None]


@contextlib.contextmanager
def opened_engine(
    name: EngineName,
    master: str | None,
    lake: Lake,
    columns: Columns,
    connection: duckdb.DuckDBPyConnection,
) -> Iterator[Engine]:
    """Yield an engine over a lake that is open on ``connection``.

    Raises:
        DatabaseError: there is no Spark, or it cannot be started.
    """
    if name == "duckdb":
        yield Engine(compute=compute_here, at_once=_AT_ONCE, move=_move_here)
        return
    from advisor.database.lake.spark import open_spark
    from advisor.rules.engine.on_spark import compute_on_spark

    with open_spark(lake, columns, connection, master) as spark:
        yield Engine(
            compute=partial(compute_on_spark, spark),
            at_once=_AT_ONCE_ON_SPARK,
            move=partial(_move_on_spark, spark),
        )


def _move_here(connection: duckdb.DuckDBPyConnection, done: Callable[[int], None]) -> None:
    accepted = accepted_levels(connection)
    door.make_moved(connection)
    for number, (runs, durations) in enumerate(histories(connection)):
        done(number)
        if durations["night"]:
            door.keep_moved(connection, moved_in(runs, durations, accepted))


def _move_on_spark(
    spark: SparkLake, connection: duckdb.DuckDBPyConnection, done: Callable[[int], None]
) -> None:
    from advisor.database.lake.spark import write_moved

    done(0)
    function = partial(moved_in, accepted=accepted_levels(connection))
    found = write_moved(spark, connection, function)
    door.take_over(connection, found, "moved", "ALL")
