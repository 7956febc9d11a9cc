"""The occupancy calculator: a launch as given, or the launches of a measured kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from advisor.database.parts import curves_of, rows_of
from advisor.database.read import open_run
from advisor.errors import UsageError
from advisor.facts import current, kernels_select
from advisor.hardware.occupancy import (
    BlockShape,
    MultiprocessorLimits,
    Occupancy,
    OccupancyStep,
    Parameter,
    check_static,
    granted_carve_out,
    limits_of,
    limits_of_device,
    nearest_better,
    occupancy,
    resident_warps,
    steps,
)
from advisor.knowledge.load import load_facts
from advisor.knowledge.parts import load_mapping
from advisor.records import dataclass
from advisor.reports.record.rows import Row, number, text, whole
from advisor.reports.record.source import named

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from advisor.database.read import StoredRun

STEP_COLUMNS = (
    "parameter", "from", "to", "blocks", "warps", "occupancy", "limited_by", "current",
    "profiler_warps",
)  # fmt: skip
_COLUMNS = (
    "run_id", "variant_id", "kernel_id", "kernel_name", "short_name", "duration", "block_size",
    "registers_per_thread", "shared_memory_static", "shared_memory_dynamic",
    "shared_memory_driver", "shared_memory_configured", "compute_capability",
    "occupancy_theoretical_reported",
)  # fmt: skip
_NEEDED = (
    "block_size", "registers_per_thread", "shared_memory_static", "shared_memory_dynamic",
    "compute_capability",
)  # fmt: skip


Points = Mapping[int, int]


@dataclass(frozen=True, kw_only=True)
class StoredCurve:
    """What the profiler stored: the resident warps of a multiprocessor by value of a parameter.

    Shared memory counts what the system reserves. ``agreeing`` points are equal to ours when
    ``carve_out`` [B] of shared memory is in force.
    """

    warps: Points
    agreeing: int
    carve_out: int


@dataclass(frozen=True, kw_only=True)
class Calculation:
    """A launch, what fits of it on a multiprocessor, and the curve over each parameter.

    ``kernel`` and ``variant`` are None for a launch that was not measured; ``reported`` is the
    theoretical occupancy that the profiler stored.
    """

    limits: MultiprocessorLimits
    launch: BlockShape
    occupancy: Occupancy
    curves: Mapping[Parameter, tuple[OccupancyStep, ...]]
    stored: Mapping[Parameter, StoredCurve] = field(default_factory=dict)
    kernel: str | None = None
    variant: str | None = None
    reported: float | None = None

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yield one row per step of each curve, in the order of ``STEP_COLUMNS``."""
        for parameter, curve in self.curves.items():
            for step in curve:
                yield (
                    parameter.value,
                    step.first,
                    step.last,
                    step.blocks,
                    step.warps,
                    step.occupancy,
                    ", ".join(step.binding),
                    step.holds(self.launch.value(parameter)),
                    self.stored_warps(parameter, step),
                )

    def stored_warps(self, parameter: Parameter, step: OccupancyStep) -> int | None:
        """Return what the profiler stored for the last point that it has within a step."""
        stored = self.stored.get(parameter)
        shift = _reserved(self.limits, self.launch) if parameter is Parameter.SHARED else 0
        points = [] if stored is None else [v for v in stored.warps if step.holds(v - shift)]
        return stored.warps[max(points)] if stored is not None and points else None

    def better(self) -> dict[Parameter, OccupancyStep]:
        """Return the nearest step with more warps, where a parameter has one."""
        found = {
            parameter: nearest_better(curve, self.launch.value(parameter))
            for parameter, curve in self.curves.items()
        }
        return {parameter: step for parameter, step in found.items() if step is not None}


def calculate(
    launch: BlockShape, *, capability: str | None = None, device: str | None = None
) -> Calculation:
    """Return what fits on a multiprocessor of a compute capability or of a device.

    A carve-out that is not supported becomes the next larger one.

    Raises:
        UsageError: neither or both are given, the limits are not known, or the launch would fail.
    """
    if (capability is None) == (device is None):
        raise UsageError("give either a compute capability or a device", hint="--cc 9.0")
    limits = limits_of_device(device) if device is not None else limits_of(capability or "")
    if launch.carve_out is not None:
        launch = replace(launch, carve_out=granted_carve_out(limits, launch.carve_out))
    check_static(limits, launch)
    return _calculation(limits, launch)


def calculate_measured(
    database: str, kernel: str, *, run: str, wait: float
) -> tuple[Calculation, ...]:
    """Return what fits of each variant of the kernels that a name, pattern or id means.

    Raises:
        UsageError: there is no such run or kernel, or the profile lacks what a launch asked for.
        DatabaseError: the database cannot be opened.
    """
    with open_run(database, run, wait=wait) as (connection, found):
        vocabulary = load_facts()
        relations = current(connection, vocabulary, [found.run_id])
        select = kernels_select(vocabulary, _COLUMNS, relations)
        rows = named(rows_of(connection, select, [found.run_id]), kernel, found.run_id)
        known = [row for row in rows if None not in (number(row, name) for name in _NEEDED)]
        if not known:
            problem = f"the profile does not record what a block of {kernel!r} takes, or on what"
            raise UsageError(problem, hint="give --cc, --threads, --registers and --shared")
        curves = _stored_curves(connection, found)
        limits = {key: limits_of(key) for key in sorted(set(map(_capability, known)))}
        return tuple(
            _measured(limits[_capability(row)], row, curves.get(row["variant_id"], {}))
            for row in known
        )


