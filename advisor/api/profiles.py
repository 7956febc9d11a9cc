"""Files, directories and patterns → runs, one transaction per file."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from advisor.api.knowledge import load_knowledge
from advisor.database.connect import open_for_writing
from advisor.errors import InputError, Location
from advisor.hardware import seed_database
from advisor.ingest import Knowledge, Labels, store_profile
from advisor.model import Skipped
from advisor.readers import Source, detect, looks_like_profile
from advisor.readers.archives import plain_sources

__all__ = ["Ingested", "Labels", "expand", "ingest_paths"]

_PATTERN = frozenset("*?[")


@dataclass(frozen=True, kw_only=True)
class Ingested:
    """What became of one profile."""

    name: str
    status: Literal["new", "known", "refused"]
    run_id: str | None = None
    launches: int = 0
    skipped: tuple[Skipped, ...] = ()
    seconds: float = 0.0
    error: InputError | None = None


def ingest_paths(
    database: str,
    paths: Sequence[str],
    *,
    labels: Labels,
    as_format: str | None = None,
    allow_truncated: bool = False,
    wait: float,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Ingested]:
    """Store every profile that ``paths`` name; yield what became of each, in order.

    Raises:
        InputError: a path or pattern names nothing.
        DatabaseError: the database cannot be opened or written.
    """
    files = list(expand(paths))
    knowledge = load_knowledge()
    for number, path in enumerate(files, start=1):
        place = f"{number:,} of {len(files):,}: {path}"
        with plain_sources(path) as sources:
            while True:
                try:
                    source = next(sources, None)
                except InputError as error:
                    yield Ingested(name=path, status="refused", error=error)
                    break
                if source is None:
                    break
                yield _ingested(
                    database,
                    source,
                    labels=labels,
                    knowledge=knowledge,
                    as_format=as_format,
                    allow_truncated=allow_truncated,
                    wait=wait,
                    progress=lambda text, place=place: progress(f"{place}, {text}"),
                )


def expand(paths: Sequence[str]) -> Iterator[str]:
    """Yield files: named ones as they are, those of patterns, and profiles below directories.

    Raises:
        InputError: a path or pattern names nothing, or a directory holds no profile.
    """
    for path in paths:
        if path == "-" or Path(path).is_file():
            yield path
        elif Path(path).is_dir():
            yield from _below(path)
        elif _PATTERN & set(path) and (found := sorted(glob.glob(path, recursive=True))):
            yield from expand(found)
        else:
            hint = "quote patterns, and check the path"
            raise InputError("no such file", at=Location(name=path), hint=hint)


def _below(directory: str) -> list[str]:
    """Return the files below a directory that are profiles by content or by name."""
    files = sorted(str(path) for path in Path(directory).rglob("*") if path.is_file())
    found = [path for path in files if looks_like_profile(Source.from_path(Path(path)))]
    if not found:
        problem = f"none of the {len(files):,} files below it is a profile"
        raise InputError(problem, at=Location(name=directory))
    return found


def _ingested(
    database: str,
    source: Source,
    *,
    labels: Labels,
    knowledge: Knowledge,
    as_format: str | None,
    allow_truncated: bool,
    wait: float,
    progress: Callable[[str], None],
) -> Ingested:
    try:
        reader = detect(source, as_format)
        with open_for_writing(database, wait) as connection:
            seed_database(connection)
            stored = store_profile(
                connection,
                source,
                reader,
                labels=labels,
                knowledge=knowledge,
                allow_truncated=allow_truncated,
                progress=progress,
            )
    except InputError as error:
        return Ingested(name=source.name, status="refused", error=error)
    return Ingested(
        name=source.name,
        status="new" if stored.new else "known",
        run_id=stored.run_id,
        launches=stored.launches,
        skipped=stored.skipped,
        seconds=stored.seconds,
    )
