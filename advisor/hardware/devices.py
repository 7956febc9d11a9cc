"""The devices of the seed data, as records.

Source: ``seed/README.md`` says what each key of the files means.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from advisor.records import dataclass
from advisor.resources import data_dir

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

NOMINAL = "nominal"
PROJECT = "project"
PRACTICAL = "practical"
MEASURED = "measured"
ACHIEVABLE_FRACTION = "achievable_fraction"

CUDA = "cc-"
"""What the names of NVIDIA's instruction sets begin with; a compute capability follows."""


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """One limit of a device.

    ``resource`` is what is limited: dram, l2, l1, shared, vector_fp32, tensor_fp16, compute …
    ``kind`` is nominal (rated), project (as printed in the documents that started the project),
    practical (what they expect of good kernels), measured, or achievable_fraction (share of the
    peak, in [0, 1]).
    ``value`` is in ``unit``: B/s, B/cycle, FLOP/s, or 1. ``basis`` says how the figure came about
    (published, derived, practical, or what was measured); ``rate`` is FLOP per cycle and unit;
    ``reference`` is the rated peak beside a measurement. ``confidence`` is high, medium or low.
    """

    resource: str
    kind: str
    value: float
    unit: str
    basis: str
    source: str
    confidence: str
    method: str | None = None
    reference: float | None = None
    rate: float | None = None
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """A figure on which sources differ: the one chosen, the others, and why."""

    place: str
    chosen: float | str
    others: tuple[float | str, ...]
    why: str


@dataclass(frozen=True, kw_only=True)
class DeviceSpec:
    """A device of the seed data; sizes in B, clocks in Hz, power in W.

    ``unit_count`` counts multiprocessors, compute units or cores, as ``unit_kind`` says.
    ``occupancy`` is the key of its occupancy limits. ``sources`` are what to print, not keys.
    ``called`` are names that the documents of the project print and that mean this device alone.
    ``left_out`` are words that people leave out where a name begins with them: vendor and series.
    """

    device_id: str
    name: str
    vendor: str
    architecture: str
    chip: str
    form_factor: str
    aliases: tuple[str, ...]
    unit_kind: str
    unit_count: int
    memory_type: str
    confidence: str
    sources: tuple[str, ...]
    ceilings: tuple[Ceiling, ...]
    called: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    compute_capability: str | None = None
    occupancy: str | None = None
    base_clock: float | None = None
    boost_clock: float | None = None
    memory_bytes: float | None = None
    bus_width: float | None = None
    l2_bytes: float | None = None
    unit_memory_bytes: float | None = None
    power: float | None = None
    parts: int | None = None
    notes: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    def ceiling(self, resource: str, kind: str = NOMINAL) -> Ceiling | None:
        """Return the first ceiling of this resource and kind, None where there is none."""
        wanted = (c for c in self.ceilings if c.resource == resource and c.kind == kind)
        return next(wanted, None)


@dataclass(frozen=True, kw_only=True)
class OccupancyLimits:
    """What fits on a multiprocessor of one generation: counts and bytes under the seed's names.

    ``carve_outs`` [B] are the sizes that shared memory may have, ascending.
    """

    key: str
    name: str
    source: str
    confidence: str
    limits: Mapping[str, float] = field(default_factory=dict)
    carve_outs: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SeedData:
    """All that a database begins with: devices, and what fits on their multiprocessors."""

    devices: tuple[DeviceSpec, ...]
    occupancy: tuple[OccupancyLimits, ...]


def load_seed(folder: Path | None = None) -> SeedData:
    """Return the seed data of ``folder``, None for the shipped ones."""
    return SeedData(devices=load_devices(folder), occupancy=load_occupancy_limits(folder))


def load_devices(folder: Path | None = None) -> tuple[DeviceSpec, ...]:
    """Return every device of the seed data, by family and in file order.

    ``folder`` holds the seed data; None means the shipped ones.
    """
    folder = folder or data_dir("seed")
    names = _source_names(folder)
    extra = _extra_ceilings(folder, names)
    called = read_seed_file(folder / "ceilings" / "project.yaml")["names"]
    return tuple(
        replace(
            _device(node, names, extra.get(node["id"], ())),
            called=tuple(called.get(node["id"], ())),
            left_out=(node["vendor"], *family.get("series", ())),
        )
        for path in sorted((folder / "devices").glob("*.yaml"))
        for family in (read_seed_file(path),)
        for node in family["devices"]
    )


def load_occupancy_limits(folder: Path | None = None) -> tuple[OccupancyLimits, ...]:
    """Return the occupancy limits of every generation, vendor by vendor."""
    folder = folder or data_dir("seed")
    names = _source_names(folder)
    return tuple(
        OccupancyLimits(
            key=key,
            name=node["name"],
            source=_names(node["sources"], names),
            confidence=node["confidence"],
            limits={k: float(v) for k, v in node.items() if type(v) in (int, float)},
            carve_outs=tuple(node.get("shared_carveouts_bytes", ())),
        )
        for vendor in read_seed_file(folder / "occupancy-limits.yaml").values()
        for key, node in vendor["limits"].items()
    )


def seed_files(folder: Path | None = None) -> tuple[Path, ...]:
    """Return every file that ``load_seed`` reads."""
    folder = folder or data_dir("seed")
    patterns = ("*.yaml", "devices/*.yaml", "ceilings/*.yaml")
    return tuple(sorted(path for pattern in patterns for path in folder.glob(pattern)))