def as_json(calculation: Calculation) -> dict[str, object]:
    """Return a calculation as plain values; sizes in B, occupancy in [0, 1]."""
    launch, found = calculation.launch, calculation.occupancy
    return {
        "kernel": calculation.kernel,
        "variant": calculation.variant,
        "compute_capability": calculation.limits.capability,
        "threads": launch.threads,
        "registers": launch.registers,
        "shared_static": launch.shared_static,
        "shared_dynamic": launch.shared_dynamic,
        "carve_out": found.carve_out,
        "blocks": found.blocks,
        "warps": found.warps,
        "occupancy": found.occupancy,
        "occupancy_reported": calculation.reported,
        "limits": dict(found.limits),
        "limited_by": found.binding,
        "allocated": {
            "registers_per_warp": found.registers_per_warp,
            "registers_per_block": found.registers,
            "shared_per_block": found.shared_memory,
        },
        "steps": [dict(zip(STEP_COLUMNS, row, strict=True)) for row in calculation.rows()],
        "profiler": {
            parameter.value: {
                "points": len(stored.warps),
                "agreeing": stored.agreeing,
                "carve_out": stored.carve_out,
            }
            for parameter, stored in calculation.stored.items()
        },
    }


def compare_curve(
    limits: MultiprocessorLimits,
    launch: BlockShape,
    parameter: Parameter,
    points: Points,
) -> StoredCurve:
    """Return the profiler's curve beside ours: resident warps by value of the parameter.

    Some versions of the profiler compute with the largest carve-out instead of the one in force;
    the one with more points like ours is taken. Its points go on to 256 registers, which no thread
    has; they are left out.
    """
    if parameter is Parameter.REGISTERS:
        points = {n: warps for n, warps in points.items() if n <= limits.registers_per_thread}
    in_force = limits.shared_memory if launch.carve_out is None else launch.carve_out
    return max(
        (
            StoredCurve(
                warps=points,
                agreeing=_agreeing(limits, replace(launch, carve_out=size), parameter, points),
                carve_out=size,
            )
            for size in dict.fromkeys((in_force, limits.shared_memory))
        ),
        key=lambda curve: curve.agreeing,
    )


def _agreeing(
    limits: MultiprocessorLimits,
    launch: BlockShape,
    parameter: Parameter,
    points: Points,
) -> int:
    # The profiler's sizes of shared memory hold the reserve already.
    if parameter is Parameter.SHARED:
        launch = replace(launch, shared_reserved=0)
    shapes = ((launch.with_value(parameter, value), warps) for value, warps in points.items())
    return sum(resident_warps(limits, shape) == warps for shape, warps in shapes)


def _calculation(limits: MultiprocessorLimits, launch: BlockShape) -> Calculation:
    return Calculation(
        limits=limits,
        launch=launch,
        occupancy=occupancy(limits, launch),
        curves={parameter: steps(limits, launch, parameter) for parameter in Parameter},
    )


def _capability(row: Row) -> str:
    return f"{row['compute_capability']:.1f}"


def _measured(
    limits: MultiprocessorLimits, row: Row, curves: Mapping[Parameter, Points]
) -> Calculation:
    launch = BlockShape(
        threads=whole(row, "block_size"),
        registers=whole(row, "registers_per_thread"),
        shared_static=whole(row, "shared_memory_static"),
        shared_dynamic=whole(row, "shared_memory_dynamic"),
        carve_out=_known(row, "shared_memory_configured"),
        shared_reserved=_known(row, "shared_memory_driver"),
    )
    return replace(
        _calculation(limits, launch),
        kernel=text(row, "short_name") or text(row, "kernel_name"),
        variant=text(row, "variant_id"),
        reported=number(row, "occupancy_theoretical_reported"),
        stored={p: compare_curve(limits, launch, p, points) for p, points in curves.items()},
    )


def _known(row: Row, name: str) -> int | None:
    return None if number(row, name) is None else whole(row, name)


def _stored_curves(
    connection: duckdb.DuckDBPyConnection, run: StoredRun
) -> dict[str, dict[Parameter, Points]]:
    """Return the profiler's curves by variant, from its first launch that has them."""
    curves = () if run.profiler is None else load_mapping(run.profiler).curves
    parameters = {counter: Parameter(name) for name, counter in curves}
    found: dict[str, dict[Parameter, Points]] = defaultdict(dict)
    for row in curves_of(connection, run.run_id, list(parameters)):
        points = zip(map(int, row["keys"]), map(int, row["values"]), strict=True)
        found[str(row["variant_id"])][parameters[row["counter"]]] = dict(points)
    return found


def _reserved(limits: MultiprocessorLimits, launch: BlockShape) -> int:
    return limits.shared_reserved if launch.shared_reserved is None else launch.shared_reserved
