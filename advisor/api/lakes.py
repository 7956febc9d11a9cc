"""A lake as a whole: what is in it, whether it is as it was written, and fewer files of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from advisor.database.connect import FETCHES_NOTHING
from advisor.database.lake import compact as compacting
from advisor.database.lake import verify as verifying
from advisor.database.lake.place import folder_of
from advisor.database.lake.scan import Lake, LeftOut, scan
from advisor.records import dataclass
from advisor.wording import count

GRACE = compacting.GRACE


@dataclass(frozen=True, kw_only=True)
class LakeStatus:
    """A row for each partition, and what is not read.

    Rows are (month, device, runs, launches, parts, bytes).
    """

    rows: tuple[tuple[str, str, int, int, int, int], ...]
    superseded: int
    removed: int
    left_out: tuple[LeftOut, ...]


COLUMNS = ("month", "device", "runs", "launches", "parts", "bytes")
"""What the columns of ``LakeStatus.rows`` are called; bytes in B."""


def lake_status(lake: str) -> LakeStatus:
    """Return what is in a lake.

    Raises:
        DatabaseError: there is no lake, or it cannot be read.
    """
    found = scan(folder_of(lake).resolve())
    return LakeStatus(
        rows=tuple(_rows(found)),
        superseded=len(found.superseded),
        removed=len(found.removed),
        left_out=found.left_out,
    )


def _rows(lake: Lake) -> Iterator[tuple[str, str, int, int, int, int]]:
    partitions = sorted({(part.manifest.month, part.manifest.device) for part in lake.parts})
    for month, device in partitions:
        parts = [p for p in lake.parts if (p.manifest.month, p.manifest.device) == (month, device)]
        runs = [run for part in parts for run in part.manifest.runs if run.run_id in part.used]
        launches, size = sum(run.launches for run in runs), sum(part.bytes for part in parts)
        yield month, device, len(runs), launches, len(parts), size


def compact_lake(
    lake: str, *, grace: float, progress: Callable[[str], None] = lambda _: None
) -> tuple[str, tuple[LeftOut, ...]]:
    """Compact a lake; return what was done, and what was left out.

    What a pack stands for is deleted once the pack is older than ``grace`` seconds.

    Raises:
        DatabaseError: there is no lake, or it cannot be written.
    """
    done = compacting.compact(
        folder_of(lake).resolve(), FETCHES_NOTHING, grace=grace, progress=progress
    )
    packs, runs = count(done.packs, "pack"), count(done.runs, "run")
    text = f"{packs} written with {runs}; {count(done.deleted, 'old folder')} deleted"
    return text, done.left_out


def verify_lake(lake: str, progress: Callable[[str], None] = lambda _: None) -> Iterator[LeftOut]:
    """Yield everything in a lake that is not as it was written.

    Raises:
        DatabaseError: there is no lake, or it cannot be read.
    """
    yield from verifying.damage(scan(folder_of(lake).resolve()), progress)


def remove_run(lake: str, wanted: str) -> str:
    """Have a run no longer in a lake; return its id.

    Raises:
        UsageError: no run, or several, begin with ``wanted``.
        DatabaseError: there is no lake, or it cannot be written.
    """
    return verifying.remove(folder_of(lake).resolve(), wanted)
