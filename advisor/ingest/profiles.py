"""Files, directories and patterns → profiles → runs."""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field
from pathlib import Path

from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import InputError, Location
from advisor.ingest.batches import Ingested, ProfileWriter
from advisor.ingest.records import HELD, USUAL, HowToRead, Profile, RunLabels, content_hash
from advisor.knowledge.load import load_knowledge
from advisor.readers.base import Source, State
from advisor.readers.detect import (
    ARCHIVES,
    NoProfileError,
    detect,
    looks_like_profile,
    plain_sources,
)
from advisor.records import dataclass

__all__ = ["Ingested", "RunLabels", "ingest_paths", "read_profiles"]

_LINK = "a link that leads out of the folder is not followed; name the file itself to ingest it"
_AHEAD = 4  # files per thread that are hashed before they are needed
_ANY_DEPTH = "**"
_LINKS = "links that lead out of it are not followed; name the files that they lead to"


def ingest_paths(
    database: str,
    paths: Sequence[str],
    *,
    labels: RunLabels,
    how: HowToRead = USUAL,
    wait: float,
    progress: Callable[[str], None] = lambda _: None,
    configuration: Configuration = DEFAULTS,
) -> Iterator[Ingested]:
    """Store every profile that ``paths`` name; yield the outcome of each, in order.

    Raises:
        DatabaseError: the database cannot be opened or written; what was yielded is stored.
    """
    place = _ProgressPrefix(progress)
    writer = ProfileWriter(
        database, load_knowledge(configuration), wait=wait, progress=place.report
    )
    profiles = read_profiles(
        paths,
        labels=labels,
        how=how,
        entered=place.enter,
    )
    yield from writer.store(profiles)


def read_profiles(
    paths: Sequence[str],
    *,
    labels: RunLabels,
    how: HowToRead = USUAL,
    entered: Callable[[str], None] = lambda _: None,
) -> Iterator[Profile | Ingested]:
    """Yield the profiles that ``paths`` name, or why a file or path is refused.

    ``entered`` is called with the file being read.

    Raises:
        UsageError: there is no format of the name that ``how`` gives.
    """
    found = expand(paths)
    for number, (path, hashed) in enumerate(_hashed([*found.files], how.jobs), start=1):
        entered(f"{number:,} of {len(found.files):,}: {path}")
        yield from _profiles(path, hashed, _How(labels=labels, how=how), is_named=found.files[path])
    for error in found.refused.values():
        yield _refused(error)
    for path in found.links:
        yield Ingested(name=path, status="skipped", notes=(_LINK,))
    for path in found.others:
        yield Ingested(name=path, status="skipped")


@dataclass(frozen=True, kw_only=True)
class _How:
    """What is asked for of every profile."""

    labels: RunLabels
    how: HowToRead

    def profile(self, source: Source, hashed: _Hashed | None) -> Profile:
        """Return the source as a profile; what is unpacked and small moves into memory."""
        lasting = hashed is not None or source.size <= HELD
        if hashed is None and lasting:
            with source.open() as file:
                source = Source.from_stream(file, source.name)
        return Profile(
            source=source,
            reader=detect(source, self.how.as_format),
            digest=hashed.digest if hashed else content_hash(source),
            state=hashed.state if hashed else None,
            labels=self.labels,
            allow_truncated=self.how.allow_truncated,
            detail=self.how.detail,
            lasting=lasting,
        )


@dataclass(frozen=True, kw_only=True)
class _Hashed:
    """The SHA-256 of a file, and the state of the file before."""

    digest: str
    state: State


def _hashed(files: Sequence[str], jobs: int) -> Iterator[tuple[str, _Hashed | None]]:
    """Yield every file with its digest, in order; some files are read ahead by ``jobs`` threads.

    There is no digest of what cannot be read, or not twice.
    """
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        ahead: deque[tuple[str, Future[_Hashed | None]]] = deque()
        for path in files:
            ahead.append((path, pool.submit(_hash, path)))
            if len(ahead) > _AHEAD * jobs:
                first, hashed = ahead.popleft()
                yield first, hashed.result()
        for path, hashed in ahead:
            yield path, hashed.result()


def _hash(path: str) -> _Hashed | None:
    if path == "-":
        return None
    source = Source.from_path(Path(path))
    try:
        return _Hashed(state=source.state(), digest=content_hash(source))
    except InputError:
        return None


def _profiles(
    path: str, hashed: _Hashed | None, how: _How, *, is_named: bool
) -> Iterator[Profile | Ingested]:
    """Yield what a file holds; archives that nobody named may hold no profile."""
    with plain_sources(path) as sources:
        for source in sources:
            try:
                if isinstance(source, InputError):
                    raise source
                yield how.profile(source, hashed if source.content == Path(path) else None)
            except NoProfileError as error:
                is_skipped = path.endswith(ARCHIVES) and not is_named
                yield Ingested(name=path, status="skipped") if is_skipped else _refused(error)
            except InputError as error:
                yield _refused(error)