def read_seed_file(path: Path) -> dict[str, Any]:
    """Return the YAML mapping in a file of the seed data."""
    import yaml  # what is remembered needs no parser

    with path.open(encoding="utf-8") as stream:
        loaded: dict[str, Any] = yaml.load(stream, Loader=yaml.CSafeLoader)
    return loaded


def _source_names(folder: Path) -> dict[str, str]:
    return {
        key: node["name"]
        for key, node in read_seed_file(folder / "sources.yaml")["sources"].items()
    }


def _names(keys: Iterable[str], names: Mapping[str, str]) -> str:
    return "; ".join(names[key] for key in keys)


def _device(
    node: Mapping[str, Any], names: Mapping[str, str], extra: Iterable[Ceiling]
) -> DeviceSpec:
    memory, clocks = node["memory"], node["clocks"]
    return DeviceSpec(
        device_id=node["id"],
        name=node["name"],
        vendor=node["vendor"],
        architecture=node["architecture"],
        chip=node["chip"],
        form_factor=node["form_factor"],
        aliases=tuple(node["aliases"]),
        unit_kind=node["units"]["kind"],
        unit_count=node["units"]["count"],
        memory_type=memory["type"],
        confidence=node["confidence"],
        sources=tuple(names[key] for key in node["sources"]),
        ceilings=(*_rated(node, _names(node["sources"], names)), *extra),
        compute_capability=node["target"].get("compute_capability"),
        occupancy=node["occupancy"],
        base_clock=clocks.get("base"),
        boost_clock=clocks.get("boost"),
        memory_bytes=memory.get("bytes"),
        bus_width=memory.get("bus_width"),
        l2_bytes=node["caches"].get("l2", {}).get("bytes"),
        unit_memory_bytes=_unit_memory(node["caches"]),
        power=node.get("tdp"),
        parts=node.get("parts", {}).get("count"),
        notes=tuple(node.get("notes", ())),
        conflicts=tuple(
            Conflict(
                place=entry["field"],
                chosen=entry["chosen"],
                others=tuple(entry["others"]),
                why=entry["why"],
            )
            for entry in node.get("conflicts", ())
        ),
    )


def _unit_memory(caches: Mapping[str, Mapping[str, float]]) -> float | None:
    """Return the size [B] of the first level that belongs to one unit."""
    sizes = (cache["bytes_per_unit"] for cache in caches.values() if "bytes_per_unit" in cache)
    return next(sizes, None)


def _rated(node: Mapping[str, Any], source: str) -> Iterator[Ceiling]:
    for resource, entry in node["ceilings"].items():
        yield Ceiling(
            resource=resource,
            kind=NOMINAL,
            value=entry["value"],
            unit=entry["unit"],
            basis=entry["basis"],
            rate=entry.get("rate"),
            source=source,
            confidence=node["confidence"],
            note=entry.get("note"),
        )


def _extra_ceilings(folder: Path, names: Mapping[str, str]) -> dict[str, list[Ceiling]]:
    """Return the ceilings that stand outside the device files, by device."""
    found: dict[str, list[Ceiling]] = {}
    for read in (_project, _measured, _achievable):
        for device, ceiling in read(folder / "ceilings", names):
            found.setdefault(device, []).append(ceiling)
    return found


def _project(folder: Path, names: Mapping[str, str]) -> Iterator[tuple[str, Ceiling]]:
    document = read_seed_file(folder / "project.yaml")
    for device, kinds in document["devices"].items():
        for kind, figures in kinds.items():
            for resource, value in figures.items():
                yield (
                    device,
                    Ceiling(
                        resource=resource,
                        kind=kind,
                        value=value,
                        unit="B/s" if resource == "dram" else "FLOP/s",
                        basis="as printed",
                        source=names[document["source"]],
                        confidence=document["confidence"],
                    ),
                )


def _measured(folder: Path, names: Mapping[str, str]) -> Iterator[tuple[str, Ceiling]]:
    for device, entries in read_seed_file(folder / "measured.yaml")["measured"].items():
        for entry in entries:
            yield (
                device,
                Ceiling(
                    resource=entry["resource"],
                    kind=MEASURED,
                    value=entry["value"],
                    unit=entry["unit"],
                    basis=entry["what"],
                    method=entry.get("method"),
                    reference=entry.get("reference"),
                    source=names[entry["source"]],
                    confidence=entry["confidence"],
                    note=entry.get("note"),
                ),
            )


def _achievable(folder: Path, names: Mapping[str, str]) -> Iterator[tuple[str, Ceiling]]:
    document = read_seed_file(folder / "achievable.yaml")
    for resource, entry in document["practical"].items():
        for device in entry["devices"]:
            yield (
                device,
                Ceiling(
                    resource=resource,
                    kind=ACHIEVABLE_FRACTION,
                    value=entry["value"],
                    unit="1",
                    basis=PRACTICAL,
                    source=names[entry["source"]],
                    confidence=entry["confidence"],
                    note=entry["note"],
                ),
            )
    for device, figures in document["measured"].items():
        for resource, value in figures.items():
            yield (
                device,
                Ceiling(
                    resource=resource,
                    kind=ACHIEVABLE_FRACTION,
                    value=value,
                    unit="1",
                    basis=MEASURED,
                    method=document["method"][resource],
                    source=names[document["source"]],
                    confidence="medium",
                ),
            )
