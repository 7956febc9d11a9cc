"""Storing 1,000 runs of 1,000 launches, and reading one series over all of them.

Launches are made in memory, so no time goes into parsing. The same rows go through ``executemany``,
row by row, into a table of the same columns in the same run; and rows that are there already are
copied, which says what the database alone takes.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from advisor import __version__
from advisor.counters.staging import Mapping
from advisor.database import ids, write
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.launches import LaunchWriter
from advisor.database.planning import plan_for
from advisor.database.rows import KernelRow, PlacedLaunch, RunRow, SeriesRow
from advisor.knowledge.load import load_knowledge
from advisor.model import Keys, Launch, Packed
from benchmarks.measure import Line

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

LAUNCHES = 1000  # of a run
KERNELS = 50  # of a run
BY_ROW = 500  # launches that are stored row by row: enough to time them
COPIED = 20  # runs whose rows are copied by the database alone
SEEN = 200  # times that a series is read
_START = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    runs = int(os.environ.get("ADVISOR_BENCH_RUNS", "1000"))
    path = folder / "store.duckdb"
    mapping = load_knowledge().mapping("ncu")
    launches = _launches(mapping)
    with open_for_writing(path) as connection:
        connection.execute("SET threads = 1")
        plan_for(connection, LAUNCHES)  # as ingest does
        started = perf_counter()
        for number in range(runs):
            _store(connection, number, launches, mapping)
        bulk = runs * LAUNCHES / (perf_counter() - started)
        rows = _by_row(connection)
    with open_for_reading(path) as connection:
        known, one = _series(connection)
    with open_for_writing(path) as connection:
        copied = _copied(connection)
    return [
        Line(
            what=f"{runs:,} runs of {LAUNCHES:,} launches stored, mapping included",
            value=bulk, unit="launches/s", target="≥ 30,000 launches/s",
            remark=f"{path.stat().st_size / 1e6:,.0f} MB",
        ),
        Line(what="the same rows by executemany", value=rows, unit="launches/s"),
        Line(what="ratio", value=bulk / rows, unit="×"),
        Line(
            what="rows that are there already, copied run by run", value=copied, unit="launches/s",
            remark="what the database alone takes",
        ),
        Line(
            what=f"one series over {runs:,} runs ({known:,} launches) read", value=one * 1e3,
            unit="ms", target="≤ 20 ms", remark=f"median of {SEEN}",
        ),
    ]  # fmt: skip


def _launches(mapping: Mapping) -> list[Launch]:
    """Return the launches of one run: every counter that the mapping reads has a value."""
    values = np.random.default_rng(1).uniform(1e3, 1e6, (LAUNCHES, len(mapping.counters)))
    names = Keys(mapping.counters)
    return [
        Launch(
            index=index,
            kernel_name=f"kernel_{index % KERNELS}",
            grid=(1024, 1, 1),
            block=(256, 1, 1),
            counters=Packed(names, row),
        )
        for index, row in enumerate(values)
    ]


def _store(
    connection: duckdb.DuckDBPyConnection,
    number: int,
    launches: list[Launch],
    mapping: Mapping,
) -> None:
    """Store one run as ingest does, in a transaction of its own."""
    run_id = f"{number:012x}"
    kernels = [ids.kernel_id(f"kernel_{k}") for k in range(KERNELS)]
    series = [ids.series_id(kernel, "", "device", None) for kernel in kernels]
    placed = [
        PlacedLaunch(
            run_id=run_id,
            launch=launch,
            kernel_id=kernels[launch.index % KERNELS],
            series_id=series[launch.index % KERNELS],
            variant_id=ids.variant_id(run_id, kernels[launch.index % KERNELS], "", "device", ""),
        )
        for launch in launches
    ]
    with write.second_transaction(connection), write.transaction(connection):
        writer = LaunchWriter(connection, mapping.sql)
        writer.write(placed, mapping.stage(launches))
        writer.finish()
        _describe(connection, kernels, series, run_id, number)
    write.merge_row_groups(connection)


def _describe(
    connection: duckdb.DuckDBPyConnection,
    kernels: list[str],
    series: list[str],
    run_id: str,
    number: int,
) -> None:
    write.upsert_kernels(connection, map(_kernel, kernels))
    write.upsert_series(connection, map(_series_row, series, kernels))
    write.insert_rows(connection, "run", [_run(run_id, number)])


def _kernel(kernel_id: str) -> KernelRow:
    return KernelRow(kernel_id=kernel_id, name="k", short_name="k", normalised_name="k")


def _series_row(series_id: str, kernel_id: str) -> SeriesRow:
    return SeriesRow(series_id=series_id, kernel_id=kernel_id, problem_key="")


def _run(run_id: str, number: int) -> RunRow:
    moment = _START + timedelta(days=number)
    return RunRow(
        run_id=run_id,
        content_hash=run_id,
        format="benchmark",
        ingested_at=moment,
        started_at=moment,
        advisor_version=__version__,
        launches=LAUNCHES,
    )


def _by_row(connection: duckdb.DuckDBPyConnection) -> float:
    """Return launches per second by ``executemany`` into a table with the columns of ``launch``."""
    rows = connection.execute(f"SELECT * FROM launch LIMIT {BY_ROW}").fetchall()
    connection.execute("CREATE TEMP TABLE by_row AS FROM launch LIMIT 0")
    places = ", ".join("?" * len(rows[0]))
    started = perf_counter()
    with write.transaction(connection):
        connection.executemany(f"INSERT INTO by_row VALUES ({places})", rows)
    return BY_ROW / (perf_counter() - started)


def _copied(connection: duckdb.DuckDBPyConnection) -> float:
    """Return launches per second where their rows are only copied, a run in each transaction."""
    connection.execute("SET threads = 1")
    connection.execute(f"CREATE TEMP TABLE ready AS FROM launch LIMIT {LAUNCHES}")
    started = perf_counter()
    for _ in range(COPIED):
        with write.second_transaction(connection), write.transaction(connection):
            connection.execute("INSERT INTO launch FROM ready")
    return COPIED * LAUNCHES / (perf_counter() - started)


def _series(connection: duckdb.DuckDBPyConnection) -> tuple[int, float]:
    """Return how many launches a series has, and how long it takes to read it [s]."""
    wanted = ids.series_id(ids.kernel_id("kernel_7"), "", "device", None)
    query = (
        "SELECT run.started_at, run_id, sum(duration), sum(dram_bytes), count(*) FROM launch"
        " JOIN run USING (run_id) WHERE series_id = ? GROUP BY ALL ORDER BY 1"
    )
    times = []
    for _ in range(SEEN):
        started = perf_counter()
        rows = connection.execute(query, [wanted]).fetchall()
        times.append(perf_counter() - started)
    return sum(row[-1] for row in rows), median(times)
