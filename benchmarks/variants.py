"""Facts of kernels over a year of nights: from rows per variant, and from launches as before.

365 runs of 504 variants, of one launch each, with random quantities; both ways run side by side
over the same file, and must agree. Then one series over 1,000 runs: what was tracked, and facts.
"""

from __future__ import annotations

from dataclasses import replace
from math import isclose
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.planning import plan_for
from advisor.database.relations import STORED, Relations
from advisor.database.variants import store_variants
from advisor.facts import current, kernels_select, load_vocabulary, variant_statements
from advisor.quoting import quoted
from benchmarks.measure import Line

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from advisor.facts import Vocabulary

NIGHTS = 365
VARIANTS = 504
RUNS = 1000  # of which a series is read
SEEN = 50  # times that it is
MADE = 32  # runs; the others are copies under other names
FACTS = (
    "duration", "time_share", "t_sol", "t_dram", "t_compute", "t_least", "roof_fraction",
    "wasted_time", "binding_resource", "limiter", "arithmetic_intensity", "performance",
    "dram_bandwidth", "dram_fraction", "occupancy_theoretical", "occupancy_gap", "waves",
    "load_efficiency", "top_stall", "evidence_level",
)  # fmt: skip
KEYED = ("run_id", "variant_id", *FACTS)
TRACKED = ("duration", "t_least", "roof_fraction", "limiter", "binding_resource")


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    vocabulary = load_vocabulary()
    path = folder / "variants.duckdb"
    with open_for_writing(path) as connection:
        _make(connection, vocabulary)
    launches = replace(STORED, variant=None)
    with open_for_reading(path) as connection:
        plan_for(connection, NIGHTS * VARIANTS)
        which = f"WHERE run_id < '{_run_id(NIGHTS)}'"
        stored = current(connection, vocabulary)
        nights = replace(STORED, even=stored.even)
        tracked, tracked_time = _timed(connection, _facts(vocabulary, stored, which))
        rows, new_time = _timed(connection, _facts(vocabulary, nights, which))
        old_rows, old_time = _timed(connection, _facts(vocabulary, launches, which))
        _compare(tracked, old_rows)
        _compare(rows, old_rows)
        series = _series(connection, vocabulary)
    return [
        Line(
            what=f"{len(FACTS)} facts of {NIGHTS} × {VARIANTS} variants, from their rows",
            value=tracked_time, unit="s of processor time", target="≤ 0.5 s",
            remark=f"{path.stat().st_size / 1e6:,.0f} MB",
        ),
        Line(
            what="the same, tracked facts computed too", value=new_time,
            unit="s of processor time", remark=f"{new_time / tracked_time:.1f} ×",
        ),
        Line(what="the same from launches, one each", value=old_time, unit="s of processor time"),
        Line(what="launches / rows", value=old_time / tracked_time, unit="×"),
        *series,
    ]  # fmt: skip


def _facts(vocabulary: Vocabulary, relations: Relations, which: str) -> str:
    return f"SELECT * FROM ({kernels_select(vocabulary, KEYED, relations)}) {which}"


def _run_id(number: int) -> str:
    return f"{number:012x}"


def _make(connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary) -> None:
    """Store nights as ingest does, and the variants of more runs, whose launches are gone."""
    connection.execute("SELECT setseed(0.5)")
    names = [q.name for q in vocabulary.quantities.quantities.values() if not q.is_text]
    values = ", ".join(f"{_random(name, vocabulary)} AS {quoted(name)}" for name in names)
    connection.execute(f"""
        INSERT INTO launch BY NAME
        SELECT format('{{:012x}}', night) AS run_id, k AS launch_index,
            format('kernel{{}}', k) AS kernel_id, format('series{{}}', k) AS series_id,
            format('{{:x}}-{{}}', night, k) AS variant_id, 'device' AS device_id,
            1e3 AS grid_size, 256.0 AS block_size, {values}
        FROM range({MADE}) AS a(night), range({VARIANTS}) AS b(k)
        ORDER BY ALL
    """)
    store_variants(connection, list(map(_run_id, range(MADE))), variant_statements(vocabulary))
    _copy(connection, "launch", NIGHTS)
    _copy(connection, "variant", RUNS)


def _copy(connection: duckdb.DuckDBPyConnection, table: str, runs: int) -> None:
    """Store the rows of the runs that were made again, as others, until there are enough runs."""
    connection.execute(f"CREATE TEMP TABLE made AS FROM {table}")
    for first in range(MADE, runs, MADE):
        last = _run_id(min(MADE, runs - first))
        connection.execute(f"""
            INSERT INTO {table} SELECT * REPLACE (
                format('{{:012x}}', ('0x' || run_id)::BIGINT + {first}) AS run_id,
                format('{{}}+{first}', variant_id) AS variant_id)
            FROM made WHERE run_id < '{last}'
        """)
    connection.execute("DROP TABLE made")


def _random(name: str, vocabulary: Vocabulary) -> str:
    """Return a random value, unknown in one launch of ten."""
    if name == "duration":
        return "1e-6 * exp(8 * random())"
    value = "random()" if vocabulary.unit(name) == "1" else "exp(20 * random())"
    return f"CASE WHEN random() > 0.1 THEN {value} END"


def _timed(
    connection: duckdb.DuckDBPyConnection, query: str
) -> tuple[list[tuple[object, ...]], float]:
    """Return the rows of a query, and the processor time of its faster turn of two [s]."""
    times = []
    for _ in range(2):
        connection.execute("DROP TABLE IF EXISTS answer")
        started = process_time()
        connection.execute(f"CREATE TEMP TABLE answer AS {query}")
        times.append(process_time() - started)
    ordered = connection.execute("FROM answer ORDER BY run_id, variant_id")
    return ordered.fetchall(), min(times)


def _compare(rows: list[tuple[object, ...]], old: list[tuple[object, ...]]) -> None:
    for row, before in zip(rows, old, strict=True):
        for value, expected in zip(row, before, strict=True):
            if isinstance(value, float) and isinstance(expected, float):
                if not isclose(value, expected, rel_tol=1e-12):
                    raise AssertionError(f"{row} is not {before}")
            elif value != expected:
                raise AssertionError(f"{row} is not {before}")


def _series(connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary) -> list[Line]:
    """Return how long one series over all runs takes to read."""
    connection.execute("SET threads = 1")  # as where a run is read
    relations = current(connection, vocabulary)
    names = (*TRACKED, "run_id", "series_id")
    tracked = f"SELECT run_id, {', '.join(TRACKED)} FROM variant"
    facts = f"SELECT * FROM ({kernels_select(vocabulary, names, relations)})"
    lines = []
    for what, query in (("what was tracked", tracked), ("facts computed", facts)):
        times = []
        for number in range(SEEN):
            series = f"series{(7 * number) % VARIANTS}"
            started = process_time()
            rows = connection.execute(f"{query} WHERE series_id = ?", [series]).fetchall()
            times.append(process_time() - started)
            if len(rows) != RUNS:
                raise AssertionError(f"{len(rows)} rows of {series}")
        lines.append(
            Line(
                what=f"one series over {RUNS:,} runs of {VARIANTS} variants, {what}",
                value=median(times) * 1e3, unit="ms of processor time", target="≤ 20 ms",
                remark=f"{len(TRACKED)} of them, median of {SEEN}",
            )
        )  # fmt: skip
    return lines
