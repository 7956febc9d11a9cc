"""Quantities and findings of stored runs, recomputed from the counters that were kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from advisor.configuration import DEFAULTS, Configuration
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.read import find_run
from advisor.database.read import list_runs as stored_runs
from advisor.hardware.seeding import seed_database
from advisor.ingest.refresh import Refreshed, refresh_run
from advisor.knowledge.load import load_knowledge

__all__ = ["Refreshed", "refresh_runs"]


def refresh_runs(
    database: str,
    run: str | None,
    *,
    wait: float,
    progress: Callable[[str], None] = lambda _: None,
    configuration: Configuration = DEFAULTS,
) -> Iterator[Refreshed]:
    """Refresh one run, or all for None; yield what changed in each once it is stored.

    Each run has a transaction of its own, and others get the database's lock between two.

    Raises:
        UsageError: there is no such run.
        DatabaseError: the database cannot be opened or written; what was yielded is stored.
    """
    with open_for_reading(database, wait) as connection:
        chosen = stored_runs(connection) if run is None else [find_run(connection, run)]
    knowledge = load_knowledge(configuration)
    for each in chosen:
        with open_for_writing(database, wait) as connection:
            connection.execute("SET threads = 1")  # each thread holds blocks of every column
            seed_database(connection, knowledge.seed)
            refreshed = refresh_run(connection, each.run_id, knowledge=knowledge, progress=progress)
        yield refreshed
