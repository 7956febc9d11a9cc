"""What a scan found, as text: the newest nights worst first, then what moved before."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from advisor.cli.output import Narrow, table
from advisor.tracking.records import QUIET, WORST_FIRST, ChangeKind, Verdict
from advisor.wording import count, one_line, percent, signed_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.api.scanning import ScannedSeries
    from advisor.tracking.records import Change

_NEXT = {
    Verdict.REGRESSED: "Profile a night before and one after the change, and compare the two.",
    Verdict.ENVIRONMENT: "What the series ran on changed with it: look there before the code.",
    Verdict.INCONCLUSIVE: "One night alone is far off: the next night decides.",
    Verdict.INSUFFICIENT: "Too few nights to say: scan again when there are more.",
}
_NEWEST = ("verdict", "series", "change", "since", "p", "noise", "nights")
_OLDER = ("series", "kind", "verdict", "change", "from", "to", "before", "after", "p")
_DEFAULT_WIDTH = 80
_SHOWN = 40


def as_text(scanned: Sequence[ScannedSeries], *, width: int) -> str:
    """Return the answer as text of at most ``width`` columns; 0 is no limit.

    Values are in the unit of the file, changes and noise in percent of the level before.
    """
    return "\n".join(_blocks(scanned, width)) + "\n"


def _blocks(scanned: Sequence[ScannedSeries], width: int) -> Iterator[str]:
    counts = Counter(each.result.newest.verdict for each in scanned)
    verdicts = ", ".join(f"{counts[word]:,} {word}" for word in WORST_FIRST if counts[word])
    yield from _wrapped(f"Newest nights of {len(scanned):,} series: {verdicts}.", width)
    moved = [each for each in scanned if each.result.newest.verdict not in QUIET]
    if moved:
        rows = [_newest(each) for each in sorted(moved, key=_worst)]
        narrow = Narrow(whole=("verdict", "change", "since"), spare=("p", "nights", "noise"))
        yield ""
        yield table(_NEWEST, rows, width=width, narrow=narrow)
    latest = sorted(
        ((each, change) for each in scanned for change in each.result.changes),
        key=lambda found: found[0].result.nights - found[1].index,
    )
    older = [_change(each, change) for each, change in latest]
    if older:
        narrow = Narrow(
            whole=("kind", "verdict", "change", "from"), spare=("p", "before", "after", "to")
        )
        yield ""
        yield "Changes over all nights, the latest first; before and after in the unit of the file:"
        yield ""
        yield table(_OLDER, older[:_SHOWN], width=width, narrow=narrow)
        if older[_SHOWN:]:
            yield f"and {len(older[_SHOWN:]):,} more; --format json lists all"
    if any(counts[word] for word in _NEXT):
        yield ""
    for word, step in _NEXT.items():
        if counts[word]:
            yield from _wrapped(f"{word}: {step}", width)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width or _DEFAULT_WIDTH, break_on_hyphens=False)


def _worst(each: ScannedSeries) -> tuple[int, float, str]:
    newest = each.result.newest
    return WORST_FIRST.index(newest.verdict), -abs(newest.relative or 0.0), each.name


def _newest(each: ScannedSeries) -> tuple[str, ...]:
    newest = each.result.newest
    since = "" if newest.index is None else str(each.times[newest.index])
    return (
        newest.verdict,
        one_line(each.name),
        signed_percent(newest.relative),
        since,
        _chance(newest.p_value),
        percent(each.result.noise, 1),
        count(each.result.nights),
    )


def _change(each: ScannedSeries, change: Change) -> tuple[str, ...]:
    one_night = change.end_index == change.index or change.kind is ChangeKind.STEP
    return (
        one_line(each.name),
        change.kind,
        change.verdict or "",
        signed_percent(change.relative),
        str(each.times[change.index]),
        "" if one_night else str(each.times[change.end_index]),
        f"{change.before:.4g}",
        f"{change.after:.4g}",
        _chance(change.p_value),
    )


def _chance(p_value: float | None) -> str:
    return "" if p_value is None else f"{p_value:.1g}"
