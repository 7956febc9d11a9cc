"""Look what is in a lake: its parts, which of them give a run, and what is left out and why.

Nothing is locked. A part is there once its folder has its name, so a scan sees each whole or not
at all; whatever else lies around is named and skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path

from advisor.database.lake import manifest
from advisor.database.lake.manifest import Manifest, ManifestError, RunName
from advisor.database.lake.place import JUDGED, MARK, MARKS, PACK, REMOVED, RUNS
from advisor.database.schema import revisions
from advisor.errors import DatabaseError, Location
from advisor.records import dataclass
from advisor.wording import count


@dataclass(frozen=True, kw_only=True)
class Part:
    """A folder of the lake with its manifest; ``used`` are the ids of the runs read from it."""

    folder: Path
    manifest: Manifest
    used: frozenset[str] = frozenset()

    @property
    def is_pack(self) -> bool:
        """Whether it was made of other parts."""
        return self.folder.name.startswith(PACK)

    @property
    def unused(self) -> frozenset[str]:
        """The ids of the runs that are not read from it."""
        if len(self.used) == len(self.manifest.runs):  # so it is in nearly all, of 100,000 runs
            return frozenset()
        return frozenset(run.run_id for run in self.manifest.runs) - self.used

    @property
    def bytes(self) -> int:
        """The size of its files."""
        return sum(each.bytes for each in self.manifest.tables.values())

    @property
    def age(self) -> tuple[str, str]:
        """What orders parts, the oldest first."""
        return self.manifest.written_at, str(self.folder)


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Something in a lake that is not read, and why."""

    place: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Lake:
    """What is in a lake.

    ``superseded`` are whole parts whose runs are read from a newer pack or were removed, which
    ``compact`` deletes. ``marks`` are what users declared, ``judged`` what rules said
    later of runs, the oldest first.
    """

    root: Path
    parts: tuple[Part, ...] = ()
    superseded: tuple[Part, ...] = ()
    marks: tuple[Part, ...] = ()
    judged: tuple[Part, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    removed: frozenset[str] = frozenset()

    def runs(self) -> dict[str, tuple[RunName, Part]]:
        """Return the runs that are read, by their ids, each with the part that has it."""
        return {
            run.run_id: (run, part)
            for part in self.parts
            for run in part.manifest.runs
            if run.run_id in part.used
        }

    def limited(self, parts: tuple[Part, ...]) -> Lake:
        """Return the lake with some of its parts alone."""
        return replace(self, parts=parts, superseded=(), left_out=())


@dataclass
class _Found:
    parts: list[Part] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def leave(self, folder: Path, root: Path, reason: str) -> None:
        """Note that something is not read."""
        self.left_out.append(LeftOut(place=str(folder.relative_to(root)), reason=reason))


def scan(root: Path) -> Lake:
    """Return what is in the lake in the folder ``root``.

    Raises:
        DatabaseError: there is no lake, or one of a newer version, or it cannot be read.
    """
    require_lake(root)
    try:
        found = _Found()
        for folder in _folders(root, found):
            _add(folder, root, found)
        removed = frozenset(name for name in _names(root / REMOVED))
        marks, judged = _under(root, MARKS), _under(root, JUDGED)
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise DatabaseError(problem, at=Location(name=str(error.filename or root))) from error
    parts, superseded, doubles = _chosen(root, found.parts, removed)
    return Lake(
        root=root,
        parts=parts,
        superseded=superseded,
        marks=tuple(marks.parts),
        judged=tuple(judged.parts),
        left_out=(*found.left_out, *marks.left_out, *judged.left_out, *doubles),
        removed=removed,
    )


def require_lake(root: Path) -> None:
    """Check that a folder is a lake of a version that this program reads.

    Raises:
        DatabaseError: it is not.
    """
    place = Location(name=str(root))
    try:
        mark = json.loads((root / MARK).read_text(encoding="utf-8"))
        version = int(mark["format"])
    except FileNotFoundError as error:
        hint = f"advisor lake add PROFILE --lake {root} makes one"
        raise DatabaseError("there is no such lake", at=place, hint=hint) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatabaseError(f"{MARK} cannot be read", at=place) from error
    if version > manifest.FORMAT:
        problem = f"is a lake of version {version}; this program reads {manifest.FORMAT} at most"
        raise DatabaseError(problem, at=place, hint="install a newer version")


def _under(root: Path, folder: str) -> _Found:
    """Return the parts in a folder whose names begin with their times."""
    found = _Found()
    for name in _names(root / folder):
        _add(root / folder / name, root, found)
    return found


def _folders(root: Path, found: _Found) -> Iterator[Path]:
    """Yield the folders that may be parts: of single runs, and packs."""
    for month in _names(root / RUNS):
        for device in _names(root / RUNS / month):
            partition = root / RUNS / month / device
            if not (month.startswith("month=") and device.startswith("device=")):
                found.leave(partition, root, "no partition of this lake")
                continue
            for name in _names(partition):
                if name.startswith("run_id="):
                    yield from (partition / name / each for each in _names(partition / name))
                elif name.startswith(PACK):
                    yield partition / name
                else:
                    found.leave(partition / name, root, "no part of this lake")


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _add(folder: Path, root: Path, found: _Found) -> None:
    """Take a folder as a part, or note why it is none."""
    try:
        described = manifest.parse((folder / manifest.NAME).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if folder.exists():
            found.leave(folder, root, "half-written or foreign: it has no manifest")
        return
    except (ManifestError, UnicodeDecodeError) as error:
        found.leave(folder, root, str(error))
        return
    if described.schema > revisions()[-1]:
        found.leave(
            folder, root, f"schema {described.schema} needs a newer advisor: {described.advisor}"
        )
        return
    for file in described.tables.values():
        size = size_of(root / file.path)
        if size != file.bytes:
            has = "is missing" if size is None else f"has {size:,} B of {file.bytes:,} B"
            found.leave(folder, root, f"half-written: {Path(file.path).name} {has}")
            return
    if misplaced := _misplaced(folder, described):
        found.leave(folder, root, misplaced)
        return
    found.parts.append(Part(folder=folder, manifest=described))


def size_of(path: Path) -> int | None:
    """Return the size of a file [B], None where there is none."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return None


def _misplaced(folder: Path, described: Manifest) -> str | None:
    """Return what is wrong where a run's folder is named after another run."""
    key, _, run_id = folder.parent.name.partition("=")
    if key == "run_id" and [(run.run_id, run.name) for run in described.runs] != [
        (run_id, folder.name)
    ]:
        return "its manifest is of another run"
    return None


def _chosen(
    root: Path, parts: list[Part], removed: frozenset[str]
) -> tuple[tuple[Part, ...], tuple[Part, ...], list[LeftOut]]:
    """Return the parts that are read, those that newer ones stand for, and versions left out.

    Of the places that have a run it is read from one: the newest pack, or else the oldest folder.
    """
    first: dict[str, tuple[RunName, Part]] = {}
    used: dict[Path, set[str]] = {part.folder: set() for part in parts}
    doubles: dict[Path, LeftOut] = {}
    ordered = sorted(parts, key=lambda part: part.age)
    packs = [part for part in reversed(ordered) if part.is_pack]
    for part in (*packs, *(part for part in ordered if not part.is_pack)):
        for run in part.manifest.runs:
            if run.name in removed:
                continue
            known, holder = first.setdefault(run.run_id, (run, part))
            if holder is part:
                used[part.folder].add(run.run_id)
            elif known.name != run.name or not holder.is_pack:
                reason = f"another version of run {run.run_id}: {holder.folder.relative_to(root)}"
                place = str(part.folder.relative_to(root))
                doubles[part.folder] = LeftOut(place=place, reason=f"{reason} is read")
    chosen = [
        Part(folder=part.folder, manifest=part.manifest, used=frozenset(used[part.folder]))
        for part in ordered
    ]
    read = tuple(part for part in chosen if part.used)
    rest = tuple(part for part in chosen if not part.used and part.folder not in doubles)
    return read, rest, [*doubles.values()]


def warning_of(lake: Lake) -> str | None:
    """Return what of a lake is not read, in one sentence; None where all is."""
    if not lake.left_out:
        return None
    first = lake.left_out[0]
    more = f", first {first.place}: {first.reason}"
    return f"{count(len(lake.left_out), 'part')} of the lake left out{more}"
