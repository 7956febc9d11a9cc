"""The bars of a kernel: times of resources at their peaks, stalls, and limits of occupancy."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.reports.record.kernel_records import (
    OccupancyLimit,
    OccupancyRecord,
    ResourceTime,
    Stall,
    Stalls,
)
from advisor.reports.record.layout import Layout
from advisor.reports.record.rows import Row, number, text

_TOP_STALLS = 7


def resources(row: Row, shown: Layout) -> tuple[ResourceTime, ...]:
    """Return the times of the resources that were used, longest first, and what else binds."""
    duration = number(row, "duration")
    if not duration:
        return ()
    binding = text(row, "binding_resource")
    found = []
    levels = shown.levels
    for name, resource in (*levels.items(), *shown.precisions.items()):
        time = number(row, resource.time)
        if time and not resource.pipe_of:
            found.append(
                ResourceTime(
                    label=resource.label if name in levels else f"{resource.label} pipe",
                    group="memory" if name in levels else "compute",
                    time=time,
                    share=time / duration,
                    binds=name == binding,
                )
            )
    other, least = shown.others.get(binding or ""), number(row, "t_least")
    if other is not None and least is not None:
        found.append(
            ResourceTime(label=other, group="other", time=least, share=least / duration, binds=True)
        )
    return tuple(sorted(found, key=lambda resource: -resource.time))


def stalls(row: Row, shown: Layout) -> Stalls | None:
    """Return what the warps waited for, the longest first; None where nothing tells."""
    known = shown.stalls
    shares: Mapping[str, float] = {
        name: share
        for name, stall in known.items()
        if (share := number(row, stall.share)) is not None and share > 0
    }
    if not shares:
        return None
    ordered = sorted(shares, key=lambda name: -shares[name])
    rest = ordered[_TOP_STALLS:]
    return Stalls(
        latency=number(row, "stall_total"),
        entries=tuple(
            Stall(
                label=name.replace("_", " "),
                about=known[name].about,
                share=shares[name],
                neutral=known[name].neutral,
            )
            for name in ordered[:_TOP_STALLS]
        ),
        other_count=len(rest),
        other_share=sum(shares[name] for name in rest),
    )


def occupancy(row: Row, shown: Layout) -> OccupancyRecord | None:
    """Return how many blocks fit by each limit, the least first; None where nothing tells."""
    blocks = {
        label: value
        for label, names in shown.limits.items()
        if (value := next((v for n in names if (v := number(row, n)) is not None), None))
        is not None
    }
    if not blocks:
        return None
    least = min(blocks.values())
    theoretical = number(row, "occupancy_theoretical")
    if theoretical is None:
        theoretical = number(row, "occupancy_theoretical_reported")
    return OccupancyRecord(
        theoretical=theoretical,
        achieved=number(row, "occupancy_achieved"),
        block_size=number(row, "block_size"),
        limits=tuple(
            OccupancyLimit(label=label, blocks=value, binds=value == least)
            for label, value in sorted(blocks.items(), key=lambda item: item[1])
        ),
    )