def _refused(error: InputError) -> Ingested:
    name = "" if error.at is None else error.at.name
    return Ingested(name=name, status="refused", error=error)


class _ProgressPrefix:
    """Which file is read, put before each report about it."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        self._progress = progress
        self._place = ""

    def enter(self, place: str) -> None:
        """Report the file."""
        self._place = place
        self._progress(place)

    def report(self, text: str) -> None:
        """Report ``text`` about the file."""
        self._progress(f"{self._place}, {text}")


@dataclass(frozen=True, kw_only=True)
class Found:
    """The files to read, each with whether it was named, and the others below directories.

    ``refused`` are paths that name no profile and directories that cannot be looked into, and why;
    ``links`` lead out of the directory that they lie below, and are not followed.
    """

    files: dict[str, bool] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    refused: dict[str, InputError] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)


def expand(paths: Sequence[str]) -> Found:
    """Return what the paths name: named files and those of patterns, whatever they are."""
    found = Found()
    for path in paths:
        closed: dict[str, InputError] = {}
        is_itself = path == "-" or _is_there(path)
        matches = [path] if is_itself else sorted(_matches(path, closed))
        found.refused.update(closed)
        if not matches and not closed:
            hint = "quote patterns, and check the path"
            found.refused[path] = InputError("no such file", at=Location(name=path), hint=hint)
        for match in matches:
            if match != "-" and _is_directory(match):
                _add_below(match, found)
            else:
                found.files[match] = True
    return found


def _is_there(path: str) -> bool:
    """Return whether there is such a file; what cannot be looked at is refused when it is read."""
    try:
        Path(path).lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        return error.errno != errno.EINVAL  # which Windows says about a pattern
    return True


def _is_directory(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except OSError:  # in a closed directory
        return False


def _add_below(directory: str, found: Found) -> None:
    """Add the files below a directory that are profiles by content or by name, and the rest.

    The directory is refused where none of them is a profile.
    """
    closed: dict[str, InputError] = {}
    paths = (Path(place, name) for place, _, names in _walk(directory, closed) for name in names)
    top = os.path.realpath(directory)
    files: list[str] = []
    links: list[str] = []
    for path in sorted(str(path) for path in paths if _is_file(path)):
        (links if _leads_out(path, top) else files).append(path)
    profiles = frozenset(path for path in files if _is_meant(path))
    if not profiles and not closed:
        problem = f"none of the {len(files):,} files below it is a profile"
        hint = _LINKS if links else None
        found.refused[directory] = InputError(problem, at=Location(name=directory), hint=hint)
        return
    for path in files:
        if path in profiles:
            found.files.setdefault(path, False)
        else:
            found.others.append(path)
    found.refused.update(closed)
    found.links.extend(links)


def _leads_out(path: str, top: str) -> bool:
    """Return whether a file below ``top``, which is resolved, is a link to one that is not."""
    return not Path(os.path.realpath(path)).is_relative_to(top)


def _is_file(path: Path) -> bool:
    """Return whether a path is a regular file; reading it shows what else is wrong."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _is_meant(path: str) -> bool:
    """Return whether a file is to be read, if only to be refused because it cannot be."""
    try:
        return looks_like_profile(Source.from_path(Path(path)))
    except InputError:
        return True


def _matches(pattern: str, closed: dict[str, InputError]) -> set[str]:
    """Return what a pattern names. ``**`` follows no links to directories: they may lead back."""
    parts = Path(pattern).parts
    if _ANY_DEPTH not in parts:
        return set(glob.glob(pattern))
    place = parts.index(_ANY_DEPTH)
    behind = parts[place + 1 :]
    found: set[str] = set()
    for top in _matches(str(Path(*parts[:place])), closed) if place else {"."}:
        for folder, folders, names in _walk(top, closed):
            folders[:] = (name for name in folders if not name.startswith("."))
            if behind:
                found |= _matches(str(Path(glob.escape(folder), *behind)), closed)
            else:
                paths = (Path(folder, name) for name in names if not name.startswith("."))
                found |= {str(path) for path in paths if _is_file(path)}
    return found


def _walk(top: str, closed: dict[str, InputError]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the directories below ``top`` as ``os.walk`` does; keep which ones are closed."""

    def keep(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            name = str(error.filename)
            problem, hint = f"cannot be read: {error.strerror}", "check its permissions"
            closed[name] = InputError(problem, at=Location(name=name), hint=hint)

    return os.walk(Path(top), onerror=keep)
