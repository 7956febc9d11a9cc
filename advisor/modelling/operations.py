"""Kernels on a device as results: times, shares and what binds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from advisor.errors import UsageError
from advisor.modelling.results import Estimate, OperationResult, Total

if TYPE_CHECKING:
    from advisor.modelling.needs import Need
    from advisor.modelling.roofs import DeviceRoofs, Placed

_LARGEST = 1e250  # far from what a float holds, so that sums of many stay finite, too


def operations_on(
    roofs: DeviceRoofs, needed: Iterable[Need], collectives: float
) -> tuple[OperationResult, ...]:
    """Return kernels on a device, with a share of the time in collectives.

    Raises:
        UsageError: the device lacks a ceiling.
    """
    return tuple(operation_result(roofs.place(need), collectives) for need in needed)


def operation_result(placed: Placed, collectives: float) -> OperationResult:
    """Return all remarks on a kernel."""
    need = placed.need
    time = placed.time / (1 - collectives)
    _check(need, time)
    attainable = need.flops / time
    return OperationResult(
        name=need.name,
        operation=need.operation,
        work=placed.work,
        repeat=need.repeat,
        flops=need.flops * need.repeat,
        bytes=need.bytes * need.repeat,
        time=time * need.repeat,
        arithmetic_intensity=need.flops / need.bytes if need.bytes else None,
        no_bytes=not need.bytes,
        ridge_point=placed.ridge_point,
        bound=placed.bound,
        binding_resource=placed.binding_resource,
        attainable=attainable,
        share_of_peak=None if placed.peak is None else placed.compute_time / time,
        share_of_bandwidth=placed.dram_time / time,
        above_dram_roof=placed.above_dram_roof,
        modelled=need.modelled,
        works=placed.works,
        unrated=placed.unrated,
        served_by=need.served_by,
        achieved=None if need.reaches is None else need.reaches * attainable,
        costs=_estimate(need),
    )


def _check(need: Need, time: float) -> None:
    """Refuse numbers so large or so small that a result would be infinite, or no time at all."""
    sums = (time * need.repeat, need.flops * need.repeat, need.bytes * need.repeat)
    safe = time > 0 and all(value <= _LARGEST for value in sums)
    # A quotient overflows where the divisor is too small for what it divides.
    quotients = (time, need.bytes) if need.bytes else (time,)
    if not safe or any(need.flops >= _LARGEST * min(1.0, divisor) for divisor in quotients):
        raise UsageError(f"{need.name!r} is beyond what can be worked out", at=need.at)


def _estimate(need: Need) -> Estimate | None:
    costs = need.costs
    if costs is None:
        return None
    return Estimate(
        flops=costs.flops * need.repeat,
        bytes=costs.bytes * need.repeat,
        arithmetic_intensity=costs.flops / costs.bytes if costs.bytes else None,
    )


def total(operations: Sequence[OperationResult], per: float) -> Total:
    """Return the sum of kernels that run one after another, ``per`` results in a pass."""
    time = sum(each.time for each in operations)
    return Total(
        flops=sum(each.flops for each in operations),
        bytes=sum(each.bytes for each in operations),
        time=time,
        time_per_unit=time / per,
    )
