"""A compacted lake of copies of one night, made by SQL: `lake add` of 10,000 runs takes an hour.

Its packs are written as `compact` writes them. Each run has an id, a moment, variants and times of
its own; some kernels change on one of the newest nights. Counters and quantities are those of the
night, so that a launch takes fewer bytes than in a lake of real runs.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from itertools import groupby
from time import perf_counter
from typing import TYPE_CHECKING

from advisor.database.connect import opened
from advisor.database.lake.manifest import RunName
from advisor.database.lake.place import PACK, RUNS, device_part
from advisor.database.lake.tables import DETAILS, SHARED, columns_of
from advisor.database.lake.write import make_lake, writing
from advisor.quoting import quoted
from benchmarks.ingest import repeat
from benchmarks.measure import ADVISOR, cost_of
from benchmarks.years import STRAYED, copied_values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb

JOBS = 100
"""Histories: jobs that are profiled every night, each under a configuration of its own."""

_RUN = "SELECT run_id, device_names, launches, coalesce(started_at, ingested_at) FROM run"
_NUMBER = "n"
_JOB = f"format('job-{{:03}}', {_NUMBER} % {JOBS})"
_SERIES_ID = f"left(sha256(concat(series_id, {_JOB})), 12)"
_SERIES = f"""
    SELECT series.* REPLACE ({_SERIES_ID} AS series_id, {_JOB} AS configuration)
    FROM series, (SELECT unnest(range({JOBS})) AS {_NUMBER})
"""
_WAIT = 60.0


def make_packs(root: Path, runs: int, night: Path, folder: Path, size: int) -> tuple[float, int]:
    """Make a lake of so many runs; return the seconds that it took, and its launches.

    ``size`` is that of the profile of each [B].
    """
    started_at = perf_counter()
    profile, database = folder / night.name, folder / "one.duckdb"
    repeat(night, profile, size)
    cost_of((*ADVISOR, "--db", database, "ingest", profile), folder)
    make_lake(root)
    with opened(database, wait=_WAIT, read_only=True, reaches_others=True) as connection:
        ((run_id, devices, launches, started),) = connection.execute(_RUN).fetchall()
        device = device_part(devices)
        for month, of_month in groupby(range(runs), key=lambda n: _month(started, n)):
            _pack(connection, root, run_id, list(of_month), launches, (month, device))
    return perf_counter() - started_at, int(launches) * runs


def _month(started: datetime, number: int) -> str:
    return f"{started - timedelta(days=number // JOBS):%Y-%m}"


def _pack(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    run_id: str,
    numbers: Sequence[int],
    launches: int,
    partition: tuple[str, str],
) -> None:
    """Write the pack of a month, of the runs with some numbers."""
    columns = columns_of(connection)
    month, device = partition
    names = [_named(number, launches) for number in numbers]
    digest = hashlib.sha256(" ".join(each.name for each in names).encode()).hexdigest()
    with writing(connection, root, columns) as pack:
        pack.goes_to(root / RUNS / f"month={month}" / f"device={device}" / f"{PACK}{digest}")
        for table in columns.of_runs():
            pack.add(table, _copies(table, list(columns.of[table]), numbers), {})
        for table, query in DETAILS.items():
            pack.add(table, query, {"run": run_id})
        for table in SHARED:
            rows = _SERIES if table == "series" else f"SELECT * FROM {table}"
            pack.add(table, f"{rows} ORDER BY ALL", {}, shared=True)
        pack.commit(sorted(names, key=lambda run: run.run_id), month, device)


def _named(number: int, launches: int) -> RunName:
    """Return the name of a copy, as ``copied_values`` has it."""
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    return RunName(run_id=digest[:12], content_hash=digest, part=0, launches=launches)


def _copies(table: str, names: Sequence[str], numbers: Sequence[int]) -> str:
    """Return the SELECT of the copies of a table's rows, run by run."""
    made = copied_values(table, f"({_NUMBER} // {JOBS})", f"{_NUMBER}")
    made.pop("counter_values", None)
    made |= {"series_id": _SERIES_ID, "configuration": _JOB}
    columns = ", ".join(f"{made.get(name, quoted(name))} AS {quoted(name)}" for name in names)
    nights = f"(SELECT unnest(range({numbers[0]}, {numbers[-1] + 1})) AS {_NUMBER})"
    return f"SELECT {columns} FROM (SELECT *, {STRAYED} AS strayed FROM {table}, {nights})"
