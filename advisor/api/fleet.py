"""Judge all runs of a lake by today's rules, on DuckDB or on Spark."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Literal

from advisor.configuration import DEFAULTS, Configuration
from advisor.database import judged as door
from advisor.database.connect import FETCHES_NOTHING
from advisor.database.lake.door import damage_told, opened_over
from advisor.database.lake.place import folder_of
from advisor.database.lake.scan import Lake, LeftOut, scan
from advisor.database.lake.tables import Columns
from advisor.database.lake.write import add_judged
from advisor.errors import UsageError
from advisor.knowledge.load import load_knowledge
from advisor.rules.engine.fleet import compute_here, follow_runs, judge_runs

if TYPE_CHECKING:
    import duckdb

    from advisor.rules.engine.fleet import Compute

EngineName = Literal["duckdb", "spark"]

_AT_ONCE = 64  # runs whose facts DuckDB computes by one statement
_AT_ONCE_ON_SPARK = 4096


@dataclass(frozen=True, kw_only=True)
class Judged:
    """How many runs were judged, with how many findings, and what of the lake was left out."""

    runs: int
    findings: int
    outcomes: int
    left_out: tuple[LeftOut, ...]


def judge_lake(
    lake: str,
    *,
    engine: EngineName = "duckdb",
    master: str | None = None,
    since: datetime | None = None,
    progress: Callable[[str], None] = lambda _: None,
    configuration: Configuration = DEFAULTS,
) -> Judged:
    """Work out facts, findings and outcomes of every run that today's rules have not judged.

    They are written beside the runs, all of them or nothing. ``since`` (UTC without a zone) leaves
    older nights out; ``master`` is the cluster of Spark, by default this machine.

    Raises:
        UsageError: a master is named, and the engine has none.
        DatabaseError: the lake cannot be read or written, or there is no Spark, or it fails.
    """
    if master is not None and engine != "spark":
        raise UsageError("only Spark has a master", hint="add --engine spark")
    knowledge = load_knowledge(configuration)
    compiled = knowledge.compiled
    found = scan(folder_of(lake).resolve())
    with opened_over(found, FETCHES_NOTHING) as (connection, columns), damage_told(lake):
        run_ids = door.runs_without(connection, compiled.digest, since)
        if not run_ids:
            return Judged(runs=0, findings=0, outcomes=0, left_out=found.left_out)
        door.make_tables(connection, run_ids)
        with _engine(engine, master, found, columns, connection) as (compute, at_once):
            for first in range(0, len(run_ids), at_once):
                progress(f"{first:,} of {len(run_ids):,} runs")
                batch = run_ids[first : first + at_once]
                judge_runs(connection, compiled, batch, knowledge.settings, compute)
        progress("outcomes of advice")
        tables = follow_runs(connection, compiled, run_ids, knowledge.outcomes)
        known = found.runs()
        add_judged(
            connection,
            found.root,
            columns,
            [known[run_id][0] for run_id in run_ids],
            rules=compiled.digest,
            tables=tables,
        )
        return Judged(
            runs=len(run_ids),
            findings=door.count_of(connection, "finding"),
            outcomes=door.count_of(connection, "outcome"),
            left_out=found.left_out,
        )


@contextlib.contextmanager
def _engine(
    name: EngineName,
    master: str | None,
    lake: Lake,
    columns: Columns,
    connection: duckdb.DuckDBPyConnection,
) -> Iterator[tuple[Compute, int]]:
    """Yield what computes facts, and of how many runs at once."""
    if name == "duckdb":
        yield compute_here, _AT_ONCE
        return
    from advisor.database.lake.spark import open_spark
    from advisor.rules.engine.on_spark import compute_on_spark

    with open_spark(lake, columns, connection, master) as spark:
        yield partial(compute_on_spark, spark), _AT_ONCE_ON_SPARK
