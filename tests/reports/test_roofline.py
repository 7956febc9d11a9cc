"""The roofline: lines where arithmetic puts them, marks inside, words apart."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.reports.charts.drawing import SIZES, Drawing, DrawingSize
from advisor.reports.charts.labels import Box, text_box
from advisor.reports.charts.marks import label_boxes
from advisor.reports.charts.roofline import draw_roofline
from advisor.reports.charts.roofs import level_roof, roofs
from advisor.reports.charts.shares import draw_shares
from advisor.reports.record.charted import AtLevel, Placement, Roofline, Unplaced
from advisor.reports.record.kernel_records import KernelRecord
from advisor.reports.record.records import Report
from tests.support.example_report import CEILINGS, example_report


def drawing(report: Report, size: DrawingSize, chart: Roofline | None = None) -> Drawing:
    kernels = {kernel.id: kernel for kernel in report.kernels}
    return draw_roofline(chart or report.rooflines[0], kernels, size, report.kernels[0].id)


def test_bends_the_binding_roof_at_the_ridge(report: Report) -> None:
    # 10 TFLOP/s over 1 TB/s is 10 FLOP/B: log₁₀ is 1, at log₁₀ 13 of the performance.
    lines = roofs(report.rooflines[0])
    (binding,) = [line for line in lines.lines if line.style == "bind"]
    assert lines.ridge == pytest.approx((1.0, 13.0))
    assert binding.points[1] == pytest.approx((1.0, 13.0))


def test_ends_the_slopes_of_caches_at_the_highest_roof(report: Report) -> None:
    # FP16 does 20 TFLOP/s; L1 at 12 TB/s reaches it at 1.667 FLOP/B.
    thin = [line for line in roofs(report.rooflines[0]).lines if line.style == "thin"]
    ends = [line.points[-1] for line in thin]
    assert any(x == pytest.approx(math.log10(20 / 12)) for x, _ in ends)


def test_draws_a_nominal_line_only_where_it_differs(report: Report) -> None:
    # 1.01 TB/s is within 2 % of the profiled 1 TB/s, 12 TFLOP/s is not within 2 % of 10.
    nominal = [line for line in roofs(report.rooflines[0]).lines if line.style == "nominal"]
    assert [line.points[-1][1] for line in nominal] == [pytest.approx(math.log10(12e12))]
    words = [words.text for words in roofs(report.rooflines[0]).slope_texts]
    assert any("nominal 1.01" in text for text in words)


def test_draws_no_achievable_line_without_a_measured_fraction(report: Report) -> None:
    chart = report.rooflines[0]
    chart = replace(chart, ceilings=tuple(c for c in chart.ceilings if c.kind != "achievable"))
    assert all(line.style != "achievable" for line in roofs(chart).lines)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
def test_puts_every_mark_inside_the_frame(report: Report, size: DrawingSize) -> None:
    drawn = drawing(report, size)
    frame = drawn.frame
    for mark in drawn.marks:
        assert frame.left <= mark.x - mark.radius <= mark.x + mark.radius <= frame.right
        assert frame.top <= mark.y - mark.radius <= mark.y + mark.radius <= frame.bottom


def test_makes_area_proportional_to_time(report: Report) -> None:
    # r = 23 √share: 0.4 of the time gives 14.546 px.
    marks = {mark.kernel_id: mark for mark in drawing(report, SIZES[0]).marks}
    assert marks["matrixproduct"].radius == pytest.approx(14.546, abs=1e-3)
    assert marks["reduction"].radius == pytest.approx(23 * 0.075**0.5)


def test_shapes_marks_by_limiter(report: Report) -> None:
    shapes = {mark.limiter: mark.shape for mark in drawing(report, SIZES[0]).marks}
    assert len(set(shapes.values())) == len(shapes) == 4


def test_lists_kernels_without_operations(report: Report) -> None:
    (outside,) = drawing(report, SIZES[0]).outside
    assert outside.sentence.replace("\N{NO-BREAK SPACE}", " ") == (
        "1 kernel without floating-point work: transpose (20 % of DRAM roof)."
    )


def test_lists_six_kernels_of_a_reason_and_counts_the_rest(report: Report) -> None:
    many = tuple(
        Unplaced(kernel_id=report.kernels[0].id, reason="under FP64", note="") for _ in range(8)
    )
    (outside,) = drawing(report, SIZES[0], replace(report.rooflines[0], unplaced=many)).outside
    assert (outside.heading, len(outside.kernels), outside.more) == ("8 kernels under FP64", 6, 2)


def test_says_simulated_in_the_picture(report: Report) -> None:
    assert "simulated" in drawing(report, SIZES[0]).y_title.text


def test_draws_at_most_sixty_marks(report: Report) -> None:
    base = report.kernels[0]
    many = [replace(base, id=f"k{i}", wasted_time=float(i)) for i in range(80)]
    chart = replace(
        report.rooflines[0],
        placements=tuple(Placement(kernel_id=k.id, x=1.0 + i, y=1e12) for i, k in enumerate(many)),
        unplaced=(),
    )
    drawn = draw_roofline(chart, {k.id: k for k in many}, SIZES[0], None)
    assert {mark.kernel_id for mark in drawn.marks} == {f"k{i}" for i in range(20, 80)}
    assert drawn.remark is not None
    assert drawn.remark.text.startswith("20 more, at most 40")


def test_places_a_kernel_without_bytes_at_the_right_edge(report: Report) -> None:
    chart = replace(
        report.rooflines[0],
        placements=(Placement(kernel_id="stream", x=None, y=1e12),),
    )
    (mark,) = drawing(report, SIZES[0], chart).marks
    assert mark.at[0] is None
    assert mark.arrow
    assert mark.x + mark.radius < drawing(report, SIZES[0], chart).frame.right


def words(drawn: Drawing) -> list[Box]:
    """Return the boxes of all upright words that show at first."""
    boxes = [box for mark in drawn.marks for box in label_boxes(mark)]
    boxes += [text_box(t.x + t.dx, t.y, t.text, t.anchor) for t in drawn.edge_texts]
    if drawn.remark:
        boxes.append(text_box(drawn.remark.x, drawn.remark.y, drawn.remark.text, "end"))
    ridge = drawn.ridge
    if ridge and ridge.text:
        boxes.append(text_box(ridge.x + ridge.dx, ridge.y + ridge.dy, ridge.text, ridge.anchor))
    return boxes


places = st.tuples(st.floats(1e-3, 1e3), st.floats(1e9, 1e13), st.floats(0.001, 0.9))


@given(st.lists(places, min_size=1, max_size=30), st.sampled_from(SIZES))
@settings(max_examples=40, deadline=None)
def test_never_lets_words_overlap(
    where: list[tuple[float, float, float]], size: DrawingSize
) -> None:
    chart, kernels = scattered(where)
    drawn = draw_roofline(chart, kernels, size, "k0")
    for a, b in itertools.combinations(words(drawn), 2):
        assert a.overlap(b) < 1e-6


def levels(x: float) -> tuple[AtLevel, ...]:
    """Return the places of a kernel whose caches move twice and eight times what DRAM does."""
    return (AtLevel(level="l2", label="L2", x=x / 2), AtLevel(level="l1", label="L1", x=x / 8))


def scattered(
    where: list[tuple[float, float, float]],
) -> tuple[Roofline, dict[str, KernelRecord]]:
    """Return the example's chart with marks at (intensity, rate, share of time)."""
    report = example_report()
    kernels = {
        f"k{i}": replace(
            report.kernels[0], id=f"k{i}", short_name=f"some_kernel_{i}", time_share=share
        )
        for i, (_, _, share) in enumerate(where)
    }
    placements = tuple(
        Placement(kernel_id=f"k{i}", x=x, y=y, levels=levels(x))
        for i, (x, y, _) in enumerate(where)
    )
    return replace(report.rooflines[0], placements=placements, unplaced=()), kernels


