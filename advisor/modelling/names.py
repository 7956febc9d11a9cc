"""What is wrong before anything is read: names, numbers, and what options say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.errors import Location, UsageError
from advisor.records import dataclass
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from advisor.modelling.scenario import Roof

_FOLDER = "operations"
_LIKE = 0.4  # names of operations are long, and people say a part of them


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """What options say beside the scenario: devices by name, the kind of roof, a ceiling."""

    devices: tuple[str, ...] = ()
    roof: Roof | None = None
    work: str | None = None
    repeat: float | None = None


def operation_names(directories: Iterable[Path]) -> list[str]:
    """Return the names of the operations of some directories of rules: their files' names."""
    return [path.stem for each in directories for path in operation_files(each)]


def operation_files(directory: Path) -> list[Path]:
    """Return the files of operations of a directory of rules, sorted."""
    return sorted((directory / _FOLDER).glob("*.yaml"))


def check_name(name: str, known: Iterable[str], at: Location | None = None) -> None:
    """Refuse a name that no operation has.

    Raises:
        UsageError: names the nearest.
    """
    known = list(known)
    if name in known:
        return
    lists = "advisor rules operations lists them"
    meant = did_you_mean(name, known, like=_LIKE)
    hint = f"{meant} {lists}" if meant else lists
    raise UsageError(f"there is no operation {name!r}", at=at, hint=hint)


def check_ceiling(
    name: str, resources: Mapping[str, str], unit: str, at: Location | None = None
) -> None:
    """Refuse the name of a ceiling that no device has in this unit.

    Raises:
        UsageError: names the nearest.
    """
    having = sorted(each for each, found in resources.items() if found == unit)
    if name not in having:
        hint = did_you_mean(name, having, f"one of {', '.join(having)}")
        raise UsageError(f"no device has a ceiling {name!r}", at=at, hint=hint)


def parse_sizes(words: Sequence[str]) -> dict[str, float]:
    """Return the sizes of words such as ``m=64``.

    Raises:
        UsageError: a word is no size, its value no number, or a size is given twice.
    """
    sizes = dict(_size(word) for word in words)
    if len(sizes) < len(words):
        raise UsageError("a size is given twice")
    return sizes


def _size(word: str) -> tuple[str, float]:
    name, equals, value = word.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"{word!r} is no size", hint="write size=value, such as m=64")
    return name.strip(), parse_number(value, name.strip())


def no_device() -> UsageError:
    """Return the error of a model that is asked on no device."""
    return UsageError("no device is named", hint="add --device NAME")


def check_readable(path: Path) -> None:
    """Refuse a file that cannot be read, before anything else is.

    Raises:
        UsageError: says why.
    """
    try:
        path.open("rb").close()
    except OSError as error:
        at = Location(name=str(path))
        raise UsageError(f"cannot be read: {error.strerror}", at=at) from error


def parse_number(text: str, what: str, *, positive: bool = False) -> float:
    """Return the number, 0 or more or above it, that a word of the command line is.

    Raises:
        UsageError: it is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf or (positive and value == 0):
        wanted = "above 0" if positive else "0 or more"
        raise UsageError(f"{what} must be a number, {wanted}, not {text!r}")
    return abs(value)  # of -0, too
