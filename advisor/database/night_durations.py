"""Read what each series took on each night of a branch, by launch shape.

The database hands over lists per series, which NumPy puts in order: that is a third of what the
database takes to order them, and to make a number of Python of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from advisor.database.nights import (
    NIGHTS_OF_BRANCH,
    Branch,
    BranchNights,
    ShapeNights,
    accepted_levels,
    calibrated_noises,
    runs_of_branch,
)

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

_DURATIONS = f"""
    {NIGHTS_OF_BRANCH}
    SELECT coalesce(continued_by, variant.series_id) AS series,
        coalesce(launch_shape, '') AS shape, min(variant.position) AS place,
        list(executions.position) AS nights, list(launch_count) AS launches,
        list(duration_median) AS durations
    FROM variant JOIN chosen USING (run_id) JOIN executions USING (execution)
    LEFT JOIN series_link ON series_link.series_id = variant.series_id
    WHERE duration_median IS NOT NULL AND launch_count > 0
        AND executions.position >= $first
        AND ($last IS NULL OR executions.position <= $last)
    GROUP BY ALL
"""


def nights_of_branch(connection: duckdb.DuckDBPyConnection, branch: Branch) -> BranchNights:
    """Return everything of a branch that the detector reads."""
    return BranchNights(
        runs=runs_of_branch(connection, branch),
        shapes=durations_of_branch(connection, branch),
        accepted=accepted_levels(connection),
        noises=calibrated_noises(connection),
    )


def durations_of_branch(
    connection: duckdb.DuckDBPyConnection,
    branch: Branch,
    *,
    first: int = 0,
    last: int | None = None,
) -> list[ShapeNights]:
    """Return what each series took in each night, by launch shape and in order.

    Only of the nights from position ``first`` to ``last``, where they are given.
    """
    asked = {**branch.asked, "first": first, "last": last}
    rows = connection.execute(_DURATIONS, asked).fetchnumpy()
    found = [
        _of_shape(str(series), str(shape), int(place), *lists)
        for series, shape, place, *lists in zip(*rows.values(), strict=True)
    ]
    return sorted(found, key=lambda each: (each.series_id, each.nights[0], each.place, each.shape))


def _of_shape(
    series: str,
    shape: str,
    place: int,
    nights: NDArray[np.int64],
    launches: NDArray[np.int64],
    durations: NDArray[np.float64],
) -> ShapeNights:
    """Return the nights of a shape in order; of a night with several runs, their launches' mean."""
    order = np.lexsort((durations, nights))
    nights, launches = nights[order], launches[order]
    firsts = np.flatnonzero(np.diff(nights, prepend=-1))
    whole = np.add.reduceat(durations[order] * launches, firsts)
    return ShapeNights(
        series_id=series,
        shape=shape,
        place=place,
        nights=tuple(nights[firsts].tolist()),
        durations=tuple((whole / np.add.reduceat(launches, firsts)).tolist()),
    )
