"""JSON files of other programs, as far as they are not too large."""

from __future__ import annotations

import json
from pathlib import Path

from advisor.errors import Location, UsageError


def read_json(path: Path, most: int) -> object:
    """Return what a file holds that has at most ``most`` bytes.

    Raises:
        UsageError: it cannot be read, is larger, or is no JSON.
    """
    at = Location(name=str(path))
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise UsageError(f"larger than {most:,} bytes", at=at)
        content: object = json.loads(data)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", at=at) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}", at=at) from error
    return content
