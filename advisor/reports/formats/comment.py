"""Markdown for a comment, and for the summary of a job: what moved, what trips, what to do first.

The first line of a comment tells it from others, so that a job finds it again and updates it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from advisor.database.ids import key_id
from advisor.reports.escaping import code_span, escape_markdown, shorten
from advisor.reports.record.format_settings import FormatSettings
from advisor.reports.record.published import Published, PublishedAction, PublishedMove
from advisor.reports.record.saved import likely_sentence
from advisor.reports.write.gate import verdict
from advisor.tracking.records import Verdict
from advisor.wording import count

T = TypeVar("T")


def comment(published: Published, settings: FormatSettings) -> str:
    """Return the comment, its mark first; it is shorter than what a site takes."""
    marked = f"{mark(published)}\n"
    return marked + summary(published, settings, settings.limits.comment - len(marked))


def mark(published: Published) -> str:
    """Return the line that is the same for every run of one configuration and device."""
    key = key_id("comment", published.configuration, published.device)
    return f"<!-- advisor-report: {key} -->"


def summary(published: Published, settings: FormatSettings, most: int) -> str:
    """Return the same without the mark, in at most ``most`` bytes; less important parts go."""
    limits = settings.limits
    for rows in (limits.comment_rows, limits.comment_rows // 2, 1):
        text = "\n".join(_lines(published, settings, rows)) + "\n"
        if len(text.encode()) <= most:
            return text
    return ""


def _lines(published: Published, settings: FormatSettings, rows: int) -> Iterator[str]:
    limit = settings.limits.message
    title = escape_markdown(shorten(published.title, settings.limits.name))
    simulated = " (simulated)" if published.simulated else ""
    where = escape_markdown(", ".join((published.device, published.configuration, *published.ran)))
    yield f"**{title}**{simulated}, {where}, run `{published.run_id}`"
    yield ""
    if published.gate is not None:
        yield f"{escape_markdown(verdict(published.gate))}\n"
    if published.moved_sentence:
        yield f"{escape_markdown(shorten(published.moved_sentence, limit))}\n"
    yield escape_markdown(shorten(published.sentence, limit))
    moved = [move for move in published.open_moves if move.verdict != Verdict.ENVIRONMENT]
    yield from _part("Moved", moved, rows, lambda move: _move(move, settings))
    steps = _stepped(published)
    yield from _part("Environment", steps, rows, lambda step: _step(step, settings))
    yield from _part("Failed", _tripped(published), rows, lambda each: _looked(each, settings))
    yield from _part("What to do", published.actions, rows, lambda each: _action(each, settings))
    yield ""
    yield f"The whole report: {code_span(shorten(published.report_command, limit))}"


def _part(title: str, entries: Sequence[T], most: int, line: Callable[[T], str]) -> Iterator[str]:
    if not entries:
        return
    yield f"\n### {title}\n"
    yield from (f"- {line(each)}" for each in entries[:most])
    if len(entries) > most:
        yield f"- and {len(entries) - most:,} more"


def _name(name: str, settings: FormatSettings) -> str:
    return code_span(shorten(name, settings.limits.name))


def _move(move: PublishedMove, settings: FormatSettings) -> str:
    sentence = escape_markdown(shorten(move.sentence, settings.limits.message))
    note = "" if not move.note else f" Commit: {_name(move.note, settings)}."
    return f"**{move.verdict}** {_name(move.kernel, settings)}: {sentence}{note} `{move.command}`"


def _tripped(published: Published) -> list[tuple[str, str, str]]:
    """Return what trips the gate and is not listed as moved."""
    gate = published.gate
    moved = {move.series_id for move in published.open_moves}
    looked = [] if gate is None else [each for each in gate.tripped if each.name not in moved]
    return [(each.kind, each.kernel, each.text) for each in looked]


def _looked(each: tuple[str, str, str], settings: FormatSettings) -> str:
    kind, kernel, text = each
    sentence = escape_markdown(shorten(text, settings.limits.message))
    return f"**{kind}** {_name(kernel, settings)}: {sentence}"


def _stepped(published: Published) -> list[list[PublishedMove]]:
    """Return what moved with what it ran on, by the night of it: that is one thing, not many."""
    nights: dict[str, list[PublishedMove]] = defaultdict(list)
    for move in published.open_moves:
        if move.verdict == Verdict.ENVIRONMENT:
            nights[move.run_id].append(move)
    return list(nights.values())


def _step(moves: Sequence[PublishedMove], settings: FormatSettings) -> str:
    around = escape_markdown(shorten(", ".join(moves[0].around), settings.limits.message))
    changed = f" with {around}" if around else ""
    day = f"{moves[0].time:%Y-%m-%d}"
    return f"{count(len(moves), 'kernel')} moved{changed} on {day}. `{moves[0].command}`"


def _action(action: PublishedAction, settings: FormatSettings) -> str:
    names = action.kernels
    more = f" and {count(len(names) - 1, 'more kernel')}" if len(names) > 1 else ""
    where = f", {_name(names[0], settings)}{more}" if names else ""
    gain = likely_sentence(action)
    step = escape_markdown(shorten(action.step, settings.limits.message))
    title = escape_markdown(shorten(action.title, settings.limits.name))
    return f"**{title}**{where}: {step}{gain}"
