"""The outcomes of advice until a run: predicted beside achieved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from advisor.database.outcomes import stored_outcomes
from advisor.records import dataclass
from advisor.reports.record.over_time import AdviceOutcome
from advisor.tracking.settings import load_outcome_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from advisor.database.outcomes import Row
    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.moved import RunVariant
    from advisor.reports.record.series_records import History, SeriesHistory
    from advisor.rules.language.words import VendorWords
    from advisor.tracking.settings import OutcomeSettings

_OPEN, _GONE = "open", "gone"


@dataclass(frozen=True, kw_only=True)
class AdviceShown:
    """The outcomes that were decided in the shown nights, the latest first; ``open`` counts."""

    decided: Sequence[AdviceOutcome]
    open: int


def outcomes_until(
    connection: duckdb.DuckDBPyConnection,
    history: History,
    run_id: str,
    variants: Mapping[tuple[str, str], RunVariant],
    knowledge: Knowledge,
    words: VendorWords,
) -> AdviceShown:
    """Return the outcomes of the advice for the series of a run, as they were known then.

    What was opened later is left out; what was decided later was open. One night alone neither
    opens nor decides, so both are told from the next one on. Times are levels of the nights until
    then.
    """
    nights = {night.run_id: night for night in history.nights}
    shapes = Counter(each.series_id for each in history.series)
    series = {each.series_id: each for each in history.series if shapes[each.series_id] == 1}
    titles = {rule.id: words.fill(rule.title) for rule in knowledge.rules}
    settings = load_outcome_settings()
    decided, still_open = [], 0
    for row in stored_outcomes(connection, run_id=run_id):
        if row["opened_run"] not in nights or row["opened_run"] == run_id:
            continue
        night = nights.get(row["decided_run"])
        of_series = series.get(row["series_id"])
        at = None if night is None or of_series is None else _position(of_series, night.run_id)
        if night is None or night.run_id == run_id:
            still_open += row["state"] != _GONE
        elif history.is_shown(night):
            levels = {}
            if of_series is not None and at is not None:
                levels = _levels(of_series, at, row["duration_before"], settings)
            decided.append(_outcome(row | levels, variants, titles))
    decided.sort(key=lambda one: -(one.achieved or 0.0))
    decided.sort(key=lambda one: one.decided_at or one.opened_at, reverse=True)
    return AdviceShown(decided=tuple(_shared(decided)), open=still_open)


def _shared(outcomes: Sequence[AdviceOutcome]) -> Iterator[AdviceOutcome]:
    """Yield outcomes with the rules of those that the same change of the kernel decided."""
    rules: dict[object, list[str]] = {}
    for each in outcomes:
        rules.setdefault((each.series_id, each.decided), []).append(each.rule_id)
    for each in outcomes:
        others = [r for r in rules[each.series_id, each.decided] if r != each.rule_id]
        yield replace(each, shared_with=tuple(others))


def _position(series: SeriesHistory, run_id: str) -> int | None:
    """Return which of its nights a run is, None where it is none of them."""
    return next((i for i, night in enumerate(series.nights) if night.run_id == run_id), None)


def _levels(series: SeriesHistory, at: int, before: float, settings: OutcomeSettings) -> Row:
    """Return the levels around the night that decided: those of the change that is told there.

    Without one, or where it starts from another level than the one ``before`` that the advice is
    measured from, that after it is the median of the nights that settle it.
    """
    change = series.change_at(at)
    if change is None or abs(change.before - before) > settings.smallest_change * before:
        return {"duration_after": median(series.durations[at : at + settings.settle_nights])}
    return {"duration_before": change.before, "duration_after": change.after}


def _outcome(
    row: Row, variants: Mapping[tuple[str, str], RunVariant], titles: Mapping[str, str]
) -> AdviceOutcome:
    found = [each for (series, _), each in variants.items() if series == row["series_id"]]
    return AdviceOutcome(
        series_id=row["series_id"],
        kernel=row["short_name"],
        variant_id=found[-1].variant_id if found else None,
        rule_id=row["rule_id"],
        title=titles.get(row["rule_id"], row["rule_id"]),
        outcome=row["state"],
        opened=row["opened_run"],
        opened_at=row["opened_at"],
        decided=row["decided_run"],
        decided_at=row["decided_at"],
        before=row["duration_before"],
        after=row["duration_after"],
        low=row["predicted_low"],
        likely=row["predicted_likely"],
        high=row["predicted_high"],
        achieved=_achieved(row),
    )


def _achieved(row: Row) -> float | None:
    """Return the seconds that one launch became shorter by, as its times are."""
    before, after = row["duration_before"], row["duration_after"]
    return None if before is None or after is None else float(before - after)
