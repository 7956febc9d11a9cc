"""Which series moved over the nights that a report shows, in which state, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from advisor.records import dataclass
from advisor.reports.record.over_time import ACCEPTED, MENDED, NEW, OPEN, MovedSeries
from advisor.tracking.history import Tracked, scan_histories
from advisor.tracking.records import LEVELS, ChangeKind, Verdict

if TYPE_CHECKING:
    from advisor.reports.record.series_records import History, SeriesHistory
    from advisor.tracking.records import Change, SeriesResult
    from advisor.tracking.settings import TrackingSettings

_ALONE = "night"


@dataclass(frozen=True, kw_only=True)
class RunVariant:
    """What a run has of a series: the variant, and how often it is launched."""

    variant_id: str
    name: str
    launches: int


@dataclass(frozen=True, kw_only=True)
class Move:
    """A change of a series before it is explained; nights are places in the series."""

    history: SeriesHistory
    row: MovedSeries
    start: int
    first: int
    last: int
    end: int

    @property
    def base_nights(self) -> range:
        """The nights of the level before, up to the last one."""
        return range(self.start, self.first)

    @property
    def head_nights(self) -> range:
        """The nights of the level after, from the first one that has reached it."""
        return range(self.last, self.end)


def moves(
    history: History,
    variants: Mapping[tuple[str, str], RunVariant],
    settings: TrackingSettings,
) -> list[Move]:
    """Return what moved in the nights to be shown, the worst first.

    ``variants`` are those of the newest run by series and launch shape.
    """
    touched = [each for each in history.series if _is_touched(history, each)]
    before = _known_before(touched, settings)
    found = [
        move
        for each in touched
        for move in _of_series(history, each, before.get(id(each)), variants, settings)
    ]
    return sorted(found, key=_worst_first)


def older_open(history: History, settings: TrackingSettings) -> int:
    """Return how many regressions from before the shown nights still stand."""
    return sum(
        not history.is_shown(each.nights[change.end_index])
        for each in history.series
        for change in standing(each, settings)
    )


def standing(each: SeriesHistory, settings: TrackingSettings) -> list[Change]:
    """Return the regressions of a series that nothing has undone and nobody has accepted."""
    return [
        change
        for change in each.result.changes
        if change.verdict is Verdict.REGRESSED
        and change.kind in LEVELS
        and _state(each, change, None, settings) == OPEN
    ]


def _is_touched(history: History, each: SeriesHistory) -> bool:
    is_alone = each.result.newest.verdict is Verdict.INCONCLUSIVE and not each.is_missing
    return is_alone or any(c.kind in LEVELS for c in history.shown_changes(each))


def _known_before(
    touched: Sequence[SeriesHistory], settings: TrackingSettings
) -> dict[int, SeriesResult]:
    """Return what the detector found one night earlier of series that the newest night has."""
    chosen = [each for each in touched if not each.is_missing and len(each.durations) > 1]
    tracked = [
        Tracked(
            values=each.durations[:-1],
            environment=[night.environment for night in each.nights[:-1]],
            splits=[night for night in each.splits if night < len(each.durations) - 1],
            accepted=[a.index for a in each.accepted if a.index < len(each.durations) - 1],
        )
        for each in chosen
    ]
    results = scan_histories(tracked, settings=settings)
    return {id(each): result for each, result in zip(chosen, results, strict=True)}


def _of_series(
    history: History,
    each: SeriesHistory,
    before: SeriesResult | None,
    variants: Mapping[tuple[str, str], RunVariant],
    settings: TrackingSettings,
) -> Iterator[Move]:
    variant = variants.get((each.series_id, each.launch_shape))
    for change in history.shown_changes(each):
        if change.kind in LEVELS and change.verdict is not None:
            yield _move(each, change, _state(each, change, before, settings), variant)
    if each.result.newest.verdict is Verdict.INCONCLUSIVE and not each.is_missing:
        yield _alone(each, variant)


def _state(
    each: SeriesHistory,
    change: Change,
    before: SeriesResult | None,
    settings: TrackingSettings,
) -> str:
    """Return whether a change is new, stands, was undone, or was accepted.

    ``before`` is what was known on the night before, None where this night is not in the series.
    """
    if each.accepted_level(change) is not None:
        return ACCEPTED
    later = [
        other.after
        for other in each.result.changes
        if other.kind in LEVELS and other.index > change.end_index
    ]
    reach = max(settings.smallest_effect, 2 * (each.result.noise or 0.0)) * abs(change.before)
    went_up = change.after > change.before
    if any(
        (level <= change.before + reach) if went_up else (level >= change.before - reach)
        for level in later
    ):
        return MENDED
    is_told = before is None or any(
        other.kind in LEVELS and _is_same(other, change, settings) for other in before.changes
    )
    return OPEN if is_told else NEW


def _is_same(known: Change, change: Change, settings: TrackingSettings) -> bool:
    """Return whether two changes are the same one, whose night more nights may have moved."""
    same_way = (known.after > known.before) == (change.after > change.before)
    reach = settings.environment_reach
    return same_way and known.index - reach <= change.index <= known.end_index + reach


def _move(
    each: SeriesHistory,
    change: Change,
    state: str,
    variant: RunVariant | None,
) -> Move:
    edges = [0, *each.splits, len(each.durations)]
    for other in each.result.changes:
        if other.kind in LEVELS and other is not change:
            edges += [other.index, other.end_index]
    accepted = each.accepted_level(change)
    row = replace(
        _row(
            each,
            variant,
            index=change.index,
            verdict=str(change.verdict),
            state=state,
            kind=str(change.kind),
            levels=(change.before, change.after, change.relative),
        ),
        p_value=change.p_value,
        because=None if accepted is None else accepted.because,
    )
    if change.kind is ChangeKind.DRIFT:  # no one commit made it
        row = replace(row, commit=None, note=None)
    return Move(
        history=each,
        row=row,
        start=max(edge for edge in edges if edge < change.index),
        first=change.index,
        last=change.end_index,
        end=min(edge for edge in edges if edge > change.end_index),
    )


def _alone(each: SeriesHistory, variant: RunVariant | None) -> Move:
    """Return the newest night where it stands alone, against the level before it."""
    newest = each.result.newest
    index = len(each.durations) - 1 if newest.index is None else newest.index
    edges = [0, *each.splits]
    edges += [c.end_index for c in each.result.changes if c.kind in LEVELS]
    start = max((edge for edge in edges if edge < index), default=0)
    base, head = median(each.durations[start:index]), each.durations[index]
    return Move(
        history=each,
        row=replace(
            _row(
                each,
                variant,
                index=index,
                verdict=str(newest.verdict),
                state=NEW,
                kind=_ALONE,
                levels=(base, head, newest.relative),
            ),
            p_value=newest.p_value,
        ),
        start=start,
        first=index,
        last=index,
        end=len(each.durations),
    )


def _row(
    each: SeriesHistory,
    variant: RunVariant | None,
    *,
    index: int,
    verdict: str,
    state: str,
    kind: str,
    levels: tuple[float, float, float | None],
) -> MovedSeries:
    night, before = each.nights[index], each.nights[max(0, index - 1)]
    base, head, relative = levels
    return MovedSeries(
        series_id=each.series_id,
        kernel=each.kernel if variant is None else variant.name,
        variant_id=None if variant is None else variant.variant_id,
        verdict=verdict,
        state=state,
        kind=kind,
        run_id=night.run_id,
        base_run=before.run_id,
        time=night.time,
        commit=night.commit,
        note=night.note,
        base=base,
        head=head,
        relative=relative,
        p_value=None,
        noise=each.result.noise,
        lost=(head - base) * (1 if variant is None else variant.launches),
        around=night.changed,
        is_alone=kind == _ALONE,
        is_same_commit=night.commit is not None and night.commit == before.commit,
    )


def _worst_first(move: Move) -> tuple[int, float, str, str]:
    row = move.row
    return rank(row), -abs(row.lost), row.kernel, row.series_id


def rank(row: MovedSeries) -> int:
    """Return a place by verdict and state: what became slower and stands is first."""
    if row.state in (MENDED, ACCEPTED):
        return 6 if row.state == ACCEPTED else 5
    is_worse = row.head > row.base
    places = {
        Verdict.REGRESSED: 0,
        Verdict.ENVIRONMENT: 1 if is_worse else 4,
        Verdict.INCONCLUSIVE: 2,
        Verdict.IMPROVED: 3,
    }
    return places[Verdict(row.verdict)]
