"""What the rules say about one kernel, as far as judging by hand compares it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Advised:
    """The rule of the first action, and every rule that fires with its severity."""

    first: str | None
    fired: Mapping[str, str]
