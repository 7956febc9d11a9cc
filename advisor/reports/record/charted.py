"""What the charts of a report show, as records: ceilings, and where kernels stand under them.

Numbers are in stored units; texts are raw, as in ``records``.
"""

from __future__ import annotations

from typing import Literal

from advisor.records import dataclass

CeilingKind = Literal["profiled", "achievable", "nominal"]


@dataclass(frozen=True, kw_only=True)
class ChartCeiling:
    """One limit. ``resource`` is a memory level or a precision; ``value`` in B/s or FLOP/s."""

    resource: str
    label: str
    kind: CeilingKind
    value: float
    unit: Literal["B/s", "FLOP/s"]
    source: str = ""
    confidence: str = ""


@dataclass(frozen=True, kw_only=True)
class AtLevel:
    """The intensity [FLOP/B] of the same work at a level of memory nearer to the units."""

    level: str
    label: str
    x: float


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where a kernel stands in one chart: both values known and above zero.

    In a roofline ``x`` is FLOP/B of device memory and ``y`` FLOP/s; ``x`` is None where no byte was
    counted, and ``levels`` are the other levels of memory that moved any.
    In a utilisation plane ``x`` is the memory, ``y`` the compute utilisation, in [0, 1].
    """

    kernel_id: str
    x: float | None
    y: float
    levels: tuple[AtLevel, ...] = ()
    roof: float | None = None


@dataclass(frozen=True, kw_only=True)
class Unplaced:
    """A kernel that a chart lists in words, and why it has no mark."""

    kernel_id: str
    reason: str
    note: str


@dataclass(frozen=True, kw_only=True)
class NightPath:
    """Earlier places of a kernel in a chart as (FLOP/B, FLOP/s), the oldest first.

    ``first`` is the night of the oldest.
    """

    kernel_id: str
    points: tuple[tuple[float, float], ...]
    first: str


@dataclass(frozen=True, kw_only=True)
class Roofline:
    """One chart: marks under the ceilings of one precision.

    ``of`` is what it shows, ``roof`` the kind of its ceilings where they are not profiled.
    ``level_ceilings`` are the profiled roofs of other levels of memory than that of the device.
    """

    id: str
    label: str
    device: str
    ceilings: tuple[ChartCeiling, ...]
    binding: str
    placements: tuple[Placement, ...]
    unplaced: tuple[Unplaced, ...]
    simulated: bool
    remarks: tuple[str, ...] = ()
    of: str = "the run"
    roof: str = "profiled"
    paths: tuple[NightPath, ...] = ()
    level_ceilings: tuple[ChartCeiling, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Plane:
    """The utilisation plane, for kernels without operations and bytes."""

    device: str
    placements: tuple[Placement, ...]
    simulated: bool
