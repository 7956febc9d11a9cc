"""Kernels of a run as predictions need them: work, traffic, time, and how well counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from advisor.database.relations import Relations
from advisor.facts import kernels_select
from advisor.modelling.elsewhere import MeasuredWork
from advisor.modelling.roofs import DRAM
from advisor.records import dataclass

if TYPE_CHECKING:
    import duckdb

    from advisor.facts import Vocabulary
    from advisor.modelling.elsewhere_settings import ElsewhereSettings

Row = Mapping[str, Any]

_WHO = ("run_id", "variant_id", "kernel_id", "kernel_name", "short_name", "launch_shape")
_FACTS = (
    *_WHO, "device_id", "launch_count", "launches_excluded", "duration", "flops", "work_done",
    "dram_bytes", "t_dram", "t_sol", "t_least", "t_compute", "peak_dram_bandwidth",
    "effective_peak", "t_sol_practical", "t_placed", "binding_resource", "compute_utilization",
    "dram_utilization", "l2_size", "sm_clock", "nominal_sm_clock", "launches_with_traffic",
    "launches_with_work", "achievable_compute_fraction", "achievable_dram_fraction", "grid_size",
    "sm_count", "rated_sm_count",
)  # fmt: skip
_OF_OPERATIONS = ("operation", "operation_flops", "operation_bytes", "traffic_per_required",
                  "work_per_required")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class MeasuredKernel:
    """A kernel of a run, and the row of facts that it comes from."""

    row: Row
    measured: MeasuredWork


def read_rows(
    connection: duckdb.DuckDBPyConnection,
    vocabulary: Vocabulary,
    run_id: str,
    relations: Relations,
    settings: ElsewhereSettings,
    *,
    operations: bool = False,
) -> list[Row]:
    """Return the facts of the kernels of a run, the longest first."""
    caches = settings.caches.values()
    names = {*_FACTS, *settings.work, *settings.pipes}
    names |= {name for each in caches for name in (each.traffic, each.time)}
    if operations:
        names |= {*_OF_OPERATIONS}
    columns = sorted(names)
    query = " ".join((kernels_select(vocabulary, columns, relations), "where run_id = ?"))
    rows = connection.execute(query, [run_id]).fetchall()
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    return sorted(found, key=lambda row: (-(row["duration"] or 0.0), row["variant_id"]))


def kernels_of(
    rows: Sequence[Row], vendor: str | None, settings: ElsewhereSettings
) -> Iterator[MeasuredKernel]:
    """Yield the kernels of some rows; ``vendor`` is the maker of their devices."""
    names = Counter(row["short_name"] for row in rows)
    for row in rows:
        name = row["short_name"] if names[row["short_name"]] == 1 else name_of(row)
        yield MeasuredKernel(row=row, measured=_measured(row, name, vendor, settings))


def _measured(row: Row, name: str, vendor: str | None, settings: ElsewhereSettings) -> MeasuredWork:
    launches = row["launch_count"] - (row["launches_excluded"] or 0)
    traffic = dict(_traffic(row, launches, settings))
    units = row["sm_count"] or row["rated_sm_count"]
    busy = settings.busy(row["device_id"] or "", row["grid_size"], units)
    return MeasuredWork(
        name=name,
        launches=launches,
        measured=row["duration"],
        work=_work(row, launches, settings),
        traffic=traffic,
        held=dict(_held(row, launches, traffic, busy, settings)),
        device_id=row["device_id"] or "",
        vendor=vendor,
        memory_side=_memory_side(row),
        clock=_ratio(row["sm_clock"], row["nominal_sm_clock"]),
        cache_size=row["l2_size"],
        blocks=row["grid_size"] if units else None,
    )


def practical_of(row: Row) -> float | None:
    """Return the least time in practice [s], of launches without one as of the others."""
    time, placed = row["t_sol_practical"], row["t_placed"]
    if time is None or not placed or row["duration"] is None:
        return None
    return float(time * row["duration"] / placed)


def name_of(row: Row) -> str:
    """Return the name of a kernel, with its launch shape."""
    return f"{row['short_name']} {row['launch_shape'] or ''}".rstrip()


def _work(row: Row, launches: float, settings: ElsewhereSettings) -> dict[str, float] | None:
    """Return the work by quantity, as all launches have it; None where it was not counted."""
    if row["work_done"] is None and row["flops"] is None and not _is_integer_only(row):
        return None
    scale = _coverage(row["launches_with_work"], launches)
    return {name: row[name] * scale for name in settings.work if row[name] is not None}


def _is_integer_only(row: Row) -> bool:
    """Return whether all of the counted work is integer work of the matrix units."""
    return row["t_compute"] is not None


def _traffic(row: Row, launches: float, settings: ElsewhereSettings) -> Iterator[tuple[str, float]]:
    moved = row["dram_bytes"]
    if moved is not None:
        yield DRAM, moved * _coverage(row["launches_with_traffic"], launches)
    elif row["t_dram"] is not None and row["peak_dram_bandwidth"] is not None:
        yield DRAM, row["t_dram"] * row["peak_dram_bandwidth"]
    for name, cache in settings.caches.items():
        if row[cache.traffic] is not None:
            yield name, row[cache.traffic]


def _held(
    row: Row,
    launches: float,
    traffic: Mapping[str, float],
    busy: float,
    settings: ElsewhereSettings,
) -> Iterator[tuple[str, float]]:
    """Yield the least time in practice of each resource, as ``t_sol_practical`` takes it.

    But for what only a share of the units, ``busy``, can give: pipes and their caches.
    """
    compute = row["achievable_compute_fraction"] or settings.practical_compute
    memory = row["achievable_dram_fraction"] or settings.practical_memory
    scale = _coverage(row["launches_with_work"], launches) / min(compute, 1.0) / busy
    for name, pipe in settings.pipes.items():
        if row[name] is not None:
            yield pipe, row[name] * scale
    if DRAM in traffic and row["peak_dram_bandwidth"]:
        yield DRAM, traffic[DRAM] / row["peak_dram_bandwidth"] / min(memory, 1.0)
    for name, cache in settings.caches.items():
        if name in traffic and row[cache.time] is not None:
            yield name, row[cache.time] / (busy if cache.of_units else 1.0)


def _coverage(counted: float | None, launches: float) -> float:
    """Return by how much to raise what only some launches counted."""
    return launches / counted if counted and counted < launches else 1.0


def _memory_side(row: Row) -> bool | None:
    compute, memory = row["compute_utilization"], row["dram_utilization"]
    return None if compute is None or memory is None else bool(memory >= compute)


def _ratio(value: float | None, of: float | None) -> float | None:
    return None if value is None or not of else float(value / of)
