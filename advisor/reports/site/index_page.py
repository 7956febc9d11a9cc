"""The first page: per configuration and device the last verdict, what moved, the runs by night."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from advisor import wording
from advisor.records import dataclass
from advisor.reports.charts.nights import NightsChart, nights_chart
from advisor.reports.record.history_words import SHORT_COMMIT
from advisor.reports.record.moved_groups import moved_groups
from advisor.reports.record.over_time import ACCEPTED, MENDED, FactNights, RunHistory
from advisor.reports.site.frame import full_day, run_night
from advisor.reports.write.history_page import HistoryPage, history_page
from advisor.reports.write.links import Links
from advisor.tracking.records import Verdict

if TYPE_CHECKING:
    from advisor.database.published import RunTotal
    from advisor.database.read import StoredRun
    from advisor.reports.site.whole import Whole

SHOWN_RUNS = 30
_MOST_LINES = 3  # changes that a night names
_DIGEST = 4  # bytes


@dataclass(frozen=True, kw_only=True)
class MovedLine:
    """One change, or several with one environment, that began with a night."""

    verdict: str
    change: str
    kernel: str
    href: str


@dataclass(frozen=True, kw_only=True)
class NightRow:
    """One run of the list; ``total`` is its profiled kernel time [s]."""

    href: str
    night: str
    total: float | None
    moved: tuple[MovedLine, ...]
    more: int
    environment: tuple[str, ...]
    commit: str
    note: str | None
    is_same_commit: bool


@dataclass(frozen=True, kw_only=True)
class NewestRun:
    """The newest night of a history."""

    href: str
    day: str


@dataclass(frozen=True, kw_only=True)
class GroupShown:
    """One history: runs of one branch, label, configuration and set of devices."""

    id: str
    title: str
    is_simulated: bool
    newest: NewestRun
    verdict: str
    sentence: str
    open_count: int
    trend: NightsChart | None
    span: str
    moved: HistoryPage | None
    runs: tuple[NightRow, ...]
    unit: str


@dataclass(frozen=True, kw_only=True)
class IndexPage:
    """Everything on the first page; ``shown_runs`` of a history are not folded."""

    title: str
    footer: str
    links: Links
    groups: tuple[GroupShown, ...]
    shown_runs: int = SHOWN_RUNS


def index_shown(
    wholes: Sequence[Whole], totals: Mapping[str, RunTotal], links: Links, footer: str
) -> IndexPage:
    """Return the first page; ``totals`` are what runs took."""
    return IndexPage(
        title="What moved",
        footer=footer,
        links=links,
        groups=tuple(_group(whole, totals, links) for whole in wholes),
    )


def history_title(whole: Whole) -> str:
    """Return what tells a history from others."""
    run = whole.newest
    parts = (run.branch, run.label, run.configuration, whole.report.device)
    return ", ".join(filter(None, parts))


def _group(whole: Whole, totals: Mapping[str, RunTotal], links: Links) -> GroupShown:
    report = whole.report
    history = report.history
    page = history_page(report)
    return GroupShown(
        id=_id(whole.newest),
        title=history_title(whole),
        is_simulated=whole.newest.simulated,
        newest=NewestRun(href=links.run(whole.newest.run_id), day=run_night(whole.newest)),
        verdict=report.verdict.sentence,
        sentence=report.first_night if history is None else history.sentence,
        open_count=0 if whole.history is None else _open(whole.history),
        trend=_trend(whole, totals),
        span="" if page is None else f"{page.nights}, {page.span}",
        moved=page,
        runs=tuple(reversed(_runs(whole, totals, links))),
        unit=wording.time_unit(_time(totals, run.run_id) for run in whole.runs),
    )


def _time(totals: Mapping[str, RunTotal], run_id: str) -> float | None:
    return totals[run_id].duration if run_id in totals else None


def _id(run: StoredRun) -> str:
    """Return the name of a history in addresses, which another night leaves as it is."""
    key = repr((run.branch, run.simulated, run.label, run.configuration, run.device_names))
    return (
        f"h{hashlib.blake2b(key.encode(errors='surrogatepass'), digest_size=_DIGEST).hexdigest()}"
    )


def _open(history: RunHistory) -> int:
    """Return how many regressions stand."""
    closed = (MENDED, ACCEPTED)
    return sum(
        row.verdict == Verdict.REGRESSED and row.state not in closed for row in history.moved
    )


def _trend(whole: Whole, totals: Mapping[str, RunTotal]) -> NightsChart | None:
    """Return the profiled kernel time over all nights: dots alone, no verdict of its own."""
    if whole.history is None:
        return None
    nights = whole.history.nights
    values = tuple(
        (place, total)
        for place, night in enumerate(nights)
        if (total := _time(totals, night.run_id)) is not None
    )
    if not values:
        return None
    fact = FactNights(
        name="duration", label="Profiled kernel time of a run", unit="s", values=values, segments=()
    )
    return nights_chart(fact, nights, [])


def _runs(whole: Whole, totals: Mapping[str, RunTotal], links: Links) -> list[NightRow]:
    moved: dict[str, list[MovedLine]] = defaultdict(list)
    environment: dict[str, list[str]] = defaultdict(list)
    if whole.history is not None:
        for group in moved_groups(whole.history):
            row = group.first
            href = links.of(row) if len(group.rows) == 1 else ""
            moved[row.run_id].append(
                MovedLine(verdict=row.verdict, change=group.change, kernel=group.name, href=href)
            )
        for step in whole.history.environment:
            environment[step.run_id].append(f"{step.what} {step.base} → {step.head}")
    return [
        NightRow(
            href=links.run(run.run_id),
            night=full_day(run.night),
            total=_time(totals, run.run_id),
            moved=tuple(moved[run.run_id][:_MOST_LINES]),
            more=max(0, len(moved[run.run_id]) - _MOST_LINES),
            environment=tuple(environment[run.run_id]),
            commit=(run.commit or "")[:SHORT_COMMIT],
            note=run.note,
            is_same_commit=run.commit is not None and run.commit == before,
        )
        for run, before in zip(
            whole.runs, (None, *(run.commit for run in whole.runs)), strict=False
        )
    ]
