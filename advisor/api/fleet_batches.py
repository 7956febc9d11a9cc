"""Judge runs of a lake in batches: each ends as Parquet files, and what it held is given back.

Several processes take batches where there are more than one; each opens the lake for itself.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.configuration import Configuration
from advisor.database import judged
from advisor.database.connect import FETCHES_NOTHING
from advisor.database.lake.door import READ_ONCE, damage_reported, opened_over
from advisor.database.lake.scan import Lake
from advisor.errors import DatabaseError
from advisor.knowledge.load import load_knowledge
from advisor.records import dataclass
from advisor.rules.engine.fleet import compute_here, judge_runs, take_computed

if TYPE_CHECKING:
    import duckdb

    from advisor.api.fleet_engines import Engine
    from advisor.knowledge.knowledge import Knowledge
    from advisor.rules.engine.compiled import Compiled

AT_ONCE = 64
"""Runs that are judged by one statement, and end in files of their own."""

_OF_A_PROCESS = 512  # runs after which a process is replaced by a new one
_ONE_THREAD = {"threads": 1}


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Runs of a lake for one process: ``lake`` has the parts that they are in.

    What was judged goes to the folder ``target``, in files that ``number`` orders. ``computed`` are
    the folders of facts and of outcomes of rules that another engine wrote, if one did.
    """

    number: int
    lake: Lake
    run_ids: tuple[str, ...]
    target: Path
    configuration: Configuration
    computed: tuple[Path, Path] | None = None


@dataclass(frozen=True, kw_only=True)
class Judging:
    """How the runs of a lake are judged: by so many processes, into the folder ``target``."""

    lake: Lake
    target: Path
    configuration: Configuration
    jobs: int

    def over(self, run_ids: Sequence[str], engine: Engine, compiled: Compiled) -> Iterator[int]:
        """Judge runs; yield how many are done.

        Raises:
            DatabaseError: a file of the lake cannot be read, or a process died, or Spark fails.
        """
        step, done = engine.at_once or len(run_ids), 0
        for first in range(0, len(run_ids), step):
            chosen = run_ids[first : first + step]
            computed = engine.compute(compiled, chosen) if engine.compute else None
            for number in _judged(self._batches(chosen, first, computed), self.jobs):
                done += number
                yield done

    def _batches(
        self, run_ids: Sequence[str], before: int, computed: tuple[Path, Path] | None
    ) -> list[Batch]:
        """Return the batches of runs, in their order; ``before`` are the runs ahead of them."""
        of_each = -(-len(run_ids) // (self.jobs * AT_ONCE)) * AT_ONCE
        step = min(_OF_A_PROCESS, of_each)
        known = self.lake.runs()
        found = []
        for first in range(0, len(run_ids), step):
            chosen = tuple(run_ids[first : first + step])
            parts = {known[run_id][1].folder: known[run_id][1] for run_id in chosen}
            batch = Batch(
                number=before + first,
                lake=self.lake.limited(tuple(parts.values())),
                run_ids=chosen,
                target=self.target,
                configuration=self.configuration,
                computed=computed,
            )
            found.append(batch)
        return found


def _judged(found: Sequence[Batch], jobs: int) -> Iterator[int]:
    """Judge batches by so many processes; yield the number of runs of each that is done."""
    if jobs < 2 or len(found) < 2:
        yield from map(judge_batch, found)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(jobs, len(found)), mp_context=context, max_tasks_per_child=1
    ) as pool:
        waiting = [pool.submit(judge_batch, each, _ONE_THREAD) for each in found]
        try:
            for done in as_completed(waiting):
                yield done.result()
        except BrokenProcessPool as error:
            hint = "nothing was written; --jobs with fewer processes takes less memory"
            raise DatabaseError("a process that judged runs was killed", hint=hint) from error
        finally:
            pool.shutdown(cancel_futures=True)


def judge_batch(batch: Batch, settings: dict[str, int] | None = None) -> int:
    """Judge the runs of a batch, and write what rules say about them; return how many there are."""
    knowledge = load_knowledge(batch.configuration)
    limits = {**FETCHES_NOTHING, **READ_ONCE, **(settings or {})}
    root = str(batch.lake.root)
    with damage_reported(root), opened_over(batch.lake, limits, hold=True) as (connection, _):
        for first in range(0, len(batch.run_ids), AT_ONCE):
            run_ids = batch.run_ids[first : first + AT_ONCE]
            _judge(connection, knowledge, batch, run_ids)
            judged.write_judged(connection, batch.target, batch.number + first)
    return len(batch.run_ids)


def _judge(
    connection: duckdb.DuckDBPyConnection,
    knowledge: Knowledge,
    batch: Batch,
    run_ids: Sequence[str],
) -> None:
    judged.make_tables(connection)
    compute = partial(take_computed, batch.computed) if batch.computed else compute_here
    judge_runs(connection, knowledge.compiled, run_ids, knowledge.settings, compute)
