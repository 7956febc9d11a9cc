"""Devices: listed, shown with ceilings and ridge points, side by side; and those of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from advisor.api.modelling import check_devices, load_machines
from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import ConfigError, Location, OutputError, UsageError
from advisor.hardware import DeviceDescription, describe_device
from advisor.hardware import list_devices as known_devices
from advisor.hardware.describe import ridge_points
from advisor.scratch import whole_file
from advisor.wording import si

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.hardware import Ceiling, RidgePoint
    from advisor.hardware.compare import DeviceComparison
    from advisor.hardware.machines import Machine

Rows = list[tuple[object, ...]]

_LIST = (
    "device", "name", "vendor", "architecture", "units", "memory", "dram", "fp32", "fp16 matrix",
    "confidence",
)  # fmt: skip
_CEILINGS = ("resource", "kind", "value", "basis", "source", "confidence")


def list_devices(
    vendor: str | None, *, configuration: Configuration = DEFAULTS
) -> tuple[tuple[str, ...], Rows]:
    """Return columns and one row per known device, the user's own last; peaks are nominal.

    Raises:
        UsageError: no device of that vendor is known.
        RuleError: a file of the user's own devices is wrong; with its place.
    """
    own = [each for each in load_machines(configuration).own if _is_of(each, vendor)]
    try:
        shipped = known_devices(vendor)
    except UsageError:
        if not own:
            raise
        shipped = ()
    rows: Rows = [
        (
            device.device_id,
            device.name,
            device.vendor,
            device.architecture,
            device.unit_count,
            si(device.memory_bytes, "B"),
            si(device.dram_bandwidth, "B/s"),
            si(device.vector_fp32, "FLOP/s"),
            si(device.tensor_fp16, "FLOP/s"),
            _marked(device.confidence),
        )
        for device in shipped
    ]
    return _LIST, rows + [_own_row(each) for each in own]


def _is_of(machine: Machine, vendor: str | None) -> bool:
    return vendor is None or vendor.casefold() == (machine.vendor or "").casefold()


def _own_row(machine: Machine) -> tuple[object, ...]:
    def rated(*resources: str) -> float | None:
        found = (machine.ceiling(resource) for resource in resources)
        return next((each.value for each in found if each is not None), None)

    return (
        machine.device_id,
        machine.name,
        machine.vendor or "",
        "",
        None,
        si(machine.memory_bytes, "B"),
        si(rated("dram"), "B/s"),
        si(rated("vector_fp32"), "FLOP/s"),
        si(rated("tensor_fp16", "tensor_bf16"), "FLOP/s"),
        "your own",
    )


def show_device(
    name: str, *, configuration: Configuration = DEFAULTS
) -> tuple[str, tuple[str, ...], Rows]:
    """Return a heading, columns, and one row per ceiling and ridge point of a device.

    Raises:
        UsageError: there is no such device, or there are several; names them or the nearest.
        RuleError: a file of the user's own devices is wrong; with its place.
    """
    own = {each.name.casefold(): each for each in load_machines(configuration).own}
    machine = own.get(name.casefold().strip())
    if machine is not None:
        heading = f"{machine.name}: your own, memory {si(machine.memory_bytes, 'B')}"
        return heading, _CEILINGS, _rows(machine.ceilings, ridge_points(machine))
    found = describe_device(name)
    return _heading(found), _CEILINGS, _rows(found.device.ceilings, found.ridge_points)


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


def _rows(ceilings: Sequence[Ceiling], points: Sequence[RidgePoint]) -> Rows:
    rows: Rows = [
        (
            ceiling.resource,
            ceiling.kind,
            si(ceiling.value, ceiling.unit),
            ceiling.basis or "",
            ceiling.source or "",
            _marked(ceiling.confidence),
        )
        for ceiling in ceilings
    ]
    rows += [
        (
            f"ridge point, {point.resource}",
            point.kind,
            si(point.value, "FLOP/B"),
            "peak over DRAM bandwidth",
            "",
            _marked(point.confidence),
        )
        for point in points
    ]
    return rows


def _heading(found: DeviceDescription) -> str:
    device = found.device
    parts = [device.name, device.architecture, f"{device.unit_count} units"]
    if device.compute_capability:
        parts.append(f"compute capability {device.compute_capability}")
    return f"{device.device_id}: {', '.join(str(part) for part in parts)}"


def _marked(confidence: str) -> str:
    return f"{confidence} (not verified)" if confidence == "low" else confidence
