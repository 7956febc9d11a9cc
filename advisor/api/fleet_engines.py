"""What a fleet's engine does: facts of kernels, and what moved in histories, here or on Spark."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from advisor.database import judged
from advisor.database.histories import histories
from advisor.database.nights import accepted_levels
from advisor.database.relations import STORED
from advisor.facts import current
from advisor.records import dataclass
from advisor.reports.record.fleet_moved import moved_in

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from advisor.database.lake.scan import Lake
    from advisor.database.lake.spark import SparkLake
    from advisor.database.lake.tables import Columns
    from advisor.rules.engine.compiled import Compiled

EngineName = Literal["duckdb", "spark"]

_AT_ONCE_ON_SPARK = 4096  # runs whose facts it computes by one statement


@dataclass(frozen=True, kw_only=True)
class Engine:
    """``compute`` writes facts and outcomes of ``at_once`` runs, which are else worked out here.

    ``move`` fills the table of what moved; it calls back with the number of histories done.
    """

    compute: Callable[[Compiled, Sequence[str]], tuple[Path, Path]] | None = None
    at_once: int = 0
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
        yield Engine(move=_move_here)
        return
    from advisor.database.lake.spark import open_spark
    from advisor.rules.engine.on_spark import write_on_spark

    def compute(compiled: Compiled, run_ids: Sequence[str]) -> tuple[Path, Path]:
        relations = current(connection, compiled.vocabulary, run_ids, STORED)
        return write_on_spark(spark, compiled, run_ids, relations)

    with open_spark(lake, columns, connection, master) as spark:
        yield Engine(
            compute=compute,
            at_once=_AT_ONCE_ON_SPARK,
            move=partial(_move_on_spark, spark),
        )


def _move_here(connection: duckdb.DuckDBPyConnection, done: Callable[[int], None]) -> None:
    accepted = accepted_levels(connection)
    judged.make_moved(connection)
    for number, (runs, durations) in enumerate(histories(connection)):
        done(number)
        if durations["night"]:
            judged.keep_moved(connection, moved_in(runs, durations, accepted))


def _move_on_spark(
    spark: SparkLake, connection: duckdb.DuckDBPyConnection, done: Callable[[int], None]
) -> None:
    from advisor.database.lake.spark import write_moved

    done(0)
    function = partial(moved_in, accepted=accepted_levels(connection))
    found = write_moved(spark, connection, function)
    judged.take_over(connection, found, "moved", "ALL")
