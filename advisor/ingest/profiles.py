"""Files, directories and patterns → profiles → runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import InputError
from advisor.ingest.batches import Ingested, ProfileWriter
from advisor.ingest.files import expand
from advisor.ingest.records import USUAL, HowToRead, Profile, RunLabels, content_hash
from advisor.knowledge.load import load_knowledge
from advisor.readers import ARCHIVES, NoProfileError, Source, detect
from advisor.readers.archives import plain_sources
from advisor.readers.base import State

__all__ = ["Ingested", "RunLabels", "ingest_paths", "read_profiles"]

_LINK = "a link that leads out of the folder is not followed; name the file itself to ingest it"
_AHEAD = 4  # files per thread that are hashed before they are needed
_HELD = 1024 * 1024  # bytes of an unpacked profile that are kept in memory rather than in a file


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
        InputError: a path or pattern names nothing.
        DatabaseError: the database cannot be opened or written; what was yielded is stored.
    """
    place = _Place(progress)
    writer = ProfileWriter(database, load_knowledge(configuration), wait=wait, progress=place.tell)
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
    """Yield the profiles that ``paths`` name, or why one is refused.

    ``entered`` is told which file is read.

    Raises:
        InputError: a path or pattern names nothing.
        UsageError: there is no format of the name that ``how`` gives.
    """
    found = expand(paths)
    for number, (path, hashed) in enumerate(_hashed([*found.files], how.jobs), start=1):
        entered(f"{number:,} of {len(found.files):,}: {path}")
        yield from _profiles(path, hashed, _How(labels=labels, how=how), is_named=found.files[path])
    for error in found.closed.values():
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
        lasting = hashed is not None or source.size <= _HELD
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


class _Place:
    """Which file is read, put before what is told about it."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        self._progress = progress
        self._place = ""

    def enter(self, place: str) -> None:
        """Report the file."""
        self._place = place
        self._progress(place)

    def tell(self, text: str) -> None:
        """Report ``text`` about the file."""
        self._progress(f"{self._place}, {text}")
