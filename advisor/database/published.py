"""What a site reads of all runs: what they were, what they took, and what was found when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import duckdb

from advisor.database.read import NIGHT
from advisor.database.relations import of_runs
from advisor.records import dataclass

_FINGERPRINTS = """
    SELECT run.run_id, md5(concat(run::VARCHAR, coalesce(levels, '')))
    FROM run LEFT JOIN (
        SELECT run_id, string_agg(accepted::VARCHAR, ' ' ORDER BY accepted::VARCHAR) AS levels
        FROM accepted GROUP BY run_id
    ) AS declared USING (run_id)
"""
_SHARED = """
    SELECT md5(concat(
        (SELECT string_agg(series_link::VARCHAR, ' ' ORDER BY series_link::VARCHAR)
            FROM series_link), '|', (SELECT version_num FROM alembic_version)))
"""
_TOTALS = "SELECT run_id, sum(duration), count(*) FROM variant GROUP BY run_id"
_LONGEST = """
    SELECT run_id, coalesce(continued_by, variant.series_id), short_name,
        coalesce(launch_shape, ''), duration, launch_count, limiter, roof_fraction
    FROM variant JOIN kernel USING (kernel_id)
    LEFT JOIN series_link ON series_link.series_id = variant.series_id
    WHERE {of_runs}
    QUALIFY row_number() OVER (
        PARTITION BY run_id ORDER BY duration DESC NULLS LAST, variant_id) <= ?
    ORDER BY run_id, duration DESC NULLS LAST, variant_id
"""
_FOUND = f"""
    SELECT coalesce(continued_by, variant.series_id) AS series, coalesce(launch_shape, ''),
        rule_id, count(DISTINCT run_id), arg_min(run_id, {NIGHT}), arg_max(run_id, {NIGHT})
    FROM finding JOIN variant USING (run_number, run_id, variant_id)
    JOIN run USING (run_number, run_id)
    LEFT JOIN series_link ON series_link.series_id = variant.series_id
    WHERE outcome = 'fires' AND {{of_runs}}
    GROUP BY ALL ORDER BY ALL
"""


@dataclass(frozen=True, kw_only=True)
class FoundOver:
    """In how many runs a rule fired for a series with one launch shape; the first and the last."""

    series_id: str
    shape: str
    rule_id: str
    runs: int
    first: str
    last: str


@dataclass(frozen=True, kw_only=True)
class RunTotal:
    """The profiled kernel time of a run [s], None where it is unknown, and its kernels."""

    duration: float | None
    kernels: int


@dataclass(frozen=True, kw_only=True)
class LongestKernel:
    """A kernel of a run as it was stored; ``duration`` is over its launches [s]."""

    series_id: str
    kernel: str
    shape: str
    duration: float | None
    launches: int
    limiter: str | None
    roof_fraction: float | None


def run_fingerprints(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return a digest of everything that is stored of each run itself, levels accepted too."""
    return dict(connection.execute(_FINGERPRINTS).fetchall())


def shared_fingerprint(connection: duckdb.DuckDBPyConnection) -> str:
    """Return a digest of what all runs share: series that were joined, and the schema."""
    return str(connection.execute(_SHARED).fetchall()[0][0])


def run_totals(connection: duckdb.DuckDBPyConnection) -> dict[str, RunTotal]:
    """Return what each run took."""
    rows = connection.execute(_TOTALS).fetchall()
    return {run: RunTotal(duration=duration, kernels=count) for run, duration, count in rows}


def longest_kernels(
    connection: duckdb.DuckDBPyConnection, runs: Sequence[str], most: int
) -> dict[str, list[LongestKernel]]:
    """Return at most so many kernels of each run, those that take the most time."""
    found: dict[str, list[LongestKernel]] = defaultdict(list)
    query = _LONGEST.format(of_runs=of_runs(runs))
    for run, series, kernel, shape, duration, launches, limiter, roof in connection.execute(
        query, [most]
    ).fetchall():
        found[run].append(
            LongestKernel(
                series_id=series, kernel=kernel, shape=shape, duration=duration,
                launches=launches, limiter=limiter, roof_fraction=roof,
            )
        )  # fmt: skip
    return found


def findings_over(connection: duckdb.DuckDBPyConnection, runs: Sequence[str]) -> list[FoundOver]:
    """Return what was found for the series of some runs, and when."""
    rows = connection.execute(_FOUND.format(of_runs=of_runs(runs))).fetchall()
    return [
        FoundOver(series_id=series, shape=shape, rule_id=rule, runs=count, first=first, last=last)
        for series, shape, rule, count, first, last in rows
    ]
