"""The utilisation plane: named for what it plots, with the names of what matters inside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.reports.charts.drawing import SIZES
from advisor.reports.charts.marks import label_boxes
from advisor.reports.charts.plane import draw_plane
from advisor.reports.record.charted import Placement, Plane
from advisor.reports.record.kernel_records import KernelRecord
from advisor.reports.record.records import Report
from advisor.reports.write import render


def planned(report: Report, shares: list[float]) -> tuple[Plane, dict[str, KernelRecord]]:
    """Return a plane with a kernel per share of the time, from the origin upwards."""
    kernels = {
        f"k{i}": replace(report.kernels[0], id=f"k{i}", time_share=share)
        for i, share in enumerate(shares)
    }
    placements = tuple(
        Placement(kernel_id=kernel, x=0.1 * i, y=0.1 * i) for i, kernel in enumerate(kernels)
    )
    return Plane(device="Example GPU", placements=placements, simulated=False), kernels


@pytest.mark.parametrize(
    ("shares", "named"),
    [([0.9, 0.0099, 0.01], {"k0", "k2"}), ([0.002, 0.002], {"k0", "k1"})],
)
def test_names_marks_from_one_percent_of_the_time(
    report: Report, shares: list[float], named: set[str]
) -> None:
    plane, kernels = planned(report, shares)
    drawn = draw_plane(plane, kernels, SIZES[0])
    assert {mark.kernel_id for mark in drawn.marks if mark.label} == named
    assert len(drawn.marks) == len(shares)


def test_puts_no_name_below_the_line_of_zero(report: Report) -> None:
    plane, kernels = planned(report, [0.9, 0.05, 0.05])
    for size in SIZES:
        drawn = draw_plane(plane, kernels, size)
        boxes = [box for mark in drawn.marks for box in label_boxes(mark)]
        assert boxes
        assert all(box.bottom <= drawn.frame.y(0.0) for box in boxes)


def test_is_not_called_a_roofline(report: Report) -> None:
    plane, kernels = planned(report, [1.0])
    found = replace(report, kernels=tuple(kernels.values()), rooflines=(), plane=plane, actions=())
    page = render.html(found)
    assert '<h2 id="ro-h">Utilisation' in page
    assert '<a href="#roofline">Utilisation</a>' in page
    assert '<h2 id="ro-h">Roofline' in render.html(report)
