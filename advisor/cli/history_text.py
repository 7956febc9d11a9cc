"""A history as text: the newest nights worst first, what moved before, and what to do next."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from advisor.cli.output import Narrow, pasted, table
from advisor.commands import on_database
from advisor.database.lake.place import is_lake
from advisor.reports.record.moved import standing
from advisor.tracking.records import QUIET, WORST_FIRST, ChangeKind, Newest, Verdict
from advisor.tracking.settings import load_settings
from advisor.wording import count, one_line, percent, seconds, signed_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from advisor.reports.record.series_records import (
        History,
        HistoryNight,
        MachineMoved,
        SeriesHistory,
    )
    from advisor.tracking.records import Change
    from advisor.tracking.settings import TrackingSettings

_DEFAULT_WIDTH = 80
_SHOWN = 40
_SPARK_NIGHTS = 30
_BARS = "▁▂▃▄▅▆▇█"
_PLAIN_BARS = "_.-~=+*#"
_TO_ACCEPT = (Verdict.REGRESSED, Verdict.ENVIRONMENT)  # where a level becomes the baseline
_NEWEST = (
    "verdict",
    "kernel",
    "change",
    "since",
    "time",
    "noise",
    "nights",
    "last nights",
    "series",
)
_CHANGES = ("time", "kernel", "kind", "verdict", "change", "before", "after", "run", "commit")
_NIGHTS = ("time", "a launch", "to before", "run", "commit", "changed")
_SHORT_COMMIT = 10
_FEW = 3  # series of which every night is listed
_NAMED = 6  # kernels that share a cause
_DAYS = 3  # without a night that are named
_MISSING = 5  # series without a result that are named


def as_text(history: History, database: str, *, width: int, with_bars: bool, every: bool) -> str:
    """Return the answer as text of at most ``width`` columns; 0 is no limit.

    ``with_bars`` tells that the terminal shows more than ASCII; ``every`` asks for series that did
    not move as well.
    """
    return "\n".join(_blocks(history, database, width, with_bars, every)) + "\n"


def _blocks(
    history: History, database: str, width: int, with_bars: bool, every: bool
) -> Iterator[str]:
    settings, series = load_settings(), history.series
    newest = {id(each): _judged(each, settings) for each in series}
    for line in _opening(history, newest):
        yield from _wrapped(line, width)
    shown = _shown(series, newest, every)
    if shown:
        bars = _BARS if with_bars else _PLAIN_BARS
        narrow = Narrow(
            whole=("verdict", "change", "since", "series", "last nights"),
            names=("kernel",),
            spare=("noise", "nights", "last nights", "time"),
        )
        yield ""
        rows = [_newest(history, each, newest[id(each)], bars) for each in shown[:_SHOWN]]
        yield table(_NEWEST, rows, width=width, narrow=narrow)
        yield from _more(len(shown) - _SHOWN)
    yield from _changes(history, width)
    if every and len(series) <= _FEW:
        for each in series:
            yield from _nights(history, each, width)
    for line in _remarks(history):
        yield from (_wrapped(line, width) if line else [""])
    yield from _next(history, [(each, newest[id(each)]) for each in shown], database)


def _changes(history: History, width: int) -> Iterator[str]:
    """Yield the table of changes over the nights that are shown, and why the latest came."""
    changes = sorted(
        ((each, change) for each in history.series for change in history.shown_changes(each)),
        key=lambda found: found[0].nights[found[1].index].time,
        reverse=True,
    )
    if changes:
        narrow = Narrow(
            whole=("time", "verdict", "change", "run"),
            names=("kernel",),
            spare=("before", "after", "kind", "commit"),
        )
        yield ""
        yield from _wrapped(_heading(history), width)
        yield ""
        rows = [_change(each, change) for each, change in changes[:_SHOWN]]
        yield table(_CHANGES, rows, width=width, narrow=narrow)
        yield from _more(len(changes) - _SHOWN)
        yield from _why(history, changes, width)


def _judged(each: SeriesHistory, settings: TrackingSettings) -> Newest:
    """Return the newest verdict of a series; where it is quiet, a regression that stands."""
    newest, old = each.result.newest, standing(each, settings)
    if newest.verdict not in QUIET or not old:
        return newest
    return Newest(
        verdict=Verdict.REGRESSED,
        index=old[-1].index,
        relative=old[-1].relative,
        p_value=old[-1].p_value,
    )


def _shown(
    series: Sequence[SeriesHistory], newest: Mapping[int, Newest], every: bool
) -> list[SeriesHistory]:
    """Return the series of the table: those that moved, or all where none has a verdict.

    The worst come first; a regression that stands is as bad as a new one.
    """
    every = every or {found.verdict for found in newest.values()} == {Verdict.INSUFFICIENT}
    shown = [each for each in series if every or newest[id(each)].verdict not in QUIET]
    return sorted(shown, key=lambda each: WORST_FIRST.index(newest[id(each)].verdict))


def _why(
    history: History, changes: Sequence[tuple[SeriesHistory, Change]], width: int
) -> Iterator[str]:
    """Yield the causes that are known, each with the kernels that it moved."""
    kernels: dict[tuple[str, str], list[str]] = {}
    for each, change in changes:
        cause = history.cause(each, change)
        if cause is not None:
            day = _day(each.nights[change.index])
            kernels.setdefault((day, cause), []).append(each.kernel)
    if kernels:
        yield ""
    for (day, cause), named in kernels.items():
        yield from _wrapped(one_line(f"{day} {_listed(named, _NAMED)}: {cause}"), width)


def _nights(history: History, each: SeriesHistory, width: int) -> Iterator[str]:
    """Yield what a launch took in the last nights of a series, the latest first."""
    numbers = [n for n, night in enumerate(each.nights) if history.is_shown(night)]
    rows = [
        (
            f"{each.nights[n].time:%Y-%m-%d %H:%M}",
            seconds(each.durations[n]),
            _share(each.durations[n] / each.durations[n - 1] - 1) if n else "",
            each.nights[n].run_id,
            (each.nights[n].commit or "")[:_SHORT_COMMIT],
            one_line(", ".join(each.nights[n].changed)),
        )
        for n in numbers[: -_SPARK_NIGHTS - 1 : -1]
    ]
    if rows:
        yield ""
        yield one_line(f"Nights of {_called(each, history)}; a launch took:")
        yield ""
        narrow = Narrow(whole=("time", "a launch", "run"), spare=("changed", "commit"))
        yield table(_NIGHTS, rows, width=width, narrow=narrow)


def _opening(history: History, newest: Mapping[int, Newest]) -> Iterator[str]:
    """Yield what is said about all series together, before the tables."""
    yield _headline(history, newest)
    if days := [str(day) for day in history.missing_days()]:
        yield f"No night on {_listed(days, _DAYS)}."
    if history.machine is not None:
        yield _of_machine(history.machine)


def _headline(history: History, newest: Mapping[int, Newest]) -> str:
    counts = Counter(found.verdict for found in newest.values())
    verdicts = ", ".join(f"{counts[word]:,} {word}" for word in WORST_FIRST if counts[word])
    of_branch = f" of branch {one_line(history.branch)}" if history.branch else ""
    simulated = " (simulated)" if history.is_simulated else ""
    first, last = history.nights[0], history.nights[-1]
    nights = f"{count(len(history.nights), 'night')}{of_branch}{simulated}"
    span = " to ".join(dict.fromkeys((_day(first), _day(last))))
    return f"{nights}, {span}; {len(history.series):,} series: {verdicts}."


def _heading(history: History) -> str:
    shown = sum(map(history.is_shown, history.nights))
    is_all = shown == len(history.nights)
    over = "all nights" if is_all else f"the last {count(shown, 'night')}"
    return f"Changes over {over}, the latest first; a launch took before and after:"


def _of_machine(moved: MachineMoved) -> str:
    share = f"{moved.moved:,} of {moved.series:,} series by about {_share(moved.relative)}"
    because = f" with {one_line(', '.join(moved.night.changed))}" if moved.night.changed else ""
    return f"The whole machine moved on {_day(moved.night)}{because}: {share}. This is one finding."


def _newest(history: History, each: SeriesHistory, newest: Newest, bars: str) -> tuple[str, ...]:
    return (
        newest.verdict,
        _called(each, history),
        _share(newest.relative),
        "" if newest.index is None else _day(each.nights[newest.index]),
        seconds(each.durations[-1]),
        percent(each.result.noise, 1),
        count(each.result.nights),
        sparkline(each.durations[-_SPARK_NIGHTS:], bars),
        each.series_id,
    )


def _called(each: SeriesHistory, history: History) -> str:
    """Return the kernel, with what distinguishes it from its namesakes."""
    namesakes = [other for other in history.series if other.kernel == each.kernel]
    parts = [each.kernel]
    parts += [
        str(getattr(each, name) or "none")
        for name in ("problem", "device", "configuration", "launch_shape")
        if len({getattr(other, name) for other in namesakes}) > 1
    ]
    return one_line(", ".join(parts))


def _change(each: SeriesHistory, change: Change) -> tuple[str, ...]:
    night = each.nights[change.index]
    one_night = change.end_index == change.index or change.kind is ChangeKind.STEP
    until = "" if one_night else f" to {_day(each.nights[change.end_index])}"
    return (
        _day(night) + until,
        one_line(each.kernel),
        change.kind,
        "accepted" if each.accepted_level(change) else change.verdict or "",
        _share(change.relative),
        seconds(change.before),
        seconds(change.after),
        night.run_id,
        (night.commit or "")[:_SHORT_COMMIT],
    )


def _remarks(history: History) -> Iterator[str]:
    """Yield what splits series, what was accepted, what is missing and what was left out."""
    remarks = []
    for night in filter(history.is_shown, history.nights):
        if night.started_over:
            listed = one_line(", ".join(night.started_over))
            remarks.append(f"{_day(night)}: every series starts over here: {listed}")
        elif night.changed:
            remarks.append(one_line(f"{_day(night)}: {', '.join(night.changed)}"))
    for each in history.series:
        for level in each.accepted:
            where = f"{_day(each.nights[level.index])} (run {level.run_id})"
            line = f"accepted: the level of {each.kernel} on {where}: {level.because}"
            remarks.append(one_line(line))
    missing = [each for each in history.series if each.is_missing]
    if missing:
        named = [f"{each.kernel} (last {_day(each.newest_night)})" for each in missing]
        remarks.append(one_line(f"no result in the newest night: {_listed(named, _MISSING)}"))
    remarks += history.notes
    if remarks:
        yield ""
        yield from remarks


def _next(
    history: History, shown: Sequence[tuple[SeriesHistory, Newest]], database: str
) -> Iterator[str]:
    """Yield the commands that come next; over a lake none of those that write."""
    commands, writes = [], not is_lake(database)
    for moved, newest in shown:
        if newest.index is None:
            continue
        change = moved.change_at(newest.index)
        at = moved.nights[newest.index if change is None else change.end_index]
        before = moved.nights[max(0, newest.index - 1)]
        commands.append(f"advisor compare {before.run_id} {at.run_id}")
        if writes and newest.verdict in _TO_ACCEPT:
            accepts = f"advisor history accept {moved.series_id} --at {at.run_id} --because TEXT"
            commands.append(accepts)
        break
    commands += [
        f"advisor series link {one.series_id} {one.continued_by}  ({one_line(one.because)})"
        for one in history.alike[: _MISSING * writes]
    ]
    if commands:
        yield ""
        for number, command in enumerate(commands):
            yield ("next: " if number == 0 else "      ") + pasted(on_database(command, database))


def sparkline(values: Sequence[float], bars: str) -> str:
    """Return one character per value, from the smallest to the largest.

    >>> sparkline([1.0, 1.0, 2.0], "_.-")
    '__-'
    """
    low, high = min(values), max(values)
    if not high > low:
        return bars[len(bars) // 2] * len(values)
    top = len(bars) - 1
    return "".join(bars[round((value - low) / (high - low) * top)] for value in values)


def _listed(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most:,} more" if names[most:] else ""
    return f"{', '.join(names[:most])}{more}"


def _more(left: int) -> list[str]:
    return [f"and {left:,} more; --format json lists all"] if left > 0 else []


def _wrapped(text: str, width: int) -> list[str]:
    size = width or _DEFAULT_WIDTH
    return textwrap.wrap(
        text, size, break_on_hyphens=False, break_long_words=False, subsequent_indent="  "
    )


def _day(night: HistoryNight) -> str:
    return f"{night.time:%Y-%m-%d}"


def _share(relative: float | None) -> str:
    return "" if relative is None else signed_percent(relative)
