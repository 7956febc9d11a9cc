"""Stored runs, recomputed from the counters that were kept: quantities, flags, findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from advisor.database import renewing, write
from advisor.database.arrays import ArrayTable
from advisor.database.outcomes import affected_series
from advisor.database.planning import plan_for
from advisor.database.read import run_details
from advisor.ingest.store import follow, judge, store_facts
from advisor.knowledge.knowledge import Knowledge
from advisor.model import Dim3, Keyed, Launch
from advisor.readers import reader_of
from advisor.records import dataclass

if TYPE_CHECKING:
    import duckdb

_BATCH = 256  # launches that are held at a time
_STAGED = "staged"


@dataclass(frozen=True, kw_only=True)
class Refreshed:
    """What refreshing changed in a run: in how many launches, by column, and its findings."""

    run_id: str
    launches: int
    changed: Mapping[str, int]
    findings_before: int
    findings_after: int
    findings_changed: bool


def refresh_run(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    *,
    knowledge: Knowledge,
    progress: Callable[[str], None] = lambda _: None,
) -> Refreshed:
    """Recompute a run's quantities, flags and findings, all of them or none.

    ``connection`` must have the seed data. Counters and texts are those that ingest kept; what
    reads the profile itself (names, devices) stays. Of a pruned run only facts are recomputed.
    """
    plan_for(connection, _BATCH)
    with write.transaction(connection):
        launches = _derive(connection, run_id, knowledge, progress)
        changed = renewing.take_over(connection, run_id) if launches else {}
        plan_for(connection, launches)
        table = store_facts(connection, [run_id], knowledge)
        before = renewing.findings(connection, run_id)
        if launches:  # what is left of a pruned run does not decide rules about whole runs
            judge(connection, [run_id], knowledge, table)
            follow(connection, affected_series(connection, [run_id]), knowledge)
            renewing.set_rules_hash(connection, run_id, knowledge.compiled.digest)
        after = renewing.findings(connection, run_id)
    return Refreshed(
        run_id=run_id,
        launches=launches,
        changed=changed,
        findings_before=len(before),
        findings_after=len(after),
        findings_changed=before != after,
    )


def _derive(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    knowledge: Knowledge,
    progress: Callable[[str], None],
) -> int:
    """Put what the counters give into a temporary table; return the number of launches."""
    stored_as = str(run_details(connection, run_id)["format"])
    mapping = knowledge.mapping(reader_of(stored_as).COUNTERS)
    done = 0
    for batch, devices in _batches(connection, run_id):
        indexes = np.array([launch.index for launch in batch])
        values = mapping.stage(batch, devices)
        ArrayTable(connection, _STAGED).fill({"row": indexes, **values})
        renewing.add_values(connection, mapping.sql(_STAGED, values), first=not done)
        done += len(batch)
        progress(f"{run_id}: {done:,} launches")
    return done


def _batches(
    connection: duckdb.DuckDBPyConnection, run_id: str
) -> Iterator[tuple[Sequence[Launch], Sequence[str | None]]]:
    """Yield the stored launches by the hundred, each with the ids of their devices."""
    last = -1
    while (found := stored_launches(connection, run_id, after=last, most=_BATCH))[0]:
        last = found[0][-1].index
        yield found


def stored_launches(
    connection: duckdb.DuckDBPyConnection, run_id: str, *, after: int, most: int
) -> tuple[Sequence[Launch], Sequence[str | None]]:
    """Return the launches of a run after the one at ``after``, and the ids of their devices.

    A launch has what its quantities rest on; there is none where the run was pruned.
    """
    rows = renewing.launches_after(connection, run_id, after, most)
    keyed: dict[int, dict[str, Keyed]] = {}
    if rows:
        for index, counter, keys, values in renewing.keyed_of(
            connection, run_id, rows[0][0], rows[-1][0]
        ):
            held = keyed.setdefault(index, {})
            held[counter] = Keyed(keys=tuple(keys), values=tuple(values))
    launches = [_launch(row[:-1], keyed.get(row[0], {})) for row in rows]
    return launches, [row[-1] for row in rows]


def _launch(row: Sequence[Any], keyed: Mapping[str, Keyed]) -> Launch:
    """Return a stored launch as its reader gave it, as far as quantities need it."""
    index, blocks, threads, *sides, names, values, texts = row
    grid, block = sides[:3], sides[3:]
    return Launch(
        index=index,
        kernel_name="",
        grid=_shape(grid),
        block=_shape(block),
        blocks=None if blocks is None else int(blocks),
        threads=None if threads is None else int(threads),
        counters=dict(zip(names or (), values or (), strict=True)),
        texts=texts or {},
        keyed=keyed,
    )


def _shape(sides: Sequence[float | None]) -> Dim3 | None:
    x, y, z = sides
    return None if x is None or y is None or z is None else (int(x), int(y), int(z))
