"""The history of a report as plain values: seconds and bytes, ratios, moments in ISO 8601."""

from __future__ import annotations

import math
from typing import Any

from advisor.escaping import utc_text
from advisor.reports.record.over_time import AdviceOutcome, MovedSeries, RunHistory


def history_json(history: RunHistory) -> dict[str, Any]:
    """Return what JSON holds of a history; what is not finite is None."""
    return {
        "since": utc_text(history.since),
        "nights": len(history.nights),
        "previous": history.previous,
        "baseline": history.baseline,
        "sentence": history.sentence,
        "moved": [_moved(row) for row in history.moved],
        "environment": [
            {
                "run_id": step.run_id,
                "time": utc_text(step.time),
                "what": step.what,
                "base": step.base,
                "head": step.head,
            }
            for step in history.environment
        ],
        "outcomes": [_outcome(each) for each in history.outcomes],
    }


def _moved(row: MovedSeries) -> dict[str, Any]:
    terms = row.terms
    return {
        "series_id": row.series_id,
        "kernel": row.kernel,
        "verdict": row.verdict,
        "state": row.state,
        "run_id": row.run_id,
        "time": utc_text(row.time),
        "commit": row.commit,
        "note": row.note,
        "base": _finite(row.base),
        "head": _finite(row.head),
        "relative": _finite(row.relative),
        "p_value": _finite(row.p_value),
        "noise": _finite(row.noise),
        "terms": None if terms is None else {name: _finite(terms[name]) for name in terms},
        "cause": row.cause,
        "facts": [
            {"name": fact.name, "base": _finite(fact.base), "head": _finite(fact.head)}
            for fact in row.facts
        ],
        "came": [rule.id for rule in row.came],
        "gone": [rule.id for rule in row.gone],
    }


def _outcome(each: AdviceOutcome) -> dict[str, Any]:
    return {
        "series_id": each.series_id,
        "kernel": each.kernel,
        "rule_id": each.rule_id,
        "outcome": each.outcome,
        "opened": each.opened,
        "decided": each.decided,
        "predicted": {
            "low": _finite(each.low),
            "likely": _finite(each.likely),
            "high": _finite(each.high),
        },
        "achieved": _finite(each.achieved),
        "shared_with": list(each.shared_with),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
