"""What predictions for another device rest on, read from ``rules/whatif.yaml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from advisor.documents import MappingNode, load
from advisor.modelling.roofs import pipe_of
from advisor.records import dataclass
from advisor.resources import data_dir

_KEYS = (
    "gpus", "work", "pipes", "caches", "negligible", "practical", "empty_launch", "spread",
    "caveats", "scales", "units_of_a_block",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Cache:
    """A cache that may bind a kernel: its traffic, the least time of that, and its ceilings.

    ``of_units`` tells whether each multiprocessor has its own.
    """

    name: str
    traffic: str
    time: str
    ceilings: tuple[str, ...]
    of_units: bool = False


@dataclass(frozen=True, kw_only=True)
class Scale:
    """What a peak is called by people, and the quantities whose time it divides."""

    about: str
    quantities: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ElsewhereSettings:
    """The file says what each is; ``empty_launch`` are patterns of device ids with times in s.

    ``units_of_a_block`` are such patterns with counts.
    """

    gpu_units: tuple[str, ...]
    work: Mapping[str, tuple[str, ...]]
    pipes: Mapping[str, str]
    caches: Mapping[str, Cache]
    negligible: float
    practical_memory: float
    practical_compute: float
    empty_launch: tuple[tuple[str, float], ...]
    units_of_a_block: tuple[tuple[str, float], ...]
    same_vendor: float
    other_vendor: float
    no_practical_figure: float
    held_clock: float
    cache_over_memory: float
    scales: Mapping[str, Scale]

    def empty(self, device_id: str) -> float:
        """Return the time of an empty launch on a device, in s."""
        return _of_device(self.empty_launch, device_id)

    def covers(self, unit_kind: str | None) -> bool:
        """Return whether a device with units of this kind is a GPU, or may be one."""
        return unit_kind is None or unit_kind in self.gpu_units

    def busy(self, device_id: str, blocks: float | None, units: float | None) -> float:
        """Return the share of a device's units that a grid can keep busy; 1 where it is unknown."""
        if not blocks or not units:
            return 1.0
        return min(blocks * _of_device(self.units_of_a_block, device_id) / units, 1.0)


def _of_device(values: Iterable[tuple[str, float]], device_id: str) -> float:
    name = device_id.casefold()
    return next(value for pattern, value in values if fnmatchcase(name, pattern))


def settings_file() -> Path:
    """Return where they stand."""
    return data_dir("rules") / "whatif.yaml"


def load_settings() -> ElsewhereSettings:
    """Return them.

    Raises:
        RuleError: the file is wrong; with its place.
    """
    node = load(settings_file())
    node.refuse_unknown(_KEYS)
    work, pipes, caches, scales = map(node.mapping, ("work", "pipes", "caches", "scales"))
    practical, spread, caveats = (node.mapping(key) for key in ("practical", "spread", "caveats"))
    return ElsewhereSettings(
        gpu_units=node.mapping("gpus").sequence("units").texts(),
        work={name: work.sequence(name).texts() for name in work},
        pipes={name: pipe_of(pipes.text(name)) for name in pipes},
        caches={name: _cache(caches.mapping(name)) for name in caches},
        negligible=_value(node, "negligible"),
        practical_memory=_value(practical, "memory"),
        practical_compute=_value(practical, "compute"),
        empty_launch=_by_device(node.mapping("empty_launch"), "times", "time"),
        units_of_a_block=_by_device(node.mapping("units_of_a_block"), "units", "units"),
        same_vendor=_value(spread, "same_vendor"),
        other_vendor=_value(spread, "other_vendor"),
        no_practical_figure=_value(spread, "no_practical_figure"),
        held_clock=_value(caveats, "held_clock"),
        cache_over_memory=_value(caveats, "cache_over_memory"),
        scales={name: _scale(scales.mapping(name)) for name in scales},
    )


def _value(node: MappingNode, key: str) -> float:
    return node.mapping(key).number("value")


def _by_device(node: MappingNode, key: str, value: str) -> tuple[tuple[str, float], ...]:
    entries = (each.as_mapping() for each in node.sequence(key))
    return tuple((each.text("match"), each.number(value)) for each in entries)


def _cache(node: MappingNode) -> Cache:
    return Cache(
        name=node.text("name"),
        traffic=node.text("traffic"),
        time=node.text("time"),
        ceilings=node.sequence("ceilings").texts(),
        of_units="of_units" in node and node.boolean("of_units"),
    )


def _scale(node: MappingNode) -> Scale:
    return Scale(about=node.text("about"), quantities=node.sequence("quantities").texts())
