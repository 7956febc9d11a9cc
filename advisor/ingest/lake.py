"""Profiles, bundles and databases into a lake: runs are made as ever, then written as Parquet."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from advisor.configuration import DEFAULTS, Configuration
from advisor.database.connect import open_for_reading, opened
from advisor.database.lake import write
from advisor.database.lake.manifest import RunName
from advisor.database.lake.place import folder_of
from advisor.database.lake.tables import columns_of
from advisor.database.planning import memory_limit, release_blocks
from advisor.database.read import get_runs
from advisor.errors import InputError
from advisor.ingest.batches import Ingested, ProfileWriter, temporary_files
from advisor.ingest.profiles import read_profiles
from advisor.ingest.records import USUAL, HowToRead, Profile, RunLabels
from advisor.ingest.spool import merge_spool
from advisor.knowledge.load import load_knowledge
from advisor.scratch import scratch_folder

_NAME = "new.duckdb"
_RELEASED = 64  # runs after which the memory that holds their blocks of the database is freed


def add_profiles(
    lake: str,
    paths: Sequence[str],
    *,
    labels: RunLabels,
    how: HowToRead = USUAL,
    wait: float,
    progress: Callable[[str], None] = lambda _: None,
    configuration: Configuration = DEFAULTS,
) -> Iterator[Ingested]:
    """Add every profile that ``paths`` name to a lake; yield the outcome of each, in order.

    Raises:
        DatabaseError: the lake cannot be written; what was yielded is there.
    """
    root = _made(lake)
    with _made_in(root) as database:
        writer = ProfileWriter(
            database, load_knowledge(configuration), wait=wait, progress=progress
        )
        found = read_profiles(paths, labels=labels, how=how, entered=progress)
        yield from _added(root, database, writer.store(_unless_there(root, found)))


def add_spool(
    lake: str,
    directory: str,
    *,
    wait: float,
    progress: Callable[[str], None] = lambda _: None,
    configuration: Configuration = DEFAULTS,
) -> Iterator[Ingested]:
    """Add the bundles of a spool to a lake; yield the outcome of each.

    Raises:
        InputError: there is no such directory, or it cannot be read.
        DatabaseError: the lake cannot be written; what was yielded is there.
    """
    root = _made(lake)
    with _made_in(root) as database:
        loaded = merge_spool(
            database, directory, wait=wait, progress=progress, configuration=configuration
        )
        yield from _added(root, database, loaded)


def add_database(
    lake: str, database: str, *, wait: float, progress: Callable[[str], None] = lambda _: None
) -> Iterator[Ingested]:
    """Add the runs and marks of a database to a lake; yield the outcome of each run.

    Raises:
        DatabaseError: the database cannot be read, or the lake cannot be written.
    """
    root = _made(lake)
    with open_for_reading(database, wait) as connection:  # is it one of this program's?
        runs = get_runs(connection, ids := write.runs_of(connection))
    with opened(Path(database), wait=wait, read_only=True, reaches_others=True) as connection:
        limit = memory_limit(connection)
        unchanging = write.Unchanging(columns=columns_of(connection))
        for number, run_id in enumerate(ids, start=1):
            progress(f"{number:,} of {len(ids):,}: {run_id}")
            is_new = write.add_run(connection, root, run_id, unchanging=unchanging)
            if number % _RELEASED == 0:
                release_blocks(connection, limit)
            yield Ingested(
                name=runs[run_id].name or run_id,
                status="new" if is_new else "known",
                run_id=run_id,
                launches=runs[run_id].launches,
            )
        write.add_marks(connection, root)


def _made(lake: str) -> Path:
    root = folder_of(lake).resolve()
    write.make_lake(root)
    return root


@contextlib.contextmanager
def _made_in(root: Path) -> Iterator[str]:
    """Yield the name of a database in which runs are made for a lake."""
    with temporary_files(str(root)), scratch_folder() as folder:
        yield str(folder / _NAME)


def _unless_there(
    root: Path, profiles: Iterable[Profile | Ingested]
) -> Iterator[Profile | Ingested]:
    for profile in profiles:
        found = _there(root, profile) if isinstance(profile, Profile) else None
        if isinstance(profile, Profile) and found is not None:
            yield Ingested(
                name=profile.source.name,
                status="known",
                run_id=found.run_id,
                launches=found.launches,
            )
        else:
            yield profile


def _there(root: Path, profile: Profile) -> RunName | None:
    run = RunName(run_id=profile.run_id, content_hash=profile.digest, part=0, launches=0)
    return write.find_run(root, run.run_id, run.name)


def _added(root: Path, database: str, results: Iterable[Ingested]) -> Iterator[Ingested]:
    """Add runs to a lake as they come into the database, and yield the outcome of each."""
    for result in results:
        if result.status != "new" or result.run_id is None:
            yield result
            continue
        try:
            with opened(Path(database), wait=0, read_only=True, reaches_others=True) as connection:
                is_new = write.add_run(connection, root, result.run_id)
        except InputError as error:
            yield Ingested(name=result.name, status="refused", error=error)
            continue
        yield (
            result
            if is_new
            else Ingested(
                name=result.name, status="known", run_id=result.run_id, launches=result.launches
            )
        )
