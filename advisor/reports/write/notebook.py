"""Reports, comparisons and tables as notebooks show them: HTML without script and style sheet.

Styles stand at their elements, so none reaches another cell; the picture is an image, for the
styles of a drawing would.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from markupsafe import escape

from advisor import wording
from advisor.reports.escaping import escape_markdown, shorten
from advisor.reports.record.compared import RunComparison
from advisor.reports.record.records import Report
from advisor.reports.record.saved import likely_sentence
from advisor.reports.write.comparison import COLUMNS, cells, headline, worst_first
from advisor.tracking.records import Verdict

MOST_ROWS = 20
_NAME = 120  # characters of a cell
_CELL = "padding:2px 8px;text-align:left;vertical-align:top"
_KERNELS = ("kernel", "time", "of profiled time", "of profiled roof", "limiter", "wasted")

Cells = Sequence[str]


def report_html(report: Report) -> str:
    """Return verdict, actions and kernels."""
    lines = [f"<p><b>{_safe(report.run.title)}</b>, {_safe(report.device)}</p>"]
    lines += [f"<p>{_safe(line)}</p>" for line in _verdict(report)]
    lines += ["<ol>", *(f"<li>{_safe(line)}</li>" for line in _actions(report)), "</ol>"]
    lines.append(table_html(_KERNELS, list(_kernels(report)), len(report.kernels)))
    return f"<div>{''.join(lines)}</div>"


def report_markdown(report: Report) -> str:
    """Return the same as Markdown."""
    title = f"**{escape_markdown(report.run.title)}**, {escape_markdown(report.device)}"
    lines = [title, *map(escape_markdown, _verdict(report))]
    actions = [f"1. {escape_markdown(line)}" for line in _actions(report)]
    table = table_markdown(_KERNELS, list(_kernels(report)), len(report.kernels))
    return "\n\n".join([*lines, *(["\n".join(actions)] if actions else []), table]) + "\n"


def comparison_html(comparison: RunComparison) -> str:
    """Return the sentences before the table, and what moved."""
    lines = [f"<p>{_safe(line)}</p>" for line in headline(comparison)]
    rows = [row for row in worst_first(comparison.rows) if row.verdict != Verdict.UNCHANGED]
    table = table_html(COLUMNS, [cells(row) for row in rows[:MOST_ROWS]], len(rows))
    return f"<div>{''.join(lines)}{table}</div>"


def table_html(columns: Cells, rows: Iterable[Cells], count: int) -> str:
    """Return the rows as a table, and how many of ``count`` are not among them."""
    shown = list(rows)
    head = "".join(f'<th scope="col" style="{_CELL}">{_safe(name)}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{_safe(cell)}</td>' for cell in row) + "</tr>"
        for row in shown
    )
    more = f"<p>{count - len(shown):,} more</p>" if count > len(shown) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def table_markdown(columns: Cells, rows: Iterable[Cells], count: int) -> str:
    """Return the same as Markdown."""
    shown = list(rows)
    lines = [f"| {' | '.join(map(_cell, columns))} |", f"|{' --- |' * len(columns)}"]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in shown]
    more = f"\n\n{count - len(shown):,} more" if count > len(shown) else ""
    return "\n".join(lines) + more + "\n"


def picture_html(svg: str, about: str) -> str:
    """Return a drawing as an image."""
    data = b64encode(svg.encode()).decode("ascii")
    return f'<img alt="{_safe(about)}" src="data:image/svg+xml;base64,{data}">'


def shown_value(value: object) -> str:
    """Return a value of a table as text; numbers keep six digits."""
    if value is None:
        return wording.UNKNOWN
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    return str(value)


def _safe(text: str) -> str:
    return str(escape(wording.one_line(shorten(text, 20 * _NAME))))


def _cell(text: str) -> str:
    return escape_markdown(shorten(text, _NAME))


def _verdict(report: Report) -> Iterator[str]:
    yield report.verdict.sentence
    sentence = report.first_night if report.history is None else report.history.sentence
    if sentence:
        yield sentence


def _actions(report: Report) -> Iterator[str]:
    for action in report.actions:
        names = ", ".join(name.full_name for name in action.shown_kernels)
        gain = likely_sentence(action)
        yield f"{action.title} ({shorten(names, 2 * _NAME)}).{gain} {action.evidence}"


def _kernels(report: Report) -> Iterator[Cells]:
    for kernel in report.kernels[:MOST_ROWS]:
        yield (
            kernel.full_name,
            wording.seconds(kernel.duration),
            wording.share(kernel.time_share),
            wording.percent(kernel.roof_fraction, 1),
            kernel.limiter or "undetermined",
            wording.seconds(kernel.wasted_time),
        )
