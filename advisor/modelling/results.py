"""What a model answers, as records; in stored units, None where there is no such number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.hardware.machines import Machine
    from advisor.modelling.roofs import Bound


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a compiler estimates, beside the formula: FLOP and B of all repeats; modelled."""

    flops: float
    bytes: float
    arithmetic_intensity: float | None


@dataclass(frozen=True, kw_only=True)
class OperationResult:
    """A kernel on a device.

    ``flops``, ``bytes`` and ``time`` [s] are of all repeats. ``arithmetic_intensity`` [FLOP/B] is
    None where no byte moves. ``attainable`` and ``achieved`` are in FLOP/s; the shares are of the
    roof without collectives. ``above_dram_roof`` marks an intensity that a nearer memory serves,
    ``modelled`` an estimate of a compiler. ``works`` are all ceilings that its arithmetic uses,
    ``unrated`` those that it would use but whose figure nobody tells: no time counts them.
    """

    name: str
    operation: str | None
    work: str | None
    repeat: float
    flops: float
    bytes: float
    time: float
    arithmetic_intensity: float | None
    no_bytes: bool
    ridge_point: float | None
    bound: Bound
    binding_resource: str
    attainable: float
    share_of_peak: float | None
    share_of_bandwidth: float
    above_dram_roof: bool
    modelled: bool
    works: tuple[str, ...] = ()
    unrated: tuple[str, ...] = ()
    served_by: str | None = None
    achieved: float | None = None
    costs: Estimate | None = None


@dataclass(frozen=True, kw_only=True)
class Total:
    """All kernels, one after another; the time per unit is that of one result, in s."""

    flops: float
    bytes: float
    time: float
    time_per_unit: float


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """The state after a step, and what it gained per result; ``rank`` 1 gains most."""

    name: str
    flops: float
    bytes: float
    time: float
    time_per_unit: float
    speedup: float
    cumulative: float
    rank: int
    operations: tuple[OperationResult, ...]


@dataclass(frozen=True, kw_only=True)
class SweepRow:
    """One point of a sweep."""

    value: float
    time: float
    time_per_unit: float
    operations: tuple[OperationResult, ...]


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """Where a kernel changes its bound: solved, the first whole value, and the rule of thumb."""

    operation: str
    value: float
    first_whole: float
    approximation: float | None


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A size over a range, in the order asked for."""

    size: str
    rows: tuple[SweepRow, ...]
    crossings: tuple[Crossing, ...]


@dataclass(frozen=True, kw_only=True)
class ModelNumbers:
    """A language model on a device; sizes in B, None where the device's memory is not known."""

    tokens_per_second: float
    memory_needed: float
    fits: bool | None
    devices_needed: int | None


@dataclass(frozen=True, kw_only=True)
class DeviceResult:
    """A scenario on one device; ``bandwidth`` [B/s] is that of DRAM, without collectives.

    ``rated`` are all of its ceilings of that kind, by resource.
    """

    machine: Machine
    roof: str
    bandwidth: float
    rated: Mapping[str, float]
    collectives: float
    operations: tuple[OperationResult, ...]
    total: Total
    steps: tuple[StepResult, ...]
    sweep: Sweep | None = None
    model: ModelNumbers | None = None


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    """What a language model has: parameters as counts, sizes in B, FLOP of one token."""

    name: str
    phase: str
    batch: float
    context: float
    parameters: float
    active_parameters: float
    weight_bytes: float
    kv_bytes_per_token: float
    kv_cache_bytes: float
    flops_per_token: float
    tokens: float


@dataclass(frozen=True, kw_only=True)
class Modelled:
    """A whole answer."""

    title: str
    results: tuple[DeviceResult, ...]
    model: LanguageModel | None = None
