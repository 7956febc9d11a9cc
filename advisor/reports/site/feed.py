"""The feed: regressions, improvements and advice that worked, the newest first."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor import wording
from advisor.records import dataclass
from advisor.reports.record.history_words import short_commit
from advisor.reports.record.moved_groups import moved_groups, outcome_words
from advisor.reports.site.addresses import run_page, series_page
from advisor.tracking.records import Verdict

if TYPE_CHECKING:
    from advisor.reports.record.over_time import AdviceOutcome, MovedSeries, RunHistory
    from advisor.reports.site.whole import Whole

MOST_ENTRIES = 100
_TOLD = (Verdict.REGRESSED, Verdict.IMPROVED)
_WORKED = "worked"
_NEVER = datetime.fromtimestamp(0, tz=UTC).replace(tzinfo=None)
_SPACE = uuid.UUID("8a1d9a3e-54b0-5c7b-9d0d-5c2f3a4b6e71")  # of the ids that advisor makes


@dataclass(frozen=True, kw_only=True)
class FeedEntry:
    """One piece of news; ``path`` is below the first page, ``updated`` is its night."""

    id: str
    kind: str
    title: str
    summary: str
    path: str
    updated: str
    key: tuple[datetime, str]


@dataclass(frozen=True, kw_only=True)
class Feed:
    """The whole feed; ``base`` stands before every path, empty where addresses are relative."""

    id: str
    updated: str
    base: str
    entries: tuple[FeedEntry, ...]


def make_feed(wholes: Sequence[Whole], url: str | None) -> Feed:
    """Return the newest entries of all histories; with ``url``, addresses are absolute."""
    found = {entry.id: entry for whole in wholes for entry in _entries(whole)}
    newest = sorted(found.values(), key=lambda entry: entry.key, reverse=True)
    nights = [run.night for whole in wholes for run in whole.runs]
    first = min((run.night.isoformat() + run.run_id for w in wholes for run in w.runs), default="")
    base = "" if url is None else url.rstrip("/") + "/"
    return Feed(
        id=_id(base or first),
        updated=_moment(max(nights, default=_NEVER)),
        base=base,
        entries=tuple(newest[:MOST_ENTRIES]),
    )


def _entries(whole: Whole) -> Iterator[FeedEntry]:
    if whole.history is None:
        return
    nights = {night.run_id: night.time for night in whole.history.nights}
    for row in whole.history.moved:
        if row.verdict in _TOLD and row.run_id in nights:
            yield _moved(row, whole.history)
    for outcome in whole.history.outcomes:
        if outcome.outcome == _WORKED and outcome.decided_at is not None:
            yield _worked(outcome, outcome.decided_at)


def _moved(row: MovedSeries, history: RunHistory) -> FeedEntry:
    (group,) = moved_groups(history, [row])
    commit = " ".join(filter(None, (short_commit(row), row.note)))
    parts = (group.levels, row.cause, group.around, commit and f"Commit {commit}.", row.because)
    return FeedEntry(
        id=_id("moved", row.series_id, row.run_id, row.verdict),
        kind=row.verdict,
        title=f"{row.kernel} {row.verdict} {group.change}",
        summary=" ".join(part if part.endswith(".") else f"{part}." for part in parts if part),
        path=series_page(row.series_id),
        updated=_moment(row.time),
        key=(row.time, row.kernel),
    )


def _worked(each: AdviceOutcome, decided: datetime) -> FeedEntry:
    return FeedEntry(
        id=_id("advice", each.series_id, each.decided or "", each.rule_id),
        kind="advice",
        title=f"Advice worked for {each.kernel}: {each.title}",
        summary=f"{wording.seconds(each.before)} → {wording.seconds(each.after)} per launch;"
        f" {outcome_words(each)}.",
        path=run_page(each.decided) if each.decided else series_page(each.series_id),
        updated=_moment(decided),
        key=(decided, each.kernel),
    )


def _id(*parts: str) -> str:
    """Return an address of nothing that is the same whenever its parts are."""
    name = "\0".join(parts).encode(errors="surrogatepass").hex()
    return uuid.uuid5(_SPACE, name).urn


def _moment(moment: datetime) -> str:
    """Return a moment in UTC as Atom writes it."""
    return moment.replace(microsecond=0).isoformat() + "Z"
