"""One kernel of a report as data: its facts, bars, and what the rules say about it.

Numbers are in stored units and ``None`` means unknown; times are sums over launches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from advisor import wording
from advisor.records import dataclass
from advisor.reports.record.instructions import Ranking

Outcome = Literal["fires", "ruled out", "unknown", "not knowable here"]
_OUTCOME_WORDS = {
    "fires": "found",
    "ruled out": "not the cause",
    "unknown": "unknown",
    "not knowable here": "not knowable here",
}

_MANY = 2  # further rules


@dataclass(frozen=True, kw_only=True)
class Gain:
    """Seconds of the run, or shares, that could be saved; ``low`` ≤ ``likely`` ≤ ``high``."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True, kw_only=True)
class KernelName:
    """A kernel where something else speaks of it.

    ``told_apart`` distinguishes it from others of its short name in the run: by what differs of its
    template arguments, by its launch shape, where they share both by its registers or else its id;
    empty where it is the only one.
    """

    id: str
    short_name: str
    told_apart: str = ""

    @property
    def full_name(self) -> str:
        """Return a name that no other kernel of the run has."""
        return ", ".join(filter(None, (self.short_name, self.told_apart)))


@dataclass(frozen=True, kw_only=True)
class ShownFact:
    """A value with its unit and kind (measured, derived, …, and of what a share is).

    ``essential`` ones stand out among the others.
    """

    name: str
    label: str
    value: float | str | None
    unit: str
    kind: str
    essential: bool = False


@dataclass(frozen=True, kw_only=True)
class FactGroup:
    """Facts that belong together under a ``name``."""

    name: str
    facts: tuple[ShownFact, ...]


@dataclass(frozen=True, kw_only=True)
class ResourceTime:
    """The time one resource alone would need at its profiled peak; ``other`` is none of a roof."""

    label: str
    group: Literal["memory", "compute", "other"]
    time: float
    share: float
    binds: bool


@dataclass(frozen=True, kw_only=True)
class Stall:
    """Share of the time between two instructions of a warp; ``neutral`` is no stall."""

    label: str
    about: str
    share: float
    neutral: bool


@dataclass(frozen=True, kw_only=True)
class Stalls:
    """Where warps wait, largest first; ``latency`` is cycles per instruction of a warp."""

    latency: float | None
    entries: tuple[Stall, ...]
    other_count: int
    other_share: float


@dataclass(frozen=True, kw_only=True)
class OccupancyLimit:
    """Blocks per multiprocessor that one resource allows."""

    label: str
    blocks: float
    binds: bool


@dataclass(frozen=True, kw_only=True)
class OccupancyRecord:
    """Resident warps over the maximum, and what limits them."""

    theoretical: float | None
    achieved: float | None
    block_size: float | None
    limits: tuple[OccupancyLimit, ...]


@dataclass(frozen=True, kw_only=True)
class RuleResult:
    """What one rule says about one kernel.

    ``unchecked`` are the conditions of exclusions that could not be checked, ``not_checked`` what
    each of them lacks, in words. ``gain_below`` is the share of the kernel's time that even the
    largest gain stays below, where that is too little for a number. One that ``is_void`` was not
    judged: another finding says that the profile tells nothing of the kernel.
    """

    outcome: Outcome
    rule_id: str
    title: str
    severity: str
    text: str
    gain: Gain | None
    unchecked: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    next_command: str = ""
    instructions: Ranking | None = None
    share: Gain | None = None
    gain_below: float | None = None
    is_void: bool = False
    only_measures: bool = False

    @property
    def without_gain(self) -> str:
        """Return what stands for a gain where none is shown: whether it is nothing, or unknown."""
        if self.outcome == "fires":
            return "not estimated" if self.gain is None else "none"
        return "none" if self.outcome == "ruled out" and not self.is_void else "unknown"

    @property
    def word(self) -> str:
        """Return the outcome as a reader knows it."""
        return "not judged" if self.is_void else _OUTCOME_WORDS[self.outcome]


