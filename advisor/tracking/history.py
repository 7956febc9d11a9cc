"""Scan the histories of series: between the nights that split them, over levels accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from advisor.records import dataclass
from advisor.tracking.records import LEVELS, Change, ChangeKind, SeriesResult
from advisor.tracking.scan import Nights, scan_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.tracking.noise import Floats
    from advisor.tracking.settings import TrackingSettings


@dataclass(frozen=True, kw_only=True)
class Tracked:
    """One series to scan: a finite value per night, oldest first.

    ``splits`` are the nights that start over; ``accepted`` those whose level the user took for the
    baseline.
    """

    values: Sequence[float]
    environment: Sequence[str | None]
    splits: Sequence[int] = ()
    accepted: Sequence[int] = ()


def scan_histories(series: Sequence[Tracked], *, settings: TrackingSettings) -> list[SeriesResult]:
    """Return what moved in each series; indices count its nights, whatever splits it.

    ``noise`` and ``newest`` are about the nights after the last split. The newest nights are
    compared with accepted levels: changes to those stay in ``changes``.
    """
    pieces = [_pieces(each) for each in series]
    found = iter(scan_many([nights for each in pieces for _, nights in each], settings=settings))
    results = [_joined([(start, next(found)) for start, _ in each]) for each in pieces]
    again = [number for number, each in enumerate(series) if each.accepted]
    if again:
        levelled = [_levelled(series[number], results[number], settings) for number in again]
        for number, about in zip(again, scan_histories(levelled, settings=settings), strict=True):
            results[number] = replace(results[number], newest=about.newest, noise=about.noise)
    return results


def _pieces(each: Tracked) -> list[tuple[int, Nights]]:
    """Return the nights between splits, with where they start; at least one piece."""
    ends = [*each.splits, len(each.values)]
    starts = [0, *each.splits]
    return [
        (
            start,
            Nights(
                values=np.asarray(each.values[start:end], dtype=np.float64),
                environment=each.environment[start:end],
            ),
        )
        for start, end in zip(starts, ends, strict=True)
    ]


def _joined(pieces: Sequence[tuple[int, SeriesResult]]) -> SeriesResult:
    """Return one result of the pieces of a series."""
    start, last = pieces[-1]
    if start == 0:
        return last
    changes = tuple(
        replace(change, index=change.index + begin, end_index=change.end_index + begin)
        for begin, result in pieces
        for change in result.changes
    )
    newest = last.newest
    if newest.index is not None:
        newest = replace(newest, index=newest.index + start)
    nights = sum(result.nights for _, result in pieces)
    return SeriesResult(nights=nights, noise=last.noise, changes=changes, newest=newest)


def change_at(night: int, result: SeriesResult, settings: TrackingSettings) -> Change | None:
    """Return the change to the level of a night, the latest one shortly before it."""
    near = [
        change
        for change in result.changes
        if change.kind in LEVELS
        and change.index <= night + settings.environment_reach
        and night - settings.window <= change.end_index
    ]
    return near[-1] if near else None


def _levelled(each: Tracked, result: SeriesResult, settings: TrackingSettings) -> Tracked:
    """Return the series with the nights before an accepted level moved onto it."""
    values = np.array(each.values, dtype=np.float64)
    for night in sorted(each.accepted):
        change = change_at(night, result, settings)
        if change is not None and change.kind is ChangeKind.DRIFT and change.before > 0:
            _flatten(values, change, night, settings)
            continue
        start = night if change is None else change.index
        old = _level(values, max(0, start - settings.window), start)
        new = _level(values, start, start + settings.window)
        if change is not None and old is not None:
            new = _level(values, *_nights_at(change, result, len(values), settings))
        if old and new and old > 0:
            values[:start] *= new / old
    return replace(each, values=values.tolist(), accepted=())


def _flatten(values: Floats, drift: Change, accepted: int, settings: TrackingSettings) -> None:
    """Move the nights of a drift, and those before it, onto its level on the accepted night.

    Accepted on its first nights is the whole drift, on a later one what it had come to.
    """
    ramp = np.linspace(drift.before, drift.after, drift.end_index + 1 - drift.index)
    if drift.index + settings.environment_reach < accepted <= drift.end_index:
        ramp = ramp[: accepted + 1 - drift.index]
    values[: drift.index] *= ramp[-1] / drift.before
    values[drift.index : drift.index + len(ramp)] *= ramp[-1] / ramp


def _nights_at(
    change: Change, result: SeriesResult, n: int, settings: TrackingSettings
) -> tuple[int, int]:
    """Return where the nights at the level after a change begin and end."""
    start = change.end_index if change.kind is ChangeKind.DRIFT else change.index
    later = [
        other.index
        for other in result.changes
        if other.kind in LEVELS and other.index > change.end_index
    ]
    return start, min([n, start + settings.window, *later])


def _level(values: Floats, start: int, end: int) -> float | None:
    chosen = values[start:end]
    return float(np.median(chosen)) if len(chosen) else None
