"""The record of a history: frozen, for text, JSON and the report."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from datetime import timedelta
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from advisor.records import dataclass
from advisor.tracking.records import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime

    from advisor.tracking.records import Change, SeriesResult

_DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Alike:
    """A series that may go on as another; ``because`` says what differs."""

    series_id: str
    kernel: str
    continued_by: str
    because: str


@dataclass(frozen=True, kw_only=True)
class HistoryNight:
    """One night of a branch; ``environment`` is what is known of what it ran on.

    ``time`` is in UTC. ``changed`` says what of that differs from the night before, ``differs`` the
    same as (what, before, after); ``started_over`` what changed where series are not compared with
    the nights before.
    """

    run_id: str
    time: datetime
    commit: str | None
    note: str | None
    environment: str | None
    changed: tuple[str, ...] = ()
    differs: tuple[tuple[str, str, str], ...] = ()
    started_over: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AcceptedLevel:
    """A level that the user took for the baseline.

    ``index`` is the night in the series, ``change`` the change to that level, where there is one.
    """

    index: int
    run_id: str
    because: str
    change: Change | None


@dataclass(frozen=True, kw_only=True)
class SeriesHistory:
    """One series: its nights, oldest first, and what the detector found in them.

    ``durations`` are of one launch [s], in the order of ``nights``, which ``result`` counts from 0.
    A series of which a run holds several launch shapes has one history for each, distinguished by
    ``launch_shape``, the newest one; ``launch_shapes`` are those it had over the nights.
    ``calibrated_noise`` is relative. ``is_missing``: the newest night of the branch has none of it.
    """

    series_id: str
    kernel: str
    kernel_name: str
    problem: str | None
    device: str | None
    configuration: str | None
    launch_shape: str
    launch_shapes: tuple[str, ...]
    nights: tuple[HistoryNight, ...]
    durations: tuple[float, ...]
    result: SeriesResult
    splits: tuple[int, ...]
    is_missing: bool
    accepted: tuple[AcceptedLevel, ...] = ()
    calibrated_noise: float | None = None

    @property
    def newest_night(self) -> HistoryNight:
        """The last night with a result."""
        return self.nights[-1]

    def change_at(self, index: int) -> Change | None:
        """Return the change to a new level on a night, None where the level goes on."""
        changes = self.result.changes
        return next((c for c in changes if c.kind in LEVELS and c.index == index), None)

    def accepted_level(self, change: Change) -> AcceptedLevel | None:
        """Return the user's reason for the level after a change, where it was accepted."""
        return next((level for level in reversed(self.accepted) if level.change == change), None)


@dataclass(frozen=True, kw_only=True)
class MachineMoved:
    """Most series moved alike in one night, of ``series`` that were tested: one finding.

    ``relative`` is what they moved by.
    """

    night: HistoryNight
    relative: float
    moved: int
    series: int


@dataclass(frozen=True, kw_only=True)
class History:
    """A branch over its nights, the series that moved for the worse first.

    ``shown_since`` is the first night that is to be shown. ``notes`` say what is left out or in
    doubt, ``alike`` which series may go on under another name. The newest nights of all series of
    the branch, shown or not, are judged together: ``machine`` is what most of them share.
    ``causes`` say why, by series, launch shape and the index of the change, where that was asked.
    """

    branch: str | None
    is_simulated: bool
    nights: tuple[HistoryNight, ...]
    series: tuple[SeriesHistory, ...]
    shown_since: datetime | None
    notes: tuple[str, ...]
    alike: tuple[Alike, ...]
    machine: MachineMoved | None = None
    causes: Mapping[tuple[str, str, int], str] = field(default_factory=dict)

    def missing_days(self) -> list[date]:
        """Return the days that no night began on, where nights are a day apart as a rule.

        A day of the week that lacks a night again and again is not missing.
        """
        times = [night.time for night in self.nights]
        gaps = [round((later - time) / _DAY) for time, later in pairwise(times)]
        if median([gap for gap in gaps if gap] or [0]) != 1:
            return []
        seen = {time.weekday() for time in times}
        between = [
            time + number * _DAY
            for time, gap in zip(times, gaps, strict=False)
            for number in range(1, gap)
        ]
        lacking = Counter(time.weekday() for time in between)
        return [
            time.date()
            for time in between
            if time.weekday() in seen or lacking[time.weekday()] == 1
        ]

    def cause(self, each: SeriesHistory, change: Change) -> str | None:
        """Return why a series changed, None where that is not known."""
        return self.causes.get((each.series_id, each.launch_shape, change.index))

    def is_shown(self, night: HistoryNight) -> bool:
        """Return whether a night is among those that are to be shown."""
        return self.shown_since is None or night.time >= self.shown_since

    def shown_changes(self, each: SeriesHistory) -> list[Change]:
        """Return the changes of a series whose end is to be shown, in the order of their nights."""
        changes = each.result.changes
        return [change for change in changes if self.is_shown(each.nights[change.end_index])]
