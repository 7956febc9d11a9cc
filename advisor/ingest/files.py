"""Files, directories and patterns → files to read."""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from advisor.errors import InputError, Location
from advisor.readers import Source, looks_like_profile

_ANY_DEPTH = "**"
_LINKS = "links that lead out of it are not followed; name the files that they lead to"


@dataclass(frozen=True, kw_only=True)
class Found:
    """The files to read, each with whether it was named, and the others below directories.

    ``closed`` are directories that cannot be looked into, and why; ``links`` lead out of the
    directory that they lie below, and are not followed.
    """

    files: dict[str, bool] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    closed: dict[str, InputError] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)


def expand(paths: Sequence[str]) -> Found:
    """Return what the paths name: named files and those of patterns, whatever they are.

    Raises:
        InputError: a path or pattern names nothing, or a directory holds no profile.
    """
    found = Found()
    for path in paths:
        is_itself = path == "-" or _is_there(path)
        matches = [path] if is_itself else sorted(_matches(path, found.closed))
        if not matches and not found.closed:
            hint = "quote patterns, and check the path"
            raise InputError("no such file", at=Location(name=path), hint=hint)
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

    Raises:
        InputError: none of them is a profile.
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
        raise InputError(problem, at=Location(name=directory), hint=hint)
    for path in files:
        if path in profiles:
            found.files.setdefault(path, False)
        else:
            found.others.append(path)
    found.closed.update(closed)
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
