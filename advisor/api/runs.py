"""Runs as tables: the list, one run's provenance, and removal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.configuration import DEFAULTS, Configuration
from advisor.database.connect import open_for_reading, open_for_writing, tidy
from advisor.database.lake.place import refuse_lake
from advisor.database.outcomes import affected_series, series_of_outcomes
from advisor.database.pruning import Older, compact, is_compact, older_runs, prune, pruned_runs
from advisor.database.read import find_run, run_details
from advisor.database.read import list_runs as stored_runs
from advisor.database.relabel import relabel_runs
from advisor.database.write import remove_run as remove
from advisor.database.write import transaction
from advisor.errors import UsageError
from advisor.ingest.records import check_texts
from advisor.records import dataclass

if TYPE_CHECKING:
    import duckdb

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
        pruned = pruned_runs(connection)
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
            f"{run.name or ''}{_remarks(simulated=run.simulated, pruned=run.run_id in pruned)}",
        )
        for run in runs
    ]
    return _LIST, rows


def _remarks(*, simulated: bool, pruned: bool) -> str:
    return f"{' (simulated)' * simulated}{' (pruned)' * pruned}"


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
    database: str,
    runs: Sequence[str],
    changes: Mapping[str, object],
    *,
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> tuple[tuple[str, ...], int]:
    """Change what runs are called; return their ids, and how many variants changed their series.

    ``changes`` are columns of ``run``; ``tags`` are added to those that each run has. What became
    of advice is recomputed, for the series that the runs were in and those they are in now.

    Raises:
        UsageError: there is no such run, nothing to change, or a text is too long.
        DatabaseError: the database cannot be opened or written; nothing is changed.
    """
    if not changes:
        raise UsageError("nothing to change", hint="say what: --label, --branch, --commit, …")
    check_texts(changes)
    with open_for_writing(database, wait) as connection:
        found = {run.run_id: run for run in (find_run(connection, name) for name in runs)}
        own_tags = {tuple(run.tags or ()) for run in found.values()}
        tags = changes.get("tags")
        series = set(affected_series(connection, list(found)))
        moved = 0
        with transaction(connection):
            for had in sorted(own_tags) if tags else [()]:
                chosen = [k for k, run in found.items() if not tags or tuple(run.tags or ()) == had]
                labels = dict(changes)
                if isinstance(tags, tuple):
                    labels["tags"] = list(dict.fromkeys((*had, *tags)))
                moved += relabel_runs(connection, chosen, labels)
            series |= set(affected_series(connection, list(found)))
            _follow(connection, sorted(series), configuration)
    return tuple(found), moved


def remove_run(
    database: str, run: str, *, wait: float, configuration: Configuration = DEFAULTS
) -> str:
    """Remove a run with all its data and return its id.

    Outcomes of advice for its series are recomputed from the other runs.

    Raises:
        UsageError: there is no such run.
        DatabaseError: the database cannot be opened or written.
    """
    with open_for_writing(database, wait) as connection:
        found = find_run(connection, run)
        series = series_of_outcomes(connection, found.run_id)
        remove(connection, found.run_id)
        if series:
            with transaction(connection):
                _follow(connection, series, configuration)
    return found.run_id


def _follow(
    connection: duckdb.DuckDBPyConnection, series: list[str], configuration: Configuration
) -> None:
    from advisor.ingest.store import follow
    from advisor.knowledge.load import load_knowledge

    follow(connection, series, load_knowledge(configuration))


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """The runs that were pruned, oldest last, and the bytes of the file before and after.

    Both are the same where nothing was done.
    """

    runs: tuple[Older, ...]
    before: int
    after: int


def prune_runs(
    database: str, *, keep: int, older_than: datetime | None, dry_run: bool, wait: float
) -> Pruned:
    """Drop launches, counters and values per instruction of all but the ``keep`` newest nights.

    So many are kept of each device, configuration and branch.
    ``older_than`` (UTC without a zone) spares those from then on. What kernels add up to, facts,
    findings and outcomes stay. The file is rewritten, so the room is given back.

    Raises:
        DatabaseError: the database cannot be opened or written, or is a lake.
    """
    refuse_lake(database)
    path = Path(database)
    with open_for_reading(path, wait) as connection:
        runs = older_runs(connection, keep=keep, before=older_than)
        nothing_to_do = not runs and is_compact(connection)  # else a prune was killed in between
    size = path.stat().st_size
    if dry_run:
        return Pruned(runs=tuple(runs), before=size, after=size)
    tidy(path)
    if nothing_to_do:
        return Pruned(runs=(), before=size, after=size)
    with open_for_writing(path, wait) as connection:
        runs = older_runs(connection, keep=keep, before=older_than)
        if runs:
            prune(connection, [run.run_id for run in runs])
    _, after = compact(path, wait)
    return Pruned(runs=tuple(runs), before=size, after=after)
