"""What years of nights cost a command: 30 runs beside 10,020 of a million launches.

Runs are copies of one night, made by SQL: each has an id, a date, variants and times of its own,
and counters that stray; kernels and series are the same, and some change on one of the newest
nights. Then what a backup costs, and what pruning gives back.
"""

from __future__ import annotations

import os
import shutil
from time import perf_counter
from typing import TYPE_CHECKING

from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.write import tables_of_runs
from advisor.quoting import quoted
from advisor.resources import data_dir
from benchmarks.ingest import first_launch, repeat
from benchmarks.measure import ADVISOR, Line, apart, best_of, cost_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import duckdb

FEW = 30
MANY = 10_020
TIMES = 5
PROFILE = 320_000  # bytes of a profile of 98 launches
KERNEL = "stencil_heat3d_kernel"  # of the example runs
NOISE = 0.003
STEP = 0.1
_EVERY = 3  # kernels, of which one changes
_RECENT = 300  # nights ago, at most
_AT_ONCE = 60  # runs that are copied by one statement
_LONGEST = 1.3  # times as long as with few runs
_ROOM = 700_000  # bytes of the disk per run: the database, a copy of it, and what is written
_TIMES = ("duration", "duration_min", "duration_median", "duration_max", "duration_mean")
STRAYED = f"(1 + {NOISE} * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))"


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    nights = sorted((data_dir("seed") / "runs").rglob("*.ncu-rep"))
    number = _runs(folder)
    few, many = folder / "few.duckdb", folder / "many.duckdb"
    apart(make, few, FEW, nights[0], folder)
    made, launches = apart(make, many, number, nights[0], folder)
    what, beside = f"{number:,} runs of {launches:,} launches", f"{number:,} runs / {FEW}"
    lines = [
        Line(
            what=f"database of {what}", value=many.stat().st_size / 1e6, unit="MB",
            remark=f"made in {made:.0f} s of wall-clock time",
        ),
        *_commands(few, many, beside, folder),
        *_newest_nights(few, many, nights[1 : 1 + TIMES], beside, folder),
    ]  # fmt: skip
    return [*lines, _backup(many, folder), _pruned(many, folder)]


def make(
    path: Path, runs: int, night: Path, folder: Path, size: int = PROFILE
) -> tuple[float, int]:
    """Make a database of so many runs; return the seconds that it took, and its launches.

    ``size`` is that of the profile of each [B].
    """
    started = perf_counter()
    profile = folder / night.name
    repeat(night, profile, size)
    cost_of((*ADVISOR, "--db", path, "ingest", profile), folder)
    with open_for_writing(path) as connection:
        for last in range(runs - 1, 0, -_AT_ONCE):  # the oldest first, as they come
            copy_nights(connection, max(1, last - _AT_ONCE + 1), last)
    cost_of((*ADVISOR, "--db", path, "runs", "remove", "latest", "--yes"), folder)
    cost_of((*ADVISOR, "--db", path, "ingest", profile), folder)
    with open_for_reading(path) as connection:
        (launches,) = connection.execute("SELECT count(*) FROM launch").fetchall()[0]
    return perf_counter() - started, int(launches)


def _commands(few: Path, many: Path, what: str, folder: Path) -> Iterator[Line]:
    for name, words in (
        ("report", ("report",)),
        ("report of an old night", ("report", "last~20")),
        ("show KERNEL", ("show", KERNEL)),
        ("compare", ("compare", "last~1", "last")),
        ("runs list", ("runs", "list")),
    ):
        costs = [
            best_of(TIMES, (*ADVISOR, "--db", path, *words), folder).processor
            for path in (few, many)
        ]
        yield _ratio(f"advisor {name}, {what}", *costs)


