"""The page of a what-if: every device of the ranking on one axis, none cut."""

from __future__ import annotations

import re

import pytest

from advisor.modelling.prospects import Outlook, Sum, WhatIf
from advisor.reports.modelled.whatif_page import html


def device(rank: int, low: float, likely: float, high: float) -> Outlook:
    """Return a device on which all of a run that took a second would take these times."""
    total = Sum(measured=1.0, measured_covered=1.0, low=low, likely=likely, high=high, covered=1.0)
    name = f"device-{rank}"
    return Outlook(name=name, device=name, device_name=name, kernels=(), total=total, rank=rank)


def test_ranks_on_a_logarithmic_axis_that_holds_every_range() -> None:
    # From 0.1 to 10 are two decades, with 0.3 more at each end: 2.6 in all.
    ranked = (device(1, 0.1, 0.2, 1.0), device(2, 1.0, 4.0, 10.0))
    page = html(
        WhatIf(title="Elsewhere", run_id="r", measured_on="A", simulated=False, scenarios=ranked)
    )
    axis = re.findall(r'<b style="left:([\d.]+)%">([\d.]+)×', page)
    assert [label for _, label in axis] == ["0.1", "1", "10"]
    assert [float(at) for at, _ in axis] == pytest.approx(
        [0.3 / 0.026, 50.0, 2.3 / 0.026], abs=0.01
    )
    bars = re.findall(r'<i style="left:([\d.]+)%;width:([\d.]+)%"', page)
    ends = [(float(left), float(left) + float(width)) for left, width in bars]
    assert ends[0] == pytest.approx((11.54, 50.0), abs=0.02)
    assert ends[1] == pytest.approx((50.0, 88.46), abs=0.02)
