"""The history of 500 series over 365 nights: what it costs beyond the detector, and a new night.

One night of the example runs, its series copied until there are 504, and copied to 365 nights that
stray by 0.2 %.
"""

from __future__ import annotations

import json
from time import process_time
from typing import TYPE_CHECKING

from advisor.api.history_json import as_json
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.nights import branch_of_history, known_series
from advisor.database.outcomes import moved_series
from advisor.database.planning import plan_for
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.ingest.store import follow
from advisor.knowledge.load import load_knowledge
from advisor.reports.record.series_history import read_history
from advisor.resources import data_dir
from advisor.tracking.scan import Nights, scan_many
from advisor.tracking.settings import load_settings
from benchmarks.measure import Line

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from advisor.reports.record.series_records import History

COPIES, NIGHTS = 36, 365
TIMES = 3
_STRAYS = "(1 + 0.002 * sin(n * 7.1 + hash(series_id) % 100))"
_RUN = "format('{:012x}', n)"
_COPIED = {
    "run": {
        "run_id": _RUN,
        "started_at": "started_at - INTERVAL 1 DAY * n",
        "content_hash": "format('{:064x}', n)",
    },
    "variant": {
        "run_id": _RUN,
        "variant_id": "format('{}-{}', variant_id, n)",
        "duration": f"duration * {_STRAYS}",
        "duration_median": f"duration_median * {_STRAYS}",
    },
    "finding": {"run_id": _RUN, "variant_id": "format('{}-{}', variant_id, n)"},
}


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    path = folder / "tracked.duckdb"
    night = data_dir("seed") / "runs" / "nightly" / "night-01.ncu-rep"
    list(ingest_paths(str(path), [str(night)], labels=RunLabels(branch="main"), wait=10))
    with open_for_writing(path) as connection:
        _copy(connection)
    whole, detector = [], []
    for _ in range(TIMES):
        with open_for_reading(path) as connection:
            started = process_time()
            found = _read(connection)
            json.dumps(as_json(found))
            whole.append(process_time() - started)
        detector.append(_detector(found))
    what = f"history of {len(found.series):,} series × {NIGHTS} nights"
    beyond = min(whole) - min(detector)
    return [
        Line(
            what=f"{what}, beyond the detector", value=beyond, unit="s of processor time",
            target="≤ 1 s", remark=f"the detector {min(detector):.2f} s",
        ),
        Line(
            what=f"outcomes of a night, of {len(found.series):,} series × {NIGHTS} nights",
            value=_followed(path), unit="s of processor time",
            remark="one series in twenty moved",
        ),
    ]  # fmt: skip


def _read(connection: duckdb.DuckDBPyConnection) -> History:
    branch = branch_of_history(connection, None)
    assert branch is not None
    return read_history(connection, branch, known_series(connection))


def _followed(path: Path) -> float:
    """Return what it takes to follow the advice of a night on which some series moved [s]."""
    knowledge = load_knowledge()
    with open_for_writing(path) as connection:
        (newest,) = connection.execute("SELECT arg_max(run_id, started_at) FROM run").fetchall()[0]
        moved = "run_id = ? AND hash(series_id) % 20 = 0"
        connection.execute(f"UPDATE variant SET duration = duration * 1.1 WHERE {moved}", [newest])
        plan_for(connection, 1)
        started = process_time()
        follow(connection, moved_series(connection, [newest], knowledge.outcomes), knowledge)
        return process_time() - started


def _detector(found: History) -> float:
    """Return what the detector alone takes for the same series [s]."""
    nights = [
        Nights(values=each.durations, environment=[night.environment for night in each.nights])
        for each in found.series
    ]
    settings = load_settings()
    started = process_time()
    scan_many(nights, settings=settings)
    return process_time() - started


def _copy(connection: duckdb.DuckDBPyConnection) -> None:
    """Copy the series of the one run, then the run, until there are enough."""
    named = "format('{}x{}', series_id, k) AS series_id"
    for table, also in (
        ("variant", ", format('{}x{}', variant_id, k) AS variant_id"),
        ("series", ""),
    ):
        connection.execute(
            f"INSERT INTO {table} SELECT {table}.* REPLACE ({named}{also})"
            f" FROM {table}, range(1, {COPIES}) AS copies(k)"
        )
    copied = "format('{}x{}', variant_id, k) AS variant_id"
    connection.execute(
        f"INSERT INTO finding SELECT finding.* REPLACE ({copied})"
        f" FROM finding, range(1, {COPIES}) AS copies(k) WHERE variant_id IS NOT NULL"
    )
    for table, columns in _COPIED.items():
        made = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
        connection.execute(
            f"INSERT INTO {table} SELECT {table}.* REPLACE ({made})"
            f" FROM {table}, range(1, {NIGHTS}) AS copies(n)"
        )
