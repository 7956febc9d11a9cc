"""The series that the kernels of a run count to, with their device and configuration."""

from __future__ import annotations

import duckdb

from advisor.database.relations import of_runs

_SERIES = """
    SELECT variant_id, coalesce(continued_by, variant.series_id), series.device_name,
        series.configuration
    FROM variant JOIN series USING (series_id)
    LEFT JOIN series_link ON series_link.series_id = variant.series_id
    WHERE {of_run}
"""


def series_of_run(
    connection: duckdb.DuckDBPyConnection, run_id: str
) -> dict[str, tuple[str, str | None, str | None]]:
    """Return series, links followed, device model and configuration of each variant."""
    rows = connection.execute(_SERIES.format(of_run=of_runs([run_id]))).fetchall()
    return {variant: (series, device, label) for variant, series, device, label in rows}
