"""What a kernel would take on its own device with other peaks, less work or less traffic.

The facts of kernels are computed over launches as they would be; the share of the practical roof
stays as it was, apart from the time of empty launches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.modelling.elsewhere import NO_PEAKS, Predicted, why_unknown
from advisor.modelling.measured import MeasuredKernel, Row, practical_of

if TYPE_CHECKING:
    from advisor.modelling.elsewhere_settings import ElsewhereSettings


def changed(kernel: MeasuredKernel, after: Row, settings: ElsewhereSettings) -> Predicted:
    """Return a kernel whose facts became those of ``after``."""
    measured = kernel.measured
    unknown = Predicted(
        name=measured.name,
        launches=measured.launches,
        measured=measured.measured,
        reason=why_unknown(measured),
    )
    time = measured.measured
    if unknown.reason is not None or time is None:
        return unknown
    low, before = _least(kernel.row, after), practical_of(kernel.row)
    if low is None or before is None:
        return Predicted(
            name=measured.name, launches=measured.launches, measured=time, reason=NO_PEAKS
        )
    practical = practical_of(after) or 0.0
    empty = min(settings.empty(measured.device_id) * measured.launches, time)
    likely = max(empty + (time - empty) * practical / before, min(low, time))
    return Predicted(
        name=measured.name,
        launches=measured.launches,
        measured=time,
        low=min(low, likely),
        likely=likely,
        high=max(likely, time),
        binding_resource=after["binding_resource"] or kernel.row["binding_resource"],
    )


def _least(before: Row, after: Row) -> float | None:
    """Return the least time after the change; 0 where nothing is left that takes any."""
    found = after["t_least"]
    if found is None:
        return None if before["t_least"] is None else 0.0
    return float(found)
