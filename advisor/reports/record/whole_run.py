"""What the rules say about a run as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from advisor.reports.record.records import Gain, RunFinding
from advisor.rules.engine.rank import rank
from advisor.rules.language.rule import Outcome
from advisor.rules.language.subjects import RUN

if TYPE_CHECKING:
    from advisor.configuration import Suppression
    from advisor.rules import Evaluation

_UNPROVEN = "Unproven: not yet found in one real run and absent from another."


def run_findings(
    evaluations: Sequence[Evaluation], suppressions: Sequence[Suppression], today: date
) -> tuple[RunFinding, ...]:
    """Return the findings about a run, the most time first; what another covers comes last."""
    silenced = [each for each in suppressions if not each.expired(today)]
    found = [
        each for each in evaluations if each.rule.subject == RUN and each.outcome is Outcome.FIRES
    ]
    places = {action.evaluation.rule.id: action.position for action in rank(found)}
    last = len(found) + 1
    found.sort(key=lambda each: (places.get(each.rule.id, last), each.rule.id))
    return tuple(
        _finding(each)
        for each in found
        if not any(silence.covers(each.rule.id, ()) for silence in silenced)
    )


def _finding(evaluation: Evaluation) -> RunFinding:
    rule, gain = evaluation.rule, evaluation.gain
    return RunFinding(
        rule_id=rule.id,
        title=evaluation.words.fill(rule.title),
        severity=rule.severity.value,
        evidence=evaluation.evidence,
        step=evaluation.recommendation[0],
        gain=None if gain is None else Gain(low=gain.low, likely=gain.likely, high=gain.high),
        remark=_UNPROVEN if rule.is_unproven else "",
    )
