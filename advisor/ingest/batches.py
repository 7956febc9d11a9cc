"""Profiles into the database, several small ones per transaction, whatever they come from."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from advisor.commands import program
from advisor.database.connect import open_for_reading
from advisor.database.draft import open_draft
from advisor.database.lake.place import refuse_lake
from advisor.database.read import StoredRun, list_runs
from advisor.errors import DatabaseError, InputError, Location
from advisor.ingest.detail import Detail, more_detail
from advisor.ingest.records import Profile, RunLabels, Stored
from advisor.ingest.store import store_profiles
from advisor.knowledge.knowledge import Knowledge
from advisor.model import Skipped
from advisor.records import dataclass
from advisor.wording import count

_MOST = 64  # profiles in one transaction
_LARGEST = 32 * 1024**2  # bytes of profiles in one transaction, unless one alone is larger
_IN_MEMORY = 16 * 1024**2  # bytes of profiles whose runs are made in memory, not in a file
_PAUSE = 0.1  # seconds that others have to get the lock: longer than between two of their tries
_OPTIONS = {
    "label": "--label",
    "configuration": "--config",
    "commit": "--commit",
    "branch": "--branch",
    "note": "--note",
    "compiler": "--compiler",
    "at": "--at",
}
"""Options of ``runs label``, by the label that they change."""

_COMPARED = (
    *("label", "configuration", "commit", "branch", "note", "compiler", "group", "rank"),
    *("step_time", "at"),
)


@dataclass(frozen=True, kw_only=True)
class Ingested:
    """The outcome of one profile; ``seconds`` is its share of the time that storing took.

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


class ProfileWriter:
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
        """Store the profiles and yield the outcome of each, in order; results pass through.

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
        yield from stored

    def _stored(self, profiles: Sequence[Profile]) -> list[Ingested]:
        self._knowledge.prepare({profile.reader.COUNTERS for profile in profiles})
        large = sum(profile.size for profile in profiles) > _IN_MEMORY
        with (
            temporary_files(self._database),
            open_draft(self._database, self._wait, large=large) as draft,
        ):
            draft.connection.execute("SET threads = 1")  # each holds blocks of every column
            stored = store_profiles(
                draft, profiles, knowledge=self._knowledge, progress=self._progress
            )
        results = zip(profiles, stored, strict=True)
        return [self._outcome(profile, each, len(profiles)) for profile, each in results]

    def _outcome(self, profile: Profile, stored: Stored | InputError, shared_by: int) -> Ingested:
        """Return the outcome of a profile of ``shared_by`` that were stored together."""
        name = profile.source.name
        if isinstance(stored, InputError):
            return Ingested(name=name, status="refused", error=stored)
        if stored.known is not None:
            labels, detail = profile.labels, profile.detail
            return already_stored(name, labels, stored.known, detail, database=self._database)
        return Ingested(
            name=name,
            status="new",
            run_id=stored.run_id,
            launches=stored.launches,
            skipped=stored.skipped,
            notes=stored.notes,
            seconds=stored.seconds / shared_by,
        )


@contextlib.contextmanager
def temporary_files(database: str) -> Iterator[None]:
    """Report where the block finds no room for temporary files.

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


def stored_runs(database: str, wait: float) -> dict[str, StoredRun]:
    """Return the runs in the database by their ids; none where no file is.

    Raises:
        DatabaseError: the file is there but cannot be read, or it is a lake.
    """
    refuse_lake(database)
    if not Path(database).exists():
        return {}
    with open_for_reading(database, wait) as connection:
        return {run.run_id: run for run in list_runs(connection)}


def already_stored(
    name: str, wanted: RunLabels, run: StoredRun, detail: Detail, *, database: str
) -> Ingested:
    """Return that a profile is stored already, and which labels and detail given now are not."""
    runs = f"{program(database)} runs"
    stored = RunLabels(
        label=run.label,
        configuration=run.configuration,
        commit=run.commit,
        branch=run.branch,
        note=run.note,
        compiler=run.compiler,
        group=run.group_id,
        rank=run.rank,
        tags=tuple(run.tags or ()),
        step_time=run.step_time,
        at=run.started_at,
    )
    return Ingested(
        name=name,
        status="known",
        run_id=run.run_id,
        launches=run.launches,
        notes=(
            *not_stored(wanted, stored, _how_to_change(runs, run.run_id, wanted, stored)),
            *_less_detailed(runs, run, detail),
        ),
    )


def _less_detailed(runs: str, run: StoredRun, detail: Detail) -> Iterator[str]:
    """Yield that a run was stored with less detail than is asked for now, if it was.

    ``runs`` is how a command begins that changes runs of the database.
    """
    if more_detail(detail, run.launches, run.launches_detailed):
        read = f"{run.launches_detailed:,} of {count(run.launches, 'launch')}"
        again = f"`{runs} remove {run.run_id}` and ingest it again with --detail {detail}"
        yield f"{read} were read in detail; for more, {again}"


def _how_to_change(runs: str, run_id: str, wanted: RunLabels, stored: RunLabels) -> str:
    """Return the command, which begins with ``runs``, that gives a stored run the labels given."""
    differ = {name: value for name, value in _differing(wanted, stored) if name in _OPTIONS}
    options = [f"{_OPTIONS[name]} {shlex.quote(str(value))}" for name, value in differ.items()]
    options += [f"--tag {shlex.quote(tag)}" for tag in wanted.tags if tag not in stored.tags]
    command = f"`{runs} label {run_id} {' '.join(options)}`"
    again = f"`{runs} remove {run_id}` and ingest it again"
    whole = all(name in _OPTIONS for name, _ in _differing(wanted, stored))
    if whole:
        return command
    return f"{command}; for the rest {again}" if options else again


def _differing(wanted: RunLabels, stored: RunLabels) -> Iterator[tuple[str, object]]:
    """Yield the labels given that are stored with another value, with the one given."""
    for name in _COMPARED:
        new = getattr(wanted, name)
        if new not in (None, getattr(stored, name)):
            yield name, new


def not_stored(wanted: RunLabels, stored: RunLabels, change: str) -> tuple[str, ...]:
    """Return a note on the labels that a known profile was given and does not have, if any.

    ``change`` is what to do about it.
    """
    found = [f"tag {tag}" for tag in wanted.tags if tag not in stored.tags]
    for name, new in _differing(wanted, stored):
        old = getattr(stored, name)
        found.append(f"{name.replace('_', ' ')} {new} (it has {'none' if old is None else old})")
    return (f"not stored: {', '.join(found)}; to change that, {change}",) if found else ()


def _full(group: Sequence[Profile | Ingested], more: Profile | Ingested) -> bool:
    sizes = [each.size for each in (*group, more) if isinstance(each, Profile)]
    return bool(group) and (len(group) == _MOST or sum(sizes) > _LARGEST)
