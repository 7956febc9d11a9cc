"""The verdict: one sentence, one paragraph, and the figures that stand beneath."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from advisor import wording
from advisor.records import dataclass
from advisor.reports.record import saved
from advisor.reports.record.judgement import Judgement
from advisor.reports.record.layout import limited_by
from advisor.reports.record.records import Collect, Figure, Recommendation, RunVerdict
from advisor.reports.record.rows import Row, flag, lacks_peaks, number, text, whole

_HOLDS: Mapping[str, str] = {
    "memory": "This run is memory-bound.",
    "compute": "This run is compute-bound.",
    "latency": "This run is latency-bound.",
    "balanced": "Memory and compute limit this run alike.",
}
_UNDETERMINED = "Not enough counters to tell what limits this run."
_ROOFLINE_LEVELS = (1, 2)


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Sums over the kernels of a run, in seconds.

    ``least`` is the least time of those with a roof, which every share of a roof and all wasted
    time rest on, too. ``placed`` is the time of those with a roof,
    ``evident`` of those whose roof rests on counted work and bytes. A kernel above its roof makes
    up for no other: it counts as being there.
    """

    duration: float | None
    least: float | None
    t_sol_achievable: float | None
    wasted: float | None
    placed: float
    evident: float
    complete: bool


def totals(rows: Sequence[Row]) -> Totals:
    """Return the sums; what no kernel has is None."""
    durations = [time for row in rows if (time := number(row, "duration")) is not None]
    roofed = [row for row in rows if number(row, "t_sol") is not None and number(row, "duration")]
    least = [_least(row, "t_least") for row in roofed]
    wasted = [number(row, "wasted_time") for row in roofed]
    achievable = [time for row in roofed if (time := _least(row, "t_sol_achievable")) is not None]
    return Totals(
        duration=sum(durations) if durations else None,
        least=sum(time or 0.0 for time in least) if roofed else None,
        t_sol_achievable=sum(achievable) if roofed and len(achievable) == len(roofed) else None,
        wasted=sum(max(0.0, time or 0.0) for time in wasted) if roofed else None,
        placed=sum(number(row, "duration") or 0.0 for row in roofed),
        evident=sum(number(row, "duration") or 0.0 for row in rows if _is_evident(row)),
        complete=all(row.get("t_sol_complete") for row in roofed),
    )


def _least(row: Row, name: str) -> float | None:
    """Return a kernel's least time, at most what it took."""
    time, taken = number(row, name), number(row, "duration")
    return time if time is None or taken is None else min(time, taken)


def _is_evident(row: Row) -> bool:
    """Return whether a kernel has a roofline that its counters do not belie."""
    if lacks_peaks(row):
        return False
    return whole(row, "evidence_level") in _ROOFLINE_LEVELS and not flag(row, "measured_above_roof")


def verdict(
    rows: Sequence[Row],
    sums: Totals,
    actions: Sequence[Recommendation],
    collect: Collect | None,
    judgement: Judgement,
) -> RunVerdict:
    """Return what limits the run, what to do first, and the key figures."""
    limiter, share = _limiter(rows, sums)
    holds = _HOLDS.get(limiter or "", _UNDETERMINED)
    first = next((action for action in actions if not action.about_measurement), None)
    unseen = _unseen(rows, sums, first, judgement)
    done = _done(rows, sums, judgement) if first is None or first.is_note else ""
    if unseen is not None:
        sentence = unseen
    elif done:
        sentence = done + _check(actions)
    elif first is None:
        sentence = f"{holds} {_nothing(sums, collect, judgement)}{_check(actions)}"
    elif first.voids:
        sentence = (
            f"This profile tells little of how fast the run could be. Start by {first.headline}."
        )
    elif (most := _most_of_nothing(first)) is not None:
        sentence = f"{holds} No step likely saves time; at most {most}, by {first.headline}."
    else:
        sentence = f"{holds} Start by {_to_do(first, sums)}."
    return RunVerdict(
        sentence=sentence,
        paragraph=_paragraph(limiter, share, sums, rows, tells=first is None or not first.voids),
        figures=tuple(_figures(rows, sums, actions)),
    )


def _unseen(
    rows: Sequence[Row], sums: Totals, first: Recommendation | None, judgement: Judgement
) -> str | None:
    """Return the sentence on a kernel that takes most of the run and cannot be judged, if any."""
    if not sums.duration:
        return None
    largest = max(rows, key=lambda row: number(row, "duration") or 0.0)
    share = (number(largest, "duration") or 0.0) / sums.duration
    named = first is not None and text(largest, "variant_id") in {n.id for n in first.kernels}
    if share <= judgement.worth_a_headline or named or len(rows) == 1:
        return None
    if text(largest, "limiter") is not None or flag(largest, "t_sol_complete"):
        return None
    if text(largest, "library") is not None:  # no counter lets a caller change its source
        return None
    name = text(largest, "short_name") or "a kernel without a name"
    return (
        f"{wording.share(share)} of the run is {name}, for which this profile lacks the counters. "
        f"Start by profiling it."
    )


