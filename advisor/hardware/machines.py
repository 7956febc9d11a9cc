"""Devices as models need them: a name, a memory and ceilings; those of the seed data or one's own.

A device of one's own stands in a scenario, or in a file that ``advisor hardware add`` takes:
``{name: draft, memory: 96.0e+9, ceilings: {dram: 7.2e+12, tensor_bf16: 2.307e+15}}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from advisor.documents import DocumentNode, MappingNode, load
from advisor.errors import ConfigError, Location, RuleError, UsageError
from advisor.hardware.called import device_called, devices_called
from advisor.hardware.devices import NOMINAL, PRACTICAL, PROJECT, Ceiling, DeviceSpec
from advisor.records import dataclass
from advisor.suggest import did_you_mean

KEYS = (
    "name", "memory", "ceilings", "project", "practical", "occupancy", "source", "vendor", "l2",
)  # fmt: skip
_KINDS = {"ceilings": NOMINAL, "project": PROJECT, "practical": PRACTICAL}
_VECTOR = "vector_"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A device to model on; what is not known is None.

    ``memory_bytes`` and ``l2_bytes`` are in B, ``occupancy`` is the key of its occupancy limits.
    ``unit_count`` counts its multiprocessors, or what ``unit_kind`` calls them. ``described`` tells
    a device that a user describes from one of the seed data.
    """

    device_id: str
    name: str
    memory_bytes: float | None
    ceilings: tuple[Ceiling, ...]
    occupancy: str | None = None
    vendor: str | None = None
    l2_bytes: float | None = None
    unit_kind: str | None = None
    unit_count: int | None = None
    described: bool = False

    def is_work(self, resource: str) -> bool:
        """Return whether a ceiling limits work, not traffic."""
        return any(c.resource == resource and c.unit == "FLOP/s" for c in self.ceilings)

    def leaves_open(self, resource: str) -> bool:
        """Return whether it can do this work at a rate that its description does not tell.

        Every device has vector units, so a description that rates none of their formats leaves
        their rate unknown.
        """
        rates = any(c.resource.startswith(_VECTOR) for c in self.ceilings)
        return self.described and resource.startswith(_VECTOR) and not rates

    def ceiling(self, resource: str, kind: str = NOMINAL) -> Ceiling | None:
        """Return the first ceiling of this resource and kind, None where there is none."""
        wanted = (c for c in self.ceilings if c.resource == resource and c.kind == kind)
        return next(wanted, None)


class Machines:
    """The devices that a name may mean: those of the seed data and the user's own."""

    def __init__(self, devices: Sequence[DeviceSpec], own: Sequence[Machine] = ()) -> None:
        self._devices = devices
        self._own = {machine.name.casefold(): machine for machine in own}
        self._resources = resources_of(devices)

    @property
    def resources(self) -> Mapping[str, str]:
        """Return what some device rates, each with its unit: B/s or FLOP/s."""
        return self._resources

    @property
    def devices(self) -> Sequence[DeviceSpec]:
        """Return those of the seed data."""
        return self._devices

    @property
    def own(self) -> tuple[Machine, ...]:
        """Return the user's own devices."""
        return tuple(self._own.values())

    def every(self) -> tuple[Machine, ...]:
        """Return all devices, the shipped ones first."""
        return (*map(of_device, self._devices), *self._own.values())

    def has(self, name: str) -> bool:
        """Return whether a name means a device, or several."""
        if name.casefold().strip() in self._own:
            return True
        try:
            return bool(devices_called(name, self._devices))
        except UsageError:
            return False

    def called(self, name: str) -> Machine:
        """Return the one device that a name means.

        Raises:
            UsageError: there is none, or there are several; names them or the nearest.
        """
        if own := self._own.get(name.casefold().strip()):
            return own
        return of_device(device_called(name, self._devices))

    def read(self, node: DocumentNode) -> Machine:
        """Return the device that a name means or a mapping describes.

        Raises:
            RuleError: there is no such device, or a key is wrong; with its place.
        """
        if isinstance(node, MappingNode):
            return read_machine(node, self._resources)
        try:
            return self.called(node.as_text())
        except UsageError as error:
            raise RuleError(error.problem, at=node.at, hint=error.hint) from error


