"""How many launches of a kernel ran in a run, and how they spread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.tracking.gates import Spread


def launches_of(row: Mapping[str, Any]) -> int:
    """Return the launches that ran."""
    return int((row["launch_count"] or 0) - (row["launches_excluded"] or 0))


def spread_of(row: Mapping[str, Any]) -> Spread | None:
    """Return the times of a variant's launches in short, which outlive them."""
    ran, median = launches_of(row), row["duration_median"]
    if not ran or median is None or row["duration"] is None:
        return None
    deviation = row["duration_stddev"]
    mean = row["duration"] / ran
    known = deviation is not None and mean > 0
    return Spread(
        launches=ran if known else 1,
        median=median,
        deviation=deviation / mean if known else 0.0,
    )
