"""What the rules say of a run as a whole, as they judged it when it was stored or refreshed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from advisor.reports.record.records import Gain, RunFinding
from advisor.reports.record.rows import Row, fetch, number, text

if TYPE_CHECKING:
    import duckdb

    from advisor.configuration import Suppression
    from advisor.rules import Rule
    from advisor.rules.language.words import Words

_FINDINGS = """
    SELECT rule_id, rule_hash, gain_low, gain_likely, gain_high, evidence, "values"
    FROM main.finding WHERE run_id = ? AND subject = 'run' AND outcome = 'fires'
    ORDER BY rank NULLS LAST, rule_id
"""
_OUTDATED = "Computed by an older version of this check; `advisor refresh` recomputes it."
_UNPROVEN = "Unproven: not yet found in one real run and absent from another."


def run_findings(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    rules: Sequence[Rule],
    suppressions: Sequence[Suppression],
    today: date,
    words: Words,
) -> tuple[RunFinding, ...]:
    """Return the findings about a run, the most time first; only of rules that are in use.

    Titles and steps are in ``words``; evidence as it was stored.
    """
    known = {rule.id: rule for rule in rules}
    silenced = [each for each in suppressions if not each.expired(today)]
    found = []
    for row in fetch(connection, _FINDINGS, [run_id]):
        rule = known.get(str(row["rule_id"]))
        if rule is not None and not any(each.covers(rule.id, ()) for each in silenced):
            found.append(_finding(row, rule, words))
    return tuple(found)


def _finding(row: Row, rule: Rule, words: Words) -> RunFinding:
    is_same = row["rule_hash"] == rule.text_hash
    values = json.loads(text(row, "values") or "{}")
    values |= {name: each.value for name, each in rule.thresholds.items()}
    step = words.fill(rule.recommendation[0], values) if is_same else ""
    remarks = [_OUTDATED] * (not is_same) + [_UNPROVEN] * rule.is_unproven
    return RunFinding(
        rule_id=rule.id,
        title=words.fill(rule.title),
        severity=rule.severity.value,
        evidence=text(row, "evidence") or "",
        step=step,
        gain=_gain(row),
        remark=" ".join(remarks),
    )


def _gain(row: Row) -> Gain | None:
    low, likely, high = (number(row, f"gain_{bound}") for bound in ("low", "likely", "high"))
    if low is None or likely is None or high is None:
        return None
    return Gain(low=low, likely=likely, high=high)
