"""What years of nights cost a command: 30 runs beside 10,000, which are copies of one night.

Each copy has an id, a date, and variants of its own; series and kernels are the same.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from advisor.database.connect import open_for_writing
from advisor.database.write import tables_of_runs
from advisor.resources import data_dir
from benchmarks.measure import ADVISOR, Line, cost_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

FEW = 30
MANY = 10_000
TIMES = 5
KERNEL = "stencil_heat3d_kernel"  # of the example runs
_AT_ONCE = 500  # runs that are copied by one statement
_LONGEST = 1.3  # times as long as with few runs


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    nights = sorted((data_dir("seed") / "runs").rglob("*.ncu-rep"))
    many = int(os.environ.get("ADVISOR_BENCH_NIGHTS", str(MANY)))
    files = {}
    for number in (FEW, many):
        path = files[number] = folder / f"years-{number}.duckdb"
        cost_of((*ADVISOR, "--db", path, "ingest", nights[0]), folder)
        with open_for_writing(path) as connection:
            _copy(connection, number)
    lines = []
    for what, words in _commands(nights[1]):
        costs = {number: _least(path, words, folder) for number, path in files.items()}
        ratio = costs[many] / costs[FEW]
        lines.append(
            Line(
                what=f"advisor {what}, {many:,} runs / {FEW}", value=ratio, unit="×",
                target=f"≤ {_LONGEST} ×",
                remark=f"{costs[many]:.2f} s of processor time / {costs[FEW]:.2f} s",
            )
        )  # fmt: skip
    size = files[many].stat().st_size / 1e6
    lines.append(Line(what=f"database of {many:,} runs", value=size, unit="MB"))
    return lines


def _commands(night: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "ingest", ("ingest", night)
    yield "report", ("report",)
    yield "show KERNEL", ("show", KERNEL)
    yield "compare", ("compare", "last~1", "last")
    yield "runs list", ("runs", "list")


def _least(database: Path, words: tuple[object, ...], folder: Path) -> float:
    """Return the least processor time of a command, on a copy where it writes [s]."""
    costs = []
    for _ in range(TIMES):
        path = database
        if words[0] == "ingest":
            path = folder / "years.duckdb"
            shutil.copy(database, path)
        costs.append(cost_of((*ADVISOR, "--db", path, *words), folder).processor)
    return min(costs)


def _copy(connection: duckdb.DuckDBPyConnection, runs: int) -> None:
    """Copy the one run that is there until there are enough."""
    (night,) = connection.execute("SELECT run_id FROM run").fetchall()[0]
    for first in range(1, runs, _AT_ONCE):
        last = min(first + _AT_ONCE, runs)
        for table in tables_of_runs(connection):
            described = connection.execute(f"DESCRIBE {table}").fetchall()
            names = {row[0] for row in described}
            made = [
                f"{sql} AS {name}"
                for name, sql in (
                    ("run_id", "format('{:012x}', n)"),
                    ("content_hash", "format('{:064x}', n)"),
                    ("variant_id", "format('{}-{}', variant_id, n)"),
                    ("started_at", "started_at - INTERVAL 1 DAY * n"),
                )
                if name in names and (name != "started_at" or table == "run")
            ]
            connection.execute(
                f"INSERT INTO {table} SELECT {table}.* REPLACE ({', '.join(made)})"
                f" FROM {table}, range({first}, {last}) AS copies(n) WHERE run_id = '{night}'"
            )
