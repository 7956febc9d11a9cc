"""``advisor history``: what every series of a branch did over its nights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.api.matching import EVERY_SERIES, SeriesWanted, matching_series
from advisor.configuration import DEFAULTS, Configuration
from advisor.database.connect import open_for_reading
from advisor.database.nights import branch_of_history, known_series
from advisor.errors import UsageError
from advisor.knowledge.load import load_knowledge
from advisor.reports.record.series_history import read_history
from advisor.tracking.records import Verdict
from advisor.tracking.settings import load_settings

if TYPE_CHECKING:
    from datetime import datetime

    import duckdb

    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.over_time import MovedSeries
    from advisor.reports.record.series_records import History

Causes = dict[tuple[str, str, int], str]
"""In words, by series, launch shape and the index of the change."""


def history(
    database: str,
    wanted: SeriesWanted = EVERY_SERIES,
    *,
    branch: str | None = None,
    since: int | datetime | None = None,
    wait: float = 0.0,
    with_causes: bool = False,
    configuration: Configuration = DEFAULTS,
) -> History:
    """Return the history of one branch: that of the newest run, or the one called ``branch``.

    ``since`` is a number of nights or a moment: what is shown, the detector sees every night.
    ``wait`` is for the database's lock [s]. ``with_causes`` asks why the latest changes came.

    Raises:
        UsageError: there is no such branch, or nothing that matches.
        DatabaseError: the database cannot be opened.
    """
    with open_for_reading(database, wait) as connection:
        chosen = branch_of_history(connection, branch)
        if chosen is None and branch is None:
            hint = "advisor ingest PROFILE stores one"
            raise UsageError("the database holds no run", hint=hint)
        if chosen is None:
            problem = f"there is no run of branch {branch!r}"
            raise UsageError(problem, hint="see: advisor runs list")
        known = matching_series(known_series(connection), wanted)
        found = read_history(connection, chosen, known, since=since)
        if not with_causes:
            return found
        knowledge = load_knowledge(configuration)
        return replace(found, causes=_causes(connection, found, knowledge))


def _causes(connection: duckdb.DuckDBPyConnection, found: History, knowledge: Knowledge) -> Causes:
    """Return the causes of the changes that are shown, of the worst of them, as a report does."""
    from advisor.reports.record.history_settings import load_history_settings
    from advisor.reports.record.moved import moves
    from advisor.reports.record.moved_why import explained
    from advisor.rules.engine.evaluate import run_words

    if not found.nights:
        return {}
    newest = found.nights[-1].run_id
    words = run_words(connection, [newest], knowledge.settings)[newest]
    moved = moves(found, {}, load_settings())
    rows = explained(connection, moved, knowledge, load_history_settings(), words)
    return {
        (row.series_id, move.history.launch_shape, move.first): cause
        for move, row in zip(moved, rows, strict=True)
        if not row.is_alone and (cause := _cause(row, found)) is not None
    }


def _cause(row: MovedSeries, found: History) -> str | None:
    """Return the cause of a move in words; a new environment is named, or what moved alike."""
    if row.verdict != Verdict.ENVIRONMENT:
        return row.cause
    machine = found.machine
    if not row.around and machine is not None and machine.night.run_id == row.run_id:
        return f"{machine.moved:,} of {machine.series:,} series moved alike"
    return ", ".join(row.around) or None
