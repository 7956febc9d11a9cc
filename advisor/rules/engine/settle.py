"""Findings that cannot stand beside each other: of each pair, the rules say which one holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.language.relations import Exclusion
from advisor.rules.language.rule import Outcome

_OPEN = (Outcome.FIRES, Outcome.UNKNOWN)


def settle(evaluations: Iterable[Evaluation], exclusions: Sequence[Exclusion]) -> list[Evaluation]:
    """Return the evaluations, those ruled out that another finding of their subject excludes.

    What was excluded excludes nothing itself; nor do unproven rules. Under a finding that voids
    the profile of its subject, nothing is left unknown either.
    """
    found = list(evaluations)
    subjects: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, each in enumerate(found):
        subjects[each.run_id, each.variant_id].append(place)
    firing = {each.found for each in exclusions}
    for places in subjects.values():
        if any(_holds(found[place]) and found[place].rule.id in firing for place in places):
            _settle_subject(found, places, exclusions)
    return found


def _settle_subject(
    found: list[Evaluation], places: Sequence[int], exclusions: Sequence[Exclusion]
) -> None:
    for exclusion in exclusions:
        held = {found[place].rule.id for place in places if _holds(found[place])}
        if exclusion.found not in held:
            continue
        outcomes = _OPEN if exclusion.voids else (Outcome.FIRES,)
        for place in places:
            each = found[place]
            if each.outcome in outcomes and exclusion.excludes(each.rule.id):
                found[place] = _ruled_out(each, exclusion)


def _holds(evaluation: Evaluation) -> bool:
    return evaluation.outcome is Outcome.FIRES and not evaluation.rule.is_unproven


def _ruled_out(evaluation: Evaluation, exclusion: Exclusion) -> Evaluation:
    return replace(
        evaluation,
        outcome=Outcome.RULED_OUT,
        because=exclusion.because,
        gain=None,
        confidence=1.0,
        confidence_because=(),
        recommendation=(),
        unchecked=(),
        not_collected=(),
        missing=(),
    )
