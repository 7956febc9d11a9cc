"""What a scan of one series returns."""

from __future__ import annotations

from enum import StrEnum

from advisor.records import dataclass


class Verdict(StrEnum):
    """What tracking says about a series or a change."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    INCONCLUSIVE = "inconclusive"
    INSUFFICIENT = "insufficient"
    ENVIRONMENT = "environment"


WORST_FIRST = (
    Verdict.REGRESSED,
    Verdict.ENVIRONMENT,
    Verdict.INCONCLUSIVE,
    Verdict.IMPROVED,
    Verdict.INSUFFICIENT,
    Verdict.UNCHANGED,
)

QUIET = (Verdict.UNCHANGED, Verdict.INSUFFICIENT)
"""Verdicts of series that did not move, as far as one can tell."""


class ChangeKind(StrEnum):
    """The shape of a change."""

    STEP = "step"
    DRIFT = "drift"
    OUTLIER = "outlier"
    TWO_STATE = "two-state"


LEVELS = (ChangeKind.STEP, ChangeKind.DRIFT)
"""Kinds of changes that lead from one level to another."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change of a series.

    ``index`` is the first night at the new level, never the first of all, and ``end_index`` the
    last night of the change, both counted from 0 over nights with a value: a step has one night, a
    drift the nights of its ramp, an outlier its one or two nights, a two-state series those from
    the first switch to the last. ``before`` and ``after`` are medians in the unit of the values;
    ``relative`` is their difference over the magnitude of ``before``, None where that is 0 or not
    finite. ``p_value`` is None for two states.
    """

    kind: ChangeKind
    index: int
    end_index: int
    before: float
    after: float
    relative: float | None
    p_value: float | None
    verdict: Verdict | None


@dataclass(frozen=True, kw_only=True)
class Newest:
    """The test of the newest nights; ``index``, ``relative`` and ``p_value`` where they moved."""

    verdict: Verdict
    index: int | None = None
    relative: float | None = None
    p_value: float | None = None


@dataclass(frozen=True, kw_only=True)
class SeriesResult:
    """Everything a scan found in one series.

    ``nights`` counts those with a value. ``noise`` is the spread of one night around its level,
    relative to it, as a standard deviation; None where there are too few nights to tell.
    ``changes`` are in the order of their nights.
    """

    nights: int
    noise: float | None
    changes: tuple[Change, ...]
    newest: Newest
