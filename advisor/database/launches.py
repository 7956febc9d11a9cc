"""Write many launches at once: as arrays, by a few statements.

Row by row, a launch of 150 columns takes milliseconds; this way it takes microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import duckdb

from advisor.database import ids
from advisor.database.arrays import Array, numbers, objects, register_arrays, register_lists
from advisor.database.records import insert_records
from advisor.database.rows import PlacedLaunch
from advisor.errors import InputError, Location
from advisor.model import Dim3, Keyed, ReferenceFinding

LISTS = {
    "key_set": "key_set VARCHAR PRIMARY KEY, keys VARCHAR[]",
    "text_set": "text_set VARCHAR PRIMARY KEY, texts MAP(VARCHAR, VARCHAR)",
    "launch_keyed": "run_id VARCHAR, launch_index BIGINT, counter VARCHAR, key_set VARCHAR,"
    ' "values" DOUBLE[]',
    "launch_instruction": "run_id VARCHAR, launch_index BIGINT, counter VARCHAR,"
    ' addresses BIGINT[], "values" DOUBLE[]',
    "reference_finding": "run_id VARCHAR, launch_index BIGINT, rule VARCHAR, title VARCHAR,"
    " section VARCHAR, severity VARCHAR, text VARCHAR, estimate DOUBLE, scope VARCHAR,"
    " focus MAP(VARCHAR, DOUBLE)",
}
"""Tables of what hangs on launches, and the columns that staging gives them."""

_BASE = """
    SELECT staged_base.* EXCLUDE (nvtx_text),
        string_split(nvtx_text, chr(31)) AS nvtx,
        coalesce(staged_counters.items, []) AS counter_values
    FROM staged_base
    LEFT JOIN staged_counters ON staged_counters.row + $first = staged_base.row
"""


def stage_launches(
    connection: duckdb.DuckDBPyConnection, launches: Sequence[PlacedLaunch], *, first: int
) -> None:
    """Add launches to ``staged_launch``, a table that the first of them make.

    ``first`` is the place of the first one among all that are staged.
    """
    register_arrays(connection, "staged_base", _base(launches, first))
    read = [placed.launch for placed in launches]
    _insert_key_sets(connection, (tuple(x.counters) for x in read))
    _insert_text_sets(connection, (x.texts for x in read))
    counters = (_numbered(tuple(x.counters.values())) for x in read)
    register_lists(connection, "staged_counters", counters)
    verb = "INSERT INTO staged_launch BY NAME" if first else "CREATE TABLE staged_launch AS"
    connection.execute(" ".join((verb, _BASE)), {"first": first})


def insert_details(connection: duckdb.DuckDBPyConnection, launches: Sequence[PlacedLaunch]) -> None:
    """Store histograms, curves, values per instruction and the vendor's findings of launches."""
    _insert_keyed(connection, [(p, *item) for p in launches for item in p.launch.keyed.items()])
    instructions = [(p, *item) for p in launches for item in p.launch.instructions.items()]
    _insert_instructions(connection, instructions)
    findings = [(p, finding) for p in launches for finding in p.launch.reference_findings]
    _insert_reference_findings(connection, findings)


def _base(launches: Sequence[PlacedLaunch], first: int) -> dict[str, Array]:
    read = [placed.launch for placed in launches]
    columns: dict[str, Array] = {
        "row": numbers(range(first, first + len(launches))),
        "launch_index": numbers([x.index for x in read]),
        "device_ordinal": numbers([x.device for x in read]),
        "process": numbers([x.process for x in read]),
        "context": numbers([x.context for x in read]),
        "stream": numbers([x.stream for x in read]),
        "nvtx_text": objects([_joined(x.nvtx) for x in read]),
        "started_at": numbers([x.started_at for x in read]),
        "counter_keys": objects([_set_id(tuple(x.counters)) for x in read]),
        "text_set": objects([_text_id(x.texts) for x in read]),
        "clock_locked": numbers([x.clock_locked for x in read]),
        "invalid_counters": numbers([x.invalid_counters for x in read]),
        **_dimensions("grid", [x.grid for x in read]),
        **_dimensions("block", [x.block for x in read]),
    }
    for name in (
        "run_id",
        "kernel_id",
        "series_id",
        "variant_id",
        "launch_shape",
        "device_id",
        "device_name",
    ):
        columns[name] = objects([getattr(placed, name) for placed in launches])
    return columns


def _dimensions(name: str, shapes: Sequence[Dim3 | None]) -> dict[str, Array]:
    columns = {f"{name}_size": numbers([None if s is None else math.prod(s) for s in shapes])}
    for place, axis in enumerate("xyz"):
        columns[f"{name}_{axis}"] = numbers([None if s is None else s[place] for s in shapes])
    return columns


