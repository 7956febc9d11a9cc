"""The sentence of the verdict that keeps new, open and nothing apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from advisor.reports.record.over_time import NEW, OPEN, KernelNights, MovedSeries
from advisor.tracking.records import Verdict
from advisor.wording import NO_BREAK, count, share

if TYPE_CHECKING:
    from advisor.reports.record.history_settings import HistorySettings

SHORT_COMMIT = 7


def day(moment: datetime) -> str:
    """Return a day as people write it, such as 17 Jan."""
    return f"{moment.day}{NO_BREAK}{moment:%b}"


def short_commit(row: MovedSeries) -> str:
    """Return the commit that came with a change; nothing where it is the one before."""
    return "" if row.commit is None or row.is_same_commit else row.commit[:SHORT_COMMIT]


def change_words(row: MovedSeries, settings: HistorySettings) -> str:
    """Return how much slower or faster a series is, such as "50 % slower"."""
    size = share(abs(row.relative)) if row.relative is not None else ""
    word = settings.worse if row.head > row.base else settings.better
    return f"{size} {word}".strip()


def history_sentence(
    moved: Sequence[MovedSeries],
    *,
    older: int,
    since: datetime,
    nights: int,
    missing: Sequence[str],
    too_few: int | None,
    settings: HistorySettings,
) -> str:
    """Return what is new with the run, what is still open, and what became faster.

    ``too_few`` is how many nights a verdict needs where no series has so many.
    """
    say = settings.sentences
    sentences = [
        _list(say["new_worse"], "tonight", _chosen(moved, NEW, Verdict.REGRESSED), settings),
        _list(say["new_better"], "tonight", _chosen(moved, NEW, Verdict.IMPROVED), settings),
        _list(say["new_environment"], "tonight", _environment(moved, NEW), settings),
        _list(say["alone"], "tonight", _chosen(moved, NEW, Verdict.INCONCLUSIVE), settings),
    ]
    if missing:
        sentences.append(say["missing"].format(list=_shortened(missing, len(missing), settings)))
    standing = [
        _list(say["open"], "moved", _chosen(moved, OPEN, Verdict.REGRESSED), settings),
        _older(older, since, settings),
        _list(say["better"], "moved", _chosen(moved, OPEN, Verdict.IMPROVED), settings),
        *_stepped(_environment(moved, OPEN), settings),
    ]
    if too_few is not None:
        sentences.append(say["few"].format(nights=nights, needed=count(too_few)))
    elif not any((*sentences, *standing)) and not moved:
        sentences.append(say["nothing_moved"].format(nights=count(nights, "night")))
    elif not any(sentences):
        sentences.append(say["nothing_new"])
    return " ".join(filter(None, (*sentences, *standing)))


def quiet_words(kernels: Iterable[KernelNights], needed: int, settings: HistorySettings) -> str:
    """Return what to say where nothing is known to have moved: it did not, or who can tell.

    ``needed`` is how many nights a verdict needs.
    """
    say = settings.sentences
    counts = Counter(kernel.verdict == Verdict.INSUFFICIENT for kernel in kernels)
    known, undecided = counts[False], counts[True]
    if not undecided:
        return say["quiet"]
    sentence = say["partly_undecided"] if known else say["undecided"]
    return sentence.format(
        known=count(known, "kernel"), undecided=count(undecided, "other kernel"), needed=needed
    )


def _chosen(moved: Sequence[MovedSeries], state: str, verdict: Verdict) -> list[MovedSeries]:
    return [row for row in moved if row.state == state and row.verdict == verdict]


def _environment(moved: Sequence[MovedSeries], state: str) -> list[MovedSeries]:
    return _chosen(moved, state, Verdict.ENVIRONMENT)


def _list(sentence: str, form: str, rows: Sequence[MovedSeries], settings: HistorySettings) -> str:
    if not rows:
        return ""
    named = [
        settings.sentences[form].format(
            kernel=row.kernel,
            change=change_words(row, settings),
            day=day(row.time),
            commit=f" ({short_commit(row)})" if short_commit(row) else "",
        )
        for row in rows[: settings.limits.named_kernels]
    ]
    return sentence.format(list=_shortened(named, len(rows), settings))


def _shortened(named: Sequence[str], whole: int, settings: HistorySettings) -> str:
    shown = list(named[: settings.limits.named_kernels])
    more = whole - len(shown)
    return "; ".join(shown) + (f" and {more:,} more" if more else "")


def _older(older: int, since: datetime, settings: HistorySettings) -> str:
    if not older:
        return ""
    regressions = count(older, "regression")
    return settings.sentences["older"].format(count=regressions, day=day(since))


def _stepped(rows: Sequence[MovedSeries], settings: HistorySettings) -> list[str]:
    """Return a sentence for each night on which what the kernels ran on changed."""
    nights = dict.fromkeys(row.run_id for row in rows)
    found = []
    for run_id in nights:
        group = [row for row in rows if row.run_id == run_id]
        what = ", ".join(group[0].around) or "what they ran on"
        found.append(
            settings.sentences["environment"].format(
                count=count(len(group), "kernel"), what=what, day=day(group[0].time)
            )
        )
    return found