def test_shows_the_same_work_at_every_level(report: Report) -> None:
    """stream does 1 FLOP for 4 B of L2 and of L1: its marks differ in intensity alone."""
    chart = report.rooflines[0]
    peak = next(c for c in CEILINGS if c.resource == "l2")
    drawn = drawing(report, SIZES[1], replace(chart, level_ceilings=(peak,)))
    at_dram = {mark.kernel_id: mark.at for mark in drawn.marks}
    intensities = {
        (level.level, each.kernel_id): level.x for each in chart.placements for level in each.levels
    }
    assert [view.level for view in drawn.views] == ["l2", "l1"]
    for view in drawn.views:
        assert f"intensity at {view.label}" in view.x_title.text
        for mark in view.marks:
            x = intensities[view.level, mark.kernel_id]
            assert mark.at == (pytest.approx(math.log10(x)), at_dram[mark.kernel_id][1])


def test_bends_the_roof_of_a_level_where_its_bandwidth_meets_the_peak(report: Report) -> None:
    # L2 at 3 TB/s meets 10 TFLOP/s at 3.33 FLOP/B.
    peak = next(c for c in CEILINGS if c.resource == "l2")
    lines, ridge = level_roof(replace(report.rooflines[0], level_ceilings=(peak,)), "l2")
    assert ridge == pytest.approx((math.log10(10 / 3), 13.0))
    assert [line.style for line in lines] == ["bind"]


def test_a_level_without_a_roof_is_under_that_of_arithmetic(report: Report) -> None:
    lines, ridge = level_roof(report.rooflines[0], "l1")
    assert ridge is None
    assert [line.points[0][1] for line in lines] == [pytest.approx(13.0)]


def test_shares_stand_at_the_share_of_the_roof(report: Report) -> None:
    drawn = draw_shares(report.rooflines[0], {k.id: k for k in report.kernels}, SIZES[0])
    assert drawn is not None
    shares = {k.id: k.roof_fraction for k in report.kernels}
    assert {m.kernel_id: m.at[1] for m in drawn.marks} == {
        m.kernel_id: pytest.approx(shares[m.kernel_id]) for m in drawn.marks
    }
    assert len(drawn.marks) > 1


def test_draws_no_shares_where_none_is_known(report: Report) -> None:
    kernels = {k.id: replace(k, roof_fraction=None) for k in report.kernels}
    assert draw_shares(report.rooflines[0], kernels, SIZES[0]) is None
