"""Where a lake is, and where things are in it."""

from __future__ import annotations

import re
from pathlib import Path

from advisor.errors import DatabaseError, Location

PREFIX = "lake:"
"""How the name of a database begins that is a lake: ``lake:DIR``."""

MARK = "lake.json"
"""The file that says that a folder is a lake, and of which version."""

RUNS = "runs"
SHARED = "shared"
MARKS = "marks"
JUDGED = "judged"
REMOVED = "removed"
TEMPORARY = "tmp"
PACK = "pack-"
"""How the name of a folder begins that holds several runs."""

_LONGEST = 60
_OTHERS = re.compile(r"[^a-z0-9]+")


def is_lake(path: str | Path) -> bool:
    """Return whether the name of a database is that of a lake."""
    return str(path).startswith(PREFIX)


def folder_of(path: str | Path) -> Path:
    """Return the folder of a lake, named with or without ``lake:``."""
    return Path(str(path).removeprefix(PREFIX) or ".")


def refuse_lake(path: str | Path) -> None:
    """Refuse a lake where a database file is needed.

    Raises:
        DatabaseError: it is one.
    """
    if is_lake(path):
        folder = folder_of(path)
        raise DatabaseError(
            "is a lake: this command needs a database file",
            at=Location(name=str(path)),
            hint=f"advisor lake add PROFILE --lake {folder} adds runs; --db names a file",
        )


def device_part(device_names: str | None) -> str:
    """Return the device model as a word of a path, such as ``nvidia-h100-80gb-hbm3``."""
    word = _OTHERS.sub("-", (device_names or "").lower()).strip("-")
    return word[:_LONGEST].strip("-") or "unknown"