def _limiter(rows: Sequence[Row], sums: Totals) -> tuple[str | None, float]:
    """Return the limiter of most of the time, and its share of it; without times, that of all.

    There is none where more of the time is of kernels without one.
    """
    if not sums.duration:
        names = {text(row, "limiter") for row in rows}
        return (names.pop(), 1.0) if len(names) == 1 else (None, 0.0)
    times: dict[str | None, float] = {}
    for row in rows:
        name = text(row, "limiter")
        times[name] = times.get(name, 0.0) + (number(row, "duration") or 0.0)
    first = max(times, key=lambda name: times[name])
    return (None, 0.0) if first is None else (first, times[first] / sums.duration)


def _most_of_nothing(action: Recommendation) -> str | None:
    """Return the most that an action saves, in words, where it likely saves nothing."""
    if action.only_measures:
        return None
    if action.gain is not None:
        found = action.gain.likely == 0 < action.gain.high
        return wording.seconds(action.gain.high, 2) if found else None
    if action.share is None or action.share.likely or not action.share.high:
        return None
    return f"{wording.share(action.share.high)} of the kernel's time"


def _to_do(action: Recommendation, sums: Totals) -> str:
    worth = saved.likely(action, 2)
    if not worth or (action.gain is not None and sums.duration is None):
        return action.headline
    whole = "" if sums.duration is None else f" of {wording.seconds(sums.duration)}"
    saves = "perhaps saves" if action.confidence == "low" else "saves"
    if action.only_measures:
        of_kernel = worth.replace("its time", "the kernel's time")
        of_run = whole if action.gain is not None else ""
        return f"{action.headline}: what that shows may save {of_kernel}{of_run}"
    if action.gain is None and action.share is not None:
        between, likely = saved.shares(action.share), wording.share(action.share.likely)
        return f"{action.headline}: {saves} {between} of the kernel's time, likely {likely}"
    if action.gain is not None and action.gain.low == 0:  # it may save nothing: say so at once
        return f"{action.headline}: {saves} {saved.between(action, 2)}{whole}, likely {worth}"
    return f"{action.headline}: {saves} about {worth}{whole}"


def _check(actions: Sequence[Recommendation]) -> str:
    """Return the sentence on what is wrong with the measurement, where anything is."""
    doubt = next((action for action in actions if action.about_measurement), None)
    if doubt is None:
        return ""
    return f" Check the measurement first, by {doubt.headline}."


def _nothing(sums: Totals, collect: Collect | None, judgement: Judgement) -> str:
    """Return the sentence on a run with nothing to do, and what that may be due to."""
    if _is_evident_enough(sums, judgement) or collect is None or not collect.rule_count:
        return "No finding is large enough to act on."
    rules = wording.count(collect.rule_count, "rule")
    lack = f"{rules} {collect.need} counters that this profile does not have."
    return f"Nothing to recommend yet: {lack}"


def _done(rows: Sequence[Row], sums: Totals, judgement: Judgement) -> str:
    """Return the sentence on a run that is known to be at its roof; empty for any other."""
    if not _is_evident_enough(sums, judgement) or sums.t_sol_achievable is None:
        return ""
    if any(_is_far(row, sums.duration or 0.0, judgement) for row in rows):
        return ""
    reached = sums.t_sol_achievable / sums.placed
    if reached < judgement.near_the_roof:
        return ""
    return f"This run reaches {wording.share(reached)} of the achievable roof: nothing to tune."


def _is_evident_enough(sums: Totals, judgement: Judgement) -> bool:
    return bool(sums.duration) and sums.evident >= judgement.enough_evidence * (sums.duration or 0)


def _is_far(row: Row, total: float, judgement: Judgement) -> bool:
    """Return whether a kernel is far enough below its roof for the difference to matter."""
    taken, roof = number(row, "duration"), _least(row, "t_sol_achievable")
    if taken is None or roof is None or roof >= judgement.near_the_roof * taken:
        return False
    return taken - roof >= judgement.worth_a_card * total


