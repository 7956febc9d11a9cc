"""Two runs side by side: what moved, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.cache import collector_off
from advisor.configuration import DEFAULTS, Configuration
from advisor.database.connect import open_for_reading
from advisor.database.planning import plan_for
from advisor.database.read import find_run, other_run
from advisor.knowledge.load import load_knowledge

if TYPE_CHECKING:
    from advisor.reports.record.compared import RunComparison


def compare(
    database: str,
    base: str,
    head: str,
    *,
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> RunComparison:
    """Return what moved from one run to another: the outer join of their series.

    Raises:
        UsageError: there is no such run, or both are the same.
        DatabaseError: the database cannot be opened.
    """
    from advisor.reports.record.comparison import compare_runs

    knowledge = load_knowledge(configuration)
    with open_for_reading(database, wait) as connection, collector_off():
        after = find_run(connection, head)
        before = other_run(connection, base, after)
        plan_for(connection, max(before.launches, after.launches))
        return compare_runs(connection, before, after, knowledge)