def of_one_reason(results: Iterable[RuleResult]) -> list[RuleResult]:
    """Return results, as one each those that the same reason rules out where they are many."""
    groups: dict[tuple[str, ...], list[RuleResult]] = {}
    for each in results:
        alone = () if each.outcome == "ruled out" else (each.rule_id,)
        groups.setdefault((each.outcome, each.text, *alone), []).append(each)
    shown: list[RuleResult] = []
    for first, *others in groups.values():
        if len(others) < _MANY:
            shown += (first, *others)
        else:
            title = f"{first.title}, and {wording.fixed(len(others))} more"
            shown.append(replace(first, title=title))
    return shown


@dataclass(frozen=True, kw_only=True)
class VendorFinding:
    """The message of the vendor's own rule; ``estimate`` is a share of run time in [0, 1].

    Printed pages name the ``section`` that a message stands in, and not its rule.
    """

    rule: str
    title: str
    text: str
    severity: str
    estimate: float | None
    scope: str
    launches: int = 1
    section: str = ""

    @property
    def source(self) -> str:
        """Return the rule, or the section of one without a name."""
        return self.rule or self.section

    @property
    def message(self) -> str:
        """Return the title, where there is one, and the text."""
        return ". ".join(filter(None, (self.title.removesuffix("."), self.text)))


@dataclass(frozen=True, kw_only=True)
class KernelRecord(KernelName):
    """One variant: a kernel with one launch shape. ``has_flops`` None: nobody counted.

    ``smaller`` are the findings with a gain, each of a cause of its own, that no card speaks of.
    """

    name: str
    launch_shape: str
    registers: float | None
    launch_count: int
    launches_excluded: int
    launches_detailed: int
    duration: float | None
    duration_min: float | None
    duration_max: float | None
    time_share: float | None
    t_sol: float | None
    t_sol_complete: bool | None
    t_sol_known: str
    wasted_time: float | None
    roof_fraction: float | None
    roof_fraction_achievable: float | None
    roof_name: str
    limiter: str | None
    limiter_note: str
    roofline_bound: str | None
    evidence_level: int | None
    has_flops: bool | None
    performance: float | None
    arithmetic_intensity: float | None
    arithmetic_intensity_l2: float | None
    arithmetic_intensity_l1: float | None
    dram_bandwidth: float | None
    dram_fraction: float | None
    compute_utilization: float | None
    memory_utilization: float | None
    remark: str
    facts: tuple[FactGroup, ...] = ()
    resources: tuple[ResourceTime, ...] = ()
    stalls: Stalls | None = None
    occupancy: OccupancyRecord | None = None
    results: tuple[RuleResult, ...] = ()
    vendor: tuple[VendorFinding, ...] = ()
    actions: tuple[int, ...] = ()
    smaller: int = 0
    flags: tuple[str, ...] = ()

    @property
    def is_judged(self) -> bool:
        """Return whether enough was counted to say what limits the kernel, or what its roof is."""
        return self.limiter is not None or self.t_sol is not None

    @property
    def at_most(self) -> str:
        """Return what stands before the wasted time: some of it may be work nobody counted."""
        return "" if self.t_sol_complete or self.wasted_time is None else "at most "

    @property
    def without_action(self) -> str:
        """Return what there is to do where no card speaks of the kernel."""
        if not self.is_judged:
            return "not enough counters"
        return wording.count(self.smaller, "smaller finding") if self.smaller else "no step found"

    @property
    def has_smaller(self) -> bool:
        """Return whether findings that are no action say what could be saved."""
        return self.is_judged and self.smaller > 0

    @property
    def sums(self) -> str:
        """Return what is a sum over launches, in a sentence; nothing of a single one."""
        counted = self.launch_count - self.launches_excluded
        if counted <= 1:
            return ""
        sums = f"Times, work and traffic are sums of {counted:,} launches."
        if self.launches_detailed == self.launch_count:
            return sums
        read = f"{self.launches_detailed:,} of {self.launch_count:,} launches"
        return f"{sums} Instructions, curves and the vendor's findings are of {read}."
