"""Spool: bundles in a directory, written by many, loaded into a database by one.

A bundle is a zip file named after the SHA-256 of the profile in it: the profile's bytes and a
manifest of what was said about it. It appears whole, by a link or a rename, and is never changed,
so neither writers nor the one that loads need a lock: it works on network file systems.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from advisor import __version__
from advisor.api.knowledge import load_knowledge
from advisor.api.profiles import read_profiles
from advisor.api.storing import Ingested, Writer, stored_runs, temporary_files
from advisor.configuration import DEFAULTS, Configuration
from advisor.database import ids
from advisor.database.connect import put
from advisor.errors import DatabaseError, InputError, Location
from advisor.ingest.knowledge import Knowledge
from advisor.ingest.records import Labels, Profile
from advisor.ingest.store import check_profile
from advisor.readers import Source, detect

SUFFIX = ".bundle"

_VERSION = 1
_MANIFEST = "manifest.json"
_PROFILE = "profile"
_CHUNK = 1024 * 1024
_HELD = 1024 * 1024  # bytes of a profile that are kept in memory rather than in a file
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, KeyError, TypeError, ValueError, RuntimeError,
)  # fmt: skip


def spool_paths(
    directory: str,
    paths: Sequence[str],
    *,
    labels: Labels,
    as_format: str | None = None,
    allow_truncated: bool = False,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Ingested]:
    """Write every profile that ``paths`` name into the spool; yield what became of each.

    A profile is read once before, so that what cannot be loaded is refused here.

    Raises:
        InputError: a path or pattern names nothing.
        DatabaseError: the spool does not take it; what was yielded is there.
    """
    spool = _made(Path(directory))
    knowledge = load_knowledge()
    for profile in read_profiles(
        paths,
        labels=labels,
        as_format=as_format,
        allow_truncated=allow_truncated,
        jobs=jobs,
        entered=progress,
    ):
        yield _spooled(spool, profile, knowledge) if isinstance(profile, Profile) else profile


def merge_spool(
    database: str,
    directory: str,
    *,
    done: str | None = None,
    wait: float,
    progress: Callable[[str], None] = lambda _: None,
    configuration: Configuration = DEFAULTS,
) -> Iterator[Ingested]:
    """Load the bundles of a spool that the database does not hold; yield what became of each.

    Loaded bundles stay, or move into the directory ``done``.

    Raises:
        InputError: there is no such directory.
        DatabaseError: the database cannot be opened or written; what was yielded is stored.
    """
    if not Path(directory).is_dir():
        raise InputError("there is no such directory", at=Location(name=directory))
    bundles = sorted(Path(directory).glob(f"*{SUFFIX}"))
    known = stored_runs(database, wait)
    with temporary_files(database), tempfile.TemporaryDirectory(prefix="advisor-") as scratch:
        loaded = (
            _loaded(
                bundle, known, Path(scratch) / _PROFILE, progress, f"{number:,} of {len(bundles):,}"
            )
            for number, bundle in enumerate(bundles, start=1)
        )
        knowledge = load_knowledge(configuration)
        results = Writer(database, knowledge, wait=wait, progress=progress).store(loaded)
        for bundle, result in zip(bundles, results, strict=True):
            if done is not None and result.status != "refused":
                _move(bundle, _made(Path(done)))
            yield result


def _spooled(spool: Path, profile: Profile, knowledge: Knowledge) -> Ingested:
    target = spool / f"{profile.digest}{SUFFIX}"
    try:
        launches, skipped = check_profile(profile, knowledge)
        new = not target.exists()
        if new:
            _write(target, profile)
    except InputError as error:
        return Ingested(name=profile.source.name, status="refused", error=error)
    return Ingested(
        name=profile.source.name,
        status="new" if new else "known",
        run_id=profile.run_id,
        launches=launches,
        skipped=skipped,
    )


def _write(target: Path, profile: Profile) -> None:
    """Write the bundle beside its place, bring it to the disk, and give it its place."""
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        try:
            with part.open("xb") as file:
                _pack(file, profile)
                file.flush()
                os.fsync(file.fileno())
            put(part, target)
        finally:
            part.unlink(missing_ok=True)
        _sync_directory(target.parent)
    except OSError as error:
        raise DatabaseError(
            f"the spool does not take it: {error.strerror or error}",
            at=Location(name=str(target)),
            hint="see that the directory can be written and its disk has room, then repeat it",
        ) from error


def _pack(file: IO[bytes], profile: Profile) -> None:
    labels = asdict(profile.labels)
    labels["at"] = None if profile.labels.at is None else profile.labels.at.isoformat()
    manifest = {
        "version": _VERSION,
        "content_hash": profile.digest,
        "size": profile.source.size,
        "name": profile.source.name,
        "format": profile.reader.FORMAT,
        "allow_truncated": profile.allow_truncated,
        "labels": labels,
        "spooled_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "advisor_version": __version__,
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(_MANIFEST, json.dumps(manifest, indent=1))
        with profile.source.open() as source, archive.open(_PROFILE, "w", force_zip64=True) as to:
            shutil.copyfileobj(source, to, _CHUNK)
    profile.check_unchanged()


def _sync_directory(directory: Path) -> None:
    if hasattr(os, "O_DIRECTORY"):  # elsewhere a directory cannot be opened
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _loaded(
    bundle: Path,
    known: dict[str, int],
    scratch: Path,
    progress: Callable[[str], None],
    place: str,
) -> Profile | Ingested:
    progress(f"{place}: {bundle.name}")
    run_id = ids.run_id(bundle.name.removesuffix(SUFFIX))
    if run_id in known:
        launches = known[run_id]
        return Ingested(name=bundle.name, status="known", run_id=run_id, launches=launches)
    try:
        return _read(bundle, scratch)
    except InputError as error:
        return Ingested(name=str(bundle), status="refused", error=error)


def _read(bundle: Path, scratch: Path) -> Profile:
    """Return the profile in a bundle, unpacked and compared with what its manifest says.

    Raises:
        InputError: the bundle is damaged, or of a newer version.
    """
    try:
        with zipfile.ZipFile(bundle) as archive:
            manifest = _Manifest.parse(archive.read(_MANIFEST))
            with archive.open(_PROFILE) as packed:
                content = _unpacked(packed, manifest, scratch)
    except _DAMAGE as error:
        raise _damaged(bundle, str(error)) from error
    except OSError as error:
        raise _damaged(bundle, error.strerror or str(error)) from error
    if f"{manifest.content_hash}{SUFFIX}" != bundle.name:
        raise _damaged(bundle, "it is named after another profile")
    source = Source(name=manifest.name, content=content)
    return Profile(
        source=source,
        reader=detect(source, manifest.format),
        digest=manifest.content_hash,
        labels=manifest.labels,
        allow_truncated=manifest.allow_truncated,
        lasting=isinstance(content, bytes),
    )


@dataclass(frozen=True, kw_only=True)
class _Manifest:
    content_hash: str
    size: int
    name: str
    format: str
    allow_truncated: bool
    labels: Labels

    @classmethod
    def parse(cls, text: bytes) -> _Manifest:
        """Return the manifest; raise ValueError, KeyError or TypeError where it is none."""
        told: dict[str, Any] = json.loads(text)
        if told["version"] != _VERSION:
            raise ValueError(f"version {told['version']} of bundles is not known")
        labels = dict(told["labels"])
        labels["tags"] = tuple(labels["tags"])
        labels["at"] = None if labels["at"] is None else datetime.fromisoformat(labels["at"])
        return cls(
            content_hash=str(told["content_hash"]),
            size=int(told["size"]),
            name=str(told["name"]),
            format=str(told["format"]),
            allow_truncated=bool(told["allow_truncated"]),
            labels=Labels(**labels),
        )


def _unpacked(packed: IO[bytes], manifest: _Manifest, scratch: Path) -> bytes | Path:
    """Return the profile's bytes, or the file that they are in; they are what was spooled."""
    digest, left, held = hashlib.sha256(), manifest.size, bytearray()
    small = manifest.size <= _HELD
    with temporary_files(str(scratch)), scratch.open("wb") as file:
        while chunk := _piece(packed, min(_CHUNK, left + 1)):
            left -= len(chunk)
            digest.update(chunk)
            if small:
                held += chunk
            else:
                file.write(chunk)
            if left < 0:
                break
    if left or digest.hexdigest() != manifest.content_hash:
        raise ValueError("it holds other bytes than were spooled")
    return bytes(held) if small else scratch


def _piece(packed: IO[bytes], most: int) -> bytes:
    """Return at most so many bytes more; not being able to read is no fault of the scratch file."""
    try:
        return packed.read(most)
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from error


def _damaged(bundle: Path, why: str) -> InputError:
    hint = "spool the profile again, or remove the bundle"
    return InputError(f"the bundle cannot be read: {why}", at=Location(name=str(bundle)), hint=hint)


def _made(directory: Path) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseError(
            f"the directory cannot be made: {error.strerror}",
            at=Location(name=str(directory)),
            hint="name a directory that can be written",
        ) from error
    return directory


def _move(bundle: Path, done: Path) -> None:
    try:
        bundle.replace(done / bundle.name)
    except OSError as error:
        raise DatabaseError(
            f"cannot be moved to {done}: {error.strerror}",
            at=Location(name=str(bundle)),
            hint="it is loaded; --done names a directory on the same file system",
        ) from error
