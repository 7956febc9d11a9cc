"""Stored runs, worked out anew from the counters that were kept: quantities, flags, findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from advisor.database import write
from advisor.database.arrays import ArrayTable
from advisor.database.planning import plan_for
from advisor.expression import quote
from advisor.ingest.store import judge
from advisor.knowledge.knowledge import Knowledge
from advisor.model import Dim3, Keyed, Launch
from advisor.readers import reader_of
from advisor.rules import rules_hash

if TYPE_CHECKING:
    import duckdb

_BATCH = 256  # launches that are held at a time
_TABLE = "refreshed"
_STAGED = "staged"
_KEY = "launch_index"
_LAUNCHES = """
    SELECT launch_index, grid_x, grid_y, grid_z, block_x, block_y, block_z,
        key_set.keys, counter_values, text_set.texts
    FROM main.launch
    LEFT JOIN main.key_set ON key_set.key_set = counter_keys
    LEFT JOIN main.text_set ON text_set.text_set = launch.text_set
    WHERE run_id = ? AND launch_index IN (
        SELECT launch_index FROM main.launch WHERE run_id = ? AND launch_index > ?
        ORDER BY launch_index LIMIT ?
    )
    ORDER BY launch_index
"""
_KEYED = """
    SELECT launch_index, counter, key_set.keys, "values"
    FROM main.launch_keyed JOIN main.keyed_set USING (keyed_set) JOIN main.key_set USING (key_set)
    WHERE run_id = ? AND launch_index BETWEEN ? AND ?
"""
_FINDINGS = """
    SELECT rule_id, rule_hash, variant_id, outcome, severity, mechanism, rank,
        format('{:.8e}', gain_low), format('{:.8e}', gain_likely), format('{:.8e}', gain_high),
        confidence, evidence, because, unchecked
    FROM main.finding WHERE run_id = ? ORDER BY rule_id, variant_id
"""


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
    """Compute a run's quantities, flags and findings anew, all of them or none.

    ``connection`` must have the seed data. Counters and texts are those that ingest kept; what
    reads the profile itself (names, devices) stays.
    """
    plan_for(connection, _BATCH)
    with write.transaction(connection):
        launches = _derive(connection, run_id, knowledge, progress)
        changed = _changed(connection, run_id) if launches else {}
        if changed:
            _update(connection, run_id, list(changed))
        if launches:
            connection.execute(f"DROP TABLE {_TABLE}")
        plan_for(connection, launches)
        before = _findings(connection, run_id)
        judge(connection, [run_id], knowledge)
        after = _findings(connection, run_id)
        connection.execute(
            "UPDATE run SET rules_hash = ? WHERE run_id = ? AND rules_hash IS DISTINCT FROM ?",
            [digest := rules_hash(knowledge.rules), run_id, digest],
        )
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
    (stored_as,) = connection.execute(
        "SELECT format FROM main.run WHERE run_id = ?", [run_id]
    ).fetchall()[0]
    mapping = knowledge.mapping(reader_of(stored_as).COUNTERS)
    done = 0
    staged = ArrayTable(connection, _STAGED)
    for batch in _batches(connection, run_id):
        indexes = np.array([launch.index for launch in batch])
        staged.fill({"row": indexes, **mapping.stage(batch)})
        verb = ("INSERT INTO", _TABLE) if done else ("CREATE TEMP TABLE", _TABLE, "AS")
        chosen = ("SELECT * RENAME (row AS", _KEY, ") FROM (", mapping.sql(_STAGED), ")")
        connection.execute(" ".join((*verb, *chosen)))
        done += len(batch)
        progress(f"{run_id}: {done:,} launches")
    return done


def _batches(connection: duckdb.DuckDBPyConnection, run_id: str) -> Iterator[Sequence[Launch]]:
    last = -1
    while rows := connection.execute(_LAUNCHES, [run_id, run_id, last, _BATCH]).fetchall():
        first, last = rows[0][0], rows[-1][0]
        keyed: dict[int, dict[str, Keyed]] = {}
        for index, counter, keys, values in connection.execute(
            _KEYED, [run_id, first, last]
        ).fetchall():
            held = keyed.setdefault(index, {})
            held[counter] = Keyed(keys=tuple(keys), values=tuple(values))
        yield [_launch(row, keyed.get(row[0], {})) for row in rows]


def _launch(row: Sequence[Any], keyed: Mapping[str, Keyed]) -> Launch:
    """Return a stored launch as its reader gave it, as far as quantities need it."""
    index, *sides, names, values, texts = row
    grid, block = sides[:3], sides[3:]
    return Launch(
        index=index,
        kernel_name="",
        grid=_shape(grid),
        block=_shape(block),
        counters=dict(zip(names or (), values or (), strict=True)),
        texts=texts or {},
        keyed=keyed,
    )


def _shape(sides: Sequence[float | None]) -> Dim3 | None:
    x, y, z = sides
    return None if x is None or y is None or z is None else (int(x), int(y), int(z))


def _changed(connection: duckdb.DuckDBPyConnection, run_id: str) -> dict[str, int]:
    """Return the columns of ``launch`` that would change, with the number of launches."""
    described = connection.execute(f"DESCRIBE {_TABLE}").fetchall()
    names = [row[0] for row in described if row[0] != _KEY]
    counts = ", ".join(
        f"count(*) FILTER (launch.{quote(name)} IS DISTINCT FROM {_TABLE}.{quote(name)})"
        for name in names
    )
    joined = f"FROM main.launch JOIN {_TABLE} USING ({_KEY}) WHERE run_id = ?"
    found = connection.execute(f"SELECT {counts} {joined}", [run_id]).fetchall()[0]
    return {name: number for name, number in zip(names, found, strict=True) if number}


def _update(connection: duckdb.DuckDBPyConnection, run_id: str, names: Sequence[str]) -> None:
    values = ", ".join(f"{quote(name)} = {_TABLE}.{quote(name)}" for name in names)
    which = f"WHERE run_id = ? AND launch.{_KEY} = {_TABLE}.{_KEY}"
    connection.execute(" ".join(("UPDATE launch SET", values, "FROM", _TABLE, which)), [run_id])


def _findings(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[tuple[object, ...]]:
    """Return what the findings say; sums over launches are the same to nine digits only."""
    return connection.execute(_FINDINGS, [run_id]).fetchall()
