"""The kernels of some series over some nights, and their medians over groups of nights."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from advisor.database.relations import of_runs
from advisor.quoting import listed, literal, quoted

OWN = "own_series"
"""The column of the series that a kernel counts to, links followed."""

_VARIANTS = """
    SELECT coalesce(continued_by, variant.series_id), coalesce(launch_shape, ''), variant_id,
        launch_count
    FROM variant LEFT JOIN series_link ON series_link.series_id = variant.series_id
    WHERE {of_run} ORDER BY duration NULLS FIRST
"""
_NUMBERS = ("DOUBLE", "FLOAT", "BIGINT", "INTEGER", "UBIGINT", "HUGEINT")
_IDS = ("run_id", "variant_id")

Group = tuple[str, str, str, Sequence[str]]
"""A group's name, a run of it, and the series and launch shapes whose kernel counts."""


def variants_of_run(
    connection: duckdb.DuckDBPyConnection, run_id: str
) -> list[tuple[str, str, str, int]]:
    """Return series, launch shape, id and launches of each variant, the longest one last."""
    return connection.execute(_VARIANTS.format(of_run=of_runs([run_id]))).fetchall()


def take_kernels_of_series(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    select: str,
    run_ids: Sequence[str],
    series: Sequence[str],
) -> None:
    """Make a temporary table of the kernels of series, and of those linked to them."""
    linked = f"SELECT series_id FROM series_link WHERE continued_by IN ({listed(series)})"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {quoted(table)} AS"
        f" SELECT found.*, coalesce(continued_by, found.series_id) AS {OWN}"
        f" FROM ({select}) AS found"
        " LEFT JOIN main.series_link ON series_link.series_id = found.series_id"
        f" WHERE run_id IN ({listed(run_ids)})"
        f" AND (found.series_id IN ({listed(series)}) OR found.series_id IN ({linked}))"
    )


def take_medians(
    connection: duckdb.DuckDBPyConnection, table: str, source: str, groups: Sequence[Group]
) -> None:
    """Make a temporary table with a row for each group, whose name is its run and its variant.

    Numbers are medians over the runs, texts what most of them say; of several kernels of a run the
    longest counts. ``source`` is from ``take_kernels_of_series``.
    """
    columns = connection.execute(f"DESCRIBE {quoted(source)}").fetchall()
    values = ", ".join(
        f"{'median' if kind in _NUMBERS else 'mode'}({quoted(name)}) AS {quoted(name)}"
        for name, kind, *_ in columns
        if name not in _IDS
    )
    asked = ", ".join(
        f"({literal(name)}, {literal(run)}, {literal(series)}, [{listed(shapes)}])"
        for name, run, series, shapes in groups
    )
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {quoted(table)} AS"
        f" SELECT asked_name AS run_id, asked_name AS variant_id, {values} FROM ("
        f" SELECT asked_name, found.*"
        f" FROM (VALUES {asked}) AS asked(asked_name, asked_run, asked_series, asked_shapes)"
        f" JOIN {quoted(source)} AS found ON run_id = asked_run AND {OWN} = asked_series"
        " AND list_contains(asked_shapes, coalesce(launch_shape, ''))"
        " QUALIFY row_number() OVER ("
        " PARTITION BY asked_name, run_id ORDER BY duration DESC NULLS LAST, variant_id) = 1"
        ") GROUP BY asked_name"
    )


def longest_variants(
    connection: duckdb.DuckDBPyConnection, table: str
) -> dict[tuple[str, str], str]:
    """Return the variant that takes longest by run and series, of ``take_kernels_of_series``."""
    query = f"SELECT run_id, {OWN}, variant_id FROM {quoted(table)} ORDER BY duration NULLS FIRST"
    return {(run, series): each for run, series, each in connection.execute(query).fetchall()}
