"""Find the files of the user and the project, read them, and put layers on top of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from advisor.configuration.records import DEFAULTS, Configuration, Layer
from advisor.configuration.setting import Setting
from advisor.errors import ConfigError, Location

if TYPE_CHECKING:
    from advisor.configuration.entries import ThresholdSetting
    from advisor.configuration.records import Thresholds

FILE = "advisor.yaml"
PROJECT = "pyproject.toml"

T = TypeVar("T")


def load_configuration(
    *,
    directory: Path,
    environment: Mapping[str, str],
    chosen: Path | None = None,
    command: Layer | None = None,
) -> Configuration:
    """Return what is in effect for a command that is run in ``directory``.

    ``chosen`` is read in the place of the project's file; ``command`` is what flags and variables
    say, above all files.

    Raises:
        ConfigError: a file is wrong, or cannot be read; with its place.
    """
    layers: list[Layer] = []
    files: list[Path] = []
    user = user_file(environment)
    if user.is_file() and (layer := _read_file(user)) is not None:
        layers.append(layer)
        files.append(user)
    project = _project(directory) if chosen is None else (chosen, _chosen(chosen))
    if project is not None:
        files.append(project[0])
        layers.append(project[1])
    if command is not None:
        layers.append(command)
    return merge(layers, files)


def _read_file(path: Path) -> Layer | None:
    from advisor.configuration.read import read_file  # YAML and TOML with it; few have a file

    return read_file(path)


def user_file(environment: Mapping[str, str]) -> Path:
    """Return where the user's own file is, if there is one.

    Source: XDG Base Directory Specification, "Environment variables": relative paths are ignored.
    """
    home = Path(environment.get("XDG_CONFIG_HOME", ""))
    base = home if home.is_absolute() else Path(environment.get("HOME") or Path.home()) / ".config"
    return base / "advisor" / FILE


def merge(layers: Sequence[Layer], files: Sequence[Path] = ()) -> Configuration:
    """Return the defaults under the layers, the lowest first."""
    return Configuration(
        database=_last([layer.database for layer in layers], DEFAULTS.database),
        wait=_last([layer.wait for layer in layers], DEFAULTS.wait),
        report_format=_last([layer.report_format for layer in layers], DEFAULTS.report_format),
        devices=_last_set([layer.devices for layer in layers]),
        rules=_once([each for layer in layers for each in layer.rules]),
        thresholds=_thresholds(layers),
        disable={rule: at for layer in layers for rule, at in layer.disable.items()},
        severity={rule: severity for layer in layers for rule, severity in layer.severity.items()},
        suppress=tuple(each for layer in layers for each in layer.suppress),
        operations=tuple(each for layer in reversed(layers) for each in layer.operations),
        budgets=tuple(each for layer in layers for each in layer.budgets),
        files=tuple(files),
    )


def _project(directory: Path) -> tuple[Path, Layer] | None:
    """Return the nearest configuration file of ``directory`` and those above, and what it says."""
    absolute = directory.absolute()
    for folder in (absolute, *absolute.parents):
        found = [
            (path, layer)
            for path in (folder / FILE, folder / PROJECT)
            if path.is_file() and (layer := _read_file(path)) is not None
        ]
        if len(found) > 1:
            at = Location(name=str(folder / PROJECT))
            problem = f"[tool.advisor] stands beside an {FILE} in the same directory"
            raise ConfigError(problem, at=at, hint="keep one of the two")
        if found:
            return found[0]
    return None


def _chosen(path: Path) -> Layer:
    layer = _read_file(path)
    if layer is None:
        raise ConfigError("there is no [tool.advisor] in it", at=Location(name=str(path)))
    return layer


def _last(layers: Sequence[Setting[T] | None], default: Setting[T]) -> Setting[T]:
    return next((setting for setting in reversed(layers) if setting is not None), default)


def _last_set(layers: Sequence[Setting[T] | None]) -> Setting[T] | None:
    return next((setting for setting in reversed(layers) if setting is not None), None)


def _once(directories: Sequence[Setting[Path]]) -> tuple[Setting[Path], ...]:
    """Return the directories without those that were named before."""
    named: dict[Path, Setting[Path]] = {}
    for each in directories:
        named.setdefault(each.value.resolve(), each)
    return tuple(named.values())


def _thresholds(layers: Sequence[Layer]) -> Thresholds:
    merged: dict[str, dict[str, ThresholdSetting]] = {}
    for layer in layers:
        for rule, thresholds in layer.thresholds.items():
            merged.setdefault(rule, {}).update(thresholds)
    return merged
