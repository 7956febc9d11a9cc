"""The tables of the database as views over the Parquet files of a lake.

Their names, columns and types are those of this program's schema: a column that older files lack
is NULL. A folder ``run_id=…`` tells DuckDB which files it need not open.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from advisor.database.lake.scan import Lake, Part
from advisor.database.lake.tables import DETAILS, MARKS, SHAPE, SHARED, Columns
from advisor.quoting import literal, quoted

_JUDGED = "main.judged_run"
_OVER = {
    "run": """
        SELECT stored.* REPLACE (coalesce(judged.digest, rules_hash) AS rules_hash)
        FROM ({query}) AS stored LEFT JOIN {judged} AS judged USING (run_id)""",
    "finding": """
        SELECT * FROM ({query}) ANTI JOIN {judged} USING (run_id)
        UNION ALL BY NAME SELECT * EXCLUDE (place) FROM ({said})""",
}
"""What rules said later of runs, over what was stored with them."""

_JUDGED_BY = f"""
    INSERT INTO {_JUDGED} SELECT unnest(from_json($runs, '["VARCHAR"]')), $digest, $said
"""
"""Many runs as one value: DuckDB's driver takes a tenth of a millisecond for each."""

_HELD = ("run", *SHARED, "accepted", "series_link", "calibration")
"""Tables that nearly every question reads, several times each."""
_MOST_HELD = 200_000  # rows of such a table that are held in memory


def create_tables(
    connection: duckdb.DuckDBPyConnection, lake: Lake, columns: Columns, *, hold: bool = False
) -> None:
    """Give an open database with the empty tables of ``SHAPE`` the tables of a lake, as views.

    Where small ones are to ``hold``, they are read once: DuckDB opens the files of a view again
    wherever a statement names it.
    """
    judged = _judged_later(lake)
    if judged:
        connection.execute(f"CREATE TABLE {_JUDGED} (run_id VARCHAR, digest VARCHAR, said BIGINT)")
        for (digest, at), runs in judged.items():
            connection.execute(_JUDGED_BY, {"runs": json.dumps(runs), "digest": digest, "said": at})
    for table in columns.of:
        query = table_of(lake, table, lake.parts, columns)
        if judged and table in _OVER:
            files = _files(lake.root, table, lake.judged)
            query = _OVER[table].format(query=query, said=_said(table, files), judged=_JUDGED)
        held = hold and table in _HELD and _stored(lake, table) <= _MOST_HELD
        kind = "TABLE" if held else "VIEW"
        connection.execute(f"CREATE {kind} main.{quoted(table)} AS {query}")
    for table, query in _followed(lake).items():
        connection.execute(f"CREATE VIEW main.{table} AS {query}")


def _stored(lake: Lake, table: str) -> int:
    """Return how many rows of a table the files of a lake have."""
    parts = (*lake.parts, *lake.marks, *lake.judged)
    files = {each.path: each.rows for part in parts if (each := part.manifest.tables.get(table))}
    return sum(files.values())


def _followed(lake: Lake) -> dict[str, str]:
    """Return the SELECTs of what only a lake has: of each history the newest look at it."""
    looks = _files(lake.root, "followed", lake.judged)
    moved = _files(lake.root, "moved", lake.judged)
    rows = f"SELECT * FROM {SHAPE}.moved"
    if moved:
        found = f"SELECT DISTINCT * FROM {_parquet(moved, by_name=True)}"
        rows = (
            f"{rows} UNION ALL BY NAME SELECT * FROM ({found}) AS found"
            " SEMI JOIN main.followed USING (history_id, state_id)"
        )
    return {
        "followed": _newest([f"SELECT * FROM {SHAPE}.followed"], looks, ("history_id",), "max"),
        "moved": rows,
    }


def _judged_later(lake: Lake) -> Mapping[tuple[str, int | None], list[str]]:
    """Return the runs that rules judged later, by which rules and in which file of findings."""
    runs, files = lake.runs(), _files(lake.root, "finding", lake.judged)
    found: dict[str, tuple[str, int | None]] = {}
    for part in lake.judged:
        file = part.manifest.tables.get("finding")
        at = None if file is None else files.index(lake.root / file.path)
        for run in part.manifest.runs:
            if run.run_id in runs and runs[run.run_id][0].name == run.name:
                found[run.run_id] = (part.manifest.rules, at)
    judged: dict[tuple[str, int | None], list[str]] = {}
    for run_id, by in found.items():
        judged.setdefault(by, []).append(run_id)
    return judged


