"""What a report says about the gain of advice: what earlier steps take, how the roof moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from advisor import wording
from advisor.reports.record.rows import Row, number

if TYPE_CHECKING:
    from advisor.reports.record.kernel_records import Gain
    from advisor.rules.engine.evaluation import Evaluation
    from advisor.rules.engine.rank import Action

_FOUND = "A new profile saves nothing itself: this is what the cause that it shows may be worth."
_START = "t_launch"
"""The fact that is the time of empty launches."""


def gain_notes(group: Sequence[Action], gain: Gain, rows: Mapping[str, Row]) -> str:
    """Return what is to know of the gain of an action: what it overlaps, how it moves the roof."""
    evaluations = [each.evaluation for each in group]
    found = _FOUND if evaluations[0].rule.only_measures else ""
    return " ".join(filter(None, (found, _after(group), roof_moved(evaluations, gain, rows))))


def _after(group: Sequence[Action]) -> str:
    """Return that earlier advice takes a part of what this would save alone; empty if none does."""
    found = [each.evaluation.gain for each in group]
    if not any(each.after for each in group) or any(gain is None for gain in found):
        return ""
    alone = wording.seconds(sum(gain.likely for gain in found if gain is not None))
    return f"Counted after the other steps for the same kernel; alone it likely saves {alone}."


def roof_moved(evaluations: Sequence[Evaluation], gain: Gain, rows: Mapping[str, Row]) -> str:
    """Return how the roof moves under advice that may save more than is wasted; else nothing.

    Advice that leaves the roof where it is saves no more than is wasted.
    """
    now = then = wasted = 0.0
    for each in evaluations:
        cap, row = each.cap, rows[each.variant_id]
        least, duration = number(row, "t_least"), number(row, "duration")
        above = number(row, "wasted_time")
        if least is None or duration is None or above is None:
            continue
        wasted += max(0.0, above)
        if each.rule.assumes and cap is not None:
            now += min(least, duration)
            then += min(least, duration - cap)
    falls_from, to = wording.seconds(now), wording.seconds(then)
    if then >= now or falls_from == to or gain.high <= wasted:
        return ""
    if all(each.rule.assumes.keys() <= {_START} for each in evaluations):
        return f"The time at the roof, {falls_from}, is that of empty launches, which this saves."
    moved = f"This moves the roof: the time at the roof falls from {falls_from} to {to}."
    if gain.likely > wasted:
        beyond, of = wording.seconds(gain.likely - wasted), wording.seconds(wasted)
        return f"{moved} So {beyond} of the gain is beyond the {of} wasted today."
    return f"{moved} So it may save more than the {wording.seconds(wasted)} wasted today."
