"""Why series changed over nights: the runs on both sides of the latest changes, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.database.planning import plan_for
from advisor.database.read import get_runs
from advisor.tracking.records import ChangeKind, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.series_records import History, SeriesHistory
    from advisor.tracking.records import Change

_MOST = 3  # pairs of runs that are compared
_LEVELS = (ChangeKind.STEP, ChangeKind.DRIFT)
_OF_CODE = (Verdict.REGRESSED, Verdict.IMPROVED)

Causes = dict[tuple[str, str, int], str]
"""In words, by series, launch shape and the index of the change."""


def causes_of(
    connection: duckdb.DuckDBPyConnection, history: History, knowledge: Knowledge
) -> Causes:
    """Return the causes of the changes that are shown.

    A new environment is named by its night; else the runs before and after are compared, those of
    the latest changes only.
    """
    from advisor.reports.record.comparison import compare_runs

    found: Causes = {}
    asked: dict[tuple[str, str], list[tuple[SeriesHistory, Change]]] = {}
    for each, change in _latest_first(history):
        night = each.nights[change.index]
        if change.verdict is Verdict.ENVIRONMENT:
            told = ", ".join(night.changed)
            machine = history.machine
            if not told and machine is not None and machine.night == night:
                told = f"{machine.moved:,} of {machine.series:,} series moved alike"
            if told:
                found[_key(each, change)] = told
        elif change.verdict in _OF_CODE and change.kind in _LEVELS and change.index > 0:
            after = each.nights[change.end_index].run_id
            pair = (each.nights[change.index - 1].run_id, after)
            if pair in asked or len(asked) < _MOST:
                asked.setdefault(pair, []).append((each, change))
    runs = get_runs(connection, {run for pair in asked for run in pair})
    plan_for(connection, max((run.launches for run in runs.values()), default=0))
    for (before, after), changes in asked.items():
        compared = compare_runs(connection, runs[before], runs[after], knowledge)
        causes = {row.series: row.cause for row in compared.rows if row.cause is not None}
        for each, change in changes:
            if each.series_id in causes:
                found[_key(each, change)] = causes[each.series_id]
    return found


def _latest_first(history: History) -> Iterator[tuple[SeriesHistory, Change]]:
    changes = [(each, change) for each in history.series for change in history.shown_changes(each)]
    yield from sorted(changes, key=lambda one: one[0].nights[one[1].index].time, reverse=True)


def _key(each: SeriesHistory, change: Change) -> tuple[str, str, int]:
    return each.series_id, each.launch_shape, change.index
