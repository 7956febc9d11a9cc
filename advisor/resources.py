"""Where rules, templates, migrations and seed data are: in a checkout, or inside the package.

Other installed packages add to them: an entry point of the group ``advisor.packs`` names a package
whose folder is laid out like ``rules/``, one of ``advisor.readers`` a module that reads a format.
"""

from __future__ import annotations

import os
import sys
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from advisor.errors import ConfigError, Location

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DataDirectory = Literal["rules", "templates", "migrations", "seed"]
Group = Literal["advisor.packs", "advisor.readers"]

_PACKAGE = Path(__file__).parent


@cache
def data_dir(name: DataDirectory) -> Path:
    """Return the directory ``name`` of the checkout, else of the installed package."""
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir():
        return checkout / name
    return _PACKAGE / "_data" / name


def rule_dirs() -> tuple[Path, ...]:
    """Return the directory of rules that comes with the program, then those of installed packs.

    Raises:
        ConfigError: an installed package names a pack that it does not hold.
    """
    return (data_dir("rules"), *installed_packs())


def installed_packs() -> tuple[Path, ...]:
    """Return the folders of the packs that other packages bring, in order of their names.

    Raises:
        ConfigError: an installed package names a pack that it does not hold.
    """
    return _packs(tuple(sys.path))


@lru_cache(maxsize=8)
def _packs(path: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(map(_folder, _named("advisor.packs", path)))


def named_by_packages(group: Group) -> tuple[EntryPoint, ...]:
    """Return what installed packages name in a group of entry points, in order of names."""
    return _named(group, tuple(sys.path))


@lru_cache(maxsize=8)
def _named(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Look through every installed package of ``path``, unless none can name anything there.

    To import what reads packages takes as long as the rest of a short command.
    """
    if not any(_may_name(group, Path(place)) for place in path):
        return ()
    from importlib.metadata import distributions

    named = (each for found in distributions(path=list(path)) for each in found.entry_points)
    chosen = {(each.name, each.value): each for each in named if each.group == group}
    return tuple(chosen[key] for key in sorted(chosen))


def _may_name(group: str, place: Path) -> bool:
    """Return whether a package below ``place`` has a file that mentions the group."""
    if not place.is_dir():
        return place.is_file()  # an archive of packages, which only the library reads
    with os.scandir(place) as entries:
        folders = [entry.path for entry in entries if entry.name.endswith("-info")]
    return any(group.encode() in _content(f"{folder}/entry_points.txt") for folder in folders)


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:  # most packages have no such file
        return b""


def _folder(entry: EntryPoint) -> Path:
    at = Location(name=f"entry point {entry.name} of {entry.dist.name if entry.dist else '?'}")
    try:
        found = find_spec(entry.value)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"{entry.value} cannot be imported: {error}", at=at) from error
    if found is None or not found.submodule_search_locations:
        hint = "name the package (a folder) that holds facts/, counters/, rule families and so on"
        raise ConfigError(f"there is no package {entry.value}", at=at, hint=hint)
    return Path(next(iter(found.submodule_search_locations)))


def counter_dirs() -> list[Path]:
    """Return the directories with a folder for each profiler."""
    return [directory / "counters" for directory in rule_dirs()]
