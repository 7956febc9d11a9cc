"""What a report tells over nights, as records.

Times of a kernel are seconds of one launch, moments are UTC; shares are in [0, 1], changes are
relative: 0.5 is half as much again. ``None`` is unknown. Texts are raw, as in ``records``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from advisor.records import dataclass
from advisor.reports.record.history_settings import HistoryLimits

NEW, OPEN, MENDED, ACCEPTED = "new", "open", "mended", "accepted"
"""States of a change: first reported with this run, standing, undone by a later one, accepted."""


@dataclass(frozen=True, kw_only=True)
class FactMove:
    """A fact before and after a change: medians of one launch, in stored units."""

    name: str
    label: str
    unit: str
    base: float
    head: float


@dataclass(frozen=True, kw_only=True)
class NamedRule:
    """A rule and what it advises, in the words of the run's vendor."""

    id: str
    title: str


@dataclass(frozen=True, kw_only=True)
class MovedSeries:
    """One change of a series, and why.

    ``base`` and ``head`` are medians of the nights before and after; ``run_id``, ``time``,
    ``commit`` and ``note`` are of the first night at the new level, ``base_run`` of the last one
    before. ``lost`` is by how much longer the run takes for it [s]. ``around`` says what else
    changed on that night, ``is_same_commit`` that the commit did not. ``came`` and ``gone`` are
    the rules that fire since, or no longer.
    ``terms`` are natural logarithms. ``is_alone``: one night, which proves nothing.
    """

    series_id: str
    kernel: str
    variant_id: str | None
    verdict: str
    state: str
    kind: str
    run_id: str
    base_run: str
    time: datetime
    commit: str | None
    note: str | None
    base: float
    head: float
    relative: float | None
    p_value: float | None
    noise: float | None
    lost: float
    around: tuple[str, ...] = ()
    terms: Mapping[str, float] | None = None
    cause: str | None = None
    facts: tuple[FactMove, ...] = ()
    came: tuple[NamedRule, ...] = ()
    gone: tuple[NamedRule, ...] = ()
    because: str | None = None
    is_alone: bool = False
    is_same_commit: bool = False


@dataclass(frozen=True, kw_only=True)
class EnvironmentStep:
    """Something that the kernels ran on and that is another thing since a run."""

    run_id: str
    time: datetime
    what: str
    base: str
    head: str


@dataclass(frozen=True, kw_only=True)
class AdviceOutcome:
    """The outcome of advice: seconds of one launch, predicted beside achieved.

    ``shared_with`` are the rules of other advice that the same change took: what was achieved is
    theirs as well, and is there once.
    """

    series_id: str
    kernel: str
    variant_id: str | None
    rule_id: str
    title: str
    outcome: str
    opened: str
    opened_at: datetime
    decided: str | None
    decided_at: datetime | None
    before: float | None
    after: float | None
    low: float | None
    likely: float | None
    high: float | None
    achieved: float | None
    shared_with: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Nights at one level, ``first`` to ``last`` by their place in the shown nights.

    ``low`` and ``high`` enclose the median of all such nights with a chance of 95 %; None where
    there are too few to say.
    """

    first: int
    last: int
    median: float
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class FactNights:
    """One fact of a kernel over the shown nights; ``values`` are (place of the night, value)."""

    name: str
    label: str
    unit: str
    values: tuple[tuple[int, float], ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True, kw_only=True)
class KernelNights:
    """A kernel of the run over the shown nights.

    ``verdict`` and ``relative`` are of its latest change that stands, else of the newest nights;
    ``since`` is when it began. ``charts`` begin with the duration. ``path`` are earlier places in
    the roofline by the precision of the chart: (night, FLOP/B, FLOP/s), the oldest first.
    """

    series_id: str
    verdict: str
    relative: float | None
    since: datetime | None
    state: str | None
    noise: float | None
    durations: tuple[tuple[int, float], ...]
    charts: tuple[FactNights, ...] = ()
    path: Mapping[str, tuple[tuple[int, float, float], ...]] | None = None


@dataclass(frozen=True, kw_only=True)
class ShownNight:
    """One night of the charts' common axis."""

    run_id: str
    time: datetime
    commit: str | None
    note: str | None
    changed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RunHistory:
    """What a run's report tells over nights, up to the run itself.

    ``nights`` are the shown ones, oldest first; ``baseline`` is the first of them. ``moved`` has
    the worst first, ``quiet`` is what to say where there is none; ``limits`` say how much of it is
    shown. ``kernels`` are by id of the variant.
    """

    since: datetime
    nights: tuple[ShownNight, ...]
    previous: str | None
    baseline: str
    sentence: str
    moved: tuple[MovedSeries, ...]
    quiet: str
    environment: tuple[EnvironmentStep, ...]
    outcomes: tuple[AdviceOutcome, ...]
    open_advice: int
    kernels: Mapping[str, KernelNights]
    missing: tuple[str, ...]
    limits: HistoryLimits
    term_labels: Mapping[str, str]
    state_labels: Mapping[str, str]
