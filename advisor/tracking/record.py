"""The record of a rule: how often its advice was taken, what it brought, how far to believe it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.tracking.settings import OutcomeSettings

TAKEN = ("worked", "partly", "no effect", "backfired")
_OPEN = "open"

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Advice:
    """One outcome: its state, and the seconds per launch that were promised and came."""

    state: str
    predicted: float | None
    achieved: float | None

    @property
    def ratio(self) -> float | None:
        """Return achieved ÷ predicted where somebody followed the advice."""
        if self.state not in TAKEN or not self.predicted or self.achieved is None:
            return None
        return self.achieved / self.predicted


@dataclass(frozen=True, kw_only=True)
class Record:
    """What a rule's advice brought.

    ``ratio`` is the median of achieved ÷ predicted, ``low`` and ``high`` its quartiles, None where
    too few are known. ``belief`` is the mean of those ratios, shrunk towards 1: what to multiply
    an estimate of the rule with.
    """

    given: int
    states: Counter[str]
    ratio: float | None
    low: float | None
    high: float | None
    belief: float

    @property
    def taken(self) -> int:
        """Return how often the advice was followed."""
        return sum(self.states[state] for state in TAKEN)


def given_once(outcomes: Sequence[Row]) -> list[Row]:
    """Return stored outcomes without advice that was only repeated for another branch.

    That is what nothing decided there, given while the same was open for the same series.
    """
    same: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in outcomes:
        same[_advice(row)].append(row)
    return [row for row in outcomes if not _is_repeated(row, same[_advice(row)])]


def _advice(row: Row) -> tuple[object, ...]:
    return row["rule_id"], row["series_id"], row["simulated"]


def _is_repeated(row: Row, advice: Iterable[Row]) -> bool:
    return row["decided_run"] is None and any(
        each["branch"] != row["branch"]
        and (each["opened_at"], each["opened_run"]) < (row["opened_at"], row["opened_run"])
        and (each["state"] == _OPEN or (each["decided_at"] or row["opened_at"]) > row["opened_at"])
        for each in advice
    )


def record_of(outcomes: Iterable[Advice], settings: OutcomeSettings) -> Record:
    """Return the record of one rule; without outcomes, the belief is 1.

    A ratio counts between 0 and ``settings.largest_ratio``; ``settings.prior_strength`` outcomes
    that brought just what was promised stand beside the real ones.
    """
    decided = list(outcomes)
    ratios = [each.ratio for each in decided if each.ratio is not None]
    counted = [min(max(ratio, 0.0), settings.largest_ratio) for ratio in ratios]
    spread = quantiles(ratios, method="inclusive") if len(ratios) > 1 else None
    prior = settings.prior_strength
    return Record(
        given=len(decided),
        states=Counter(each.state for each in decided),
        ratio=median(ratios) if ratios else None,
        low=spread[0] if spread else None,
        high=spread[2] if spread else None,
        belief=(prior + sum(counted)) / (prior + len(counted)),
    )
