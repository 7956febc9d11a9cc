"""The records of two runs beside each other, in stored units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property

from advisor.database.read import StoredRun
from advisor.records import dataclass
from advisor.tracking.attribution import Terms
from advisor.tracking.gates import MachineShift

NEW, GONE = "new", "gone"
"""Words for a series that only one run has, in place of a verdict."""


@dataclass(frozen=True, kw_only=True)
class ComparedKernel:
    """A variant in one run: ``total`` is the time of its ``launches`` together [s]."""

    variant_id: str
    shape: str | None
    launches: int
    total: float | None


@dataclass(frozen=True, kw_only=True)
class MovedFact:
    """A fact whose value is another afterwards: SI values of one launch; ``label`` is its name."""

    fact: str
    label: str
    before: float
    after: float


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What a rule about changes says about one."""

    rule: str
    severity: str
    mechanism: str
    text: str


@dataclass(frozen=True, kw_only=True)
class AcceptedBaseline:
    """A level that the user took for the baseline, after the run that is compared with."""

    run_id: str
    because: str


@dataclass(frozen=True, kw_only=True)
class ComparedSeries:
    """One series in both runs, or in one of them.

    ``relative`` is head over base less 1, of the time in the run, and ``of_medians`` that of the
    median launch times the launches, which the gates look at. ``noise`` is what one launch, or
    one night, strays, ``needed`` what the practical gate asks for, both relative; ``p_value`` is
    the chance of the statistical gate. ``between_levels`` is the change between the levels of the
    nights around both runs, relative, where it was judged in place of ``of_medians``. ``causes``
    come with the likeliest first, ``moved`` with the largest change first. Where a level was
    ``accepted`` since the base, the verdict is against that one. ``attributed`` returns the terms,
    which are asked for of few series of many.
    """

    series: str
    kernel: str
    verdict: str
    base: ComparedKernel | None
    head: ComparedKernel | None
    relative: float | None
    p_value: float | None = None
    noise: float | None = None
    needed: float | None = None
    of_medians: float | None = None
    between_levels: float | None = None
    attributed: Callable[[], Terms | None] | None = field(default=None, repr=False, compare=False)
    shape_changed: bool = False
    accepted: AcceptedBaseline | None = None
    causes: tuple[Cause, ...] = ()
    moved: tuple[MovedFact, ...] = ()

    @cached_property
    def terms(self) -> Terms | None:
        """Return what the change is made of, None where a time is not known."""
        return None if self.attributed is None else self.attributed()

    @property
    def rests_on_medians(self) -> bool:
        """Return whether the gates saw a change that differs from that of the time in the run.

        By more than a change needs to count.
        """
        if self.of_medians is None or self.relative is None or self.needed is None:
            return False
        return self.between_levels is None and abs(self.of_medians - self.relative) > self.needed

    @property
    def cause(self) -> str | None:
        """Return the likeliest cause in words, None where none is known."""
        return self.causes[0].text if self.causes else None

    @property
    def lost(self) -> float:
        """Return how much longer it takes in the run [s]; 0 where that is not known."""
        before = None if self.base is None else self.base.total
        after = None if self.head is None else self.head.total
        return 0.0 if before is None or after is None else after - before


@dataclass(frozen=True, kw_only=True)
class Differs:
    """Something around the kernels that is not the same in both runs."""

    what: str
    before: str
    after: str

    @property
    def called(self) -> str:
        """Return what it is called in a sentence."""
        return self.what.replace("_", " ")


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Two runs: ``rows`` in the order of the baseline, then what is new.

    Totals are over the series that both runs have [s]. ``environment`` is what the runs were on,
    ``around`` what else differs. ``machine`` is the shift that most series share.
    """

    base: StoredRun
    head: StoredRun
    rows: Sequence[ComparedSeries]
    total_base: float
    total_head: float
    environment: tuple[Differs, ...]
    around: tuple[Differs, ...]
    machine: MachineShift | None

    @property
    def relative(self) -> float | None:
        """Return by which share the time of all common series changed."""
        return self.total_head / self.total_base - 1 if self.total_base > 0 else None
