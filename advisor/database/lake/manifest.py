"""The manifest of a part of a lake: what was written at once, with sizes and hashes of its files.

A folder without one is not whole, and is not read.
"""

from __future__ import annotations

import json
from dataclasses import asdict, field
from typing import Any

from advisor.records import dataclass

FORMAT = 1
"""Version of the layout of a lake, of which a manifest is one."""

NAME = "manifest.json"
"""The file of a part that holds its manifest."""

_LARGEST = 64 * 1024**2  # characters: the names of some 100,000 runs
_WORDS = ("advisor", "schema", "columns", "written_at", "month", "device")


class ManifestError(ValueError):
    """A manifest says nothing that can be used; the text tells why."""


@dataclass(frozen=True, kw_only=True)
class RunName:
    """A run as a lake knows it: ``content_hash`` is the SHA-256 of its profile.

    ``part`` is which of the profile's runs it is, from 0.
    """

    run_id: str
    content_hash: str
    part: int
    launches: int

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        return f"{self.content_hash}-{self.part}"


@dataclass(frozen=True, kw_only=True)
class TableFile:
    """A Parquet file: its path under the lake, rows, size [B] and SHA-256."""

    path: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a part holds.

    ``columns`` is the hash of the columns of every table, ``written_at`` ISO 8601 in UTC. ``rules``
    is the hash of the rules by which the runs were judged later, empty where they were not.
    """

    runs: tuple[RunName, ...]
    tables: dict[str, TableFile] = field(default_factory=dict)
    advisor: str
    schema: str
    columns: str
    written_at: str
    month: str
    device: str
    rules: str = ""

    def text(self) -> str:
        """Return the manifest as JSON."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1, sort_keys=True) + "\n"


def parse(text: str) -> Manifest:
    """Return what a manifest says.

    Raises:
        ManifestError: it is none, or one of a newer version.
    """
    if len(text) > _LARGEST:
        raise ManifestError("its manifest is too large")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestError("its manifest is no JSON") from error
    if not isinstance(record, dict) or not isinstance(record.get("format"), int):
        raise ManifestError("its manifest names no format")
    if record["format"] > FORMAT:
        raise ManifestError(f"a newer advisor wrote it ({record.get('advisor')}), install that")
    try:
        return Manifest(
            runs=tuple(_run(each) for each in record["runs"]),
            tables={_text(name): _file(each) for name, each in record["tables"].items()},
            **{name: _text(record[name]) for name in _WORDS},
            rules=_text(record.get("rules", "")),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ManifestError("its manifest lacks something") from error


def _run(record: dict[str, Any]) -> RunName:
    """Return one of what may be 100,000 runs: to check them takes as long as to read them."""
    run = RunName(
        run_id=record["run_id"],
        content_hash=record["content_hash"],
        part=record["part"],
        launches=record["launches"],
    )
    if not (type(run.run_id) is type(run.content_hash) is str):
        raise TypeError
    if not (type(run.part) is type(run.launches) is int and run.part >= 0 <= run.launches):
        raise TypeError
    return run


def _file(record: dict[str, Any]) -> TableFile:
    path = _text(record["path"])
    if path.startswith("/") or ".." in path.split("/"):
        raise ManifestError("its manifest names a file outside of the lake")
    return TableFile(
        path=path,
        rows=_whole(record["rows"]),
        bytes=_whole(record["bytes"]),
        sha256=_text(record["sha256"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError
    return value
