"""Write a report as HTML, as Markdown with its picture, or as one SVG.

Templates get frozen records and only walk them: geometry comes from the chart modules, numbers get
their words from filters. HTML is escaped by Jinja; in Markdown each value is, on its way out.
"""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Collection, Sequence

from jinja2.sandbox import ImmutableSandboxedEnvironment

from advisor import wording
from advisor.records import dataclass
from advisor.reports.charts import bars
from advisor.reports.charts.drawing import SIZES, Drawing
from advisor.reports.charts.marks import MOST_MARKS
from advisor.reports.charts.plane import draw_plane
from advisor.reports.charts.roofline import draw_roofline
from advisor.reports.charts.shares import draw_shares
from advisor.reports.record.charted import Placement
from advisor.reports.record.kernel_records import KernelRecord, RuleResult, of_one_reason
from advisor.reports.record.layout import layout
from advisor.reports.record.lines import CostlyLine, costly_lines
from advisor.reports.record.records import Report
from advisor.reports.write.environment import environment
from advisor.reports.write.history_page import HistoryPage, history_page
from advisor.reports.write.links import Links

MOST_ROWS = 1000
MOST_DETAILS = 50
ROWS_AT_FIRST = 50
MOST_UNKNOWN = 12
MARKDOWN_ROWS = 20
MARKDOWN_LIMIT = 900_000
_PICTURE = "w3"
_LEAST_PRINTED = 0.01  # of the time


