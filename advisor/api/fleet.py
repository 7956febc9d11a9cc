"""Judge all runs of a lake by today's rules, on DuckDB or on Spark."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from advisor import __version__
from advisor.api.fleet_batches import Judging
from advisor.api.fleet_engines import Engine, EngineName, opened_engine
from advisor.configuration import DEFAULTS, Configuration
from advisor.database import judged
from advisor.database.connect import FETCHES_NOTHING
from advisor.database.histories import lacking_histories
from advisor.database.lake.door import READ_ONCE, damage_reported, opened_over
from advisor.database.lake.place import TEMPORARY, folder_of
from advisor.database.lake.scan import LeftOut, scan
from advisor.database.lake.write import add_judged
from advisor.errors import UsageError
from advisor.knowledge.load import load_knowledge
from advisor.records import dataclass
from advisor.rules.engine.fleet import follow_runs
from advisor.scratch import scratch_folder
from advisor.tracking.comparing import load_comparing
from advisor.tracking.settings import load_settings

if TYPE_CHECKING:
    import duckdb

    from advisor.knowledge.knowledge import Knowledge


@dataclass(frozen=True, kw_only=True)
class Judged:
    """How many runs were judged, with how many findings, and what of the lake was left out.

    ``moved`` counts the changes of series in ``histories`` that were looked at.
    """

    runs: int
    findings: int
    outcomes: int
    left_out: tuple[LeftOut, ...]
    histories: int = 0
    moved: int = 0


def judge_lake(
    lake: str,
    *,
    engine: EngineName = "duckdb",
    master: str | None = None,
    since: datetime | None = None,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda _: None,
    configuration: Configuration = DEFAULTS,
) -> Judged:
    """Work out facts, findings and outcomes of every run that today's rules have not judged.

    So is what moved, by the detector, in every history that has other runs since. All is written
    beside the runs, or nothing. ``since`` (UTC without a zone) leaves older nights out;
    ``master`` is the cluster of Spark, by default this machine. ``jobs`` are the processes that
    judge here; a program that asks for several begins with ``if __name__ == "__main__"``.

    Raises:
        UsageError: a master is named, and the engine has none.
        DatabaseError: the lake cannot be read or written, or there is no Spark, or it fails.
    """
    if master is not None and engine != "spark":
        raise UsageError("only Spark has a master", hint="add --engine spark")
    knowledge = load_knowledge(configuration)
    digest = knowledge.compiled.digest
    found = scan(folder_of(lake).resolve())
    with (
        damage_reported(lake),
        opened_over(found, {**FETCHES_NOTHING, **READ_ONCE}, hold=True) as (connection, columns),
    ):
        run_ids = judged.runs_without(connection, digest, since)
        followed = lacking_histories(connection, _detector(digest), since)
        if not run_ids and not followed:
            return Judged(runs=0, findings=0, outcomes=0, left_out=found.left_out)
        with scratch_folder(_made(found.root / TEMPORARY)) as folder:
            judging = Judging(lake=found, target=folder, configuration=configuration, jobs=jobs)
            with opened_engine(engine, master, found, columns, connection) as opened:
                tables = _judge(connection, knowledge, run_ids, opened, judging, progress)
                if followed:
                    opened.move(connection, partial(_tell, progress, "histories", len(followed)))
                    tables |= judged.MOVED
            known = found.runs()
            runs = [known[run_id][0] for run_id in run_ids]
            add_judged(connection, found.root, columns, runs, rules=digest, tables=tables)
            rows = {table: judged.count_of(connection, table) for table in tables}
        return Judged(
            runs=len(run_ids),
            findings=rows.get("finding", 0),
            outcomes=rows.get("outcome", 0),
            left_out=found.left_out,
            histories=rows.get("followed", 0),
            moved=rows.get("moved", 0),
        )


def _judge(
    connection: duckdb.DuckDBPyConnection,
    knowledge: Knowledge,
    run_ids: list[str],
    engine: Engine,
    judging: Judging,
    progress: Callable[[str], None],
) -> dict[str, str]:
    """Judge runs, and follow advice over all; return the SELECTs of what was found."""
    if not run_ids:
        return {}
    compiled = knowledge.compiled
    for done in judging.over(run_ids, engine, compiled):
        _tell(progress, "runs", len(run_ids), done)
    progress("outcomes of advice")
    judged.read_judged(connection, judging.target, run_ids)
    return dict(follow_runs(connection, compiled, run_ids, knowledge.outcomes))


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def _tell(progress: Callable[[str], None], what: str, all_of_them: int, done: int) -> None:
    progress(f"{done:,} of {all_of_them:,} {what}")


def _detector(rules: str) -> str:
    """Return what else than nights an answer about moved series rests on."""
    return f"{__version__} {rules} {load_settings()!r} {load_comparing().limits!r}"