def of_device(device: DeviceSpec) -> Machine:
    """Return a device of the seed data as one to model on."""
    return Machine(
        device_id=device.device_id,
        name=device.name,
        memory_bytes=device.memory_bytes,
        ceilings=device.ceilings,
        occupancy=device.occupancy,
        vendor=device.vendor,
        l2_bytes=device.l2_bytes,
        unit_kind=device.unit_kind,
        unit_count=device.unit_count,
    )


def read_machine(node: MappingNode, resources: Mapping[str, str]) -> Machine:
    """Return the device that a mapping describes; ``resources`` are those that have a meaning.

    Raises:
        RuleError: a key, a resource or a number is wrong; with its place.
    """
    node.refuse_unknown(KEYS)
    source = node.text("source") if "source" in node else str(node.at)
    name = node.text("name").strip()
    if not name:
        raise node["name"].unexpected("a name")
    _ = node["ceilings"]
    return Machine(
        device_id=name,
        name=name,
        memory_bytes=_positive(node["memory"]) if "memory" in node else None,
        ceilings=tuple(
            ceiling
            for key, kind in _KINDS.items()
            if key in node
            for ceiling in _ceilings(node.mapping(key), kind, resources, source)
        ),
        occupancy=node.text("occupancy") if "occupancy" in node else None,
        vendor=node.text("vendor") if "vendor" in node else None,
        l2_bytes=_positive(node["l2"]) if "l2" in node else None,
        described=True,
    )


def _ceilings(
    node: MappingNode, kind: str, resources: Mapping[str, str], source: str
) -> Iterator[Ceiling]:
    for resource, value in node.items():
        if resource not in resources:
            hint = did_you_mean(resource, resources, f"one of {', '.join(sorted(resources))}")
            problem = f"no ceiling is called {resource!r}"
            raise RuleError(problem, at=node.places[resource], hint=hint)
        yield Ceiling(
            resource=resource,
            kind=kind,
            value=_positive(value),
            unit=resources[resource],
            basis="given",
            source=source,
            confidence="medium",
        )


def _positive(node: DocumentNode) -> float:
    value = node.as_number()
    if value <= 0:
        raise node.unexpected("a number above 0")
    return value


def read_machines(path: Path, resources: Mapping[str, str]) -> tuple[Machine, ...]:
    """Return the devices of a file: ``devices:``, a list of mappings.

    Raises:
        RuleError: the file is wrong, or two devices have one name; with its place.
    """
    node = load(path)
    node.refuse_unknown(("devices",))
    found: dict[str, Machine] = {}
    for entry in node.sequence("devices"):
        machine = read_machine(entry.as_mapping(), resources)
        if machine.name.casefold() in found:
            raise RuleError(f"the device {machine.name!r} is there twice", at=entry.at)
        found[machine.name.casefold()] = machine
    if not found:
        raise node["devices"].unexpected("one device at least")
    return tuple(found.values())


def load_own_machines(
    folder: Path | None, resources: Mapping[str, str], *, without: Path | None = None
) -> tuple[Machine, ...]:
    """Return the user's devices, from the files of a folder in order of name, but for one file.

    Raises:
        RuleError: a file is wrong; with its place.
        ConfigError: two files hold a device of one name.
    """
    if folder is None or not folder.is_dir():
        return ()
    found: dict[str, Machine] = {}
    for path in sorted(folder.glob("*.yaml")):
        if path == without:
            continue
        for machine in read_machines(path, resources):
            if machine.name.casefold() in found:
                problem = f"the device {machine.name!r} is in another file of the folder, too"
                raise ConfigError(problem, at=Location(name=str(path)))
            found[machine.name.casefold()] = machine
    return tuple(found.values())


def resources_of(devices: Iterable[DeviceSpec]) -> dict[str, str]:
    """Return what the devices rate, each with its unit."""
    return {c.resource: c.unit for d in devices for c in d.ceilings if c.kind == NOMINAL}
