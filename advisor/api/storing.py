"""Profiles into the database, several small ones per transaction, whatever they come from."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from advisor.database.connect import open_for_reading, open_for_writing
from advisor.errors import DatabaseError, InputError, Location
from advisor.hardware import seed_database
from advisor.ingest.knowledge import Knowledge
from advisor.ingest.records import Profile, Stored
from advisor.ingest.store import store_profiles
from advisor.model import Skipped

_MOST = 64  # profiles in one transaction
_LARGEST = 32 * 1024**2  # bytes of profiles in one transaction, unless one alone is larger
_PAUSE = 0.1  # seconds that others have to get the lock: longer than between two of their tries


@dataclass(frozen=True, kw_only=True)
class Ingested:
    """What became of one profile; ``seconds`` is its share of the time that storing took.

    ``notes`` say what is in doubt although nothing of it was skipped.
    """

    name: str
    status: Literal["new", "known", "skipped", "refused"]
    run_id: str | None = None
    launches: int = 0
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    error: InputError | None = None


class Writer:
    """Stores profiles and holds the database's lock for one transaction at a time."""

    def __init__(
        self,
        database: str,
        knowledge: Knowledge,
        *,
        wait: float,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._database = database
        self._knowledge = knowledge
        self._wait = wait
        self._progress = progress

    def store(self, profiles: Iterable[Profile | Ingested]) -> Iterator[Ingested]:
        """Store the profiles and yield what became of each, in order; results pass through.

        Raises:
            DatabaseError: the database cannot be opened or written; what was yielded is stored.
        """
        group: list[Profile | Ingested] = []
        for profile in profiles:
            if _full(group, profile):
                yield from self._settle(group)
                time.sleep(_PAUSE)
                group = []
            group.append(profile)
            if isinstance(profile, Profile) and not profile.lasting:
                yield from self._settle(group)
                group = []
        yield from self._settle(group)

    def _settle(self, group: Sequence[Profile | Ingested]) -> Iterator[Ingested]:
        results = self._together([each for each in group if isinstance(each, Profile)])
        for each in group:
            yield next(results) if isinstance(each, Profile) else each

    def _together(self, profiles: Sequence[Profile]) -> Iterator[Ingested]:
        """Store profiles in one transaction; where one of them is refused, each half in its own."""
        if not profiles:
            return
        try:
            stored = self._stored(profiles)
        except InputError as error:
            if len(profiles) == 1:
                yield Ingested(name=profiles[0].source.name, status="refused", error=error)
                return
            half = len(profiles) // 2
            yield from self._together(profiles[:half])
            yield from self._together(profiles[half:])
            return
        for profile, each in zip(profiles, stored, strict=True):
            yield _ingested(profile, each, len(profiles))

    def _stored(self, profiles: Sequence[Profile]) -> list[Stored]:
        self._knowledge.prepare({profile.reader.COUNTERS for profile in profiles})
        with open_for_writing(self._database, self._wait) as connection:
            connection.execute("SET threads = 1")  # each thread holds blocks of every column
            seed_database(connection)
            return store_profiles(
                connection, profiles, knowledge=self._knowledge, progress=self._progress
            )


@contextlib.contextmanager
def temporary_files(database: str) -> Iterator[None]:
    """Tell where the block finds no room for temporary files.

    Raises:
        DatabaseError: there is no folder for them, or it is full.
    """
    try:
        yield
    except OSError as error:
        raise DatabaseError(
            f"temporary files cannot be written: {error.strerror or error}",
            at=Location(name=database),
            hint="see that their disk has room; TMPDIR names another directory for them",
        ) from error


def stored_runs(database: str, wait: float) -> dict[str, int]:
    """Return the ids of the runs in the database, with their launches; none where no file is.

    Raises:
        DatabaseError: the file is there but cannot be read.
    """
    if not Path(database).exists():
        return {}
    with open_for_reading(database, wait) as connection:
        return dict(connection.execute("SELECT run_id, launches FROM run").fetchall())


def _full(group: Sequence[Profile | Ingested], more: Profile | Ingested) -> bool:
    sizes = [each.size for each in (*group, more) if isinstance(each, Profile)]
    return bool(group) and (len(group) == _MOST or sum(sizes) > _LARGEST)


def _ingested(profile: Profile, stored: Stored, shared_by: int) -> Ingested:
    return Ingested(
        name=profile.source.name,
        status="new" if stored.new else "known",
        run_id=stored.run_id,
        launches=stored.launches,
        skipped=stored.skipped,
        notes=stored.notes,
        seconds=stored.seconds / shared_by,
    )
