"""Devices side by side: as text with bars, JSON, rows of CSV, and a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from advisor import escaping, wording
from advisor.records import dataclass
from advisor.reports.modelled.ceilings import ceiling_label
from advisor.reports.write.environment import environment
from advisor.reports.write.paper import Paper, meter
from advisor.reports.write.render import script_digest

if TYPE_CHECKING:
    from advisor.hardware.compare import Crossover, DeviceComparison


@dataclass(frozen=True, kw_only=True)
class Ridge:
    """A bar of the chart of ridge points: ``share`` of the longest in its group."""

    device: str
    value: float
    share: float


@dataclass(frozen=True, kw_only=True)
class Work:
    """The ridge points of one kind of work, in the order of the devices."""

    label: str
    ridges: tuple[Ridge, ...]


def json_text(found: DeviceComparison) -> str:
    """Return the comparison as JSON."""
    content = {
        "roof": found.roof,
        "devices": [
            {
                "device": each.device,
                "ceilings": dict(each.ceilings),
                "ridge_points": dict(each.ridge_points),
                "memory": each.memory,
                "occupancy": None if each.occupancy is None else dict(each.occupancy),
            }
            for each in found.devices
        ],
        "changes_side": [
            {
                "work": each.work,
                "from": each.low,
                "to": each.high,
                "compute_bound_on": list(each.compute_bound_on),
                "memory_bound_on": list(each.memory_bound_on),
            }
            for each in found.changes_side
        ],
    }
    return escaping.json_text(content, indent=2) + "\n"


def table_rows(found: DeviceComparison) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Return columns and one row per ceiling and ridge point of each device."""
    return ("device", "roof", "what", "value", "unit"), _rows(found)


def _rows(found: DeviceComparison) -> Iterator[tuple[object, ...]]:
    for each in found.devices:
        yield each.device, found.roof, "memory", each.memory, "B"
        for name, value in each.ceilings.items():
            yield each.device, found.roof, name, value, each.units[name]
        for name, value in each.ridge_points.items():
            yield each.device, found.roof, f"ridge point, {name}", value, "FLOP/B"


def works(found: DeviceComparison) -> tuple[Work, ...]:
    """Return the ridge points of work that two devices or more rate."""
    names = dict.fromkeys(work for each in found.devices for work in each.ridge_points)
    groups = []
    for name in names:
        rated = [(d.name, d.ridge_points[name]) for d in found.devices if name in d.ridge_points]
        if len(rated) < 2:
            continue
        longest = max(value for _, value in rated)
        ridges = tuple(Ridge(device=d, value=v, share=v / longest) for d, v in rated)
        groups.append(Work(label=ceiling_label(name), ridges=ridges))
    return tuple(groups)


def text(found: DeviceComparison) -> str:
    """Return the comparison for a terminal."""
    paper = Paper(width=100)
    names = dict.fromkeys(name for each in found.devices for name in each.ceilings)
    widths = (20, *(-max(12, len(each.device)) for each in found.devices))
    paper.row((f"{found.roof} ceiling", *(each.device for each in found.devices)), widths)
    units = {name: unit for each in found.devices for name, unit in each.units.items()}
    for name in names:
        values = (wording.si(each.ceilings.get(name), units[name]) for each in found.devices)
        paper.row((ceiling_label(name), *values), widths)
    paper.row(("memory", *(wording.si(each.memory, "B") for each in found.devices)), widths)
    paper.heading("Ridge points, FLOP/B")
    for work in works(found):
        paper.write(work.label)
        for ridge in work.ridges:
            value = wording.significant(ridge.value)
            paper.row(("", ridge.device, meter(ridge.share), value), (1, 34, 10, -8))
    paper.heading("Where they disagree")
    for change in found.changes_side:
        paper.write(sentence(change))
    return paper.text()


def sentence(change: Crossover) -> str:
    """Return on which side of the ridge work is between two ridge points."""
    low, high = wording.significant(change.low), wording.significant(change.high)
    return (
        f"{ceiling_label(change.work)}, {low} to {high} FLOP/B: compute-bound on"
        f" {', '.join(change.compute_bound_on)}; memory-bound on"
        f" {', '.join(change.memory_bound_on)}."
    )


def html(found: DeviceComparison) -> str:
    """Return the comparison as one page that opens offline."""
    writer = environment(None, autoescape=True)
    units = {name: unit for each in found.devices for name, unit in each.units.items()}
    return writer.get_template("compare.html.j2").render(
        found=found,
        ceilings=[(name, ceiling_label(name), unit) for name, unit in units.items()],
        works=works(found),
        sentences=[sentence(each) for each in found.changes_side],
        script_digest=script_digest(writer),
    )
