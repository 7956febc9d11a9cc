"""What moved in a history, as columns in and columns out: for engines that hold many histories.

It is what ``history`` and ``report`` say: the same function, over nights that an engine has read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from advisor.database.nights import (
    Accepted,
    Branch,
    BranchNights,
    KnownSeries,
    NightRun,
    ShapeNights,
)
from advisor.reports.record.moved import Move, moves
from advisor.reports.record.series_history import history_over
from advisor.tracking.settings import load_settings

Columns = Mapping[str, Sequence[Any]]

_OF_RUN = tuple(each.name for each in fields(NightRun))
_OF_ROW = ("verdict", "state", "kind", "run_id", "base_run", "base", "head", "relative")
MOVED = ("history_id", "series_id", "launch_shape", *_OF_ROW, "p_value", "noise", "around")
"""The columns that ``moved_in`` returns; times of a launch [s], the rest as in ``MovedSeries``."""


def moved_in(
    runs: Columns, durations: Columns, accepted: Sequence[Accepted]
) -> dict[str, list[Any]]:
    """Return every change of the series of one history, over all of its nights.

    ``runs`` and ``durations`` have the columns that ``database.histories`` selects, in any order;
    ``accepted`` are the levels that users took for baselines, of any series.
    """
    given = BranchNights(
        runs=_runs(runs),
        shapes=_shapes(durations),
        accepted=accepted,
        noises={},
    )
    known = {each.series_id: _known(each.series_id) for each in given.shapes}
    branch = Branch(name=runs["branch"][0], simulated=runs["simulated"][0])
    history = history_over(given, branch, known, with_alike=False)
    found: dict[str, list[Any]] = {name: [] for name in MOVED}
    for move in moves(history, {}, load_settings()):
        for name, value in _row(move, runs["history_id"][0]).items():
            found[name].append(value)
    return found


def _row(move: Move, history_id: str) -> dict[str, Any]:
    row = move.row
    return {
        "history_id": history_id,
        "series_id": row.series_id,
        "launch_shape": move.history.launch_shape,
        **{name: getattr(row, name) for name in (*_OF_ROW, "p_value", "noise")},
        "around": ", ".join(row.around) or None,
    }


def _runs(columns: Columns) -> list[NightRun]:
    order = sorted(range(len(columns["place"])), key=columns["place"].__getitem__)
    return [NightRun(**{name: columns[name][i] for name in _OF_RUN}) for i in order]


def _shapes(columns: Columns) -> list[ShapeNights]:
    """Return the nights of each series and launch shape, in the order of ``nights``."""
    found: dict[tuple[str, str], list[tuple[int, float, int]]] = defaultdict(list)
    names = ("series_id", "shape", "night", "duration", "place")
    for series, shape, *night in zip(*(columns[name] for name in names), strict=True):
        found[series, shape].append((night[0], night[1], night[2]))
    shapes = []
    for (series, shape), nights in found.items():
        ordered = sorted(nights)
        shapes.append(
            ShapeNights(
                series_id=series,
                shape=shape,
                place=min(place for *_, place in ordered),
                nights=tuple(night for night, *_ in ordered),
                durations=tuple(duration for _, duration, _ in ordered),
            )
        )
    return sorted(shapes, key=lambda each: (each.series_id, each.nights[0], each.place, each.shape))


def _known(series_id: str) -> KnownSeries:
    """Return a series by its id: names are with whoever shows it."""
    return KnownSeries(
        series_id=series_id,
        kernel_id="",
        short_name="",
        normalised_name="",
        problem_key=None,
        device_name=None,
        configuration=None,
    )