@dataclass(frozen=True, kw_only=True)
class Chart:
    """One tab of the roofline section: the same chart at every size.

    ``shares`` are its kernels by their share of the roof that binds each.
    """

    id: str
    label: str
    drawings: tuple[Drawing, ...]
    shares: tuple[Drawing, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ChartLevel:
    """A level of memory at which the charts can show kernels."""

    id: str
    label: str


@dataclass(frozen=True, kw_only=True)
class KernelBars:
    """The bars of one kernel's entry.

    It is printed where the kernel has an action or takes 1 % of the time.
    """

    kernel: KernelRecord
    summary: str
    resources: tuple[bars.Bar, ...]
    stalls: tuple[bars.Bar, ...]
    occupancy: tuple[bars.Bar, ...]
    results: tuple[RuleResult, ...]
    more_unknown: int
    not_knowable: int
    is_printed: bool


@dataclass(frozen=True, kw_only=True)
class KernelTableRow:
    """A row of the table of kernels: meters as shares of their tracks."""

    kernel: KernelRecord
    shape: str
    waste: float | None
    achievable: float | None


@dataclass(frozen=True, kw_only=True)
class ChartPlace:
    """Where a chart shows a kernel; ``precision`` is that of the chart's work."""

    precision: str
    placement: Placement


@dataclass(frozen=True, kw_only=True)
class ReadOut:
    """What stands beside the charts of a kernel.

    ``places`` are its marks; ``mixed`` tells that some of its work is in no mark's precision.
    """

    kernel: KernelRecord
    places: tuple[ChartPlace, ...]
    mixed: bool


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a template draws beside the report's own records."""

    where: bars.WhereTimeGoes | None
    gains: bars.GainAxis | None
    charts: tuple[Chart, ...]
    levels: tuple[ChartLevel, ...]
    charts_title: str
    zoomable: bool
    selected: str | None
    read_outs: tuple[ReadOut, ...]
    table: tuple[KernelTableRow, ...]
    first_rows: tuple[KernelTableRow, ...]
    more_rows: int
    hidden_rows: bool
    left_out: int
    details: tuple[KernelBars, ...]
    links: Links
    without_detail: int
    history: HistoryPage | None
    has_paths: bool
    lines: tuple[CostlyLine, ...]


def html(report: Report, code: dict[str, bytes] | None = None) -> str:
    """Return the report as one page that needs no network, no file beside it, and no script.

    ``code`` holds compiled templates; those that were not there are added.
    """
    writer = environment(code, autoescape=True)
    return writer.get_template("report.html.j2").render(
        report=report,
        page=page(report),
        script_digest=script_digest(writer),
        site=None,
    )


def script_digest(writer: ImmutableSandboxedEnvironment) -> str:
    """Return the hash of the page's script, by which the page allows it and no other."""
    script = writer.get_template("report.js").render()
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def svg(report: Report, code: dict[str, bytes] | None = None) -> str | None:
    """Return the first chart as an SVG file in the light palette; None where there is none.

    ``code`` as for ``html``.
    """
    drawn = charts(report, sizes=(_PICTURE,))
    if not drawn:
        return None
    template = environment(code, autoescape=True).get_template("roofline.svg.j2")
    return template.render(drawing=drawn[0].drawings[0])


def markdown(report: Report, picture: str | None, code: dict[str, bytes] | None = None) -> str:
    """Return the report as Markdown of at most 900 kB; ``picture`` is where the SVG will be.

    What is cut is the detail of the kernels with the least wasted time. ``code`` as for ``html``.
    """
    template = environment(code, autoescape=False).get_template("report.md.j2")
    details = MOST_DETAILS
    while True:
        text = template.render(report=report, page=page(report, details=details), picture=picture)
        if len(text.encode()) <= MARKDOWN_LIMIT or not details:
            return text
        details //= 2


def page(
    report: Report,
    *,
    details: int = MOST_DETAILS,
    most_rows: int = MOST_ROWS,
    links: Links | None = None,
    sizes: tuple[str, ...] | None = None,
) -> Page:
    """Return the geometry of a report; by default at all sizes, and kernels link to details."""
    kernels = report.kernels
    drawn = charts(report, sizes=sizes)
    marked = {m.kernel_id for chart in drawn for d in chart.drawings for m in d.marks}
    marked |= {each.kernel_id for chart in report.rooflines for each in chart.unplaced}
    marked |= {kernel.id for kernel in kernels[:MOST_MARKS]}
    longest = max((k.wasted_time for k in kernels if k.wasted_time), default=None)
    rows = tuple(_row(kernel, longest) for kernel in kernels[:most_rows])
    history = history_page(report)
    moved = frozenset() if history is None else history.moved_kernels
    shown = [k for place, k in enumerate(kernels) if place < details or (details and k.id in moved)]
    return Page(
        where=bars.where_time_goes(kernels),
        gains=bars.gain_axis(report.actions),
        charts=drawn,
        levels=_levels(report),
        charts_title="Roofline" if report.rooflines else "Utilisation",
        zoomable=bool(report.rooflines),
        selected=kernels[0].id if kernels else None,
        read_outs=_read_outs(report, marked),
        table=rows,
        first_rows=rows[:MARKDOWN_ROWS],
        more_rows=max(0, len(kernels) - MARKDOWN_ROWS),
        hidden_rows=len(kernels) > ROWS_AT_FIRST,
        left_out=max(0, len(kernels) - most_rows),
        details=tuple(kernel_bars(kernel) for kernel in shown),
        links=links
        or Links(
            kernels={kernel.id: f"#kernel-{kernel.id}" for kernel in shown},
            numbers={term.name: f"#n{term.place}" for term in report.glossary},
        ),
        without_detail=len(kernels) - len(shown),
        history=history,
        has_paths=any(chart.paths for chart in report.rooflines),
        lines=costly_lines(kernels),
    )


def _levels(report: Report) -> tuple[ChartLevel, ...]:
    """Return the levels of memory of the rooflines, that of the device first."""
    placements = [each for chart in report.rooflines for each in chart.placements]
    others = {at.level: at.label for each in placements for at in each.levels}
    if not placements:
        return ()
    first = ChartLevel(id="dram", label=layout().label("dram"))
    return (first, *(ChartLevel(id=name, label=label) for name, label in others.items()))


def _read_outs(report: Report, marked: Collection[str]) -> tuple[ReadOut, ...]:
    places: dict[str, list[ChartPlace]] = defaultdict(list)
    for chart in report.rooflines:
        for placement in chart.placements:
            places[placement.kernel_id].append(
                ChartPlace(precision=chart.label, placement=placement)
            )
    return tuple(
        ReadOut(
            kernel=kernel,
            places=tuple(places[kernel.id]),
            mixed=_is_mixed(kernel, places[kernel.id]),
        )
        for kernel in report.kernels[:MOST_ROWS]
        if kernel.id in marked
    )


def _is_mixed(kernel: KernelRecord, places: Sequence[ChartPlace]) -> bool:
    """Return whether no mark of a kernel is at what all of its work makes, as it is written."""
    shown = {wording.si(place.placement.y, "FLOP/s") for place in places}
    return bool(shown) and wording.si(kernel.performance, "FLOP/s") not in shown


def charts(report: Report, *, sizes: tuple[str, ...] | None = None) -> tuple[Chart, ...]:
    """Return every chart at every size, or at the named ones."""
    kernels = {kernel.id: kernel for kernel in report.kernels}
    wanted = [size for size in SIZES if sizes is None or size.name in sizes]
    selected = report.kernels[0].id if report.kernels else None
    found = [
        Chart(
            id=chart.id,
            label=chart.label,
            drawings=tuple(draw_roofline(chart, kernels, size, selected) for size in wanted),
            shares=tuple(
                drawn for size in wanted if (drawn := draw_shares(chart, kernels, size)) is not None
            ),
        )
        for chart in report.rooflines
    ]
    if report.plane is not None:
        planes = tuple(draw_plane(report.plane, kernels, size) for size in wanted)
        found.append(Chart(id="plane", label="Utilisation", drawings=planes))
    return tuple(found)


def _row(kernel: KernelRecord, longest: float | None) -> KernelTableRow:
    parts = [kernel.launch_shape]
    if kernel.registers is not None:
        parts.append(f"{wording.fixed(kernel.registers)} registers")
    if kernel.launch_count > 1:
        parts.append(wording.count(kernel.launch_count, "launch"))
    achievable, fraction = kernel.roof_fraction_achievable, kernel.roof_fraction
    return KernelTableRow(
        kernel=kernel,
        shape=", ".join(parts),
        waste=kernel.wasted_time / longest if longest and kernel.wasted_time is not None else None,
        achievable=fraction / achievable if fraction and achievable else None,
    )


def kernel_bars(kernel: KernelRecord) -> KernelBars:
    """Return the bars of one kernel."""
    by_outcome: dict[str, list[RuleResult]] = defaultdict(list)
    for result in kernel.results:
        by_outcome[result.outcome].append(result)
    unknown = by_outcome["unknown"]
    return KernelBars(
        kernel=kernel,
        summary=_summary(kernel),
        resources=bars.resource_bars(kernel.resources),
        stalls=bars.stall_bars(kernel.stalls) if kernel.stalls else (),
        occupancy=bars.occupancy_bars(kernel.occupancy) if kernel.occupancy else (),
        results=(
            *by_outcome["fires"],
            *of_one_reason(by_outcome["ruled out"]),
            *unknown[:MOST_UNKNOWN],
        ),
        more_unknown=max(0, len(unknown) - MOST_UNKNOWN),
        not_knowable=len(by_outcome["not knowable here"]),
        is_printed=bool(kernel.actions)
        or kernel.time_share is None
        or kernel.time_share >= _LEAST_PRINTED,
    )


def _summary(kernel: KernelRecord) -> str:
    """Return the line that stands for a closed entry."""
    parts = [kernel.limiter or "limiter undetermined"]
    if kernel.roof_fraction is not None:
        parts.append(f"{wording.percent(kernel.roof_fraction, 1)} of {kernel.roof_name}")
    if kernel.wasted_time is not None:
        parts.append(f"{kernel.at_most}{wording.seconds(kernel.wasted_time)} wasted")
    if kernel.actions:
        listed = ", ".join(str(number) for number in kernel.actions)
        parts.append(f"{'action' if len(kernel.actions) == 1 else 'actions'} {listed}")
    return ", ".join(parts)
