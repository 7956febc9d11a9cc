"""Series that ended, and others that began then and are called nearly the same."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from advisor.database.names import load_names
from advisor.reports.record.series_records import Alike

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from advisor.database.nights import KnownSeries
    from advisor.reports.record.series_records import HistoryNight, SeriesHistory

_MOST = 200  # series that ended, of which each is set against each that began


def series_alike(
    series: Sequence[SeriesHistory],
    known: Mapping[str, KnownSeries],
    nights: Sequence[HistoryNight],
) -> tuple[Alike, ...]:
    """Return which series without a result in the newest night may go on under another name.

    They are of one device, one ended before the other began, and their names are nearly the same:
    but for parameters of a template, for a suffix, or for a few characters.
    """
    if not nights:
        return ()
    least = load_names().alike
    began: dict[str, tuple[object, SeriesHistory]] = {}
    first = nights[0].time
    for each in series:
        if each.nights[0].time > first:
            began.setdefault(each.series_id, (each.nights[0].time, each))
    ended = sorted(
        (each for each in series if each.is_missing),
        key=lambda each: (each.newest_night.time, each.series_id),
    )[-_MOST:]
    found = []
    for old in ended:
        candidates = [
            (_likeness(known[old.series_id], known[new.series_id]), new)
            for _, new in began.values()
            if new.series_id != old.series_id
            and new.device == old.device
            and new.nights[0].time > old.newest_night.time
        ]
        likeness, best = max(
            candidates, key=lambda one: (one[0], one[1].series_id), default=(0.0, None)
        )
        if best is not None and likeness >= least:
            found.append(
                Alike(
                    series_id=old.series_id,
                    kernel=old.kernel,
                    continued_by=best.series_id,
                    because=_difference(known[old.series_id], known[best.series_id]),
                )
            )
    return tuple({each.series_id: each for each in found}.values())


def _likeness(old: KnownSeries, new: KnownSeries) -> float:
    if old.kernel_id == new.kernel_id:
        return 1.0
    names = (old.normalised_name, new.normalised_name)
    shorter, longer = sorted((old.short_name, new.short_name), key=len)
    if shorter == longer or longer.startswith(f"{shorter}_"):  # other parameters, or a suffix
        return 1.0
    return SequenceMatcher(None, *names, autojunk=False).ratio()


def _difference(old: KnownSeries, new: KnownSeries) -> str:
    pairs = (
        ("kernel", old.normalised_name, new.normalised_name),
        ("label or range", old.problem_key, new.problem_key),
        ("configuration", old.configuration, new.configuration),
    )
    changes = [f"{name} {a or 'none'} → {b or 'none'}" for name, a, b in pairs if a != b]
    return ", ".join(changes)
