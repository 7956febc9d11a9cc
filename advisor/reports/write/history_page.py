"""What a page draws of a history: sparklines, bars and charts beside the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from advisor import wording
from advisor.records import dataclass
from advisor.reports.charts import nights as drawn
from advisor.reports.record.history_words import day
from advisor.reports.record.moved_groups import (
    MovedGroup,
    OutcomeGroup,
    moved_groups,
    outcome_groups,
)
from advisor.reports.record.over_time import (
    ACCEPTED,
    NEW,
    AdviceOutcome,
    KernelNights,
    MovedSeries,
    RunHistory,
)
from advisor.reports.record.records import Report
from advisor.reports.write.history_terminal import fact_words, open_words
from advisor.tracking.records import QUIET, Verdict


@dataclass(frozen=True, kw_only=True)
class MovedRow:
    """A row of the section of what moved."""

    group: MovedGroup
    spark: drawn.Spark | None
    terms: tuple[drawn.TermBar, ...]
    facts: tuple[str, ...]

    @property
    def made_of(self) -> str:
        """Return the factors in words."""
        return ", ".join(f"{bar.label} {bar.value}" for bar in self.terms)


@dataclass(frozen=True, kw_only=True)
class AdviceRow:
    """The outcome of one piece of advice, with predicted beside achieved."""

    outcome: AdviceOutcome
    bar: drawn.PredictedBar | None


@dataclass(frozen=True, kw_only=True)
class OutcomeBlock:
    """The advice for one kernel that one change decided."""

    group: OutcomeGroup
    rows: tuple[AdviceRow, ...]


@dataclass(frozen=True, kw_only=True)
class KernelOverTime:
    """A kernel in table and detail: ``change`` with its sign, ``note`` why or how sure."""

    spark: drawn.Spark | None
    verdict: str
    is_worse: bool
    change: str
    note: str
    sort: float
    charts: tuple[drawn.NightsChart, ...]
    moved: tuple[MovedRow, ...]


@dataclass(frozen=True, kw_only=True)
class HistoryPage:
    """Everything over time that a template walks; ``more`` counts series that are not shown."""

    nights: str
    span: str
    rows: tuple[MovedRow, ...]
    quiet: str
    more: int
    outcomes: tuple[OutcomeBlock, ...]
    open_advice: str
    kernels: Mapping[str, KernelOverTime]
    moved_kernels: frozenset[str]


def history_page(report: Report) -> HistoryPage | None:
    """Return what is drawn of the history of a report, None where it has none."""
    history = report.history
    if history is None:
        return None
    groups = moved_groups(history)
    rows = tuple(_moved(group, history) for group in groups)
    shown = rows[: history.limits.moved_rows]
    return HistoryPage(
        nights=wording.count(len(history.nights), "night"),
        quiet=history.quiet,
        span=" to ".join(dict.fromkeys((day(history.since), day(history.nights[-1].time)))),
        rows=shown,
        more=sum(len(row.group.rows) for row in rows[len(shown) :]),
        outcomes=outcome_blocks(history.outcomes),
        open_advice=open_words(history) if history.open_advice else "",
        kernels={
            variant: _kernel(variant, each, history) for variant, each in history.kernels.items()
        },
        moved_kernels=frozenset(row.variant_id for row in history.moved if row.variant_id),
    )


def _moved(group: MovedGroup, history: RunHistory) -> MovedRow:
    row = group.first
    is_one = len(group.rows) == 1
    return MovedRow(
        group=group,
        spark=_spark(history.kernels.get(row.variant_id or ""), history),
        terms=drawn.term_bars(row.terms or {}, history) if is_one else (),
        facts=tuple(map(fact_words, row.facts)) if is_one else (),
    )


def _spark(each: KernelNights | None, history: RunHistory) -> drawn.Spark | None:
    if each is None:
        return None
    return drawn.spark_of(each.durations, len(history.nights), history.limits.spark_nights)


def outcome_blocks(outcomes: Sequence[AdviceOutcome]) -> tuple[OutcomeBlock, ...]:
    """Return outcomes by the change that decided them, all on one scale."""
    known = [value for each in outcomes for value in (each.high, each.achieved) if value]
    largest = max(known, default=0.0)
    return tuple(
        OutcomeBlock(
            group=group,
            rows=tuple(
                AdviceRow(outcome=each, bar=drawn.predicted_bar(each, largest))
                for each in group.outcomes
            ),
        )
        for group in outcome_groups(outcomes)
    )


def _kernel(variant: str, each: KernelNights, history: RunHistory) -> KernelOverTime:
    return kernel_over_time(
        each, [row for row in history.moved if row.variant_id == variant], history
    )


def kernel_over_time(
    each: KernelNights, own: list[MovedSeries], history: RunHistory
) -> KernelOverTime:
    """Return what a table and a detail show of a kernel; ``own`` are its changes."""
    changes = _places(own, history)
    is_quiet = each.verdict in QUIET
    return KernelOverTime(
        spark=_spark(each, history),
        verdict=each.verdict,
        is_worse=each.verdict == Verdict.REGRESSED and each.state != ACCEPTED,
        change="" if is_quiet else wording.signed_percent(each.relative),
        note=_note(each),
        sort=0.0 if is_quiet else each.relative or 0.0,
        charts=tuple(drawn.nights_chart(chart, history.nights, changes) for chart in each.charts),
        moved=tuple(
            _moved(group, history) for row in own for group in moved_groups(history, [row])
        ),
    )


def _note(each: KernelNights) -> str:
    """Return since when, or how far one night strays."""
    if each.since is not None:
        state = f", {each.state}" if each.state in (NEW, ACCEPTED) else ""
        return f"since {day(each.since)}{state}"
    return "" if each.noise is None else f"±{wording.percent(each.noise, 1)}"


def _places(rows: list[MovedSeries], history: RunHistory) -> list[int]:
    """Return the places of the nights with which changes begin."""
    begin = {row.run_id for row in rows if row.verdict != Verdict.ENVIRONMENT}
    return [place for place, night in enumerate(history.nights) if night.run_id in begin]
