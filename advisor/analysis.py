"""The roofline of a list of operations, as a function of plain numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal, SupportsFloat, TypedDict, TypeGuard

Bound = Literal["compute-bound", "memory-bound"]


class Analysed(TypedDict):
    """Where an operation stands: FLOP/B, FLOP/s, percent of the peak, and the least time in s."""

    name: str
    arithmetic_intensity: float
    attainable_flops: float
    bound: Bound
    efficiency: float
    estimated_time_s: float


def roofline_analysis(
    operations: Iterable[Mapping[str, object]], peak_compute: float, peak_bandwidth: float
) -> list[Analysed]:
    """Return where each operation stands under the roofline, in the order given.

    An operation has ``flops``, ``memory_bytes`` [B] and perhaps a ``name``. ``peak_compute`` is in
    FLOP/s, ``peak_bandwidth`` in B/s. An intensity is infinite where no byte moves; a time is
    infinite where nothing is attainable. Intensity and attainable performance have 4 decimals,
    the efficiency [%] has 2, the time 8.

    Raises:
        ValueError: a peak is not positive, a key is missing, or a value is no amount.

    Source: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009.

    >>> (found,) = roofline_analysis([{"flops": 2e9, "memory_bytes": 1e9}], 1e12, 1e11)
    >>> found["bound"], found["attainable_flops"], found["estimated_time_s"]
    ('memory-bound', 200000000000.0, 0.01)
    """
    for name, peak in (("peak_compute", peak_compute), ("peak_bandwidth", peak_bandwidth)):
        if not _is_amount(peak) or not peak:
            raise ValueError(f"{name} must be a positive number, not {_shown(peak)}")
    ridge = peak_compute / peak_bandwidth
    return [
        _analysed(number, each, peak_compute, peak_bandwidth, ridge)
        for number, each in enumerate(operations)
    ]


def _analysed(
    number: int, operation: Mapping[str, object], peak: float, bandwidth: float, ridge: float
) -> Analysed:
    flops = _amount(number, operation, "flops")
    moved = _amount(number, operation, "memory_bytes")
    intensity = flops / moved if moved else math.inf
    attainable = min(peak, intensity * bandwidth)
    time = flops / attainable if attainable else math.inf
    return Analysed(
        name=str(operation.get("name", "")),
        arithmetic_intensity=round(intensity, 4),
        attainable_flops=round(attainable, 4),
        bound="compute-bound" if intensity >= ridge else "memory-bound",
        efficiency=round(100 * attainable / peak, 2),
        estimated_time_s=round(time, 8),
    )


def _amount(number: int, operation: Mapping[str, object], key: str) -> float:
    if key not in operation:
        raise ValueError(f"operation {number} has no {key!r}")
    value = operation[key]
    if not _is_amount(value):
        raise ValueError(f"operation {number}: {key} must be 0 or more, not {_shown(value)}")
    return value if isinstance(value, int | float) else float(value)


def _is_amount(value: object) -> TypeGuard[SupportsFloat]:
    """Return whether something is a number, 0 or more, that a float holds; of NumPy, too."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        return False
    try:
        return 0 <= float(value) < math.inf
    except OverflowError:  # a whole number beyond what a float holds
        return False


def _shown(value: object) -> str:
    return repr(value)[:40]