def _paragraph(
    limiter: str | None, share: float, sums: Totals, rows: Sequence[Row], *, tells: bool
) -> str:
    """Return what limits the time, and the time at the roof unless the profile tells nothing."""
    if sums.duration is None:
        return "This profile has no durations, so the kernels cannot be compared by time."
    parts = []
    if limiter is not None:
        parts.append(
            f"{wording.share(share)} of the profiled kernel time is {limited_by(limiter)}."
        )
    if not tells:  # what a void launch did is not the least that its work takes
        return " ".join(parts)
    if sums.least is not None and sums.placed:
        least = "" if sums.complete else "at least "
        all_placed = sums.placed >= sums.duration
        whose = "the same work" if all_placed else "the same work of kernels with a roof"
        parts.append(
            f"At the profiled roof {whose} would take {least}"
            f"{wording.seconds(sums.least)} instead of {wording.seconds(sums.placed)}."
        )
    else:
        lack = "gives no peaks of the device"
        if not any(lacks_peaks(row) for row in rows):
            lack = "counts neither bytes nor operations"
        parts.append(f"This profile {lack}, so there is no profiled roof to compare with.")
    return " ".join(parts)


def _figures(rows: Sequence[Row], sums: Totals, actions: Sequence[Recommendation]) -> list[Figure]:
    launches = sum(whole(row, "launch_count") for row in rows)
    value, unit = wording.scaled(sums.duration, "s")
    counts = f"{wording.count(launches, 'launch')}, {wording.count(len(rows), 'kernel')}"
    found = [
        Figure(
            label="profiled kernel time",
            value=value,
            unit=unit,
            note=f"{counts}; not end to end",
        )
    ]
    if sums.least is not None and sums.placed:
        least, most = ("", "") if sums.complete else ("at least ", "at most ")
        reached, _, unit = wording.share(sums.least / sums.placed).rpartition(wording.NO_BREAK)
        found.append(
            Figure(
                label="of profiled roof",
                value=f"{least}{reached}",
                unit=unit,
                note=f"{least}{wording.seconds(sums.least)} at the roof, "
                f"{most}{wording.seconds(sums.wasted)} above it",
            )
        )
    found += [_likely(actions, sums), _evidence(rows, sums)]
    return found


def _likely(actions: Sequence[Recommendation], sums: Totals) -> Figure:
    steps = [action for action in actions if not action.only_measures]
    gains = [action.gain for action in steps if action.gain is not None]
    label = "likely gain of the steps below"
    share = next((action.share for action in steps if action.share is not None), None)
    if not gains and share is not None:
        value = wording.share(share.likely).removesuffix(f"{wording.NO_BREAK}%")
        note = f"{saved.shares(share)}; nobody measured the time"
        first = "likely gain of the first step"
        return Figure(label=first, value=value, unit="% of its kernel's time", note=note)
    if not gains:
        note = "no step has an estimate" if steps else "no step"
        if len(steps) < len(actions):
            note = "what a new profile shows may save time"
        value = "not estimated" if steps else "none"
        return Figure(label=label, value=value, unit="", note=note)
    likely = sum(gain.likely for gain in gains)
    low, high = sum(gain.low for gain in gains), _at_most(steps)
    value, unit = wording.scaled(likely, "s", 2)
    part = f", {wording.share(likely / sums.duration)}" if sums.duration else ""
    note = f"{wording.between(low, high, 2)}, overlaps removed"
    with_hidden = _at_most(actions)
    if wording.seconds(with_hidden, 2) != wording.seconds(high, 2):
        more = wording.seconds(with_hidden - high, 2)
        note += f"; causes that a new profile shows may be worth {more} more"
    return Figure(label=label, value=value, unit=unit + part, note=note)


def _at_most(steps: Sequence[Recommendation]) -> float:
    """Return the seconds that steps save at most: of each kernel no more than all advice can."""
    together: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for step in steps:
        for variant, bounds in step.most.items():
            together[variant].append(bounds)
    return sum(
        min(sum(high for high, _ in bounds), max(most for _, most in bounds))
        for bounds in together.values()
    )


def _evidence(rows: Sequence[Row], sums: Totals) -> Figure:
    """Return the share of the time whose kernels have a full roofline, and what the rest lacks."""
    full = [
        row
        for row in rows
        if whole(row, "evidence_level") in _ROOFLINE_LEVELS and not lacks_peaks(row)
    ]
    time = sum(number(row, "duration") or 0.0 for row in full)
    if not sums.duration:
        return Figure(label="evidence", value="unknown", unit="", note="no duration")
    rest = len(rows) - len(full)
    return Figure(
        label="evidence",
        value=wording.share(time / sums.duration).removesuffix(f"{wording.NO_BREAK}%"),
        unit="% of time",
        note="has a roofline" + (f"; {wording.count(rest, 'kernel')} without" if rest else ""),
    )
