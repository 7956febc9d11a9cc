"""The report on a terminal: the same sections in the same order, each useful if it is the last."""

from __future__ import annotations

from collections.abc import Sequence

from advisor import wording
from advisor.reports.charts.bars import Bar, occupancy_bars, resource_bars, stall_bars
from advisor.reports.record import saved
from advisor.reports.record.kernel_records import (
    KernelRecord,
    RuleResult,
    ShownFact,
    VendorFinding,
    of_one_reason,
)
from advisor.reports.record.records import Recommendation, Report
from advisor.reports.write.history_terminal import kernel_change, write_moved, write_outcomes
from advisor.reports.write.paper import Paper, cut, meter

MOST_ROWS = 20
MOST_UNKNOWN = 10
_WIDTHS = (-7, -7, -5, 14, -5, 10, -7, -8, 0)
_WIDE = 72
_PAIR = (0, -9, 8)
# What a narrow terminal leaves out: time, meter and intensity, by columns of the table. Where the
# change over nights is shown, it takes the place of the meter.
_FITS = (
    (104, (0, 1, 2, 3, 4, 5, 6, 8)),
    (72, (0, 2, 3, 4, 5, 8)),
    (56, (0, 2, 3, 4, 8)),
    (0, (0, 4, 8)),
)
_FITS_OVER_TIME = (
    (114, (0, 1, 2, 3, 4, 5, 6, 7, 8)),
    (72, (0, 2, 3, 4, 7, 8)),
    (56, (0, 2, 4, 7, 8)),
    (0, (0, 7, 8)),
)


def report_text(
    report: Report, *, width: int = 0, colour: bool = False, ascii_only: bool = False
) -> str:
    """Return the report for a terminal ``width`` columns wide (0: 80)."""
    paper = Paper(width=width, colour=colour, ascii_only=ascii_only)
    _verdict(paper, report)
    write_moved(paper, report)
    _actions(paper, report)
    write_outcomes(paper, report)
    _conditions(paper, report)
    _kernels(paper, report)
    _whole_run(paper, report)
    _provenance(paper, report)
    return paper.text()


def kernel_text(
    report: Report,
    kernels: Sequence[KernelRecord],
    *,
    width: int = 0,
    colour: bool = False,
    ascii_only: bool = False,
) -> str:
    """Return everything known about some kernels of a report."""
    paper = Paper(width=width, colour=colour, ascii_only=ascii_only)
    for kernel in kernels:
        paper.blank()
        _kernel_head(paper, report, kernel)
        _facts(paper, kernel)
        _bars(paper, kernel)
        _results(paper, kernel)
        _vendor(paper, report, kernel.vendor)
    _suppressed(paper, report)
    return paper.text()


def _suppressed(paper: Paper, report: Report) -> None:
    if report.suppressed is None:
        return
    paper.heading("Suppressed")
    for finding in report.suppressed.findings:
        until = f", until {finding.expires}" if finding.expires else ""
        paper.write(f"{finding.rule_id} for {finding.kernel}{until}: {finding.reason}")
    for sentence in report.suppressed.expired:
        paper.write(sentence)


def _verdict(paper: Paper, report: Report) -> None:
    paper.write(report.verdict.sentence)
    if report.history is not None:
        paper.write(report.history.sentence)
    paper.write(report.verdict.paragraph)
    paper.blank()
    figures = [f"{f.label} {f.value} {f.unit}".strip() for f in report.verdict.figures]
    paper.write(" · ".join(figure.replace(" ", wording.NO_BREAK) for figure in figures))
    simulated = ("simulated",) if report.run.simulated else ()
    paper.write(" · ".join((report.run.title, report.device, *report.run.ran, *simulated)))


def _actions(paper: Paper, report: Report) -> None:
    paper.heading("Do this first")
    for action in report.actions:
        _action(paper, action)
    if not report.actions:
        paper.write("No finding is large enough to act on.")
    if report.rejudged:
        paper.write(report.rejudged)
    if report.left_alone:
        paper.write(f"Without a step: {report.left_alone.sentence}.")
    if report.not_judged:
        paper.write(f"Not enough counters: {report.not_judged.sentence}.")
    if report.more_actions:
        paper.write(f"{report.more_findings}: advisor show KERNEL lists those of a kernel.")
    if report.suppressed:
        for sentence in report.suppressed.sentences:
            paper.write(sentence)
    if report.collect:
        _collect(paper, report)


