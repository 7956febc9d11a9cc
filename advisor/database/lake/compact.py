"""Make one pack of the small parts of a partition, and delete what packs stand for.

A reader that began before goes on with the files that it found: what a pack stands for is deleted
by a later call, once the pack is older than ``grace``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

import duckdb

from advisor.database.lake.door import READ_ONCE, opened_beside
from advisor.database.lake.manifest import RunName
from advisor.database.lake.place import PACK, REMOVED, RUNS, TEMPORARY
from advisor.database.lake.scan import Lake, LeftOut, Part, scan
from advisor.database.lake.tables import DETAILS, MARKS, SHARED, Columns
from advisor.database.lake.views import table_of
from advisor.database.lake.write import WrittenPart, not_written, writing
from advisor.records import dataclass

GRACE = 3600.0
"""Seconds that what a pack stands for is kept for those who still read it."""

_LOCKS = "compacting"
_STALE = timedelta(days=1)  # a lock or an unfinished part that is older was left by a process


@dataclass(frozen=True, kw_only=True)
class Compacted:
    """What was done: partitions rewritten, runs in their packs, folders deleted, parts left out."""

    packs: int
    runs: int
    deleted: int
    left_out: tuple[LeftOut, ...]


def compact(
    root: Path,
    settings: Mapping[str, bool | int],
    *,
    grace: float = GRACE,
    progress: Callable[[str], None] = lambda _: None,
) -> Compacted:
    """Compact the lake in the folder ``root``.

    Raises:
        DatabaseError: there is no lake, or it cannot be written.
    """
    try:
        lake = scan(root)
        ordered = sorted(lake.parts, key=_partition)
        groups = (tuple(group) for _, group in groupby(ordered, key=_partition))
        done = _packed(lake, [parts for parts in groups if _worth(parts)], settings, progress)
        deleted = _delete(root, grace)
    except OSError as error:
        raise not_written(root, error) from error
    runs = [each for each in done if isinstance(each, int)]
    return Compacted(
        packs=len(runs),
        runs=sum(runs),
        deleted=deleted,
        left_out=(*lake.left_out, *(each for each in done if isinstance(each, LeftOut))),
    )


def _packed(
    lake: Lake,
    groups: Sequence[tuple[Part, ...]],
    settings: Mapping[str, bool | int],
    progress: Callable[[str], None],
) -> list[int | LeftOut]:
    """Write a pack of each group of parts; return the number of its runs, or why there is none."""
    done: list[int | LeftOut] = []
    with contextlib.ExitStack() as stack:
        if groups:  # to open costs more than to see that nothing is to be done
            opened = stack.enter_context(opened_beside(lake, {**settings, **READ_ONCE}))
        for parts in groups:
            month, device = _partition(parts[0])
            progress(f"{month}, {device}: {len(parts):,} parts")
            place = f"{RUNS}/month={month}/device={device}"
            with _locked(lake.root, f"{month} {device}") as holder:
                packed = f"{holder} compacts it" if holder else _pack(lake, parts, opened, place)
            done.append(packed if isinstance(packed, int) else LeftOut(place=place, reason=packed))
    return done


def _partition(part: Part) -> tuple[str, str]:
    return part.manifest.month, part.manifest.device


def _worth(parts: tuple[Part, ...]) -> bool:
    """Return whether a pack would be better: fewer folders, or a folder without removed runs."""
    return len(parts) > 1 or any(part.unused for part in parts)


def _pack(
    lake: Lake,
    parts: tuple[Part, ...],
    opened: tuple[duckdb.DuckDBPyConnection, Columns],
    partition: str,
) -> int | str:
    """Write the pack of a partition; return how many runs it has, or what went wrong."""
    runs = sorted(
        (run for part in parts for run in part.manifest.runs if run.run_id in part.used),
        key=lambda run: run.run_id,
    )
    month, device = _partition(parts[0])
    connection, columns = opened
    try:
        with writing(connection, lake.root, columns) as pack:
            pack.goes_to(lake.root / partition / f"{PACK}{_digest(runs, columns, pack)}")
            pack.after = _just_after(max(part.manifest.written_at for part in parts))
            _copy(lake, parts, pack, columns)
            if (lost := _lost(parts, pack)) is not None:
                return lost
            pack.commit(runs, month, device)
    except duckdb.Error as error:
        return f"cannot be read: {str(error).strip().splitlines()[0]}"
    return len(runs)


def _just_after(written_at: str) -> str:
    """Return the next moment, empty where a manifest tells none."""
    with contextlib.suppress(ValueError, OverflowError):
        return (datetime.fromisoformat(written_at) + timedelta(microseconds=1)).isoformat()
    return ""


def _digest(runs: list[RunName], columns: Columns, pack: WrittenPart) -> str:
    """Return the hash of what is in a pack, and of which pack it is: names are never used again."""
    words = [*(run.name for run in runs), columns.digest, pack.folder.name]
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def _copy(lake: Lake, parts: tuple[Part, ...], pack: WrittenPart, columns: Columns) -> None:
    for table in columns.of:
        if table in MARKS:
            continue
        query = table_of(lake, table, parts, columns)
        order = " ORDER BY ALL" if table in SHARED else ""
        pack.add(table, query + order, {}, shared=table in SHARED)


def _lost(parts: tuple[Part, ...], pack: WrittenPart) -> str | None:
    """Return what a pack lacks of its parts, by the numbers of rows that manifests tell."""
    if any(part.unused for part in parts):
        return None
    for table in {name for part in parts for name in part.manifest.tables}:
        if table in SHARED or table in DETAILS:
            continue
        files = [part.manifest.tables.get(table) for part in parts]
        expected = sum(file.rows for file in files if file is not None)
        written = pack.tables[table].rows if table in pack.tables else 0
        if written != expected:
            return f"{table} has {written:,} rows of {expected:,}: nothing was changed"
    return None


def _delete(root: Path, grace: float) -> int:
    """Delete parts that others have stood for long enough, and what dead processes left."""
    lake = scan(root)
    packed = {run.name: part for run, part in lake.runs().values() if part.is_pack}
    deleted = 0
    (root / TEMPORARY).mkdir(exist_ok=True)
    for part in lake.superseded:
        since = [_since(root, run, packed.get(run.name)) for run in part.manifest.runs]
        if all(time.time() - each >= grace for each in since):
            aside = root / TEMPORARY / f"deleted-{secrets.token_hex(8)}"
            with contextlib.suppress(FileNotFoundError):  # another one deletes it
                part.folder.rename(aside)
                shutil.rmtree(aside, ignore_errors=True)
                deleted += 1
    for left in (root / TEMPORARY).glob("*"):
        if time.time() - left.stat().st_mtime > _STALE.total_seconds():
            shutil.rmtree(left, ignore_errors=True)
    return deleted


def _since(root: Path, run: RunName, pack: Part | None) -> float:
    """Return since when a run is not read from its old part, in seconds since 1970."""
    if pack is not None:
        return datetime.fromisoformat(pack.manifest.written_at).timestamp()
    return (root / REMOVED / run.name).stat().st_mtime


@contextlib.contextmanager
def _locked(root: Path, partition: str) -> Iterator[str | None]:
    """Yield None while this process alone compacts a partition, or else who does."""
    (root / _LOCKS).mkdir(exist_ok=True)
    lock = root / _LOCKS / partition.replace("/", "-")
    if lock.exists() and _is_stale(lock):
        lock.unlink(missing_ok=True)
    try:
        with lock.open("x", encoding="utf-8") as file:
            json.dump({"host": socket.gethostname(), "process": os.getpid()}, file)
    except FileExistsError:
        yield _holder(lock)
        return
    try:
        yield None
    finally:
        lock.unlink(missing_ok=True)


def _holder(lock: Path) -> str:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        owner = json.loads(lock.read_text(encoding="utf-8"))
        return f"process {owner['process']} on {owner['host']}"
    return "another process"


def _is_stale(lock: Path) -> bool:
    """Return whether the process that made a lock is gone, as far as one can tell."""
    try:
        owner = json.loads(lock.read_text(encoding="utf-8"))
        if owner["host"] == socket.gethostname():
            os.kill(owner["process"], 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, KeyError, TypeError):
        pass
    try:
        return time.time() - lock.stat().st_mtime > _STALE.total_seconds()
    except OSError:
        return False