def _joined(texts: tuple[str, ...]) -> str | None:
    return "\x1f".join(texts) if texts else None


def _numbered(values: Sequence[float]) -> tuple[range, Sequence[float]]:
    """Return values with their places, as ``register_lists`` takes them."""
    return range(len(values)), values


def _set_id(keys: tuple[str, ...]) -> str | None:
    return ids.key_id("key set", *keys) if keys else None


def _text_id(texts: Mapping[str, str]) -> str | None:
    pairs = (part for pair in texts.items() for part in pair)
    return ids.key_id("text set", *pairs) if texts else None


def _insert_key_sets(
    connection: duckdb.DuckDBPyConnection, sets: Iterable[tuple[str, ...]]
) -> None:
    """Store each list of keys once: launches of one profile mostly have the same counters."""
    unique = {_set_id(keys): keys for keys in sets if keys}
    records = [{"key_set": name, "keys": keys} for name, keys in unique.items()]
    insert_records(connection, "key_set", records, known="keep")


def _insert_text_sets(
    connection: duckdb.DuckDBPyConnection, sets: Iterable[Mapping[str, str]]
) -> None:
    unique = {_text_id(texts): texts for texts in sets if texts}
    records = [{"text_set": name, "texts": texts} for name, texts in unique.items()]
    insert_records(connection, "text_set", records, known="keep")


def _insert_keyed(
    connection: duckdb.DuckDBPyConnection, rows: Sequence[tuple[PlacedLaunch, str, Keyed]]
) -> None:
    if not rows:
        return
    _insert_key_sets(connection, (keyed.keys for _, _, keyed in rows))
    lists = (_numbered(keyed.values) for _, _, keyed in rows)
    register_lists(connection, "staged_lists", lists)
    more = {"key_set": objects([_set_id(keyed.keys) for _, _, keyed in rows])}
    register_arrays(connection, "staged_rows", {**_places(rows), **more})
    connection.execute(
        "INSERT INTO launch_keyed BY NAME SELECT run_id, launch_index, counter, key_set,"
        ' coalesce(items, []) AS "values" FROM staged_rows LEFT JOIN staged_lists USING (row)'
    )


def _insert_instructions(
    connection: duckdb.DuckDBPyConnection, rows: Sequence[tuple[PlacedLaunch, str, Keyed]]
) -> None:
    if not rows:
        return
    lists = (([_address(key) for key in each.keys], each.values) for _, _, each in rows)
    register_lists(connection, "staged_lists", lists)
    register_arrays(connection, "staged_rows", _places(rows))
    connection.execute(
        "INSERT INTO launch_instruction BY NAME SELECT run_id, launch_index, counter,"
        ' coalesce(keys::BIGINT[], []) AS addresses, coalesce(items, []) AS "values"'
        " FROM staged_rows LEFT JOIN staged_lists USING (row)"
    )


def _places(rows: Sequence[tuple[PlacedLaunch, str, Keyed]]) -> dict[str, Array]:
    counters = {"counter": objects([name for _, name, _ in rows])}
    return {**_owners([placed for placed, _, _ in rows]), **counters}


def _owners(launches: Sequence[PlacedLaunch]) -> dict[str, Array]:
    return {
        "row": numbers(range(len(launches))),
        "run_id": objects([placed.run_id for placed in launches]),
        "launch_index": numbers([placed.launch.index for placed in launches]),
    }


def _address(key: str) -> int:
    try:
        return int(key, 16)
    except ValueError as error:
        problem = f"expected an instruction's address in hexadecimal, found {key!r}"
        raise InputError(problem, at=Location(name="launch_instruction")) from error


def _insert_reference_findings(
    connection: duckdb.DuckDBPyConnection,
    findings: Sequence[tuple[PlacedLaunch, ReferenceFinding]],
) -> None:
    if not findings:
        return
    columns: dict[str, Array] = {
        **_owners([placed for placed, _ in findings]),
        "estimate": numbers([finding.estimate for _, finding in findings]),
    }
    for name in ("rule", "title", "section", "severity", "text", "scope"):
        columns[name] = objects([getattr(finding, name) for _, finding in findings])
    register_arrays(connection, "staged_findings", columns)
    focus = [dict(finding.focus) for _, finding in findings]
    register_lists(connection, "staged_focus", ((tuple(f), tuple(f.values())) for f in focus))
    connection.execute(
        "INSERT INTO reference_finding BY NAME"
        " SELECT staged_findings.* EXCLUDE (row), map(keys, items) AS focus"
        " FROM staged_findings LEFT JOIN staged_focus USING (row) ORDER BY row"
    )
