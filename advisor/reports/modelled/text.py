"""A model's answer on a terminal: tables, and a roofline in characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor import wording
from advisor.reports.modelled.characters import LETTERS, roofline
from advisor.reports.modelled.sentences import (
    crossing,
    device_sentence,
    model_facts,
    remark,
    step_sentence,
)
from advisor.reports.record.layout import layout
from advisor.reports.write.paper import Paper

if TYPE_CHECKING:
    from advisor.modelling.results import DeviceResult, Modelled, OperationResult, Sweep

_WIDTHS = (1, 18, -6, -8, -8, -8, 11, -8, -7, -7)
_HEAD = (
    "", "operation", "repeat", "FLOP", "bytes", "FLOP/B", "bound by", "time", "of peak", "of DRAM",
)  # fmt: skip
_NARROW = (0, 1, 5, 6, 7)  # the columns that a narrow terminal keeps
_WIDE = sum(map(abs, _WIDTHS)) + 2 * (len(_WIDTHS) - 1)
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
    letters = _letters(len(result.operations))
    lines = [_cells(*each) for each in zip(letters, result.operations, strict=True)]
    total = result.total
    flops, moved = wording.si(total.flops, "FLOP"), wording.si(total.bytes, "B")
    all_of_them = ("", "all of them", "", flops.removesuffix("FLOP"), moved, "", "")
    lines = [_HEAD, *lines, (*all_of_them, wording.seconds(total.time), "", "")]
    shown = range(len(_HEAD)) if paper.width >= _WIDE else _NARROW
    paper.table([[cells[i] for i in shown] for cells in lines], [_WIDTHS[i] for i in shown])
    paper.write(layout().notes["operations"])
    for letter, each in zip(letters, result.operations, strict=True):
        if note := remark(each):
            paper.write(f"{letter}: {note}")


def _cells(letter: str, each: OperationResult) -> tuple[str, ...]:
    return (
        letter,
        each.name,
        f"{each.repeat:.10g}",
        wording.si(each.flops, "FLOP").removesuffix("FLOP"),
        wording.si(each.bytes, "B"),
        "no bytes" if each.no_bytes else wording.significant(each.arithmetic_intensity),
        each.binding_resource,
        wording.seconds(each.time),
        wording.share(each.share_of_peak),
        wording.share(each.share_of_bandwidth),
    )


def _letters(count: int) -> list[str]:
    return [*LETTERS[:count], *[""] * (count - len(LETTERS))]


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
    lines = [
        ("rank", "step", "per result", "speed-up", "in all"),
        ("", "at first", wording.seconds(result.total.time_per_unit), "", ""),
    ]
    lines += [
        (
            str(step.rank),
            step.name,
            wording.seconds(step.time_per_unit),
            wording.ratio(step.speedup),
            wording.ratio(step.cumulative),
        )
        for step in result.steps
    ]
    paper.table(lines, _STEPS)
    paper.write(step_sentence(result))
    paper.write(layout().notes["steps"])


def _sweep(paper: Paper, sweep: Sweep) -> None:
    paper.blank()
    rows = sweep.rows if len(sweep.rows) <= _MOST_ROWS else sweep.rows[:: _every(len(sweep.rows))]
    lines = [
        (f"{row.value:.10g}", wording.seconds(row.time), wording.seconds(row.time_per_unit))
        for row in rows
    ]
    paper.table([(sweep.size, "a pass", "per result"), *lines], _SWEEP)
    if len(rows) < len(sweep.rows):
        paper.write(f"{len(sweep.rows):,} points in all; --format csv writes each")
    for each in sweep.crossings:
        paper.write(crossing(each, sweep.size))


def _every(count: int) -> int:
    return -(-count // _MOST_ROWS)
