"""A model's answer on a terminal: tables, and a roofline in characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.reports import numbers
from advisor.reports.modelled.characters import LETTERS, roofline
from advisor.reports.modelled.sentences import crossing, device_sentence, model_facts, step_sentence
from advisor.reports.write.paper import Paper

if TYPE_CHECKING:
    from advisor.modelling.results import DeviceResult, Modelled, OperationResult, Sweep

_WIDTHS = (1, 22, -7, -9, -9, -9, 15, -6)
_HEAD = ("", "operation", "repeat", "FLOP", "bytes", "FLOP/B", "bound by", "of it")
_TIME = (-9,)
_STEPS = (-4, 34, -10, -8, -10)
_SWEEP = (-12, -10, -13)
_MOST_ROWS = 24


def model_text(found: Modelled, *, width: int = 0, ascii_only: bool = False) -> str:
    """Return the answer for a terminal ``width`` columns wide (0: 100)."""
    paper = Paper(width=width or 100, ascii_only=ascii_only)
    if found.title:
        paper.write(found.title)
    for line in model_facts(found):
        paper.write(line)
    for result in found.results:
        _device(paper, result)
    return paper.text()


def _device(paper: Paper, result: DeviceResult) -> None:
    paper.heading(f"{result.machine.name}, {result.roof} roof")
    paper.write(device_sentence(result))
    paper.blank()
    _operations(paper, result)
    _roofline(paper, result)
    _steps(paper, result)
    if result.sweep is not None:
        _sweep(paper, result.sweep)


def _operations(paper: Paper, result: DeviceResult) -> None:
    widths = (*_WIDTHS[:-1], *_TIME, _WIDTHS[-1], 0)
    paper.row((*_HEAD[:-1], "time", _HEAD[-1], ""), widths)
    for letter, each in zip(_letters(len(result.operations)), result.operations, strict=True):
        share = each.share_of_peak if each.bound == "compute" else each.share_of_bandwidth
        paper.row(
            (
                letter,
                each.name,
                numbers.digits(each.repeat),
                numbers.si(each.flops, "FLOP").removesuffix("FLOP"),
                numbers.si(each.bytes, "B"),
                "no bytes" if each.no_bytes else numbers.digits(each.arithmetic_intensity),
                each.binding_resource,
                numbers.seconds(each.time),
                numbers.share(share),
                _remark(each),
            ),
            widths,
        )
    total = result.total
    paper.row(
        (
            "", "all of them", "", numbers.si(total.flops, "FLOP").removesuffix("FLOP"),
            numbers.si(total.bytes, "B"), "", "", numbers.seconds(total.time), "", "",
        ),
        widths,
    )  # fmt: skip


def _letters(count: int) -> list[str]:
    return [*LETTERS[:count], *[""] * (count - len(LETTERS))]


def _remark(each: OperationResult) -> str:
    """Return what must be said of a kernel's numbers."""
    parts = []
    if each.modelled:
        parts.append("modelled by a compiler")
    if each.above_dram_roof:
        parts.append("modelled: above the DRAM roof")
    if each.achieved is not None:
        parts.append(f"taken to reach {numbers.si(each.achieved, 'FLOP/s')}")
    if each.costs is not None:
        intensity = numbers.si(each.costs.arithmetic_intensity, "FLOP/B")
        parts.append(f"its compiler models {intensity}")
    return "; ".join(parts)


def _roofline(paper: Paper, result: DeviceResult) -> None:
    bandwidth = result.bandwidth * (1 - result.collectives)
    peaks = [
        each.ridge_point * result.bandwidth
        for each in result.operations
        if each.ridge_point is not None
    ]
    if not peaks:
        return
    peak = max(peaks) * (1 - result.collectives)
    lines = roofline(result.operations, bandwidth, peak, width=paper.width)
    if lines:
        paper.blank()
        paper.lines += lines


def _steps(paper: Paper, result: DeviceResult) -> None:
    if not result.steps:
        return
    paper.blank()
    paper.row(("rank", "step", "time each", "faster", "all so far"), _STEPS)
    paper.row(("", "at first", numbers.seconds(result.total.time_per_unit), "", ""), _STEPS)
    for step in result.steps:
        paper.row(
            (
                str(step.rank),
                step.name,
                numbers.seconds(step.time_per_unit),
                numbers.ratio(step.speedup),
                numbers.ratio(step.cumulative),
            ),
            _STEPS,
        )
    paper.write(step_sentence(result))


def _sweep(paper: Paper, sweep: Sweep) -> None:
    paper.blank()
    paper.row((sweep.size, "time", "time each"), _SWEEP)
    rows = sweep.rows if len(sweep.rows) <= _MOST_ROWS else sweep.rows[:: _every(len(sweep.rows))]
    for row in rows:
        cells = (f"{row.value:.10g}", numbers.seconds(row.time), numbers.seconds(row.time_per_unit))
        paper.row(cells, _SWEEP)
    if len(rows) < len(sweep.rows):
        paper.write(f"{len(sweep.rows):,} points in all; --format csv writes each")
    for each in sweep.crossings:
        paper.write(crossing(each, sweep.size))


def _every(count: int) -> int:
    return -(-count // _MOST_ROWS)
