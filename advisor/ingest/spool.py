"""Spool: bundles in a directory, written by many, loaded into a database by one.

A bundle appears whole, by a link or a rename, and is never changed, only replaced where it was
found damaged. So neither writers nor the one that loads need a lock: it works on network file
systems.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.configuration import DEFAULTS, Configuration
from advisor.database import ids
from advisor.database.connect import open_scratch, tidy
from advisor.database.read import StoredRun
from advisor.errors import DatabaseError, InputError, Location, UsageError
from advisor.hardware.seeding import seed_database
from advisor.ingest.batches import (
    Ingested,
    ProfileWriter,
    already_stored,
    not_stored,
    stored_runs,
    temporary_files,
)
from advisor.ingest.bundles import SUFFIX, pack, place, read_wishes, unpack
from advisor.ingest.detail import USUAL_DETAIL
from advisor.ingest.profiles import read_profiles
from advisor.ingest.records import USUAL, HowToRead, Profile, RunLabels
from advisor.ingest.store import check_profile
from advisor.knowledge.knowledge import Knowledge
from advisor.knowledge.load import load_knowledge
from advisor.records import dataclass
from advisor.scratch import scratch_folder, sweep
from advisor.wording import count

if TYPE_CHECKING:
    import duckdb

_NAME = "profile"  # of the file that large profiles are unpacked into


def spool_paths(
    directory: str,
    paths: Sequence[str],
    *,
    labels: RunLabels,
    how: HowToRead = USUAL,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Ingested]:
    """Write every profile that ``paths`` name into the spool; yield the outcome of each.

    A profile is stored in memory before, so that what cannot be loaded is refused here.

    Raises:
        UsageError: the spool has no name.
        DatabaseError: the spool does not take it; what was yielded is there.
    """
    spool = _made(directory)
    knowledge = load_knowledge()
    with (
        temporary_files(directory),
        scratch_folder() as folder,
        open_scratch(str(folder)) as connection,
    ):
        seed_database(connection, knowledge.seed)
        checked = _Checked(spool=spool, connection=connection, knowledge=knowledge)
        for profile in read_profiles(
            paths,
            labels=labels,
            how=how,
            entered=progress,
        ):
            yield checked.spooled(profile) if isinstance(profile, Profile) else profile


def merge_spool(
    database: str,
    directory: str,
    *,
    done: str | None = None,
    wait: float,
    progress: Callable[[str], None] = lambda _: None,
    configuration: Configuration = DEFAULTS,
) -> Iterator[Ingested]:
    """Load the bundles of a spool that the database does not hold; yield the outcome of each.

    Loaded bundles stay, or move into the directory ``done``.

    Raises:
        InputError: there is no such directory, or it cannot be read.
        UsageError: a directory has no name.
        DatabaseError: the database cannot be opened or written, or a bundle cannot be moved; what
            was yielded is stored.
    """
    bundles = _bundles(directory)
    sweep(Path(directory))
    tidy(Path(database))  # where every bundle is loaded, nothing opens the database to write
    moved = None if done is None else _writable(done)
    unmoved: list[str] = []
    with temporary_files(database), scratch_folder() as scratch:
        spool = _Spool(database, wait, scratch / _NAME)
        writer = ProfileWriter(
            database, load_knowledge(configuration), wait=wait, progress=progress
        )
        results = writer.store(spool.read(bundles, progress))
        for bundle, result in zip(bundles, results, strict=True):
            if moved is not None and result.status != "refused":
                unmoved += _move(bundle, moved)
            yield result
    if unmoved:
        raise DatabaseError(
            f"{count(len(unmoved), 'bundle')} cannot be moved to {moved}: first {unmoved[0]}",
            at=Location(name=directory),
            hint="they are loaded; see that both directories can be written, then merge again",
        )


class _Spool:
    """Reads bundles that the database does not hold yet."""

    def __init__(self, database: str, wait: float, scratch: Path) -> None:
        self._database = database
        self._wait = wait
        self._scratch = scratch

    def read(
        self, bundles: Sequence[Path], progress: Callable[[str], None]
    ) -> Iterator[Profile | Ingested]:
        """Yield what is in each bundle, or the outcome of it."""
        known = stored_runs(self._database, self._wait)
        for number, bundle in enumerate(bundles, start=1):
            progress(f"{number:,} of {len(bundles):,}: {bundle.name}")
            run = _run_of(bundle, known)
            yield self._unpacked(bundle) if run is None else self._known(bundle, run)

    def _unpacked(self, bundle: Path) -> Profile | Ingested:
        try:
            return unpack(bundle, self._scratch)
        except InputError as error:
            run = None
            if not bundle.exists():  # somebody else who merges may have loaded and moved it
                run = _run_of(bundle, stored_runs(self._database, self._wait))
            if run is not None:
                return self._known(bundle, run)
            return Ingested(name=str(bundle), status="refused", error=error)

    def _known(self, bundle: Path, run: StoredRun) -> Ingested:
        labels, detail = RunLabels(), USUAL_DETAIL
        with contextlib.suppress(InputError):  # its profile is stored, so nothing is lost
            labels, detail = read_wishes(bundle)
        return already_stored(bundle.name, labels, run, detail, database=self._database)


def _run_of(bundle: Path, runs: Mapping[str, StoredRun]) -> StoredRun | None:
    """Return the run of the bundle's profile, by its whole hash; None where it is not stored."""
    content_hash = bundle.name.removesuffix(SUFFIX)
    run = runs.get(ids.run_id(content_hash))
    return run if run is not None and run.content_hash == content_hash else None


