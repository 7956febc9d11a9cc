"""GitHub: annotations as workflow commands, and a summary for the page of the job.

Source: GitHub, "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from advisor.escaping import workflow_property, workflow_text
from advisor.reports.escaping import shorten
from advisor.reports.formats.comment import summary
from advisor.reports.formats.texts import about_finding, about_move
from advisor.reports.record.format_settings import FormatSettings
from advisor.reports.record.published import Published, PublishedFinding, PublishedMove
from advisor.tracking.records import Verdict


def workflow_commands(published: Published, settings: FormatSettings) -> str:
    """Return a line for each finding and change, so many of a kind, the worst first."""
    words = settings.severities["github"]
    counts: Counter[str] = Counter()
    lines = []
    for each in _worst_first(published):
        word = words[each.severity]
        counts[word] += 1
        if counts[word] <= settings.limits.annotations:
            lines.append(_line(each, word, settings))
    return "".join(f"{line}\n" for line in lines)


def job_summary(published: Published, settings: FormatSettings, held: int) -> str:
    """Return what is added to a summary that holds so many bytes; nothing where it is full."""
    return summary(published, settings, settings.limits.summary - held)


def _worst_first(published: Published) -> Iterator[PublishedMove | PublishedFinding]:
    """Yield what became slower, then findings, then what else moved."""
    moves = published.open_moves
    yield from (move for move in moves if move.verdict == Verdict.REGRESSED)
    yield from published.shown_findings
    yield from (move for move in moves if move.verdict != Verdict.REGRESSED)


def _line(
    each: PublishedFinding | PublishedMove,
    word: str,
    settings: FormatSettings,
) -> str:
    limits = settings.limits
    if isinstance(each, PublishedMove):
        title, message = settings.history[each.verdict].title, about_move(each, limits.message)
    else:
        title, message = each.title, about_finding(each, limits.message)
    where = []
    if each.place.line is not None:  # of no use without a source
        where = [f"file={workflow_property(each.place.path)}", f"line={each.place.line}"]
    where.append(f"title={workflow_property(shorten(f'{title} ({each.rule_id})', limits.name))}")
    return f"::{word} {','.join(where)}::{workflow_text(message)}"
