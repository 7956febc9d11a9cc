"""What other programs read of a report or a gate: the record every format is written from.

Times of kernels are sums over their launches in the run [s], those of changes are of one launch
[s]; ``None`` is unknown. Texts are raw: each format escapes them itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from advisor.records import dataclass
from advisor.reports.record.gate import Gate
from advisor.reports.record.kernel_records import Gain


@dataclass(frozen=True, kw_only=True)
class SourcePlace:
    """A line of a file; ``path`` is relative and has slashes. ``line`` is None for the whole."""

    path: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class SeriesOfVariant:
    """The series that a variant counts to, and the device and configuration it is for."""

    series_id: str
    device: str
    configuration: str


@dataclass(frozen=True, kw_only=True)
class RuleText:
    """A rule without the numbers of a kernel, in the words of the run's vendor."""

    rule_id: str
    title: str
    severity: str
    why: str
    caveats: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PublishedKernel:
    """A kernel of the run, and how it did.

    ``verdict`` is a word of tracking, None where nothing says. ``failures`` are why it fails a
    gate, a sentence each; ``undecided`` says why nothing can be decided, empty where something is.
    """

    variant_id: str
    series_id: str
    device: str
    configuration: str
    kernel: str
    short_name: str
    name: str
    launch_shape: str
    launches: int
    duration: float | None
    t_sol: float | None
    wasted_time: float | None
    roof_fraction: float | None
    limiter: str | None
    verdict: str | None
    relative: float | None
    failures: tuple[str, ...] = ()
    undecided: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PublishedFinding:
    """What one rule found in one series, or in the run as a whole, whose ``series_id`` is None.

    ``kernels`` are the launch shapes of the series that it speaks of, the one that gains most
    first. ``fingerprint`` is the same in every run. ``suppressed`` says why it is not shown.
    """

    rule_id: str
    fingerprint: str
    series_id: str | None
    kernels: tuple[str, ...]
    title: str
    severity: str
    evidence: str
    step: str
    gain: Gain | None
    place: SourcePlace
    suppressed: str | None = None
    share: Gain | None = None


@dataclass(frozen=True, kw_only=True)
class PublishedAction:
    """One thing to do, as the report ranks them: their gains may be added."""

    title: str
    kernels: tuple[str, ...]
    gain: Gain | None
    step: str
    share: Gain | None = None


@dataclass(frozen=True, kw_only=True)
class PublishedMove:
    """A series that moved, and stands where it moved to; ``rule_id`` is ``history/VERDICT``.

    ``lost`` is how much longer the run takes for it [s]. ``accepted`` says why it was accepted.
    ``others`` counts further changes of the series with this verdict, ``around`` is what else
    changed on that night; ``note`` is of the commit, if it is another one than before.
    """

    rule_id: str
    fingerprint: str
    series_id: str
    kernel: str
    verdict: str
    state: str
    severity: str
    run_id: str
    time: datetime
    commit: str | None
    note: str | None
    base: float | None
    head: float | None
    relative: float | None
    p_value: float | None
    lost: float
    cause: str | None
    around: tuple[str, ...]
    sentence: str
    place: SourcePlace
    command: str
    accepted: str | None = None
    others: int = 0


@dataclass(frozen=True, kw_only=True)
class Published:
    """One run as other programs read it; findings and moves are the worst first.

    ``moved_sentence`` is the history in a sentence, or from when there is one; ``gate`` is what
    decided, None for a report, which decides nothing. ``ran`` says when it ran and of which commit.
    """

    run_id: str
    title: str
    device: str
    configuration: str
    simulated: bool
    sentence: str
    paragraph: str
    moved_sentence: str
    duration: float | None
    kernels: tuple[PublishedKernel, ...]
    actions: tuple[PublishedAction, ...]
    findings: tuple[PublishedFinding, ...]
    moved: tuple[PublishedMove, ...]
    rules: Mapping[str, RuleText]
    report_command: str
    ran: tuple[str, ...] = ()
    gate: Gate | None = None

    @property
    def shown_findings(self) -> list[PublishedFinding]:
        """Return what is not suppressed."""
        return [each for each in self.findings if each.suppressed is None]

    @property
    def open_moves(self) -> list[PublishedMove]:
        """Return what is not accepted."""
        return [each for each in self.moved if each.accepted is None]

    @property
    def shown(self) -> list[PublishedMove | PublishedFinding]:
        """Return what moved and what was found, the worst first."""
        return [*self.moved, *self.findings]

    @property
    def open(self) -> list[PublishedMove | PublishedFinding]:
        """Return the same without what is accepted or suppressed."""
        return [*self.open_moves, *self.shown_findings]