def _newest_nights(
    few: Path, many: Path, nights: Sequence[Path], what: str, folder: Path
) -> Iterator[Line]:
    """Ingest of the nights that follow, one after the other: of one launch each, then whole."""
    single = [folder / f"first-{night.name}" for night in nights]
    for night, path in zip(nights, single, strict=True):
        first_launch(night, path)
    for name, profiles in (("one launch", single), ("one night", nights)):
        costs = [
            min(cost_of((*ADVISOR, "--db", path, "ingest", each), folder).processor
                for each in profiles)
            for path in (few, many)
        ]  # fmt: skip
        yield _ratio(f"advisor ingest of {name}, {what}", *costs)


def _ratio(what: str, few: float, many: float) -> Line:
    return Line(
        what=what,
        value=many / few,
        unit="×",
        target=f"≤ {_LONGEST} ×",
        remark=f"{many:.2f} s of processor time / {few:.2f} s",
    )


def _backup(path: Path, folder: Path) -> Line:
    copy = folder / "backup.duckdb"
    cost = cost_of((*ADVISOR, "--db", path, "db", "backup", "-o", copy), folder)
    copy.unlink()
    return Line(
        what="advisor db backup of it",
        value=cost.processor,
        unit="s of processor time",
        remark=f"{cost.wall:.0f} s of wall-clock time, {cost.memory / 1e6:,.0f} MB of memory",
    )


def _pruned(path: Path, folder: Path) -> Line:
    before = path.stat().st_size
    words = ("runs", "prune", "--keep", str(FEW))
    cost = cost_of((*ADVISOR, "--db", path, *words), folder)
    after = path.stat().st_size
    return Line(
        what=f"advisor {' '.join(words)}: what is left of the file",
        value=100 * after / before,
        unit="%",
        remark=f"{before / 1e6:,.0f} MB before, {after / 1e6:,.0f} MB after,"
        f" {cost.processor:.0f} s of processor time, {cost.memory / 1e6:,.0f} MB of memory",
    )


def _runs(folder: Path) -> int:
    """Return how many runs to make: as many as were asked for, or as the disk has room for."""
    asked = int(os.environ.get("ADVISOR_BENCH_NIGHTS", str(MANY)))
    room = shutil.disk_usage(folder).free // _ROOM
    if room < asked:
        print(f"{room:,} runs instead of {asked:,}: the disk has no room for more")
    return min(asked, room)


def copy_nights(connection: duckdb.DuckDBPyConnection, first: int, last: int) -> None:
    """Copy the run that was ingested to those of ``first`` to ``last`` nights before."""
    (night,) = connection.execute("SELECT arg_max(run_id, started_at) FROM run").fetchall()[0]
    nights = f"(SELECT unnest(range({last}, {first} - 1, -1)) AS n)"
    for table in tables_of_runs(connection):
        names = [row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()]
        made = copied_values(table)
        columns = ", ".join(f'{made.get(name, quoted(name))} AS "{name}"' for name in names)
        connection.execute(
            f"INSERT INTO {table} SELECT {columns} FROM"
            f" (SELECT *, {STRAYED} AS strayed FROM {nights}, {table} WHERE run_id = '{night}')"
        )


def copied_values(table: str, night: str = "n", number: str = "n") -> dict[str, str]:
    """Return the SQL of what is another value in a copy, by column.

    ``night`` is SQL of how many nights before the first it is, ``number`` of which copy it is.
    """
    moved = f"hash(series_id) % {_EVERY} = 0 AND {night} < hash(series_id) % {_RECENT}"
    factor = f"strayed * if({moved}, 1 + {STEP}, 1)"
    values = {
        "run_id": f"left(sha256({number}::VARCHAR), 12)",
        "run_number": f"run_number - {number}",
        "content_hash": f"sha256({number}::VARCHAR)",
        "variant_id": f"left(sha256(format('{{}}-{{}}', variant_id, {number})), 12)",
        "commit": f"left(sha256(({night} // 3)::VARCHAR), 40)",
        "counter_values": "list_transform(counter_values, value -> value * strayed)",
    }
    if table == "run":
        before = f"INTERVAL 1 DAY * {night}"
        values |= {name: f"{name} - {before}" for name in ("started_at", "ingested_at")}
    if table in {"launch", "variant"}:
        values |= {name: f"{name} * {factor}" for name in _TIMES}
    return values
