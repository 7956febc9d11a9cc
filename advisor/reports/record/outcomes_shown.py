"""The outcomes of advice until a run: predicted beside achieved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.database.outcomes import stored_outcomes
from advisor.reports.record.over_time import AdviceOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from advisor.database.outcomes import Row
    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.moved import RunVariant
    from advisor.reports.record.series_records import History
    from advisor.rules.language.words import VendorWords

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

    What was opened later is left out; what was decided later was open.
    """
    nights = {night.run_id: night for night in history.nights}
    titles = {rule.id: words.fill(rule.title) for rule in knowledge.rules}
    decided, still_open = [], 0
    for row in stored_outcomes(connection, run_id=run_id):
        if row["opened_run"] not in nights:
            continue
        night = nights.get(row["decided_run"])
        if night is None:
            still_open += row["state"] != _GONE
        elif history.is_shown(night):
            decided.append(_outcome(row, variants, titles))
    decided.sort(key=lambda one: -(one.achieved or 0.0))
    decided.sort(key=lambda one: one.decided_at or one.opened_at, reverse=True)
    return AdviceShown(decided=tuple(decided), open=still_open)


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
        achieved=row["achieved"],
    )
