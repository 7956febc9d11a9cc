"""Recompute the hashes of what is in a lake, and remove runs from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from advisor.database.lake.place import MARK, REMOVED
from advisor.database.lake.scan import Lake, LeftOut, Part, scan
from advisor.database.lake.write import hash_of, not_written
from advisor.errors import UsageError
from advisor.suggest import did_you_mean

_KNOWN = (MARK, REMOVED, "runs", "shared", "marks", "judged", "tmp", "compacting")
_HINT = "advisor runs list shows the runs"
_NAMED = 5


def damage(lake: Lake, progress: Callable[[str], None] = lambda _: None) -> Iterator[LeftOut]:
    """Yield what is not as it was written: files by their hashes, and what is left out anyway."""
    yield from lake.left_out
    for each in sorted(lake.root.iterdir()):
        if each.name not in _KNOWN:
            yield LeftOut(place=each.name, reason="no part of this lake")
    known: dict[str, str | None] = {}
    parts = (*lake.parts, *lake.superseded, *lake.marks, *lake.judged)
    for number, part in enumerate(parts, start=1):
        progress(f"{number:,} of {len(parts):,}: {part.folder.relative_to(lake.root)}")
        yield from _damage_of(lake, part, known)


def _damage_of(lake: Lake, part: Part, known: dict[str, str | None]) -> Iterator[LeftOut]:
    for file in part.manifest.tables.values():
        if file.path not in known:
            known[file.path] = _hash(lake.root / file.path)
        found = known[file.path]
        if found != file.sha256:
            reason = "cannot be read" if found is None else "its hash is not that of its manifest"
            yield LeftOut(place=file.path, reason=reason)
    at = part.folder
    for each in sorted(at.iterdir()) if at.exists() else ():
        path = str(each.relative_to(lake.root))
        if path not in known and each.name != "manifest.json":
            yield LeftOut(place=path, reason="foreign: its manifest does not name it")


def _hash(path: Path) -> str | None:
    try:
        return hash_of(path)
    except OSError:
        return None


def remove(root: Path, wanted: str) -> str:
    """Have a run no longer in a lake; ``wanted`` is its id, or the beginning; return its id.

    Readers no longer see it; ``compact`` deletes its files.

    Raises:
        UsageError: no run, or several, begin so.
        DatabaseError: there is no lake, or it cannot be written.
    """
    runs = scan(root).runs()
    found = [run_id for run_id in runs if run_id == wanted]
    found = found or sorted(run_id for run_id in runs if run_id.startswith(wanted))
    if not found or not wanted:
        near = did_you_mean(wanted, list(runs))
        raise UsageError(f"there is no run {wanted!r}", hint=f"{near} {_HINT}" if near else _HINT)
    if len(found) > 1:
        named = ", ".join(found[:_NAMED])
        raise UsageError(f"{wanted!r} means several runs: {named}", hint=_HINT)
    try:
        (root / REMOVED).mkdir(exist_ok=True)
        (root / REMOVED / runs[found[0]][0].name).touch()
    except OSError as error:
        raise not_written(root, error) from error
    return found[0]