def _action(paper: Paper, action: Recommendation) -> None:
    likely, between = saved.likely(action, 2), saved.between(action, 2)
    span = f"  ({between})" if between else ""
    likely = likely or "not estimated"
    paper.write(f"{likely}{span}  {action.title}", indent=4, first=f"{action.number:>2}")
    apart = any(kernel.told_apart for kernel in action.shown_kernels)
    names = ("; " if apart else ", ").join(kernel.full_name for kernel in action.shown_kernels)
    more = f" and {action.more_kernels} more" if action.more_kernels else ""
    paper.write(cut(names, 4 * paper.width) + more, indent=4)
    if action.gain_note:
        paper.write(action.gain_note, indent=4)
    paper.write(f"{action.evidence} {action.why}", indent=4)
    if action.instructions:
        paper.write(action.instructions.sentence, indent=4)
    for step in action.steps:
        paper.write(step, indent=6, first="    -")
    if action.verify:
        paper.write(f"Verify: {'; '.join(action.verify)}", indent=4)
    if action.caveats:
        paper.write(f"Caveat: {' '.join(action.caveats)}", indent=4)
    paper.write(f"{action.confidence_words}; {action.rule_id}", indent=4)
    paper.blank()


def _collect(paper: Paper, report: Report) -> None:
    collect = report.collect
    if collect is None:
        return
    if collect.rule_count:
        paper.write(
            f"Not evaluated: {wording.count(collect.rule_count, 'rule')} on "
            f"{wording.count(collect.kernel_count, 'kernel')} {collect.need} counters that this "
            "profile does not have."
        )
    if collect.command:
        if collect.printed_note:
            paper.write(collect.printed_note)
        paper.write(f"{collect.command_note}:")
        paper.command(collect.command)
    if collect.not_knowable_note:
        paper.write(collect.not_knowable_note)


def _conditions(paper: Paper, report: Report) -> None:
    paper.heading("Conditions")
    for condition in report.conditions:
        flag = "!" if condition.departs else " "
        note = f" ({condition.note})" if condition.note else ""
        paper.write(f"{condition.label}: {condition.value}{note}", indent=4, first=f" {flag}")


def _kernels(paper: Paper, report: Report) -> None:
    paper.heading("Kernels, by wasted time")
    unit = wording.time_unit(kernel.duration for kernel in report.kernels)
    fits = _FITS if report.history is None else _FITS_OVER_TIME
    chosen = next(columns for least, columns in fits if paper.width >= least)
    head = ["wasted", "time", "share", "limiter", "roof", "", "FLOP/B", "moved", "kernel"]
    units = [unit, unit, "%", "", "%", "", "DRAM", "%", ""]
    rows = [
        _row(paper, kernel, unit, kernel_change(report.history, kernel.id))
        for kernel in report.kernels[:MOST_ROWS]
    ]
    lines = [[cells[i] for i in chosen] for cells in (head, units, *rows)]
    paper.table(lines, [_WIDTHS[i] for i in chosen])
    more = len(report.kernels) - MOST_ROWS
    if more > 0:
        paper.write(f"{wording.fixed(more)} more")


def _whole_run(paper: Paper, report: Report) -> None:
    if not report.findings:
        return
    paper.heading("The run as a whole")
    for finding in report.findings:
        paper.write(f"{_saves(finding)}{finding.title}  {finding.rule_id}", indent=2)
        sentence = " ".join(filter(None, (finding.evidence, finding.step, finding.remark)))
        paper.write(sentence, indent=4)


def _saves(saving: saved.Saving) -> str:
    """Return what is saved and its range as the beginning of a line; nothing without a gain."""
    likely, between = saved.likely(saving, 2), saved.between(saving, 2)
    return f"{likely}{f' ({between})' if between else ''}  " if likely else ""


def _row(paper: Paper, kernel: KernelRecord, unit: str, change: str) -> list[str]:
    fraction = kernel.roof_fraction
    intensity = wording.significant(kernel.arithmetic_intensity)
    return [
        wording.in_unit(kernel.wasted_time, unit),
        wording.in_unit(kernel.duration, unit),
        _bare_percent(kernel.time_share),
        paper.limiter(kernel.limiter),
        _bare_percent(fraction),
        meter(fraction),
        "no FLOP" if kernel.has_flops is False else intensity,
        change,
        _name_and_shape(kernel),
    ]


def _name_and_shape(kernel: KernelRecord) -> str:
    """Return the name, which is cut where it is too long, and on a line below what tells it apart.

    No-break spaces keep each in one piece.
    """
    parts = (kernel.short_name, kernel.told_apart)
    return ", ".join(part.replace(" ", wording.NO_BREAK) for part in parts if part)


def _bare_percent(share: float | None) -> str:
    return wording.UNKNOWN if share is None else wording.fixed(100 * share, 1)


def _provenance(paper: Paper, report: Report) -> None:
    paper.blank()
    run, again = report.run, report.provenance
    paper.write(
        f"run {run.run_id} · {run.profiled_by} · advisor "
        f"{again.advisor_version}, {again.rules} · percentages are of profiled kernel time"
    )


