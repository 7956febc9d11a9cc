"""Devices side by side, and devices of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from advisor.api.modelling import check_devices, load_machines
from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import ConfigError, Location, OutputError, UsageError
from advisor.scratch import whole_file

if TYPE_CHECKING:
    from advisor.hardware.compare import DeviceComparison
    from advisor.hardware.machines import Machine


def compare_devices(
    names: tuple[str, ...], roof: str, *, configuration: Configuration = DEFAULTS
) -> DeviceComparison:
    """Return two devices or more side by side.

    Raises:
        UsageError: there are not two, a name means none or several, or one has no such ceilings.
    """
    check_devices(names, configuration)
    from advisor.hardware.compare import compare_machines

    known = load_machines(configuration)
    machines = {each.device_id: each for each in map(known.called, names)}
    if len(machines) < 2:
        raise UsageError("it takes two devices to compare", hint="name another one")
    return compare_machines(list(machines.values()), roof)


def add_devices(
    path: Path, *, configuration: Configuration = DEFAULTS
) -> tuple[Path, tuple[Machine, ...]]:
    """Check the devices of a file, keep a copy where the configuration says; return both.

    Raises:
        ConfigError: the configuration does not say where.
        UsageError: the file is wrong, or a device is known already; with its place.
        OutputError: it cannot be written.
    """
    from advisor.hardware.machines import read_machines

    folder = configuration.devices
    if folder is None:
        hint = "add `devices: my-devices` to advisor.yaml: a directory beside it"
        raise ConfigError("the configuration does not say where devices are kept", hint=hint)
    kept = folder.value / f"{path.stem}.yaml"
    known = load_machines(configuration, without=kept)
    found = read_machines(path, known.resources)
    for machine in found:
        if known.has(machine.name):
            problem = f"a device called {machine.name!r} is known already"
            raise UsageError(problem, at=Location(name=str(path)), hint="give it another name")
    if path.resolve() != kept.resolve():
        _copy(path, kept)
    return kept, found


def _copy(path: Path, kept: Path) -> None:
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(kept) as part:
            part.write_bytes(path.read_bytes())
    except OSError as error:
        raise OutputError(f"cannot write {kept}: {error.strerror}") from error
