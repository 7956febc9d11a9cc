"""``advisor history``: what every series of a branch did over its nights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.api.history_causes import causes_of
from advisor.api.matching import EVERY_SERIES, SeriesWanted, matching_series
from advisor.configuration import DEFAULTS, Configuration
from advisor.database.connect import open_for_reading
from advisor.database.nights import branch_of_history, known_series
from advisor.errors import UsageError
from advisor.knowledge.load import load_knowledge
from advisor.reports.record.series_history import read_history

if TYPE_CHECKING:
    from datetime import datetime

    from advisor.reports.record.series_records import History


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
        return replace(found, causes=causes_of(connection, found, knowledge))
