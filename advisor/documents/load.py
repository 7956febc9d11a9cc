"""A file or a text becomes a document, within limits."""

from __future__ import annotations

from pathlib import Path

from advisor.documents.nodes import MappingNode
from advisor.errors import Location, RuleError

MAX_BYTES = 2_000_000


def load(source: Path | str, *, name: str | None = None) -> MappingNode:
    """Return the mapping that a YAML file (a path) or YAML text (a string) holds.

    ``name`` is what errors call the file; the path by default.

    Raises:
        RuleError: not YAML, not one mapping, or over the limits; with line and column.
    """
    name = name or (str(source) if isinstance(source, Path) else "<text>")
    text = _read(source, name) if isinstance(source, Path) else source
    if len(text) > MAX_BYTES:
        raise RuleError(f"larger than {MAX_BYTES:,} bytes", at=Location(name=name))
    from advisor.documents.build import build  # and PyYAML with it: what is remembered needs none

    return build(text, name).as_mapping()


def _read(path: Path, name: str) -> str:
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise RuleError("not a regular file", at=Location(name=name))  # a pipe would never end
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise RuleError(f"larger than {MAX_BYTES:,} bytes", at=Location(name=name))
        return data.decode("utf-8-sig")
    except OSError as error:
        raise RuleError(f"cannot be read: {error.strerror}", at=Location(name=name)) from error
    except UnicodeDecodeError as error:
        at = Location(name=name, offset=error.start)
        raise RuleError("not UTF-8 text", at=at) from error
