"""Two runs side by side as JSON, text and Markdown."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from advisor.commands import program
from advisor.database.read import StoredRun
from advisor.reports.escaping import escape_markdown
from advisor.reports.record.compared import (
    GONE,
    NEW,
    ComparedKernel,
    ComparedSeries,
    Differs,
    RunComparison,
)
from advisor.reports.record.layout import layout
from advisor.tracking.attribution import Terms
from advisor.tracking.records import Verdict
from advisor.wording import chance, one_line, percent, seconds, significant

SCHEMA_VERSION = 1
ORDER = (
    Verdict.REGRESSED,
    Verdict.ENVIRONMENT,
    Verdict.INCONCLUSIVE,
    Verdict.IMPROVED,
    Verdict.INSUFFICIENT,
    NEW,
    GONE,
    Verdict.UNCHANGED,
)
COLUMNS = (
    "verdict", "kernel", "before", "after", "change", "p-value", "noise", "least change",
    "main part",
)  # fmt: skip
_DEFAULT_WIDTH = 100
_CAUSES = 3  # shown for one series, each of another mechanism


def as_json(comparison: RunComparison) -> dict[str, object]:
    """Return plain values in stored units: times in s, changes as ratios, unknown as None."""
    machine = comparison.machine
    return {
        "schema_version": SCHEMA_VERSION,
        "base": _run(comparison.base),
        "head": _run(comparison.head),
        "environment": [_differs(each) for each in comparison.environment],
        "around": [_differs(each) for each in comparison.around],
        "machine": None
        if machine is None
        else {
            "relative": math.expm1(machine.effect),
            "moved": machine.moved,
            "series": machine.series,
        },
        "rows": [_row(each) for each in comparison.rows],
        "total": {
            "base": comparison.total_base,
            "head": comparison.total_head,
            "relative": comparison.relative,
        },
    }


def _run(run: StoredRun) -> dict[str, object]:
    return {"run": run.run_id, "name": run.name, "label": run.label, "commit": run.commit}


def _differs(each: Differs) -> dict[str, object]:
    return {"name": each.what, "before": each.before, "after": each.after}


def _row(each: ComparedSeries) -> dict[str, object]:
    return {
        "series": each.series,
        "kernel": each.kernel,
        "verdict": str(each.verdict),
        "base": _side(each.base),
        "head": _side(each.head),
        "relative": each.relative,
        "p_value": each.p_value,
        "noise": each.noise,
        "needed": each.needed,
        "of_medians": each.of_medians,
        "between_levels": each.between_levels,
        "terms": _terms(each.terms),
        "cause": each.cause,
        "causes": [
            {"rule": one.rule, "severity": one.severity, "term": one.mechanism, "text": one.text}
            for one in each.causes
        ],
        "moved": [
            {"fact": one.fact, "before": one.before, "after": one.after} for one in each.moved
        ],
        "launch_shape_changed": each.shape_changed,
        "accepted": None
        if each.accepted is None
        else {"run": each.accepted.run_id, "because": each.accepted.because},
    }


def _side(kernel: ComparedKernel | None) -> dict[str, object] | None:
    if kernel is None:
        return None
    return {
        "variant": kernel.variant_id,
        "launch_shape": kernel.shape,
        "launches": kernel.launches,
        "duration": kernel.total,
    }


def _terms(terms: Terms | None) -> dict[str, object] | None:
    if terms is None:
        return None
    return {
        **terms.parts,
        "total": terms.total,
        "binding_before": terms.binding,
        "binding_after": terms.binding_after,
        "resources": list(terms.resources),
    }


def worst_first(rows: Sequence[ComparedSeries]) -> list[ComparedSeries]:
    """Return rows by verdict, in each what takes most time more first."""
    order: dict[str, int] = {str(word): place for place, word in enumerate(ORDER)}
    return sorted(rows, key=lambda row: (order[str(row.verdict)], -abs(row.lost), row.kernel))


def cells(row: ComparedSeries) -> tuple[str, ...]:
    """Return a row of the table, under ``COLUMNS``."""
    return (
        str(row.verdict),
        one_line(row.kernel),
        "" if row.base is None else seconds(row.base.total),
        "" if row.head is None else seconds(row.head.total),
        signed(row.relative),
        "" if row.p_value is None else chance(row.p_value),
        "" if row.noise is None else percent(row.noise, 1),
        "" if row.needed is None else percent(row.needed, 1),
        mostly(row.terms) if row.verdict != Verdict.UNCHANGED else "",
    )


def columns_note(rows: Sequence[ComparedSeries], heads: str = "") -> str:
    """Return what the columns mean that have a value in some row; empty where none needs it.

    Those that the line ``heads`` lacks are left out, if there is one.
    """
    notes = layout().notes
    filled = zip(COLUMNS, zip(*map(cells, rows), strict=True), strict=True)
    shown = [name for name, column in filled if any(column) and name in (heads or name)]
    known = [notes[name] for name in shown if name in notes]
    return f"{'; '.join(known)}." if known else ""


def signed(relative: float | None) -> str:
    """Return a change with its sign, such as +4.9 %."""
    if relative is None:
        return ""
    shown = percent(relative, 1)
    return f"+{shown}" if relative > 0 and shown[0].isdigit() else shown


def mostly(terms: Terms | None) -> str:
    """Return the largest term and what it does to the time, such as ``work +4.9 %``."""
    if terms is None:
        return ""
    name, value = max(terms.parts.items(), key=lambda each: abs(each[1]))
    return f"{name} {signed(math.expm1(value))}" if value else ""


def headline(comparison: RunComparison) -> Iterator[str]:
    """Yield the lines before the table: runs, counts, total, machine, environment."""
    base, head = comparison.base, comparison.head
    counts = Counter(str(row.verdict) for row in comparison.rows)
    counted = ", ".join(f"{counts[str(word)]:,} {word}" for word in ORDER if counts[str(word)])
    yield f"{_named(base)} → {_named(head)}: {counted or 'no kernels'}."
    total = (seconds(comparison.total_base), seconds(comparison.total_head))
    if comparison.relative is not None:
        yield f"Common series take {total[0]} → {total[1]} ({signed(comparison.relative)})."
    if comparison.machine is not None:
        moved = f"{comparison.machine.moved:,} of {comparison.machine.series:,}"
        shift = signed(math.expm1(comparison.machine.effect))
        yield f"The whole machine moved: {moved} series by about {shift}. That is one finding."
    differing = (*comparison.environment, *comparison.around)
    if differing:
        listed = (f"{each.called} {each.before} → {each.after}" for each in differing)
        yield f"Different around the kernels: {one_line(', '.join(listed))}."
    for row in comparison.rows:
        if row.accepted is not None:
            since = f"run {row.accepted.run_id}, {row.accepted.because}"
            line = f"{row.kernel} ({signed(row.relative)}) is judged by the level accepted"
            yield one_line(f"{line} since: {since}.")


def _named(run: StoredRun) -> str:
    name = run.label or run.name
    return f"{run.run_id} ({one_line(name)})" if name else run.run_id


def renamed(rows: Sequence[ComparedSeries], database: str) -> Iterator[str]:
    """Yield the commands that join a series that is gone with the one new one of its name.

    Where just one is gone and one is new, they may be one kernel under two names.
    """
    begins = program(database)
    gone, new = (
        [row for row in rows if row.verdict == word and row.kernel] for word in (GONE, NEW)
    )
    is_pair = len(gone) == len(new) == 1
    for row in gone:
        alike = [each.series for each in new if is_pair or each.kernel == row.kernel]
        if len(alike) == 1 and sum(each.kernel == row.kernel for each in gone) == 1:
            yield f"{begins} series link {row.series} {alike[0]}  ({one_line(row.kernel)})"


def reasons(row: ComparedSeries) -> Iterator[str]:
    """Yield what is known of why a series moved, a sentence each."""
    for side, kernel in (("base", row.base), ("head", row.head)):
        if kernel is not None and kernel.total is None:
            yield f"the {side} was not measured: no launch of it has a time"
    if row.shape_changed and row.base is not None and row.head is not None:
        yield f"launch shape changed: {row.base.shape} → {row.head.shape}"
    if _is_decided_by_levels(row):
        whose = ", which the p-value is about" if row.p_value is not None else ""
        yield f"the nights around both runs{whose}: {signed(row.between_levels)}"
    if row.rests_on_medians:
        yield f"by the median launch, which the verdict rests on: {signed(row.of_medians)}"
    likeliest = {cause.mechanism: cause for cause in reversed(row.causes)}
    for cause in [each for each in row.causes if likeliest[each.mechanism] is each][:_CAUSES]:
        yield one_line(cause.text)
    if row.terms is not None:
        parts = (
            f"{name} {signed(math.expm1(value))}"
            for name, value in row.terms.parts.items()
            if abs(value) >= 5e-4
        )
        terms = ", ".join(parts)
        if terms:
            yield f"time changed by: {terms} (minus is faster; factors multiply)"
    if not row.causes and row.moved:
        facts = (f"{one.label} ×{significant(one.after / one.before)}" for one in row.moved)
        yield f"moved most: {', '.join(facts)}"


def _is_decided_by_levels(row: ComparedSeries) -> bool:
    """Return whether the levels of both nights say something else than the two results."""
    if row.between_levels is None or row.relative is None or row.noise is None:
        return False
    return abs(row.between_levels - row.relative) > row.noise


def moved_rows(comparison: RunComparison) -> list[ComparedSeries]:
    """Return the rows with something to say, worst first."""
    quiet = (Verdict.UNCHANGED, NEW, GONE)
    return [
        row
        for row in worst_first(comparison.rows)
        if row.verdict not in quiet or row.rests_on_medians
    ]


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return lines of at most ``width`` columns, 0 for the default."""
    return textwrap.wrap(
        text, width or _DEFAULT_WIDTH, subsequent_indent=indent, break_on_hyphens=False
    )


def markdown(comparison: RunComparison) -> str:
    """Return the comparison as Markdown, for the summary of a job or a comment."""
    lines = [escape_markdown(line) + "  " for line in headline(comparison)]
    lines += ["", f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}"]
    shown = [row for row in worst_first(comparison.rows) if row.verdict != Verdict.UNCHANGED]
    lines += [f"| {' | '.join(map(escape_markdown, cells(row)))} |" for row in shown]
    if note := columns_note(shown):
        lines += ["", note]
    for row in moved_rows(comparison):
        lines += ["", f"**{escape_markdown(row.kernel)}**: {row.verdict}", ""]
        lines += [f"- {escape_markdown(reason)}" for reason in reasons(row)]
    return "\n".join(lines) + "\n"
