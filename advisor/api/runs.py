"""Runs as tables: the list, one run's provenance, and removal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.read import find_run, run_details
from advisor.database.read import list_runs as stored_runs
from advisor.database.relabel import relabel_runs
from advisor.database.write import remove_run as remove
from advisor.database.write import transaction
from advisor.errors import UsageError

Rows = list[tuple[object, ...]]

_LIST = ("run", "started", "launches", "device", "label", "branch", "commit", "profiler", "file")
_SHORT_COMMIT = 10


def list_runs(database: str, *, limit: int, wait: float) -> tuple[tuple[str, ...], Rows]:
    """Return columns and one row per run, the newest night first.

    Raises:
        DatabaseError: the database cannot be opened.
    """
    with open_for_reading(database, wait) as connection:
        runs = stored_runs(connection, limit)
    rows: Rows = [
        (
            run.run_id,
            None if run.started_at is None else f"{run.started_at:%Y-%m-%d %H:%M}",
            run.launches,
            run.device_names,
            run.label or "",
            run.branch or "",
            (run.commit or "")[:_SHORT_COMMIT],
            f"{run.profiler or ''} {run.profiler_version or ''}".strip(),
            f"{run.name or ''}{' (simulated)' if run.simulated else ''}",
        )
        for run in runs
    ]
    return _LIST, rows


def show_run(database: str, run: str, *, wait: float) -> Rows:
    """Return (field, value) of everything the database says about a run.

    Raises:
        UsageError: there is no such run.
        DatabaseError: the database cannot be opened.
    """
    with open_for_reading(database, wait) as connection:
        found = find_run(connection, run)
        return list(run_details(connection, found.run_id).items())


def describe_run(database: str, run: str, *, wait: float) -> str:
    """Return one line about the run that ``run`` names."""
    with open_for_reading(database, wait) as connection:
        found = find_run(connection, run)
    return f"{found.run_id} ({found.launches:,} launches, {found.name})"


def relabel(
    database: str, runs: Sequence[str], changes: Mapping[str, object], *, wait: float
) -> tuple[tuple[str, ...], int]:
    """Change what runs are called; return their ids, and how many variants changed their series.

    ``changes`` are columns of ``run``; ``tags`` are added to those that each run has.

    Raises:
        UsageError: there is no such run, or nothing to change.
        DatabaseError: the database cannot be opened or written; nothing is changed.
    """
    if not changes:
        raise UsageError("nothing to change", hint="say what: --label, --branch, --commit, …")
    with open_for_writing(database, wait) as connection:
        found = {run.run_id: run for run in (find_run(connection, name) for name in runs)}
        own_tags = {tuple(run.tags or ()) for run in found.values()}
        tags = changes.get("tags")
        moved = 0
        with transaction(connection):
            for had in sorted(own_tags) if tags else [()]:
                chosen = [k for k, run in found.items() if not tags or tuple(run.tags or ()) == had]
                told = dict(changes)
                if isinstance(tags, tuple):
                    told["tags"] = list(dict.fromkeys((*had, *tags)))
                moved += relabel_runs(connection, chosen, told)
    return tuple(found), moved


def remove_run(database: str, run: str, *, wait: float) -> str:
    """Remove a run with all that hangs on it and return its id.

    Raises:
        UsageError: there is no such run.
        DatabaseError: the database cannot be opened or written.
    """
    with open_for_writing(database, wait) as connection:
        found = find_run(connection, run)
        remove(connection, found.run_id)
    return found.run_id
