"""Findings as rows of the database."""

from __future__ import annotations

import json
from collections.abc import Sequence

import duckdb

from advisor.database.rows import FindingRow
from advisor.database.write import insert_findings
from advisor.rules.engine.evaluate import Evaluation
from advisor.rules.engine.rank import rank
from advisor.rules.language.rule import Outcome, Subject


def store_evaluations(
    connection: duckdb.DuckDBPyConnection, run_id: str, evaluations: Sequence[Evaluation]
) -> None:
    """Store what fires and what was ruled out, in place of what the run had."""
    positions = {
        (action.evaluation.variant_id, action.evaluation.rule.id): action.position
        for action in rank(evaluations)
    }
    rows = [
        _row(each, positions.get((each.variant_id, each.rule.id)))
        for each in evaluations
        if each.outcome is not Outcome.UNKNOWN
    ]
    insert_findings(connection, run_id, rows)


def _row(evaluation: Evaluation, position: int | None) -> FindingRow:
    rule, gain = evaluation.rule, evaluation.gain
    fires = evaluation.outcome is Outcome.FIRES
    return FindingRow(
        run_id=evaluation.run_id,
        rule_id=rule.id,
        rule_hash=rule.text_hash,
        subject=rule.subject.value,
        outcome="fires" if fires else "ruled_out",
        severity=rule.severity.value,
        variant_id=evaluation.variant_id if rule.subject is Subject.KERNEL else None,
        mechanism=rule.mechanism,
        gain_low=None if gain is None else gain.low,
        gain_likely=None if gain is None else gain.likely,
        gain_high=None if gain is None else gain.high,
        confidence=evaluation.confidence if fires else None,
        rank=position,
        evidence=evaluation.evidence,
        because=evaluation.because,
        unchecked=evaluation.unchecked,
        values=json.dumps(evaluation.values, sort_keys=True, allow_nan=False),
    )
