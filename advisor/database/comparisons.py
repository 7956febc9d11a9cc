"""Read what comparing runs needs beside facts: times of single launches, and of earlier nights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import duckdb

from advisor.database.fetching import rows_of_cursor
from advisor.database.relations import of_runs
from advisor.quoting import quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GIVEN, _TEXT = "given_pairs", "VARCHAR"
_LAUNCHES = """
    SELECT run_id, variant_id, list_sort(list(duration))
    FROM launch WHERE {of_runs} AND duration > 0
    GROUP BY run_id, variant_id
"""
_FINDINGS = """
    SELECT rule_id, variant_id, severity, evidence FROM finding
    WHERE {of_runs} AND outcome = 'fires' AND variant_id IS NOT NULL
    ORDER BY rank NULLS LAST, rule_id, variant_id
"""
_OF_SERIES = """
    SELECT run_id, coalesce(continued_by, variant.series_id), list(DISTINCT rule_id)
    FROM finding JOIN variant USING (run_number, run_id, variant_id)
    LEFT JOIN series_link ON series_link.series_id = variant.series_id
    WHERE outcome = 'fires' AND {of_runs}
    GROUP BY ALL
"""
_VARIANTS = """
    SELECT variant_id, coalesce(continued_by, variant.series_id) AS series_id, launch_shape,
        launch_count, launches_excluded, duration, duration_median, duration_stddev
    FROM variant LEFT JOIN series_link ON series_link.series_id = variant.series_id
    WHERE {of_runs} ORDER BY position, variant_id
"""
_TAKEN = """
    SELECT {names} FROM (
        SELECT kernels.* REPLACE (coalesce(continued_by, kernels.series_id) AS series_id)
        FROM {kernels} AS kernels LEFT JOIN series_link USING (series_id)
    ) ORDER BY run_id, position, variant_id
"""
_OF_PAIRS = """
    FROM {kernels} SEMI JOIN (
        SELECT base_run AS run_id, base_variant AS variant_id FROM {pairs}
        UNION ALL SELECT head_run, head_variant FROM {pairs}
    ) USING (run_id, variant_id)
"""
_CODE = """
    SELECT run_id, variant_id, any_value(code) FROM variant_place
    WHERE {of_runs}
        AND list_contains(string_split($variants, ' '), variant_id)
    GROUP BY run_id, variant_id HAVING count(*) = count(code) AND count(DISTINCT code) = 1
"""

Durations = dict[tuple[str, str], list[float]]


def durations_of(connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> Durations:
    """Return the times of the launches [s] by run and variant, the shortest first."""
    rows = connection.execute(_LAUNCHES.format(of_runs=of_runs(run_ids))).fetchall()
    return {(run, variant): values for run, variant, values in rows}


def variants_of_series(
    connection: duckdb.DuckDBPyConnection, run_id: str
) -> dict[str, list[dict[str, Any]]]:
    """Return what the kernels of a run took [s], by series, links followed."""
    cursor = connection.execute(_VARIANTS.format(of_runs=of_runs([run_id])))
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in rows_of_cursor(cursor):
        found[each["series_id"]].append(each)
    return found


def firing_findings(
    connection: duckdb.DuckDBPyConnection, run_id: str
) -> list[tuple[str, str, str, str]]:
    """Return rule, variant, severity and evidence of what fires in a run, best ranked first."""
    return connection.execute(_FINDINGS.format(of_runs=of_runs([run_id]))).fetchall()


def firing_of_series(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]
) -> dict[tuple[str, str], frozenset[str]]:
    """Return the rules that fire by run and series, links followed."""
    rows = connection.execute(_OF_SERIES.format(of_runs=of_runs(run_ids))).fetchall()
    return {(run, series): frozenset(rules) for run, series, rules in rows}


def take_kernels(
    connection: duckdb.DuckDBPyConnection, table: str, select: str, run_ids: Sequence[str]
) -> None:
    """Make a temporary table of the kernels of some runs from a SELECT of kernels."""
    made = f"CREATE OR REPLACE TEMP TABLE {quoted(table)} AS SELECT * FROM ({select})"
    marks = ", ".join("?" * len(run_ids))
    connection.execute(f"{made} WHERE run_id IN ({marks})", list(run_ids))


class TakenColumns(dict[str, list[Any]]):
    """Columns of a table by name, made plain values where they are first read: few of many are."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super().__init__()
        self._arrays = arrays
        self.names = tuple(arrays)

    def __missing__(self, name: str) -> list[Any]:
        """Return a column, None where a value is unknown."""
        found: list[Any] = self._arrays[name].tolist()
        self[name] = found
        return found


class TakenKernel(Mapping[str, Any]):
    """A kernel in one run: a place in columns; None where a value is unknown."""

    __slots__ = ("_columns", "_place")

    def __init__(self, columns: TakenColumns, place: int) -> None:
        self._columns = columns
        self._place = place

    def __getitem__(self, name: str) -> Any:
        """Return a value."""
        return self._columns[name][self._place]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the columns."""
        return iter(self._columns.names)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._columns.names)


def taken_kernels(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]
) -> list[TakenKernel]:
    """Return columns of the kernels that ``take_kernels`` took, by run, as they ran.

    The series of each is the one that it goes on as.
    """
    names = ", ".join(map(quoted, columns))
    cursor = connection.execute(_TAKEN.format(names=names, kernels=quoted(table)))
    found = TakenColumns(cursor.fetchnumpy())
    return [TakenKernel(found, place) for place in range(len(found[columns[0]]))]


def kernels_of_pairs(
    connection: duckdb.DuckDBPyConnection, kernels: str, pairs: str
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the rows of a table of kernels that a table of pairs names, by run and variant."""
    rows = rows_of_cursor(
        connection.execute(_OF_PAIRS.format(kernels=quoted(kernels), pairs=quoted(pairs)))
    )
    return {(str(row["run_id"]), str(row["variant_id"])): row for row in rows}


def code_of(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str], variants: Sequence[str]
) -> dict[tuple[str, str], str]:
    """Return a digest of the instructions by run and variant, where they were collected.

    It is of their code with operands and constants, so that a changed constant is another code.
    """
    asked = {"variants": " ".join(variants)}
    rows = connection.execute(_CODE.format(of_runs=of_runs(run_ids)), asked).fetchall()
    return {(run, variant): signature for run, variant, signature in rows}


def take_pairs(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Mapping[str, Sequence[Any]],
    kinds: Mapping[str, str],
) -> None:
    """Make a temporary table of columns of values; ``kinds`` are their types in SQL.

    Values travel as arrays: bound one by one, DuckDB looks for absent libraries at each.
    """
    from advisor.database.arrays import ArrayTable, numbers, objects  # only where some is given

    given = ArrayTable(connection, _GIVEN)
    given.fill(
        {
            name: objects(values) if kinds[name] == _TEXT else numbers(values)
            for name, values in columns.items()
        }
    )
    casts = ", ".join(f"{quoted(name)}::{kind} AS {quoted(name)}" for name, kind in kinds.items())
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT {casts} FROM {_GIVEN}")
    connection.unregister(_GIVEN)