def _said(table: str, files: Sequence[Path]) -> str:
    """Return the SELECT of what was said later of the runs that are read."""
    if table != "finding" or not files:
        return f"SELECT *, 0 AS place FROM {SHAPE}.{quoted(table)}"
    return (
        f"SELECT said.* FROM (SELECT *, file_index AS place FROM {_parquet(files, by_name=True)})"
        f" AS said JOIN {_JUDGED} AS judged"
        " ON judged.run_id = said.run_id AND judged.said = said.place"
    )


def table_of(lake: Lake, table: str, parts: Sequence[Part], columns: Columns) -> str:
    """Return the SELECT of a table over parts of a lake."""
    if table in MARKS:
        later = sorted((*lake.marks, *lake.judged), key=lambda part: part.folder.name)
        files = _files(lake.root, table, later)
        return _newest(_shape(table, later, columns), files, MARKS[table], "max")
    files, shape = _files(lake.root, table, parts), _shape(table, parts, columns)
    if table in SHARED:
        key, which = SHARED[table]
        return _newest(shape, files, key, "min" if which == "first" else "max")
    rows = " UNION ALL BY NAME ".join([*shape, *_read_together(lake, table, parts)])
    if table in DETAILS and files:
        name = quoted(next(iter(columns.of[table])))
        return f"SELECT DISTINCT ON ({name}) * FROM ({rows})"
    return rows


def _shape(table: str, parts: Sequence[Part], columns: Columns) -> list[str]:
    """Return the SELECT of no row that gives columns to those that files of parts lack, if any.

    It doubles what is planned wherever a statement names the table.
    """
    named = {part.manifest.columns for part in parts if table in part.manifest.tables}
    return [] if named == {columns.digest} else [f"SELECT * FROM {SHAPE}.{quoted(table)}"]


def _files(root: Path, table: str, parts: Sequence[Part]) -> list[Path]:
    """Return the files of a table, each once, the oldest first."""
    named = [part.manifest.tables[table].path for part in parts if table in part.manifest.tables]
    return [root / path for path in dict.fromkeys(named)]


def _newest(shape: Sequence[str], files: Sequence[Path], key: Sequence[str], which: str) -> str:
    """Return the SELECT of rows that hold: of each key those of one file."""
    if not files:
        return " UNION ALL BY NAME ".join(shape)
    read = f"SELECT * FROM {_parquet(files, by_name=True)}"
    if len(files) > 1:
        names = ", ".join(map(quoted, key))
        over = f"{which}(file_index) OVER (PARTITION BY {names})"
        read += f" QUALIFY file_index = {over}"
    return " UNION ALL BY NAME ".join([*shape, read])


def _read_together(lake: Lake, table: str, parts: Sequence[Part]) -> list[str]:
    """Return a SELECT for the parts that can be read together: those with equal columns."""
    single: dict[str, list[Path]] = {}
    whole: dict[str, list[Path]] = {}
    selects = []
    for part in parts:
        file = part.manifest.tables.get(table)
        if file is None:
            continue
        path = lake.root / file.path
        if part.unused and table not in DETAILS:
            runs = ", ".join(map(literal, sorted(part.unused)))
            selects.append(f"SELECT * FROM {_parquet([path])} WHERE run_id NOT IN ({runs})")
        elif part.is_pack or table in DETAILS:
            whole.setdefault(part.manifest.columns, []).append(path)
        else:
            single.setdefault(part.manifest.columns, []).append(path)
    selects += [f"SELECT * FROM {_parquet(files)}" for files in whole.values()]
    selects += [
        f"SELECT * EXCLUDE (month, device) FROM {_by_run(each)}" for each in single.values()
    ]
    return selects


def _parquet(files: Sequence[Path], *, by_name: bool = False) -> str:
    named = ", ".join(literal(str(file)) for file in files)
    union = ", union_by_name = true" if by_name and len(files) > 1 else ""
    return f"read_parquet([{named}], hive_partitioning = false{union})"


def _by_run(files: Sequence[Path]) -> str:
    named = ", ".join(literal(str(file)) for file in files)
    return f"read_parquet([{named}], hive_partitioning = true, hive_types_autocast = false)"
