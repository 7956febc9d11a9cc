"""Reports and a site over a year: 365 nights of 504 kernels, then one more night.

The kernels are those of a simulated night, copied under other names with noise of their own; some
become slower or faster on some night. Launches keep no counters.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.database.connect import open_for_writing
from advisor.resources import data_dir
from benchmarks.measure import ADVISOR, Line, best_of, cost_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

NIGHTS = 365
TIMES = 3
COPIES = 36  # of the 14 kernels of a night
NOISE = 0.003
STEP = 0.08
_EVERY = 40  # kernels, of which one moves
_TIMES = ("duration", "duration_min", "duration_median", "duration_max", "duration_mean")
_TABLES = ("run", "variant", "finding")


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    nights = int(os.environ.get("ADVISOR_BENCH_NIGHTS", str(NIGHTS)))
    path, site = folder / "site.duckdb", folder / "site"
    made = make(path, nights, folder)
    reports = list(_reports(path, f"{nights:,} nights × {made:,} kernels", folder))
    command = (*ADVISOR, "--db", path, "site", site)
    first = cost_of(command, folder)
    size = sum(each.stat().st_size for each in site.rglob("*") if each.is_file())
    again = cost_of(command, folder)
    with open_for_writing(path) as connection:
        _copy(connection, nights, nights + 1)
    another = cost_of(command, folder)
    what = f"advisor site, {nights:,} nights × {made:,} kernels"
    unit = "s of processor time"
    return [
        *reports,
        Line(
            what=f"{what}, at first", value=first.processor, unit=unit, target="≤ 60 s",
            remark=f"{first.wall:.0f} s of wall-clock time, {first.memory / 1e6:,.0f} MB of memory",
        ),
        Line(what=f"{what}, again", value=again.processor, unit=unit),
        Line(what=f"{what}, another night", value=another.processor, unit=unit, target="≤ 10 s"),
        Line(what="all its files", value=size / 1e6, unit="MB", target="≤ 200 MB"),
    ]  # fmt: skip


def _reports(path: Path, of: str, folder: Path) -> Iterator[Line]:
    """Yield what the newest night's report costs over the year, and its size."""
    page = folder / "report.html"
    for words, most in ((("--html", "-o", page), 3), (("--format", "json"), 2)):
        cost = best_of(TIMES, (*ADVISOR, "--db", path, "report", *words), folder)
        yield Line(
            what=f"advisor report {' '.join(map(str, words[:2])).removesuffix(' -o')}, {of}",
            value=cost.processor, unit="s of processor time", target=f"≤ {most} s",
            remark=f"{cost.wall:.1f} s of wall-clock time, {cost.memory / 1e6:,.0f} MB of memory",
        )  # fmt: skip
    yield Line(what="the page", value=page.stat().st_size / 1e6, unit="MB", target="≤ 2 MB")


def make(path: Path, nights: int, folder: Path) -> int:
    """Make a database of so many nights; return how many kernels each of them has."""
    profile = data_dir("seed") / "runs" / "nightly" / "night-01.ncu-rep"
    cost_of((*ADVISOR, "--db", path, "ingest", "--label", "nightly", profile), folder)
    with open_for_writing(path) as connection:
        _multiply(connection)
        kernels = connection.execute("SELECT count(*) FROM variant").fetchall()[0][0]
        for first in range(1, nights, 50):
            _copy(connection, first, min(first + 50, nights))
    return int(kernels)


def _multiply(connection: duckdb.DuckDBPyConnection) -> None:
    """Copy the kernels of the one night under other names, without their launches."""
    connection.execute("SELECT setseed(0.5)")
    for table in ("kernel", "series", "variant", "finding"):
        names = _columns(connection, table)
        renamed = ", ".join(
            f"format('{{}}x{{}}', {name}, n) AS {name}"
            for name in ("kernel_id", "series_id", "variant_id", "short_name", "name",
                         "normalised_name")
            if name in names
        )  # fmt: skip
        some = " AND variant_id IS NOT NULL" if table == "finding" else ""
        connection.execute(
            f"INSERT INTO {table} SELECT {table}.* REPLACE ({renamed})"
            f" FROM {table}, range(1, {COPIES}) AS copies(n) WHERE true{some}"
        )


def _copy(connection: duckdb.DuckDBPyConnection, first: int, last: int) -> None:
    """Copy the first night to the nights ``first`` to ``last``."""
    (night,) = connection.execute("SELECT run_id FROM run WHERE run_id NOT LIKE 'n%'").fetchall()[0]
    moves = f"(hash(series_id) % {_EVERY} = 0 AND n > hash(series_id) % 300)::INT"
    slower = "if(hash(series_id) % 3 = 0, -1, 1)"
    noise = f"(1 + {NOISE} * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))"
    for table in _TABLES:
        names = _columns(connection, table)
        made = {
            "run_id": "format('n{:011x}', n)",
            "run_number": "run_number + n",
            "content_hash": "format('{:064x}', n)",
            "variant_id": "format('{}-{}', variant_id, n)",
            "started_at": "started_at + INTERVAL 1 DAY * n",
            "ingested_at": "started_at + INTERVAL 1 DAY * n",
            '"commit"': "format('{:040x}', n // 3)",
        }
        replaced = [f"{sql} AS {name}" for name, sql in made.items() if name.strip('"') in names]
        source = f"(SELECT *, {noise} AS noise FROM {table}, range({first}, {last}) AS copies(n))"
        if table == "variant":
            factor = f"noise * (1 + {STEP} * {slower} * {moves})"
            replaced += [f"{name} * {factor} AS {name}" for name in _TIMES if name in names]
        connection.execute(
            f"INSERT INTO {table} SELECT * EXCLUDE (n, noise) REPLACE ({', '.join(replaced)})"
            f" FROM {source} WHERE run_id = '{night}'"
        )


def _columns(connection: duckdb.DuckDBPyConnection, table: str) -> set[str]:
    return {row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()}
