"""Answers of what-if as records: scenarios, each with its kernels and what they add up to.

All times are in s and of all launches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.modelling.elsewhere import Predicted


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Why a kernel takes longer than its operation must: three factors, whose product is ``gap``.

    ``avoidable_traffic`` and ``avoidable_work`` are the least time with the measured traffic, then
    also the measured work, over that without; ``efficiency`` is the time taken over the least time
    of what was measured. What is not known is None.
    """

    operation: str
    least: float | None
    gap: float | None
    avoidable_traffic: float | None
    avoidable_work: float | None
    efficiency: float | None


@dataclass(frozen=True, kw_only=True)
class Prospect:
    """A kernel in a scenario; ``gap`` only where its operation is asked for."""

    predicted: Predicted
    gap: Gap | None = None


@dataclass(frozen=True, kw_only=True)
class Sum:
    """All kernels of a scenario; low, likely and high are of those that have a prediction.

    ``measured`` is of all, ``measured_covered`` of those; ``covered`` is the share between them.
    """

    measured: float
    measured_covered: float
    low: float | None
    likely: float | None
    high: float | None
    covered: float

    @property
    def speedup(self) -> float | None:
        """Return how much faster what is covered gets."""
        return self.measured_covered / self.likely if self.likely else None


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """A scenario: what it is called, the device it is on, and what comes of it.

    ``rank`` 1 is the fastest of devices that cover as much. ``adds`` [s] is what the rules asked
    for save in it, beside the others.
    """

    name: str
    device: str
    device_name: str
    kernels: tuple[Prospect, ...]
    total: Sum
    rank: int | None = None
    rules: tuple[str, ...] = ()
    adds: float | None = None


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """A whole answer about one run."""

    title: str
    run_id: str
    measured_on: str
    simulated: bool
    scenarios: tuple[Outlook, ...]


def total_of(kernels: Sequence[Prospect], measured: float) -> Sum:
    """Return what kernels add up to; ``measured`` [s] is the time of all kernels of the run."""
    every = [each.predicted for each in kernels]
    known = [each for each in every if each.likely is not None]
    covered = sum(each.measured or 0.0 for each in known)
    return Sum(
        measured=measured,
        measured_covered=covered,
        low=sum(each.low or 0.0 for each in known) if known else None,
        likely=sum(each.likely or 0.0 for each in known) if known else None,
        high=sum(each.high or 0.0 for each in known) if known else None,
        covered=covered / measured if measured else 0.0,
    )


def ranked(outlooks: Sequence[Outlook]) -> tuple[Outlook, ...]:
    """Return scenarios in order: those that cover most of the time first, then the fastest."""

    def place(outlook: Outlook) -> tuple[float, float]:
        return (-round(outlook.total.covered, 2), -(outlook.total.speedup or 0.0))

    return tuple(
        replace(each, rank=number)
        for number, each in enumerate(sorted(outlooks, key=place), start=1)
    )
