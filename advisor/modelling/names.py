"""What is wrong before anything is read: names of operations; and what options say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.errors import Location, UsageError

if TYPE_CHECKING:
    from advisor.modelling.scenario import Roof

_FOLDER = "operations"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What options say beside the scenario: devices by name, the kind of roof, a ceiling."""

    devices: tuple[str, ...] = ()
    roof: Roof | None = None
    work: str | None = None
    repeat: float | None = None


def operation_names(directories: Iterable[Path]) -> list[str]:
    """Return the names of the operations of some directories of rules: their files' names."""
    return [path.stem for each in directories for path in sorted((each / _FOLDER).glob("*.yaml"))]


def check_name(name: str, known: Iterable[str], at: Location | None = None) -> None:
    """Refuse a name that no operation has.

    Raises:
        UsageError: names the nearest.
    """
    known = list(known)
    if name in known:
        return
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    lists = "advisor rules operations lists them"
    hint = f"did you mean {near[0]!r}? {lists}" if near else lists
    raise UsageError(f"there is no operation {name!r}", at=at, hint=hint)
