"""What could be done about kernels that no card speaks of, and what that saves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from advisor.records import dataclass
from advisor.reports.record.records import Recommendation
from advisor.reports.record.rows import number
from advisor.reports.record.source import ReportSource
from advisor.rules.engine.rank import Action


@dataclass(frozen=True, kw_only=True)
class Further:
    """What no card speaks of: how many ``findings`` have a gain, each of a cause of its own.

    ``likely`` is what those that save time themselves save together [s], after one another; the
    unproven ones are left out. ``is_too_little``: none of these saves enough of the run for a card.
    """

    findings: int
    likely: float
    is_too_little: bool


def further(
    source: ReportSource, ranked: Sequence[Action], cards: Iterable[Recommendation]
) -> dict[str, Further]:
    """Return what ``cards`` leave of the ranked actions, by variant."""
    told = {(kernel.id, card.rule_id) for card in cards for kernel in card.kernels}
    left: dict[str, list[Action]] = defaultdict(list)
    by_rule: dict[str, float] = defaultdict(float)
    for action in ranked:
        variant, rule = action.evaluation.variant_id, action.evaluation.rule.id
        if (variant, rule) not in told and _gains(source, action):
            left[variant].append(action)
            by_rule[rule] += _likely(action)
    worth = source.judgement.worth_a_card * (source.totals.duration or 0.0)
    return {variant: _further(actions, by_rule, worth) for variant, actions in left.items()}


def _further(actions: Sequence[Action], by_rule: Mapping[str, float], worth: float) -> Further:
    return Further(
        findings=len(actions),
        likely=sum(_likely(each) for each in actions),
        is_too_little=all(by_rule[each.evaluation.rule.id] < worth for each in actions),
    )


def _gains(source: ReportSource, action: Action) -> bool:
    """Return whether an action could save time, by enough of its kernel's for a number."""
    if action.gain is None:
        return action.share is not None
    duration = number(source.variants[action.evaluation.variant_id], "duration") or 0.0
    return action.gain.high > 0 and action.gain.high >= source.judgement.worth_a_number * duration


def _likely(action: Action) -> float:
    rule = action.evaluation.rule
    is_own = action.gain is not None and not (rule.only_measures or rule.is_unproven)
    return action.gain.likely if is_own and action.gain is not None else 0.0
