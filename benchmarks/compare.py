"""Compare and check two runs of 5,000 variants, text included; one in twenty takes 10 % longer."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING

from advisor.api.checking import check
from advisor.api.comparison import compare
from advisor.cli.compared import as_text
from advisor.database.connect import open_for_writing
from advisor.database.variants import store_variants
from advisor.facts import variant_statements
from advisor.knowledge.load import load_knowledge
from advisor.reports.write.gate import text
from benchmarks.measure import Line

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from advisor.facts import Vocabulary

VARIANTS, LAUNCHES = 5_000, 5
RUNS = ("00000000000a", "00000000000b")


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    path = folder / "compare.duckdb"
    with open_for_writing(path) as connection:
        _make(connection, load_knowledge().vocabulary)
    times, gated = [], []
    for _ in range(3):
        started = process_time()
        found = compare(str(path), *RUNS, wait=10)
        as_text(found, str(path), width=100)
        times.append(process_time() - started)
        started = process_time()
        gate = check(
            str(path),
            RUNS[1],
            baseline=RUNS[0],
            fail_on=("regression", "new-finding:note"),
            wait=10,
        )
        text(gate)
        gated.append(process_time() - started)
    told = sum(row.verdict == "regressed" for row in found.rows)
    what = f"two runs of {VARIANTS:,} variants, {LAUNCHES} launches each, compared"
    return [
        Line(
            what=what, value=min(times), unit="s of processor time", target="≤ 1 s",
            remark=f"{told:,} regressed",
        ),
        Line(
            what=f"two runs of {VARIANTS:,} variants, checked", value=min(gated),
            unit="s of processor time", target="≤ 1 s", remark=f"{len(gate.tripped):,} tripped",
        ),
    ]  # fmt: skip


def _make(connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary) -> None:
    connection.execute("SELECT setseed(0.5)")
    for number, run_id in enumerate(RUNS):
        connection.execute(
            "INSERT INTO run (run_id, content_hash, part, format, status, ingested_at, simulated,"
            " launches) VALUES (?, ?, 0, 'made', 'complete', TIMESTAMP '2026-01-01', false, ?)",
            [run_id, run_id, VARIANTS * LAUNCHES],
        )
        connection.execute(
            """
            INSERT INTO launch BY NAME
            SELECT $run AS run_id, k * $launches + i AS launch_index,
                format('kernel{}', k) AS kernel_id, format('series{}', k) AS series_id,
                format('{}-{}', $run, k) AS variant_id, 'device' AS device_id,
                '(1000, 1, 1)x(256, 1, 1)' AS launch_shape,
                1e3 AS grid_size, 256.0 AS block_size, 1.4e9 AS sm_clock, 1e9 AS dram_clock,
                1e6 AS dram_bytes, 1e12 AS peak_dram_bandwidth, 1e7 AS flops_fp32,
                1e13 AS peak_fp32, 1e4 AS instructions_executed, 32.0 AS registers_per_thread,
                1e-5 * (1 + 0.005 * random()) * (1 + 0.1 * $number * (k % 20 = 0)::INT) AS duration
            FROM range($variants) AS a(k), range($launches) AS b(i)
            """,
            {"run": run_id, "launches": LAUNCHES, "variants": VARIANTS, "number": number},
        )
        if number == 0:
            connection.execute(
                """
                INSERT INTO kernel (kernel_id, name, short_name, normalised_name)
                SELECT format('kernel{}', k), format('kernel{}', k), format('kernel{}', k),
                    format('kernel{}', k) FROM range(?) AS a(k)
                """,
                [VARIANTS],
            )
    store_variants(connection, list(RUNS), variant_statements(vocabulary))
