"""The report as data: everything that a template, a chart or the JSON output shows.

Numbers are in stored units (s, B, FLOP, Hz; shares in [0, 1]) and ``None`` means unknown. Times
of a kernel are sums over its launches in the run. Texts that come from profiles or rules are raw:
each output format escapes them itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from advisor import wording
from advisor.records import dataclass
from advisor.reports.record.charted import ChartCeiling, Plane, Roofline
from advisor.reports.record.glossary import NumberTerm
from advisor.reports.record.history_words import SHORT_COMMIT
from advisor.reports.record.instructions import Ranking
from advisor.reports.record.kernel_records import Gain, KernelName, KernelRecord
from advisor.reports.record.over_time import RunHistory

SCHEMA_VERSION = "1.0"
_NAMED_KERNELS = 6


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """Where the numbers come from. ``started_at`` in seconds since 1970; ``labels`` are pairs."""

    run_id: str
    title: str
    file_name: str
    file_hash: str
    file_size: int | None
    profiler: str
    profiler_version: str | None
    driver_version: str | None
    command_line: str | None
    program: str | None
    host: str | None
    started_at: float | None
    launch_count: int
    variant_count: int
    launches_excluded: int
    simulated: bool
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def profiled_by(self) -> str:
        """Return the profiler and its version, as far as that is known."""
        if self.profiler_version is None:
            return f"{self.profiler}, version unknown"
        return f"{self.profiler} {self.profiler_version}"

    @property
    def collected(self) -> str:
        """Return by what the profile was collected, and when."""
        when = "time unknown" if self.started_at is None else wording.minute(self.started_at)
        return f"{self.profiled_by}, {when}"

    @property
    def ran(self) -> tuple[str, ...]:
        """Return when it ran and of which commit, as far as these are known."""
        started = () if self.started_at is None else (wording.minute(self.started_at),)
        commits = (value for name, value in self.labels if name == "commit")
        return (*started, *(f"commit {commit[:SHORT_COMMIT]}" for commit in commits))


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One of the key figures under the verdict: a formatted number, its unit, a line beneath."""

    label: str
    value: str
    unit: str
    note: str


