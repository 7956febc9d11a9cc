"""Where a finding is shown: a line of a source below the working directory, or a file that is.

Code scanning shows nothing without a file, and a profile names sources as its compiler saw them.
"""

from __future__ import annotations

import os
from collections import defaultdict
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath, PureWindowsPath

from advisor.records import dataclass
from advisor.reports.record.published import SourcePlace

_MOST_FOLDERS = 2_000  # that are looked through for a source


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """The files that can be shown; ``fallback`` stands for a source that is not among them."""

    root: Path
    fallback: str

    def place(self, line: str | None) -> SourcePlace:
        """Return where ``FILE:LINE`` is, as a relative path with slashes.

        Of an absolute path the longest end that is a file here counts, as a build has other
        folders in front. A name alone, which is what some profiles keep, is the only file that is
        called so.
        """
        if line is None:
            return SourcePlace(path=self.fallback)
        name, _, number = line.rpartition(":")
        at = int(number) if number.isascii() and number.isdecimal() else None
        path = self._relative(name)
        if path is None or not at:
            return SourcePlace(path=path or self.fallback)
        return SourcePlace(path=path, line=at)

    def _relative(self, name: str) -> str | None:
        is_windows = "\\" in name
        whole = PureWindowsPath(name) if is_windows else PurePosixPath(name)
        parts = [part for part in whole.parts if part not in (whole.anchor, ".")]
        if not parts or ".." in parts:
            return None
        ends = ("/".join(parts[first:]) for first in range(len(parts)))
        if found := next((end for end in ends if self._is_here(end)), None):
            return found
        if len(parts) == 1 and len(called := self._files.get(parts[0], [])) == 1:
            return called[0]
        return None if whole.anchor else "/".join(parts)

    @cached_property
    def _files(self) -> dict[str, list[str]]:
        """The files here by their names, of the first folders of a large tree; no hidden ones."""
        found: dict[str, list[str]] = defaultdict(list)
        for folder, folders, names in islice(os.walk(self.root), _MOST_FOLDERS):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in names:
                found[name].append((Path(folder) / name).relative_to(self.root).as_posix())
        return found

    def _is_here(self, path: str) -> bool:
        try:
            return (self.root / path).is_file()
        except (OSError, ValueError):  # a name that no file can have
            return False


def checkout_of(root: Path, configured: tuple[Path, ...], profile: str) -> Checkout:
    """Return the checkout in ``root``; what stands for sources is the configuration's file there.

    Without one it is the name of the profile.
    """
    inside = [path for path in configured if path.is_relative_to(root)]
    fallback = inside[-1].relative_to(root).as_posix() if inside else profile
    return Checkout(root=root, fallback=fallback)
