"""What moved over nights, and the outcomes of advice, on a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from advisor import wording
from advisor.tracking.records import Verdict

if TYPE_CHECKING:
    from advisor.reports.record.moved_groups import MovedGroup
    from advisor.reports.record.over_time import FactMove, MovedSeries, RunHistory
    from advisor.reports.record.records import Report
    from advisor.reports.write.paper import Paper

_BARS, _ASCII_BARS = "▁▂▃▄▅▆▇█", "_.-=#"


def write_moved(paper: Paper, report: Report) -> None:
    """Write the section of what moved, or the line that says from when there is one."""
    history = report.history
    if history is None:
        if report.first_night:
            paper.blank()
            paper.write(report.first_night)
        return
    # The page of a single night needs neither this nor a chart.
    from advisor.reports.record.moved_groups import moved_groups

    paper.heading(f"What moved in {wording.count(len(history.nights), 'night')}")
    groups = moved_groups(history)
    for group in groups[: history.limits.moved_rows]:
        _group(paper, group, history)
    if not groups:
        paper.write(history.quiet)
    more = sum(len(group.rows) for group in groups[history.limits.moved_rows :])
    if more:
        paper.write(f"{wording.fixed(more)} more: advisor history")


def _group(paper: Paper, group: MovedGroup, history: RunHistory) -> None:
    row = group.first
    head = "  ".join(filter(None, (f"{row.verdict} {group.change}", group.levels)))
    paper.write(f"{head}  {group.name}", indent=2, first=" ")
    spark = _spark(paper, row, history)
    paper.write(
        "  ".join(filter(None, (spark, f"since {group.when}", group.shown_state))), indent=4
    )
    for line in (group.members, group.certainty):
        if line:
            paper.write(line, indent=4)
    if group.cause:
        paper.write(f"Why: {group.cause}", indent=4)
    if len(group.rows) == 1:
        _numbers(paper, row, history)
    if group.commit:
        paper.write(f"Commit: {group.commit}", indent=4)
    for label, text in (
        ("With it changed", group.around if len(group.rows) == 1 else ""),
        ("Accepted", row.because or ""),
        ("Found since", "; ".join(rule.title for rule in row.came)),
        ("No longer found", "; ".join(rule.title for rule in row.gone)),
    ):
        if text:
            paper.write(f"{label}: {text}", indent=4)
    paper.blank()


def _spark(paper: Paper, row: MovedSeries, history: RunHistory) -> str:
    from advisor.reports.charts.nights import spark_text

    known = history.kernels.get(row.variant_id or "")
    bars = _ASCII_BARS if paper.ascii_only else _BARS
    return "" if known is None else spark_text([value for _, value in known.durations], bars)


def _numbers(paper: Paper, row: MovedSeries, history: RunHistory) -> None:
    """Write the factors that make up the change, and the facts that moved most."""
    labels = history.term_labels
    factors = [
        f"{labels.get(name, name)} {wording.signed_percent(math.expm1(value))}"
        for name, value in (row.terms or {}).items()
        if abs(value) >= history.limits.smallest_term
    ]
    if factors:
        paper.write(f"Made of: {', '.join(factors)} (factors multiply)", indent=4)
    if row.facts:
        paper.write(f"Moved with it: {', '.join(map(fact_words, row.facts))}", indent=4)


def fact_words(fact: FactMove) -> str:
    """Return a fact before and after."""
    before, after = (_value(value, fact.unit) for value in (fact.base, fact.head))
    return f"{fact.label} {before} → {after}"


def _value(value: float, unit: str) -> str:
    if unit == "s":
        return wording.seconds(value)
    if unit == "share":
        return wording.share(value)
    return wording.fact(value, unit)[0] if unit == "1" else wording.si(value, unit)


def write_outcomes(paper: Paper, report: Report) -> None:
    """Write predicted beside achieved of the advice that was decided."""
    history = report.history
    if history is None or not (history.outcomes or history.open_advice):
        return
    from advisor.reports.record.moved_groups import outcome_groups, outcome_words

    paper.heading("Did the advice work")
    for group in outcome_groups(history.outcomes):
        paper.write(f"{group.first.kernel}  {group.title}", indent=2, first=" ")
        if group.shared:
            paper.write(group.shared, indent=4)
        for each in group.outcomes:
            line = f"{each.outcome}: {each.title}, {outcome_words(each)}; {each.rule_id}"
            paper.write(line, indent=6, first="    -")
    if history.open_advice:
        paper.write(open_words(history))


def kernel_change(history: RunHistory | None, variant_id: str) -> str:
    """Return the change of a kernel in percent, with its sign; of one that stands still, 0."""
    if history is None:
        return ""
    known = history.kernels.get(variant_id)
    if known is None or known.verdict == Verdict.INSUFFICIENT:
        return "new" if known is None else "few"
    if known.verdict == Verdict.UNCHANGED:
        return "0"
    return wording.signed_percent(known.relative).removesuffix(f"{wording.NO_BREAK}%")


def open_words(history: RunHistory) -> str:
    """Return how much advice is still open."""
    return f"{wording.count(history.open_advice, 'piece')} of advice still open."
