"""What ingesting would do, found out by doing it in a database that is thrown away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.database.connect import open_for_reading
from advisor.database.parts import known_counts
from advisor.database.read import StoredRun, run_details
from advisor.errors import InputError
from advisor.ingest.batches import (
    Ingested,
    ProfileWriter,
    already_stored,
    stored_runs,
    temporary_files,
)
from advisor.ingest.profiles import read_profiles
from advisor.ingest.records import USUAL, HowToRead, Profile, RunLabels
from advisor.knowledge.load import load_knowledge
from advisor.records import dataclass
from advisor.scratch import scratch_folder

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What would become of a profile.

    ``format`` and ``profiler`` are None where it is not read; ``unknown`` names the quantities that
    none of its launches has, of ``quantities`` in all.
    """

    result: Ingested
    format: str | None = None
    profiler: str | None = None
    unknown: tuple[str, ...] = ()
    quantities: int = 0


def try_paths(
    database: str,
    paths: Sequence[str],
    *,
    how: HowToRead = USUAL,
    wait: float,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Tried]:
    """Return what would become of every profile that ``paths`` name; store nothing.

    Raises:
        DatabaseError: the database is there but cannot be read, or there is no room to try.
    """
    known = stored_runs(database, wait)
    knowledge = load_knowledge()
    profiles = read_profiles(
        paths,
        labels=RunLabels(),
        how=how,
        entered=progress,
    )
    with temporary_files(database), scratch_folder() as folder:
        scratch = str(folder / "trial.duckdb")
        writer = ProfileWriter(scratch, knowledge, wait=wait, progress=progress)
        results = list(writer.store(_unless_known(profiles, known, database)))
        tried = [Tried(result=result) for result in results]
        if not any(result.status == "new" for result in results):
            return tried
        names = [q.name for q in knowledge.vocabulary.quantities.quantities.values()]
        with open_for_reading(scratch) as connection:
            return [_described(connection, each, names) for each in tried]


def _unless_known(
    profiles: Iterator[Profile | Ingested], known: dict[str, StoredRun], database: str
) -> Iterator[Profile | Ingested]:
    for each in profiles:
        run = known.get(each.run_id) if isinstance(each, Profile) else None
        if not isinstance(each, Profile) or run is None:
            yield each
            continue
        try:
            each.check_same(run.content_hash)
            labels, detail = each.labels, each.detail
            yield already_stored(each.source.name, labels, run, detail, database=database)
        except InputError as error:
            yield Ingested(name=each.source.name, status="refused", error=error)


def _described(connection: duckdb.DuckDBPyConnection, tried: Tried, names: Sequence[str]) -> Tried:
    if tried.result.status != "new":
        return tried
    run_id = str(tried.result.run_id)
    about = run_details(connection, run_id)
    counted = known_counts(connection, run_id, names)
    return replace(
        tried,
        format=_text(about["format"]),
        profiler=_text(about["profiler"]),
        unknown=tuple(name for name, count in counted.items() if not count),
        quantities=len(names),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)
