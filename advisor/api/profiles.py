"""Files, directories and patterns → profiles → runs."""

from __future__ import annotations

import glob
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from advisor.api.knowledge import load_knowledge
from advisor.api.storing import Ingested, Writer
from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import InputError, Location
from advisor.ingest.records import Labels, Profile, content_hash
from advisor.readers import Source, detect, looks_like_profile
from advisor.readers.archives import plain_sources

__all__ = ["Ingested", "Labels", "expand", "ingest_paths", "read_profiles"]

_PATTERN = frozenset("*?[")
_AHEAD = 4  # files per thread that are hashed before they are needed
_HELD = 1024 * 1024  # bytes of an unpacked profile that are kept in memory rather than in a file


def ingest_paths(
    database: str,
    paths: Sequence[str],
    *,
    labels: Labels,
    as_format: str | None = None,
    allow_truncated: bool = False,
    jobs: int = 1,
    wait: float,
    progress: Callable[[str], None] = lambda _: None,
    configuration: Configuration = DEFAULTS,
) -> Iterator[Ingested]:
    """Store every profile that ``paths`` name; yield what became of each, in order.

    Raises:
        InputError: a path or pattern names nothing.
        DatabaseError: the database cannot be opened or written; what was yielded is stored.
    """
    place = _Place(progress)
    writer = Writer(database, load_knowledge(configuration), wait=wait, progress=place.tell)
    profiles = read_profiles(
        paths,
        labels=labels,
        as_format=as_format,
        allow_truncated=allow_truncated,
        jobs=jobs,
        entered=place.enter,
    )
    yield from writer.store(profiles)


def read_profiles(
    paths: Sequence[str],
    *,
    labels: Labels,
    as_format: str | None = None,
    allow_truncated: bool = False,
    jobs: int = 1,
    entered: Callable[[str], None] = lambda _: None,
) -> Iterator[Profile | Ingested]:
    """Yield the profiles that ``paths`` name, or why one is refused.

    Files are hashed ahead by ``jobs`` threads. ``entered`` is told which file is read.

    Raises:
        InputError: a path or pattern names nothing.
        UsageError: there is no format called ``as_format``.
    """
    files, others = expand(paths)
    how = _How(labels=labels, as_format=as_format, allow_truncated=allow_truncated)
    for number, (path, digest) in enumerate(_hashed(files, jobs), start=1):
        entered(f"{number:,} of {len(files):,}: {path}")
        yield from _profiles(path, digest, how)
    for path in others:
        yield Ingested(name=path, status="skipped")


def expand(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files to read, and those below directories that are no profiles.

    Named files are read whatever they are; so are those that a pattern finds.

    Raises:
        InputError: a path or pattern names nothing, or a directory holds no profile.
    """
    found: dict[str, None] = {}
    others: list[str] = []
    for path in paths:
        if path == "-" or Path(path).is_file():
            found[path] = None
        elif Path(path).is_dir():
            profiles, rest = _below(path)
            found |= dict.fromkeys(profiles)
            others += rest
        elif _PATTERN & set(path) and (matches := sorted(glob.glob(path, recursive=True))):
            profiles, rest = expand(matches)
            found |= dict.fromkeys(profiles)
            others += rest
        else:
            hint = "quote patterns, and check the path"
            raise InputError("no such file", at=Location(name=path), hint=hint)
    return list(found), others


def _below(directory: str) -> tuple[list[str], list[str]]:
    """Return the files below a directory that are profiles by content or by name, and the rest."""
    files = sorted(str(path) for path in Path(directory).rglob("*") if path.is_file())
    found = [path for path in files if looks_like_profile(Source.from_path(Path(path)))]
    if not found:
        problem = f"none of the {len(files):,} files below it is a profile"
        raise InputError(problem, at=Location(name=directory))
    profiles = frozenset(found)
    return found, [path for path in files if path not in profiles]


@dataclass(frozen=True, kw_only=True)
class _How:
    """What is asked for of every profile."""

    labels: Labels
    as_format: str | None
    allow_truncated: bool

    def profile(self, source: Source, digest: str | None) -> Profile:
        """Return the source as a profile; what is unpacked and small moves into memory."""
        lasting = digest is not None or source.size <= _HELD
        if digest is None and lasting:
            with source.open() as file:
                source = Source.from_stream(file, source.name)
        return Profile(
            source=source,
            reader=detect(source, self.as_format),
            digest=digest or content_hash(source),
            labels=self.labels,
            allow_truncated=self.allow_truncated,
            lasting=lasting,
        )


def _hashed(files: Sequence[str], jobs: int) -> Iterator[tuple[str, str | None]]:
    """Yield every file with its digest, in order; some files are read ahead by ``jobs`` threads.

    There is no digest of what cannot be read, or not twice.
    """
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        ahead: deque[tuple[str, Future[str | None]]] = deque()
        for path in files:
            ahead.append((path, pool.submit(_digest, path)))
            if len(ahead) > _AHEAD * jobs:
                first, digest = ahead.popleft()
                yield first, digest.result()
        for path, digest in ahead:
            yield path, digest.result()


def _digest(path: str) -> str | None:
    try:
        return None if path == "-" else content_hash(Source.from_path(Path(path)))
    except InputError:
        return None


def _profiles(path: str, digest: str | None, how: _How) -> Iterator[Profile | Ingested]:
    with plain_sources(path) as sources:
        while True:
            try:
                source = next(sources, None)
                if source is None:
                    return
                itself = source.content == Path(path)
            except InputError as error:
                yield Ingested(name=path, status="refused", error=error)
                return
            try:
                yield how.profile(source, digest if itself else None)
            except InputError as error:
                yield Ingested(name=source.name, status="refused", error=error)


class _Place:
    """Which file is read, put before what is told about it."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        self._progress = progress
        self._place = ""

    def enter(self, place: str) -> None:
        """Tell the file."""
        self._place = place
        self._progress(place)

    def tell(self, text: str) -> None:
        """Tell ``text`` of the file."""
        self._progress(f"{self._place}, {text}")