def _kernel_head(paper: Paper, report: Report, kernel: KernelRecord) -> None:
    simulated = ", simulated" if report.run.simulated else ""
    paper.write(f"{kernel.short_name}  [{kernel.id}{simulated}]")
    if kernel.name != kernel.short_name:
        paper.write(kernel.name)
    launches = wording.count(kernel.launch_count, "launch")
    shape = [kernel.launch_shape, "1 launch, no spread" if kernel.launch_count == 1 else launches]
    if kernel.launches_excluded:
        shape.append(f"{wording.fixed(kernel.launches_excluded)} not in the totals")
    paper.write(" · ".join(shape))
    head = [f"{paper.limiter(kernel.limiter)} ({kernel.limiter_note})"]
    if kernel.roof_fraction is not None:
        head.append(f"{wording.percent(kernel.roof_fraction, 1)} of {kernel.roof_name}")
    head.append(
        f"{kernel.at_most}{wording.seconds(kernel.wasted_time)} wasted"
        f" of {wording.seconds(kernel.duration)}"
    )
    paper.write(" · ".join(head))
    for line in (kernel.remark, *kernel.flags):
        if line:
            paper.write(line)


def _facts(paper: Paper, kernel: KernelRecord) -> None:
    paper.heading("Facts")
    if kernel.sums:
        paper.write(kernel.sums)
    facts = [fact for group in kernel.facts for fact in group.facts]
    label = max((len(fact.label) for fact in facts), default=10) + 2
    wide = paper.width >= _WIDE
    for fact in facts:
        if isinstance(fact.value, str):
            paper.row((fact.label, fact.value), (min(label, 34, paper.width // 2), 0))
            continue
        cells = _fact(fact)
        paper.row(cells if wide else cells[:3], (min(label, 34), -11, 8, 0) if wide else _PAIR)


def _fact(fact: ShownFact) -> tuple[str, str, str, str]:
    number, unit = wording.fact(fact.value, fact.unit)
    return fact.label, number, unit, fact.kind


def _bars(paper: Paper, kernel: KernelRecord) -> None:
    if kernel.resources:
        of = f"of {wording.seconds(kernel.duration, 4)} taken"
        _bar_list(paper, f"Time at the roof, {of}", resource_bars(kernel.resources))
    if kernel.occupancy:
        shown = kernel.occupancy
        achieved = f"achieved {wording.percent(shown.achieved, 1)}"
        heading = f"Occupancy: theoretical {wording.percent(shown.theoretical, 1)}, {achieved}"
        _bar_list(paper, heading, occupancy_bars(shown))
    if kernel.stalls:
        cycles = f"{wording.significant(kernel.stalls.latency)} cycles"
        heading = f"Warp stalls, % of {cycles} between two instructions"
        _bar_list(paper, heading, stall_bars(kernel.stalls))


def _bar_list(paper: Paper, heading: str, bars: Sequence[Bar]) -> None:
    paper.heading(heading)
    for bar in bars:
        name = ("* " if bar.strong else "  ") + bar.label
        value = " ".join(filter(None, (bar.value, bar.note)))
        if paper.width >= _WIDE:
            paper.row((name, meter(bar.width), value, bar.about), (24, 10, -16, 0))
        else:
            paper.row((name, value), (0, -14))


def _results(paper: Paper, kernel: KernelRecord) -> None:
    for outcome, heading in (
        ("fires", "Findings, each with its gain if followed alone"),
        ("ruled out", "Not recommended here, and why"),
        ("unknown", "Unknown whether it applies: counters not collected"),
        ("not knowable here", "Not knowable here: the profiler cannot measure it"),
    ):
        results = [result for result in kernel.results if result.outcome == outcome]
        if not results:
            continue
        paper.heading(heading)
        is_open = outcome in ("unknown", "not knowable here")
        for result in results[:MOST_UNKNOWN] if is_open else of_one_reason(results):
            _result(paper, result)
        more = len(results) - MOST_UNKNOWN
        if is_open and more > 0:
            paper.write(f"{wording.fixed(more)} more")


def _result(paper: Paper, result: RuleResult) -> None:
    paper.write(f"{_saves(result)}{result.title}  {result.rule_id}", indent=2)
    if result.text:
        paper.write(result.text, indent=4)
    if result.instructions:
        paper.write(result.instructions.sentence, indent=4)
    for line in result.not_checked:
        paper.write(f"Not checked: {line}", indent=4)


def _vendor(paper: Paper, report: Report, findings: Sequence[VendorFinding]) -> None:
    if not findings:
        return
    paper.heading(f"Vendor's findings, {report.run.profiler}")
    for finding in findings:
        estimate = ""
        if finding.estimate is not None:
            estimate = f"  estimate {wording.share(finding.estimate)}, {finding.scope}"
        named = "  ".join(filter(None, (finding.title, finding.source)))
        kind = f"{finding.severity}: {named}" if named else finding.severity
        paper.write(f"{kind}{estimate}", indent=2)
        paper.write(finding.text, indent=4)
