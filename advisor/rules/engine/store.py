"""Findings as rows of the database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import duckdb

from advisor.database.rows import FindingRow
from advisor.database.write import insert_findings
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.engine.rank import rank
from advisor.rules.language.rule import Outcome
from advisor.rules.language.subjects import SUBJECTS


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
        if each.outcome not in (Outcome.UNKNOWN, Outcome.NOT_KNOWABLE)
    ]
    insert_findings(connection, run_id, rows)


def _row(evaluation: Evaluation, position: int | None) -> FindingRow:
    rule, gain = evaluation.rule, evaluation.gain
    fires = evaluation.outcome is Outcome.FIRES
    row = FindingRow(
        run_id=evaluation.run_id,
        rule_id=rule.id,
        rule_hash=rule.text_hash,
        subject=rule.subject,
        outcome="fires" if fires else "ruled_out",
        severity=rule.severity.value,
        mechanism=rule.mechanism,
        gain_low=None if gain is None else gain.low,
        gain_likely=None if gain is None else gain.likely,
        gain_high=None if gain is None else gain.high,
        cap=evaluation.cap,
        cap_likely=evaluation.cap_likely,
        confidence=evaluation.confidence if fires else None,
        confidence_because=evaluation.confidence_because,
        rank=position,
        evidence=evaluation.evidence,
        because=evaluation.because,
        unchecked=evaluation.unchecked,
        values=json.dumps(evaluation.values, sort_keys=True, allow_nan=False),
    )
    column = SUBJECTS[rule.subject].stored_in
    named: dict[str, Any] = {} if column is None else {column: evaluation.variant_id}
    return replace(row, **named)
