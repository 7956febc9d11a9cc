"""The folder of a site: what it holds, and how its files are written, whole and where they differ.

``site.json`` says which files are the site's own; others are left alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from advisor.errors import OutputError, UsageError
from advisor.escaping import json_text
from advisor.records import dataclass
from advisor.reports.site.addresses import STATE

FORMAT = "advisor site"
SCHEMA_VERSION = 1
_PART = ".part"
_DIGITS = 16  # of a digest


@dataclass(frozen=True, kw_only=True)
class SiteState:
    """What ``site.json`` says: files by path with a digest of each, and which page shows what.

    ``made_of`` is a digest of all that the site rests on, empty while it is written; ``shared`` is
    a digest of everything that all pages rest on, ``runs`` are digests by id.
    ``pages`` are for programs: the address of each run, series and rule.
    """

    made_of: str = ""
    shared: str = ""
    runs: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    pages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def text(self) -> str:
        """Return it as JSON."""
        document = {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            "made_of": self.made_of,
            "shared": self.shared,
            "pages": {name: dict(sorted(each.items())) for name, each in self.pages.items()},
            "runs": dict(sorted(self.runs.items())),
            "files": dict(sorted(self.files.items())),
        }
        return json_text(document, indent=1) + "\n"


@dataclass(frozen=True, kw_only=True)
class SiteWritten:
    """How many files were written, and how many were as they should be."""

    written: int
    unchanged: int
    size: int


class SiteFolder:
    """The folder of a site, which is made with the first file.

    Raises:
        UsageError: it holds something else, and no ``force``.
        OutputError: it cannot be read.
    """

    def __init__(self, directory: Path, *, force: bool) -> None:
        self._directory = directory
        found = self._read(force=force)
        self.before = found or SiteState()
        self._own = {*self.before.files, STATE} if found else set()
        self._files: dict[str, str] = {}
        self._planned: Collection[str] = ()
        self._is_begun = False
        self._written = self._unchanged = self._size = 0

    def plan(self, paths: Iterable[str]) -> None:
        """Say which files there will be.

        Raises:
            UsageError: somebody else's file is in the place of one.
        """
        self._planned = sorted(set(paths))
        strange = [
            path
            for path in self._planned
            if path not in self._own and (self._directory / path).exists()
        ]
        if strange:
            problem = f"{self._directory / strange[0]} is no file of this site"
            raise UsageError(problem, hint="move it, or choose another folder")

    def has(self, path: str) -> bool:
        """Return whether a file that was written earlier is still there."""
        return path in self.before.files and (self._directory / path).is_file()

    def is_whole(self) -> bool:
        """Return whether every file is as it was written."""
        try:
            return bool(self.before.files) and all(
                _digest((self._directory / path).read_bytes()) == digest
                for path, digest in self.before.files.items()
            )
        except OSError:
            return False

    def unchanged(self) -> SiteWritten:
        """Return that nothing was to be written."""
        paths = (*self.before.files, STATE)
        size = sum((self._directory / path).stat().st_size for path in paths)
        return SiteWritten(written=0, unchanged=len(paths), size=size)

    def keep(self, path: str) -> None:
        """Leave a file as it was written earlier."""
        self._files[path] = self.before.files[path]
        self._unchanged += 1
        self._size += (self._directory / path).stat().st_size

    def write(self, path: str, text: str) -> None:
        """Write a file, unless it is the same already.

        Raises:
            OutputError: it cannot be written.
        """
        content = text.encode("utf-8")
        self._files[path] = _digest(content)
        self._size += len(content)
        place = self._directory / path
        try:
            if place.is_file() and place.read_bytes() == content:
                self._unchanged += 1
                return
            self._begin()
            _write_whole(place, content)
        except OSError as error:
            raise _unwritable(place, error) from error
        self._written += 1

    def finish(self, state: SiteState, last: tuple[str, str]) -> SiteWritten:
        """Write ``site.json``, then the file that leads to all others."""
        path, text = last
        files = {**self._files, path: _digest(text.encode("utf-8"))}
        self.write(STATE, replace(state, files=files).text())
        self.write(path, text)
        return SiteWritten(written=self._written, unchanged=self._unchanged, size=self._size)

    def _begin(self) -> None:
        """Make the folder and say what will be in it, before the first file is written."""
        if self._is_begun:
            return
        self._is_begun = True
        files = {**dict.fromkeys(self._planned, ""), **self.before.files}
        state = replace(self.before, made_of="", files=files)
        _write_whole(self._directory / STATE, state.text().encode("utf-8"))

    def _read(self, *, force: bool) -> SiteState | None:
        try:
            entries = list(self._directory.iterdir()) if self._directory.exists() else []
            own = _state(self._directory / STATE)
        except OSError as error:
            raise _unwritable(self._directory, error) from error
        if own is None and entries and not force:
            problem = f"{self._directory} holds something else, such as {entries[0].name}"
            raise UsageError(
                problem, hint="choose an empty folder; --force writes beside what is there"
            )
        return own


def _state(path: Path) -> SiteState | None:
    """Return what an earlier call left, None where this is no site."""
    if not path.is_file():
        return None
    try:
        document: Any = json.loads(path.read_bytes())
    except ValueError:
        return None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None
    runs, files = (_texts(document.get(name)) for name in ("runs", "files"))
    digests = _texts(document)
    return SiteState(
        made_of=digests.get("made_of", ""), shared=digests.get("shared", ""), runs=runs, files=files
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(text, str)}


def _write_whole(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + _PART)
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _unwritable(path: Path, error: OSError) -> OutputError:
    problem = f"cannot write {path}: {error.strerror or error}"
    return OutputError(problem, hint="choose another folder, or make room in this one")
