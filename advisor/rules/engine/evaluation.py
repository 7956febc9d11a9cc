"""Outcomes of rules for subjects, and which of them rule out others of the same subject."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from advisor.records import dataclass
from advisor.rules.engine.gains import Seconds, Share
from advisor.rules.language.relations import Exclusion
from advisor.rules.language.rule import Outcome, Rule, Value
from advisor.rules.language.words import VendorWords

_JUDGED = (Outcome.FIRES, Outcome.RULED_OUT, Outcome.UNKNOWN)


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What one rule says about one subject, with the values it read (by name, in SI).

    ``gain`` is in seconds and cut; None where it cannot be estimated. ``cap`` and ``cap_likely``
    are what could be saved at most, following this rule. ``share`` is all that of a kernel whose
    time is unknown, as shares of it. ``confidence`` is in [0, 1], with the reasons that it is not
    1, and what the ``record`` of the rule has made of it. ``because`` says why it was ruled out,
    ``unchecked`` which guards had no value and ``not_collected`` which facts each lacks;
    ``missing`` which facts made it unknown. One that ``is_void`` is ruled out as the profile tells
    nothing of its subject. ``variant_id`` identifies the subject: it is the run's id where that is
    the run. All texts are in ``words``.
    """

    rule: Rule
    run_id: str
    variant_id: str
    outcome: Outcome
    values: Mapping[str, Value]
    words: VendorWords = field(default_factory=VendorWords, repr=False)
    gain: Seconds | None = None
    cap: float | None = None
    cap_likely: float | None = None
    share: Share | None = None
    confidence: float = 1.0
    confidence_because: tuple[str, ...] = ()
    record: str = ""
    evidence: str = ""
    because: str | None = None
    is_void: bool = False
    unchecked: tuple[str, ...] = ()
    not_collected: tuple[tuple[str, ...], ...] = ()
    missing: tuple[str, ...] = ()

    @cached_property
    def recommendation(self) -> tuple[str, ...]:
        """Return the steps of a rule that fires, which few readers of an evaluation ask for."""
        if self.outcome is not Outcome.FIRES:
            return ()
        shown = self.rule.shown(self.values)
        steps = (self.words.fill(step, shown) for step in self.rule.recommendation)
        return tuple(step for step in steps if step)

    @property
    def expected(self) -> float | None:
        """Return the likely seconds saved times the confidence, by which findings are ranked."""
        return None if self.gain is None else self.gain.likely * self.confidence


def settle(evaluations: Iterable[Evaluation], exclusions: Sequence[Exclusion]) -> list[Evaluation]:
    """Return the evaluations, those ruled out that another finding of their subject excludes.

    What was excluded excludes nothing itself; nor do unproven rules. Under a finding that voids
    the profile of its subject, nothing is left unknown either, and no other reason is given.
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
    held = _held(found, places)
    for exclusion in exclusions:
        if exclusion.found not in held:
            continue
        outcomes = _JUDGED if exclusion.voids else (Outcome.FIRES,)
        for place in places:
            each = found[place]
            if each.outcome in outcomes and exclusion.excludes(each.rule.id):
                found[place] = _ruled_out(each, exclusion)
        held = _held(found, places)


def _held(found: Sequence[Evaluation], places: Sequence[int]) -> set[str]:
    """Return the rules that exclude others of a subject."""
    return {found[place].rule.id for place in places if _holds(found[place])}


def _holds(evaluation: Evaluation) -> bool:
    return evaluation.outcome is Outcome.FIRES and not evaluation.rule.is_unproven


def _ruled_out(evaluation: Evaluation, exclusion: Exclusion) -> Evaluation:
    return replace(
        evaluation,
        outcome=Outcome.RULED_OUT,
        because=exclusion.because,
        is_void=exclusion.voids,
        gain=None,
        share=None,
        confidence=1.0,
        confidence_because=(),
        unchecked=(),
        not_collected=(),
        missing=(),
    )
