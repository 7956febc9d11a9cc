"""Findings that the user does not want to see, until a day: set apart, counted, never deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from advisor.configuration import Suppression
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.language.rule import Outcome


@dataclass(frozen=True, kw_only=True)
class Screened:
    """Evaluations after suppression.

    ``shown`` are to be ranked. ``suppressed`` are findings with what silences them; ``returned``
    are findings, shown again, with the suppression that has expired.
    """

    shown: tuple[Evaluation, ...]
    suppressed: tuple[tuple[Evaluation, Suppression], ...]
    returned: tuple[tuple[Evaluation, Suppression], ...]


def screen(
    evaluations: Iterable[Evaluation],
    suppressions: Sequence[Suppression],
    *,
    kernel_names: Mapping[str, tuple[str, ...]],
    today: date,
) -> Screened:
    """Set apart what suppressions cover; ``kernel_names`` are those of each variant.

    What a covered rule does not know is left out too: its counters need not be collected.
    """
    shown: list[Evaluation] = []
    suppressed: list[tuple[Evaluation, Suppression]] = []
    returned: list[tuple[Evaluation, Suppression]] = []
    for each in evaluations:
        names = kernel_names.get(each.variant_id, ())
        covering = [s for s in suppressions if s.covers(each.rule.id, names)]
        active = next((s for s in covering if not s.expired(today)), None)
        if active is None or each.outcome is Outcome.RULED_OUT:
            shown.append(each)
        elif each.outcome is Outcome.FIRES:
            suppressed.append((each, active))
        if active is None and covering and each.outcome is Outcome.FIRES:
            returned.append((each, covering[0]))
    return Screened(shown=tuple(shown), suppressed=tuple(suppressed), returned=tuple(returned))
