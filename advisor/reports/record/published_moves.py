"""The series that moved, as other programs read them: over nights, or between two runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from advisor.commands import program
from advisor.database.ids import key_id
from advisor.reports.record.checkout import Checkout
from advisor.reports.record.compared import ComparedKernel, ComparedSeries, RunComparison
from advisor.reports.record.format_settings import FormatSettings
from advisor.reports.record.history_settings import load_history_settings
from advisor.reports.record.history_words import change_words, day, short_commit
from advisor.reports.record.over_time import ACCEPTED, MENDED, NEW, MovedSeries
from advisor.reports.record.published import PublishedMove
from advisor.reports.record.records import Report
from advisor.wording import seconds, share

FAMILY = "history"


def moves_of_history(
    report: Report, settings: FormatSettings, checkout: Checkout
) -> list[PublishedMove]:
    """Return what moved over nights and still stands, the worst first."""
    if report.history is None:
        return []
    rows = [row for row in report.history.moved if row.state != MENDED]
    advisor = program(report.provenance.database)
    return list(_once(_move(row, advisor, settings, checkout) for row in rows))


def moves_of_comparison(
    comparison: RunComparison, advisor: str, settings: FormatSettings, checkout: Checkout
) -> list[PublishedMove]:
    """Return what moved from one run to the other, the worst first."""
    order = list(settings.history)
    rows = [row for row in comparison.rows if str(row.verdict) in settings.history]
    rows.sort(key=lambda row: (order.index(str(row.verdict)), -abs(row.lost), row.kernel))
    return list(_once(_compared(row, comparison, advisor, settings, checkout) for row in rows))


def _once(moves: Iterable[PublishedMove]) -> Iterator[PublishedMove]:
    """Yield the first move of each fingerprint, which counts the others."""
    found: dict[str, PublishedMove] = {}
    for move in moves:
        known = found.get(move.fingerprint)
        found[move.fingerprint] = move if known is None else replace(known, others=known.others + 1)
    return iter(found.values())


def _move(
    row: MovedSeries, advisor: str, settings: FormatSettings, checkout: Checkout
) -> PublishedMove:
    commit = short_commit(row)
    since = f" since {day(row.time)}{f' ({commit})' if commit else ''}"
    change = f"{seconds(row.base)} → {seconds(row.head)}"
    words = change_words(row, load_history_settings())
    return PublishedMove(
        rule_id=f"{FAMILY}/{row.verdict}",
        fingerprint=key_id("finding", row.series_id, f"{FAMILY}/{row.verdict}"),
        series_id=row.series_id,
        kernel=row.kernel,
        verdict=row.verdict,
        state=row.state,
        severity=settings.history[row.verdict].severity,
        run_id=row.run_id,
        time=row.time,
        commit=row.commit,
        note=None if row.is_same_commit else row.note,
        base=row.base,
        head=row.head,
        relative=row.relative,
        p_value=row.p_value,
        lost=row.lost,
        cause=row.cause,
        around=row.around,
        sentence=_sentence(f"{words}{since}: {change}", row.cause),
        place=checkout.place(None),
        command=f"{advisor} compare {row.base_run} {row.run_id}",
        accepted=(row.because or ACCEPTED) if row.state == ACCEPTED else None,
    )


def _sentence(change: str, cause: str | None) -> str:
    return f"{change}. {cause}" if cause else f"{change}."


def _compared(
    row: ComparedSeries,
    comparison: RunComparison,
    advisor: str,
    settings: FormatSettings,
    checkout: Checkout,
) -> PublishedMove:
    verdict, head, changed = str(row.verdict), comparison.head, comparison.environment
    base_time, head_time = _launch(row.base), _launch(row.head)
    totals = tuple(None if each is None else each.total for each in (row.base, row.head))
    change = f"{seconds(totals[0])} → {seconds(totals[1])}"
    words = f"{_change(row.relative)} than {comparison.base.run_id}"
    return PublishedMove(
        rule_id=f"{FAMILY}/{verdict}",
        fingerprint=key_id("finding", row.series, f"{FAMILY}/{verdict}"),
        series_id=row.series,
        kernel=row.kernel,
        verdict=verdict,
        state=NEW,
        severity=settings.history[verdict].severity,
        run_id=head.run_id,
        time=head.night,
        commit=head.commit,
        note=head.note,
        base=base_time,
        head=head_time,
        relative=row.relative,
        p_value=row.p_value,
        lost=row.lost,
        cause=row.cause,
        around=tuple(f"{each.called} {each.before} → {each.after}" for each in changed),
        sentence=_sentence(f"{words}: {change}", row.cause),
        place=checkout.place(None),
        command=f"{advisor} compare {comparison.base.run_id} {head.run_id}",
    )


def _change(relative: float | None) -> str:
    """Return how much slower or faster a series is, such as "50 % slower"."""
    words = load_history_settings()
    if relative is None:
        return "other"
    return f"{share(abs(relative))} {words.worse if relative > 0 else words.better}"


def _launch(kernel: ComparedKernel | None) -> float | None:
    """Return the time of one launch [s]."""
    if kernel is None or kernel.total is None or not kernel.launches:
        return None
    return kernel.total / kernel.launches