@dataclass(frozen=True, kw_only=True)
class RunVerdict:
    """What limits the run and what to do first."""

    sentence: str
    paragraph: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One entry of the conditions strip; ``departs`` marks what forbids a plain comparison."""

    label: str
    value: str
    note: str = ""
    departs: bool = False


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """One thing to do: a finding, or findings of one rule over several kernels, ranked.

    ``title`` is an order, ``headline`` the same after "Start by". ``gain_note`` says how it moves
    the roof, and what of the gain is beyond wasted time. ``about_measurement`` marks what makes no
    kernel faster, but its numbers sounder; ``only_measures`` what finds the cause that the gain is
    worth; ``voids`` what makes the profile of its kernels
    meaningless, so that no gain is known. ``share`` is the gain as a share of the time of kernels
    whose time is unknown, from the least to the most of any. ``most`` is by kernel (its variant)
    the most that it saves, and the most that all advice about that kernel saves [s].
    """

    number: int
    rule_id: str
    title: str
    headline: str
    severity: str
    kernels: tuple[KernelName, ...]
    gain: Gain | None
    gain_share: float | None
    evidence: str
    why: str
    steps: tuple[str, ...]
    verify: tuple[str, ...]
    caveats: tuple[str, ...]
    confidence: Literal["high", "medium", "low"]
    confidence_reason: str
    next_command: str
    confidence_doubts: str = ""
    references: tuple[str, ...] = ()
    gain_note: str = ""
    instructions: Ranking | None = None
    about_measurement: bool = False
    only_measures: bool = False
    voids: bool = False
    share: Gain | None = None
    most: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def is_note(self) -> bool:
        """Return whether it promises nothing, and no kernel suffers without it."""
        return self.severity == "note" and self.gain is None and self.share is None

    @property
    def confidence_words(self) -> str:
        """Return how sure it is and why; what speaks against it is no reason to be sure."""
        word, reason = f"{self.confidence.capitalize()} confidence", self.confidence_reason
        if not reason:
            return word
        is_doubted = self.confidence == "high" and self.confidence_doubts
        return f"{word}, although {reason}" if is_doubted else f"{word}: {reason}"

    @property
    def shown_kernels(self) -> tuple[KernelName, ...]:
        """Return the kernels that a card names."""
        return self.kernels[:_NAMED_KERNELS]

    @property
    def more_kernels(self) -> int:
        """Return how many it does not name."""
        return len(self.kernels) - len(self.shown_kernels)


@dataclass(frozen=True, kw_only=True)
class Rest:
    """Kernels that no card speaks of, and the time they take; ``untimed`` have none.

    ``saved`` is what findings there likely save [s], where ``is_too_little`` each of them too
    little of the run for a card.
    """

    kernel_count: int
    duration: float | None
    duration_share: float | None
    untimed: int = 0
    saved: float = 0.0
    is_too_little: bool = False

    @property
    def sentence(self) -> str:
        """Return how many they are and what is known of their time."""
        kernels, untimed = wording.count(self.kernel_count, "kernel"), ""
        if self.duration is None or self.duration_share is None:
            return f"{kernels} without a time"
        if self.untimed:
            untimed = f" ({self.untimed} without a time)"
        time, share = wording.seconds(self.duration), wording.share(self.duration_share)
        found = f"{kernels}{untimed}, {time} or {share} of the profiled kernel time"
        if not self.saved:
            return found
        saves = f"findings there likely save {wording.seconds(self.saved)}"
        too_little = ", too little of the run for a step" if self.is_too_little else ""
        return f"{found}; {saves}{too_little}"


@dataclass(frozen=True, kw_only=True)
class Collect:
    """What was not evaluated for want of counters, and the command that would settle it.

    ``needs_version`` is the first version of the profiler that has all of it, where the one that
    was used has not. ``printed_note`` says what has more than this profile, where it was printed.
    ``not_knowable_count`` are the rules that ``profiler`` can never decide; they are not among the
    others.
    """

    rule_count: int
    kernel_count: int
    most_valuable: float | None
    command: str | None
    needs_version: str | None = None
    printed_note: str = ""
    not_knowable_count: int = 0
    profiler: str | None = None

    @property
    def need(self) -> str:
        """Return the verb that goes with the number of rules."""
        return "needs" if self.rule_count == 1 else "need"

    @property
    def command_note(self) -> str:
        """Return what stands before the command."""
        if self.needs_version is None:
            return "This command collects what decides most of them"
        needs = f"{self.profiler} {self.needs_version} or later"
        return f"This command collects what decides most of them, with {needs}"

    @property
    def not_knowable_note(self) -> str:
        """Return what says how many rules the profiler can never decide; empty for none."""
        count = self.not_knowable_count
        if not count:
            return ""
        rules = "1 rule needs" if count == 1 else f"{count} rules need"
        return f"Not knowable here: {rules} what {self.profiler or 'the profiler'} cannot measure."


@dataclass(frozen=True, kw_only=True)
class RunFinding:
    """What a rule says about the whole run; ``remark`` gives reasons to trust it less, if any."""

    rule_id: str
    title: str
    severity: str
    evidence: str
    step: str
    gain: Gain | None
    remark: str = ""
    share: None = None


@dataclass(frozen=True, kw_only=True)
class SuppressedFinding:
    """A finding that is not shown, and why; ``expires`` is the last day, as ISO 8601."""

    kernel_id: str
    kernel: str
    rule_id: str
    title: str
    reason: str
    owner: str | None
    expires: str | None


@dataclass(frozen=True, kw_only=True)
class Suppressed:
    """What is not shown, in one sentence and in full; ``expired`` says what is shown again."""

    sentence: str
    findings: tuple[SuppressedFinding, ...]
    expired: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return what to say beneath the actions."""
        return (self.sentence, *self.expired) if self.sentence else self.expired


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How to repeat the report. ``written_at`` in seconds since 1970."""

    advisor_version: str
    schema_revision: str
    database: str
    rules: str
    ceilings: tuple[str, ...]
    report_command: str
    query_command: str
    written_at: float


@dataclass(frozen=True, kw_only=True)
class Report:
    """One run, ready to be written in any format; kernels by wasted time, largest first.

    ``left_alone`` are kernels without a finding worth acting on, ``not_judged`` those with too few
    counters to judge. ``rejudged`` says that the stored findings come from other rules, empty where
    they are the ones shown.
    """

    run: RunRecord
    verdict: RunVerdict
    duration: float | None
    t_sol: float | None
    wasted_time: float | None
    actions: tuple[Recommendation, ...]
    more_actions: int
    left_alone: Rest | None
    not_judged: Rest | None
    collect: Collect | None
    conditions: tuple[Condition, ...]
    device: str
    ceilings: tuple[ChartCeiling, ...]
    rooflines: tuple[Roofline, ...]
    plane: Plane | None
    kernels: tuple[KernelRecord, ...]
    provenance: Provenance
    skipped: tuple[tuple[str, str], ...] = ()
    suppressed: Suppressed | None = None
    findings: tuple[RunFinding, ...] = ()
    rejudged: str = ""
    glossary: tuple[NumberTerm, ...] = ()
    history: RunHistory | None = None
    first_night: str = ""

    @property
    def more_findings(self) -> str:
        """Return how many findings are no action, and why not."""
        smaller = sum(kernel.smaller for kernel in self.kernels)
        rest = self.more_actions - smaller
        if not smaller:
            return f"{wording.count(rest, 'finding')} with hardly a gain, or none estimated"
        found = f"{wording.count(smaller, 'finding')} with a smaller gain"
        more = f", {wording.fixed(rest)} with hardly a gain, or none estimated"
        return f"{found}{more if rest else ''}"
