"""What moved, as a reader sees it: series that moved with one environment are one row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from advisor import wording
from advisor.records import dataclass
from advisor.reports.record.history_words import day, short_commit
from advisor.reports.record.over_time import OPEN
from advisor.rules.language.words import capital
from advisor.tracking.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.reports.record.over_time import AdviceOutcome, MovedSeries, RunHistory

_MOST, _RAISED = 6, "⁰¹²³⁴⁵⁶"
_FEW = 2  # kernels that a row of several names


@dataclass(frozen=True, kw_only=True)
class MovedGroup:
    """One row of the section: a change, or changes of many series on one night."""

    rows: tuple[MovedSeries, ...]
    state: str
    small_chance: float

    @property
    def first(self) -> MovedSeries:
        """The one that stands for all."""
        return self.rows[0]

    @property
    def name(self) -> str:
        """What moved."""
        if len(self.rows) == 1:
            return self.first.kernel
        return wording.count(len(self.rows), "kernel")

    @property
    def members(self) -> str:
        """The kernels of several, as many as are named."""
        if len(self.rows) == 1:
            return ""
        named = ", ".join(row.kernel for row in self.rows[:_FEW])
        more = len(self.rows) - _FEW
        return named + (f" and {more:,} more" if more > 0 else "")

    @property
    def change(self) -> str:
        """The relative change, of several its range."""
        known = sorted((row.relative for row in self.rows if row.relative is not None), key=abs)
        if not known:
            return wording.UNKNOWN
        low, high = wording.signed_percent(known[0]), wording.signed_percent(known[-1])
        return low if low == high else f"{low} to {high}"

    @property
    def levels(self) -> str:
        """Before and after; of several, nothing."""
        if len(self.rows) > 1:
            return ""
        return f"{wording.seconds(self.first.base)} → {wording.seconds(self.first.head)}"

    @property
    def certainty(self) -> str:
        """How sure it is, and the noise of one night."""
        if self.first.is_alone:
            return "one night alone"
        chances = [row.p_value for row in self.rows if row.p_value is not None]
        parts = [_chance(max(chances), self.small_chance)] if chances else []
        noises = [row.noise for row in self.rows if row.noise is not None]
        if noises:
            parts.append(f"noise of a night ±{wording.percent(max(noises), 1)}")
        return ", ".join(parts)

    @property
    def when(self) -> str:
        """The first night at the new level."""
        return day(self.first.time)

    @property
    def commit(self) -> str:
        """The commit that came with it, and its subject."""
        row = self.first
        if row.is_same_commit:
            return ""
        return " ".join(filter(None, (short_commit(row), row.note)))

    @property
    def cause(self) -> str:
        """Why it moved, in words; many moved because of what they ran on."""
        row = self.first
        if len(self.rows) > 1 and self.around:
            return f"{capital(self.around)}."
        return row.cause or ""

    @property
    def shown_state(self) -> str:
        """The state where it says something: a regression stands or not, an improvement is news."""
        row = self.first
        is_plain = row.state == OPEN and row.verdict != Verdict.REGRESSED
        return "" if is_plain else self.state

    @property
    def around(self) -> str:
        """What else changed on that night."""
        return ", ".join(self.first.around)


def _chance(p_value: float, small: float) -> str:
    """Return a chance in words: a bound of a power of ten where it is small.

    >>> _chance(0.03, 1e-3), _chance(5e-5, 1e-3), _chance(1e-40, 1e-3)
    ('p = 0.03', 'p < 10⁻⁴', 'p < 10⁻⁶')
    """
    if p_value >= small:
        return f"p = {p_value:.1g}"
    power = min(_MOST, math.floor(-math.log10(p_value)))
    return f"p < 10⁻{_RAISED[power]}"


def moved_groups(
    history: RunHistory, moved: Sequence[MovedSeries] | None = None
) -> tuple[MovedGroup, ...]:
    """Return all rows, the worst first; or those of some series."""
    found: dict[object, list[MovedSeries]] = {}
    for number, row in enumerate(history.moved if moved is None else moved):
        is_shared = row.verdict == Verdict.ENVIRONMENT
        slower = row.head > row.base
        key = (row.run_id, row.state, slower) if is_shared else number
        found.setdefault(key, []).append(row)
    labels = history.state_labels
    return tuple(
        MovedGroup(
            rows=tuple(rows),
            state=labels.get(rows[0].state, rows[0].state),
            small_chance=history.limits.small_chance,
        )
        for rows in found.values()
    )


@dataclass(frozen=True, kw_only=True)
class OutcomeGroup:
    """Advice for one kernel that one change decided."""

    outcomes: tuple[AdviceOutcome, ...]

    @property
    def first(self) -> AdviceOutcome:
        """The one that stands for all."""
        return self.outcomes[0]

    @property
    def title(self) -> str:
        """What the kernel took before and after."""
        one = self.first
        change = f"{wording.seconds(one.before)} → {wording.seconds(one.after)} per launch"
        when = "" if one.decided_at is None else f" since {day(one.decided_at)}"
        return f"{change}{when}"

    @property
    def shared(self) -> str:
        """Say what one change achieved for all; empty where it answers one piece of advice."""
        achieved = self.first.achieved
        if len(self.outcomes) == 1 or achieved is None:
            return ""
        did = f"{_saved(achieved)} {wording.seconds(abs(achieved))} per launch"
        return f"One change {did}; {len(self.outcomes)} pieces of advice had recommended it."


def outcome_groups(outcomes: Sequence[AdviceOutcome]) -> tuple[OutcomeGroup, ...]:
    """Return outcomes by kernel and the run that decided, in the order of the first of each."""
    found: dict[object, list[AdviceOutcome]] = {}
    for each in outcomes:
        found.setdefault((each.series_id, each.decided), []).append(each)
    return tuple(OutcomeGroup(outcomes=tuple(group)) for group in found.values())


def outcome_words(each: AdviceOutcome) -> str:
    """Return predicted beside achieved, per launch; what others share stands above all of them."""
    low, high = wording.seconds(each.low), wording.seconds(each.high)
    predicted = f"predicted to save {wording.seconds(each.likely)} ({low} to {high})"
    if each.achieved is None or each.shared_with:
        return predicted
    return f"{predicted}, {_saved(each.achieved)} {wording.seconds(abs(each.achieved))}"


def _saved(achieved: float) -> str:
    return "saved" if achieved >= 0 else "lost"
