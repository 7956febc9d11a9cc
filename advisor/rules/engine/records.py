"""The outcome of a rule's advice before, and how far its next estimate is believed for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.database.outcomes import decided_outcomes
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.language.rule import Outcome

if TYPE_CHECKING:
    import duckdb

    from advisor.tracking.record import Record
    from advisor.tracking.settings import OutcomeSettings


Records = Mapping[str, "Record"]
"""The records of rules, by rule."""


def rule_records(
    connection: duckdb.DuckDBPyConnection,
    load_settings: Callable[[], OutcomeSettings],
    *,
    simulated: bool,
    until: str | None = None,
) -> dict[str, Record]:
    """Return the records of rules whose advice was decided, by rule.

    Of measured runs or of simulated ones, never of both; up to the night of the run ``until``.
    """
    rows = decided_outcomes(connection, simulated=simulated, until=until)
    if not rows:
        return {}
    from advisor.tracking.record import Advice, record_of

    by_rule: dict[str, list[Advice]] = defaultdict(list)
    for row in rows:
        by_rule[row["rule_id"]].append(
            Advice(state=row["state"], predicted=row["predicted_likely"], achieved=row["achieved"])
        )
    settings = load_settings()
    return {rule: record_of(outcomes, settings) for rule, outcomes in by_rule.items()}


def believed(evaluations: Sequence[Evaluation], records: Mapping[str, Record]) -> list[Evaluation]:
    """Return evaluations whose confidence takes the record of their rule into account.

    Confidence is never above 1. What is stored of findings is without it: the order of nights
    would change what is stored.
    """
    return [_believed(each, records.get(each.rule.id)) for each in evaluations]


def _believed(evaluation: Evaluation, record: Record | None) -> Evaluation:
    if record is None or evaluation.outcome is not Outcome.FIRES or not record.taken:
        return evaluation
    confidence = min(1.0, evaluation.confidence * record.belief)
    if confidence == evaluation.confidence:
        return evaluation
    worked = record.states["worked"]
    reason = f"its advice worked {worked} of {record.taken} times here"
    reasons = (*evaluation.confidence_because, reason)
    return replace(evaluation, confidence=confidence, confidence_because=reasons)
