"""Kernels against the operations that they are there for: why they take longer than they must.

The least time of an operation rests on the profiled peaks, and on the kernel's own mix of formats.
The gap is avoidable traffic × avoidable work × efficiency, exactly: the least time with the
measured traffic over that of the operation, with the measured work as well over that, and the time
taken over the least time of what was measured.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.modelling.elsewhere import Predicted
from advisor.modelling.prospects import Gap, Prospect
from advisor.modelling.roofs import DRAM

if TYPE_CHECKING:
    from advisor.modelling.measured import MeasuredKernel

_COMPUTE = "compute"


def gap_of(kernel: MeasuredKernel) -> Prospect | None:
    """Return a kernel against its operation; None where the configuration binds it to none."""
    row, measured = kernel.row, kernel.measured
    if row["operation"] is None:
        return None
    bandwidth, peak = row["peak_dram_bandwidth"], row["effective_peak"]
    needs_work = row["operation_flops"] > 0
    if measured.measured is None or bandwidth is None or (needs_work and peak is None):
        return _unknown(kernel, "the profile lacks its time, or the peaks that it compares with")
    memory = row["operation_bytes"] * measured.launches / bandwidth
    compute = row["operation_flops"] * measured.launches / peak if needs_work else 0.0
    if max(memory, compute) <= 0:
        return _unknown(kernel, "its operation needs neither work nor traffic")
    return _explained(kernel, memory, compute, measured.measured)


def _explained(kernel: MeasuredKernel, memory: float, compute: float, time: float) -> Prospect:
    """Return a kernel whose operation needs ``memory`` and ``compute`` [s] at least."""
    least = max(memory, compute)
    traffic, work, efficiency = _factors(kernel, memory, compute, time)
    found = Gap(
        operation=kernel.row["operation"],
        least=least,
        gap=time / least,
        avoidable_traffic=traffic,
        avoidable_work=work,
        efficiency=efficiency,
    )
    rated, practical = kernel.row["t_sol"], kernel.row["t_sol_practical"]
    slower = practical / rated if rated and practical else 1.0
    likely = min(max(least * slower, least), max(time, least))
    predicted = replace(
        _bare(kernel),
        low=least,
        likely=likely,
        high=max(time, likely),
        binding_resource=DRAM if memory > compute else _COMPUTE,
        caveats=_caveats(found, time),
    )
    return Prospect(predicted=predicted, gap=found)


def _bare(kernel: MeasuredKernel) -> Predicted:
    measured = kernel.measured
    return Predicted(name=measured.name, launches=measured.launches, measured=measured.measured)


def _unknown(kernel: MeasuredKernel, reason: str) -> Prospect:
    gap = Gap(
        operation=kernel.row["operation"],
        least=None,
        gap=None,
        avoidable_traffic=None,
        avoidable_work=None,
        efficiency=None,
    )
    return Prospect(predicted=replace(_bare(kernel), reason=reason), gap=gap)


def _factors(
    kernel: MeasuredKernel, memory: float, compute: float, time: float
) -> tuple[float | None, float | None, float | None]:
    """Return the three factors; those that rest on what nobody counted are None."""
    row = kernel.row
    moved = row["traffic_per_required"]
    if moved is None:
        return None, None, None
    with_traffic = max(memory * moved, compute)
    traffic = with_traffic / max(memory, compute)
    done = row["work_per_required"]
    if done is None and row["operation_flops"] > 0:
        return traffic, None, None
    with_work = max(memory * moved, compute * (done or 1.0))
    return traffic, with_work / with_traffic, time / with_work


def _caveats(found: Gap, time: float) -> tuple[str, ...]:
    remarks = []
    if found.least is not None and time < found.least:
        remarks.append("faster than its operation allows: the sizes in the configuration are wrong")
    if found.avoidable_traffic is None:
        remarks.append("its traffic was not counted")
    elif found.avoidable_work is None:
        remarks.append("its work was not counted")
    return tuple(remarks)