@dataclass(frozen=True, kw_only=True)
class _Checked:
    """Writes profiles into a spool that could be stored; ``connection`` is where that is tried."""

    spool: Path
    connection: duckdb.DuckDBPyConnection
    knowledge: Knowledge

    def spooled(self, profile: Profile) -> Ingested:
        """Write a profile into the spool and return the outcome of it."""
        target = self.spool / f"{profile.digest}{SUFFIX}"
        try:
            launches, skipped = check_profile(self.connection, profile, self.knowledge)
            there = _labels_of_whole(target)
            if there is None:
                _write(target, profile)
        except InputError as error:
            return Ingested(name=profile.source.name, status="refused", error=error)
        change = f"remove {target} and spool it again"
        return Ingested(
            name=profile.source.name,
            status="new" if there is None else "known",
            run_id=profile.run_id,
            launches=launches,
            skipped=skipped,
            notes=() if there is None else not_stored(profile.labels, there, change),
        )


def _labels_of_whole(bundle: Path) -> RunLabels | None:
    """Return what a bundle says about its profile; None where it is missing or damaged."""
    try:
        return unpack(bundle, Path(os.devnull)).labels  # nothing of the profile is kept
    except InputError:
        return None


def _write(target: Path, profile: Profile) -> None:
    """Write the bundle; one that is there is damaged."""
    try:
        place(target, lambda file: pack(file, profile), replace=os.path.lexists(target))
    except OSError as error:
        raise DatabaseError(
            f"the spool does not take it: {error.strerror or error}",
            at=Location(name=str(target)),
            hint="see that the directory can be written and its disk has room, then repeat it",
        ) from error


def _bundles(directory: str) -> list[Path]:
    """Return the bundles in a directory; ``glob`` would find none in one it cannot read."""
    try:
        return sorted(path for path in _named(directory).iterdir() if path.name.endswith(SUFFIX))
    except OSError as error:
        raise InputError(
            f"the spool cannot be read: {error.strerror}",
            at=Location(name=directory),
            hint="name the directory that `advisor ingest --spool` writes into",
        ) from error


def _named(directory: str) -> Path:
    if not directory:
        raise UsageError("the name of a directory is empty", hint="write . for the current one")
    return Path(directory)


def _made(name: str) -> Path:
    directory = _named(name)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(name, "made", error) from error
    return directory


def _writable(name: str) -> Path:
    directory = _made(name)
    try:
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except OSError as error:
        raise _unusable(name, "written", error) from error


def _unusable(directory: str, what: str, error: OSError) -> DatabaseError:
    return DatabaseError(
        f"the directory cannot be {what}: {error.strerror}",
        at=Location(name=directory),
        hint="name a directory that can be written",
    )


def _move(bundle: Path, directory: Path) -> list[str]:
    """Move the bundle unless somebody else did; return why it cannot be moved, if it cannot."""
    try:
        try:
            bundle.replace(directory / bundle.name)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _copy(bundle, directory / bundle.name)  # to another file system
            bundle.unlink()
    except OSError as error:
        return [f"{bundle.name}: {error.strerror}"] if os.path.lexists(bundle) else []
    return []


def _copy(bundle: Path, target: Path) -> None:
    with bundle.open("rb") as source:
        place(target, lambda file: shutil.copyfileobj(source, file), replace=True)
