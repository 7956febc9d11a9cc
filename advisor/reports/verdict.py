"""The verdict: one sentence, one paragraph, and the figures that stand beneath."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from advisor.reports import numbers
from advisor.reports.judgement import Judgement
from advisor.reports.records import Action, Figure, Verdict
from advisor.reports.rows import Row, number, text, whole

_HOLDS: Mapping[str, str] = {
    "memory": "Memory traffic holds this run back.",
    "compute": "Arithmetic holds this run back.",
    "latency": "Latency holds this run back.",
    "balanced": "Memory and arithmetic hold this run back alike.",
}
_UNDETERMINED = "What holds this run back is unknown."
_ROOFLINE_LEVELS = (1, 2)


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Sums over the kernels of a run, in seconds; ``placed`` is the time of those with a roof."""

    duration: float | None
    t_sol: float | None
    t_sol_achievable: float | None
    wasted: float | None
    placed: float
    complete: bool


def totals(rows: Sequence[Row]) -> Totals:
    """Return the sums; what no kernel has is None."""
    durations = [time for row in rows if (time := number(row, "duration")) is not None]
    roofed = [row for row in rows if number(row, "t_sol") is not None and number(row, "duration")]
    achievable = [number(row, "t_sol_achievable") for row in roofed]
    known = [time for time in achievable if time is not None]
    return Totals(
        duration=sum(durations) if durations else None,
        t_sol=sum(number(row, "t_sol") or 0.0 for row in roofed) if roofed else None,
        t_sol_achievable=sum(known) if known and len(known) == len(roofed) else None,
        wasted=sum(number(row, "wasted_time") or 0.0 for row in roofed) if roofed else None,
        placed=sum(number(row, "duration") or 0.0 for row in roofed),
        complete=all(row.get("t_sol_complete") for row in roofed),
    )


def verdict(
    rows: Sequence[Row], sums: Totals, actions: Sequence[Action], judgement: Judgement
) -> Verdict:
    """Return what holds the run back, what to do first, and the key figures."""
    limiter, share = _limiter(rows, sums)
    return Verdict(
        sentence=_sentence(limiter, sums, actions, judgement),
        paragraph=_paragraph(limiter, share, sums),
        figures=tuple(_figures(rows, sums, actions)),
    )


def _limiter(rows: Sequence[Row], sums: Totals) -> tuple[str | None, float]:
    """Return the limiter of most of the time, and its share of it."""
    times: dict[str, float] = {}
    for row in rows:
        name = text(row, "limiter")
        if name is not None:
            times[name] = times.get(name, 0.0) + (number(row, "duration") or 0.0)
    if not times or not sums.duration:
        return None, 0.0
    first = max(times, key=lambda name: times[name])
    return first, times[first] / sums.duration


def _sentence(
    limiter: str | None, sums: Totals, actions: Sequence[Action], judgement: Judgement
) -> str:
    if not actions:
        return _nothing_to_do(limiter, sums, judgement)
    first = actions[0]
    holds = _HOLDS.get(limiter or "", _UNDETERMINED)
    title = first.title[:1].lower() + first.title[1:] if first.title[1:2].islower() else first.title
    if first.gain is None or sums.duration is None:
        return f"{holds} First: {title}."
    worth = f"about {numbers.seconds(first.gain.likely, 2)} of {numbers.seconds(sums.duration)}"
    return f"{holds} First: {title}, {worth}."


def _nothing_to_do(limiter: str | None, sums: Totals, judgement: Judgement) -> str:
    if sums.t_sol_achievable and sums.placed:
        reached = sums.t_sol_achievable / sums.placed
        if reached >= judgement.near_the_roof:
            share = numbers.share(min(1.0, reached))
            return f"At {share} of the achievable roof; nothing is worth doing."
    return f"{_HOLDS.get(limiter or '', _UNDETERMINED)} No rule offers an action worth its time."


def _paragraph(limiter: str | None, share: float, sums: Totals) -> str:
    if sums.duration is None:
        return "The profile holds no duration, so nothing can be weighed by time."
    parts = []
    if limiter is not None:
        parts.append(f"{numbers.share(share)} of the profiled kernel time is limited by {limiter}.")
    if sums.t_sol is not None and sums.placed:
        least = "" if sums.complete else "at least "
        whose = "" if sums.placed >= sums.duration else " of the kernels with a roof"
        parts.append(
            f"At the profiled roof, the time{whose} would be {least}"
            f"{numbers.seconds(sums.t_sol)} instead of {numbers.seconds(sums.placed)}."
        )
    else:
        parts.append("Without counted bytes and operations there is no roof to measure against.")
    return " ".join(parts)


def _figures(rows: Sequence[Row], sums: Totals, actions: Sequence[Action]) -> list[Figure]:
    launches = sum(whole(row, "launch_count") for row in rows)
    value, unit = numbers.scaled(sums.duration, "s")
    counts = f"{numbers.counted(launches, 'launch')}, {numbers.counted(len(rows), 'variant')}"
    found = [
        Figure(
            label="profiled kernel time",
            value=value,
            unit=unit,
            note=f"{counts}; not end to end",
        )
    ]
    if sums.t_sol is not None and sums.placed:
        least = "" if sums.complete else "at least "
        found.append(
            Figure(
                label="of profiled roof",
                value=f"{least}{numbers.fixed(100 * sums.t_sol / sums.placed)}",
                unit="%",
                note=f"{numbers.seconds(sums.t_sol)} at speed of light, "
                f"{numbers.seconds(sums.wasted)} above it",
            )
        )
    found += [_likely(actions, sums), _evidence(rows, sums)]
    return found


def _likely(actions: Sequence[Action], sums: Totals) -> Figure:
    gains = [action.gain for action in actions if action.gain is not None]
    label = "likely gain of the actions below"
    if not gains:
        return Figure(label=label, value="none", unit="", note="no action has an estimate")
    likely = sum(gain.likely for gain in gains)
    low, high = sum(gain.low for gain in gains), sum(gain.high for gain in gains)
    value, unit = numbers.scaled(likely, "s", 2)
    part = f", {numbers.share(likely / sums.duration)}" if sums.duration else ""
    return Figure(
        label=label,
        value=value,
        unit=unit + part,
        note=f"{numbers.seconds(low, 2)} to {numbers.seconds(high, 2)}, overlaps taken out",
    )


def _evidence(rows: Sequence[Row], sums: Totals) -> Figure:
    """Return the share of the time whose kernels have a full roofline, and what the rest lacks."""
    full = [row for row in rows if whole(row, "evidence_level") in _ROOFLINE_LEVELS]
    time = sum(number(row, "duration") or 0.0 for row in full)
    if not sums.duration:
        return Figure(label="evidence", value="unknown", unit="", note="no duration")
    rest = len(rows) - len(full)
    return Figure(
        label="evidence",
        value=numbers.share(time / sums.duration).split(numbers.NO_BREAK_SPACE)[0],
        unit="% of time",
        note="has a roofline" + (f"; {numbers.counted(rest, 'variant')} without" if rest else ""),
    )
