"""Answers of what-if as one HTML page that opens offline, and as Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from advisor.records import dataclass
from advisor.reports.charts.scales import log_range, log_ticks
from advisor.reports.modelled.charts import Decade
from advisor.reports.modelled.whatif import bound_by, factors, faster, headline, notes, summary
from advisor.reports.write.environment import environment
from advisor.reports.write.render import script_digest

if TYPE_CHECKING:
    from advisor.modelling.prospects import Outlook, Prospect, WhatIf

_MOST = 5  # scenarios of many whose kernels are shown


@dataclass(frozen=True, kw_only=True)
class RangeBar:
    """A range on a track, as shares of it: from low to high, with marks at likely and measured."""

    left: float
    width: float
    likely: float
    measured: float


@dataclass(frozen=True, kw_only=True)
class ProspectRow:
    """A kernel in a scenario, and its range; no bar where there is no prediction."""

    kernel: Prospect
    bar: RangeBar | None
    resource: str
    factors: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class OutlookPanel:
    """A scenario's part of the page."""

    id: str
    outlook: Outlook
    sentence: str
    rows: tuple[ProspectRow, ...]
    notes: tuple[str, ...]
    has_gaps: bool


@dataclass(frozen=True, kw_only=True)
class RankedDevice:
    """A line of the ranking."""

    outlook: Outlook
    bar: RangeBar | None
    faster: str


def html(found: WhatIf) -> str:
    """Return the answer as one page that needs no network, no file beside it, and no script."""
    writer = environment(None, autoescape=True)
    return writer.get_template("whatif.html.j2").render(
        **_content(found), script_digest=script_digest(writer)
    )


def markdown(found: WhatIf) -> str:
    """Return the answer as Markdown: tables, no pictures."""
    writer = environment(None, autoescape=False)
    return writer.get_template("whatif.md.j2").render(**_content(found))


def _content(found: WhatIf) -> dict[str, object]:
    ranked = len(found.scenarios) > 1 and found.scenarios[0].rank is not None
    shown = found.scenarios[:_MOST] if ranked else found.scenarios
    axis = _axis(found)
    return {
        "found": found,
        "headline": headline(found),
        "places": _places(found, axis) if ranked else (),
        "ticks": axis.ticks,
        "panels": tuple(_panel(each, number) for number, each in enumerate(shown, start=1)),
        "left_out": len(found.scenarios) - len(shown),
    }


@dataclass(frozen=True, kw_only=True)
class _RelativeAxis:
    """A logarithmic axis of times per time measured, from log₁₀ ``low`` to ``high``."""

    low: float
    high: float

    def at(self, ratio: float) -> float:
        """Return the place of a ratio as a share of the track."""
        return (math.log10(ratio) - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> tuple[Decade, ...]:
        """Return the places that have a label."""
        return tuple(
            Decade(at=(tick.at - self.low) / (self.high - self.low), label=f"{tick.label}×")
            for tick in log_ticks(self.low, self.high)
            if tick.label
        )


def _axis(found: WhatIf) -> _RelativeAxis:
    """Return the axis that holds every range of the ranking, and the measured time."""
    ratios = [each for outlook in found.scenarios for each in _ratios(outlook) or ()]
    low, high = log_range([1.0, *ratios])
    return _RelativeAxis(low=low, high=high)


def _places(found: WhatIf, axis: _RelativeAxis) -> tuple[RankedDevice, ...]:
    """Return the ranking: times per time measured, so that those that cover less compare."""
    return tuple(
        RankedDevice(outlook=each, bar=_relative(each, axis), faster=faster(each.total.speedup))
        for each in found.scenarios
    )


def _ratios(outlook: Outlook) -> tuple[float, float, float] | None:
    """Return the least, likely and most time per time measured; None where one has no logarithm."""
    total = outlook.total
    if not (total.low and total.likely and total.high and total.measured_covered):
        return None
    covered = total.measured_covered
    return total.low / covered, total.likely / covered, total.high / covered


def _relative(outlook: Outlook, axis: _RelativeAxis) -> RangeBar | None:
    ratios = _ratios(outlook)
    if ratios is None:
        return None
    low, likely, high = map(axis.at, ratios)
    return RangeBar(left=low, width=high - low, likely=likely, measured=axis.at(1.0))


def _bar(low: float, likely: float, high: float, measured: float, most: float) -> RangeBar:
    def at(value: float) -> float:
        return min(value / most, 1.0)

    return RangeBar(
        left=at(low), width=at(high) - at(low), likely=at(likely), measured=at(measured)
    )


def _panel(outlook: Outlook, number: int) -> OutlookPanel:
    times = [
        each
        for kernel in outlook.kernels
        for each in (kernel.predicted.high, kernel.predicted.measured)
        if each is not None
    ]
    most = max(times, default=1.0)
    return OutlookPanel(
        id=f"s{number}",
        outlook=outlook,
        sentence=summary(outlook),
        rows=tuple(_row(each, most) for each in outlook.kernels),
        notes=tuple(notes(outlook)),
        has_gaps=any(each.gap is not None for each in outlook.kernels),
    )


def _row(kernel: Prospect, most: float) -> ProspectRow:
    each = kernel.predicted
    bar = None
    if each.low is not None and each.likely is not None and each.high is not None:
        bar = _bar(each.low, each.likely, each.high, each.measured or 0.0, most)
    return ProspectRow(
        kernel=kernel,
        bar=bar,
        resource=bound_by(each.binding_resource),
        factors=() if kernel.gap is None else factors(kernel.gap),
    )
