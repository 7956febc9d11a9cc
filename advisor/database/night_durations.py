"""Read what each series took on each night of a branch, by launch shape.

The database hands over lists per series, which NumPy puts in order, all at once: that is a fraction
of what the database takes to order them, and to make a number of Python of each.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

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
    from collections.abc import Iterator

    import duckdb
    from numpy.typing import NDArray

    Column = NDArray[Any]
    Lists = NDArray[Any]

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
    found = _of_shapes(**connection.execute(_DURATIONS, asked).fetchnumpy())
    return sorted(found, key=lambda each: (each.series_id, each.nights[0], each.place, each.shape))


def _of_shapes(
    *,
    series: Column,
    shape: Column,
    place: Column,
    nights: Lists,
    launches: Lists,
    durations: Lists,
) -> Iterator[ShapeNights]:
    """Yield the nights of each shape in order; of a night with several runs, their launches' mean.

    Shapes that have the same nights share them.
    """
    if not len(series):
        return
    lengths = [len(each) for each in nights]
    rows = np.repeat(np.arange(len(lengths)), lengths)
    at, counts, times = (np.concatenate(list(each)) for each in (nights, launches, durations))
    keys = rows * (int(at.max()) + 1) + at
    order = np.argsort(keys, kind="stable")
    firsts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    if len(firsts) < len(keys):  # sums are those of one order
        order = np.lexsort((times, keys))
    whole = np.add.reduceat(times[order] * counts[order], firsts)
    means = (whole / np.add.reduceat(counts[order], firsts)).tolist()
    of_means = at[order][firsts].tolist()
    ends = np.cumsum(np.bincount(rows[firsts])).tolist()
    shared: dict[tuple[int, ...], tuple[int, ...]] = {}
    for row, (start, end) in enumerate(pairwise([0, *ends])):
        own = tuple(of_means[start:end])
        yield ShapeNights(
            series_id=str(series[row]),
            shape=str(shape[row]),
            place=int(place[row]),
            nights=shared.setdefault(own, own),
            durations=tuple(means[start:end]),
        )
