"""What every series of a branch did over its nights: the record that text, JSON and report show."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import chain as chain_of
from typing import TYPE_CHECKING

from advisor.database.night_durations import nights_of_branch
from advisor.database.nights import (
    Accepted,
    Branch,
    BranchNights,
    KnownSeries,
    NightRun,
    ShapeNights,
    chains_of,
    other_runs,
)
from advisor.records import dataclass
from advisor.reports.record.alike import series_alike
from advisor.reports.record.series_records import (
    AcceptedLevel,
    History,
    HistoryNight,
    MachineMoved,
    SeriesHistory,
)
from advisor.tracking.comparing import load_comparing
from advisor.tracking.conditions import (
    differences,
    environment_texts,
    known_conditions,
    split_nights,
    what_changed,
)
from advisor.tracking.history import Tracked, change_at, scan_histories
from advisor.tracking.records import WORST_FIRST, Newest, SeriesResult, Verdict
from advisor.tracking.settings import load_settings
from advisor.tracking.together import NewestTest, Together, judge_together
from advisor.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from advisor.tracking.settings import TrackingSettings


def read_history(
    connection: duckdb.DuckDBPyConnection,
    branch: Branch,
    known: Mapping[str, KnownSeries],
    *,
    since: int | datetime | None = None,
) -> History:
    """Return what some series did over the nights of a branch.

    ``since`` is a number of nights or a moment: what is shown, the detector sees every night.
    """
    found = history_over(nights_of_branch(connection, branch), branch, known, since=since)
    others = _left_out(branch, other_runs(connection, branch))
    return replace(found, notes=(*others, *found.notes))


def history_over(
    given: BranchNights,
    branch: Branch,
    known: Mapping[str, KnownSeries],
    *,
    since: int | datetime | None = None,
    with_alike: bool = True,
) -> History:
    """Return what some series did over nights that were read; ``since`` as in ``read_history``.

    ``with_alike`` asks which series may go on under another name.
    """
    settings = load_settings()
    nights = _nights(given.runs, settings)
    marks = _Marks(
        runs={run.run_id: run.position for run in given.runs},
        accepted=given.accepted,
        noises=given.noises,
    )
    series, machine = _scanned(chains_of(given.shapes), nights, known, marks, settings)
    return History(
        branch=branch.name,
        is_simulated=branch.simulated,
        nights=nights,
        series=tuple(sorted(series, key=_worst)),
        shown_since=_moment(since, nights),
        notes=(*falling_apart(given.runs, settings), *_too_few(series, settings)),
        alike=series_alike(series, known, nights) if with_alike else (),
        machine=machine,
    )


@dataclass(frozen=True, kw_only=True)
class _Marks:
    """What users declared about series: ``runs`` are the nights of run ids."""

    runs: Mapping[str, int]
    accepted: Sequence[Accepted]
    noises: Mapping[str, float]

    def accepted_of(self, series_id: str, nights: Sequence[int]) -> dict[int, Accepted]:
        """Return levels by the index of their night in the series; the last word on each counts."""
        found = {}
        for each in self.accepted:
            night = self.runs.get(each.run_id)
            if each.series_id == series_id and night is not None:
                found[next((i for i, n in enumerate(nights) if n >= night), -1)] = each
        return {index: each for index, each in found.items() if index >= 0}


def _nights(runs: Sequence[NightRun], settings: TrackingSettings) -> tuple[HistoryNight, ...]:
    """Return the nights of a branch; what the first run of each says counts."""
    first = {run.position: run for run in reversed(runs)}
    ordered = [first[position] for position in sorted(first)]
    texts = environment_texts([run.environment for run in ordered])
    ran_on = known_conditions([run.environment for run in ordered])
    measured = known_conditions([run.measured_by for run in ordered])
    restarts = set(split_nights(measured, settings))
    return tuple(
        HistoryNight(
            run_id=run.run_id,
            time=run.night,
            commit=run.commit,
            note=run.note,
            environment=text,
            changed=what_changed(ran_on[number - 1], ran_on[number]) if number else (),
            differs=differences(ran_on[number - 1], ran_on[number]) if number else (),
            started_over=what_changed(measured[number - 1], measured[number])
            if number in restarts
            else (),
        )
        for number, (run, text) in enumerate(zip(ordered, texts, strict=True))
    )


def _scanned(
    chains: Sequence[Sequence[ShapeNights]],
    nights: Sequence[HistoryNight],
    known: Mapping[str, KnownSeries],
    marks: _Marks,
    settings: TrackingSettings,
) -> tuple[list[SeriesHistory], MachineMoved | None]:
    """Return the known series; their newest nights are judged with those of all series."""
    restarts = [number for number, night in enumerate(nights) if night.started_over]
    numbers = [tuple(chain_of.from_iterable(each.nights for each in chain)) for chain in chains]
    # Most series share their nights, and with them what those say.
    environment_of = cache(lambda its: [nights[night].environment for night in its])
    nights_of = cache(lambda its: tuple([nights[night] for night in its]))
    accepted = [
        marks.accepted_of(chain[0].series_id, its)
        for chain, its in zip(chains, numbers, strict=True)
    ]
    tracked = [
        Tracked(
            values=tuple(chain_of.from_iterable(each.durations for each in chain)),
            environment=environment_of(its),
            splits=_splits(its, restarts),
            accepted=sorted(levels),
        )
        for chain, its, levels in zip(chains, numbers, accepted, strict=True)
    ]
    results = scan_histories(tracked, settings=settings)
    together = _together(results, numbers, settings)
    retold = map(_judged_again, results, together.newest)
    found = [
        replace(
            _series_history(known[chain[0].series_id], chain, nights_of(its), each, result),
            is_missing=its[-1] < len(nights) - 1,
            accepted=_accepted(levels, result, settings),
            calibrated_noise=marks.noises.get(chain[0].series_id),
        )
        for chain, its, each, result, levels in zip(
            chains, numbers, tracked, retold, accepted, strict=True
        )
        if chain[0].series_id in known
    ]
    return found, _machine(together, nights)


def _too_few(series: Sequence[SeriesHistory], settings: TrackingSettings) -> tuple[str, ...]:
    """Return what a verdict needs, where no series has a verdict."""
    if any(each.result.newest.verdict is not Verdict.INSUFFICIENT for each in series):
        return ()
    needed = f"{settings.least_nights:,} nights of one profiler and clock control"
    return (
        f"too few nights: a verdict needs {needed}; advisor compare sets two runs side by side",
    )


def _judged_again(result: SeriesResult, newest: Newest) -> SeriesResult:
    """Return a result with another verdict of its newest nights, and of the step that they are."""
    changes = tuple(
        replace(change, verdict=newest.verdict)
        if change.verdict is not None and change.index == newest.index
        else change
        for change in result.changes
    )
    return replace(result, newest=newest, changes=changes)


def _together(
    results: Sequence[SeriesResult], numbers: Sequence[Sequence[int]], settings: TrackingSettings
) -> Together:
    tested = [
        NewestTest(
            newest=result.newest,
            noise=result.noise,
            night=None if result.newest.index is None else its[result.newest.index],
        )
        for result, its in zip(results, numbers, strict=True)
    ]
    return judge_together(tested, load_comparing().limits, reach=settings.environment_reach)


def _machine(together: Together, nights: Sequence[HistoryNight]) -> MachineMoved | None:
    shift = together.machine
    if shift is None or together.night is None:
        return None
    return MachineMoved(
        night=nights[together.night],
        relative=math.expm1(shift.effect),
        moved=shift.moved,
        series=shift.series,
    )


def _series_history(
    of: KnownSeries,
    chain: Sequence[ShapeNights],
    nights: tuple[HistoryNight, ...],
    tracked: Tracked,
    result: SeriesResult,
) -> SeriesHistory:
    return SeriesHistory(
        series_id=of.series_id,
        kernel=of.short_name,
        kernel_name=of.normalised_name,
        problem=of.problem_key,
        device=of.device_name,
        configuration=of.configuration,
        launch_shape=chain[-1].shape,
        launch_shapes=tuple(dict.fromkeys(each.shape for each in chain)),
        nights=nights,
        durations=tuple(tracked.values),
        result=result,
        splits=tuple(tracked.splits),
        is_missing=False,
    )


def _accepted(
    levels: Mapping[int, Accepted], result: SeriesResult, settings: TrackingSettings
) -> tuple[AcceptedLevel, ...]:
    return tuple(
        AcceptedLevel(
            index=index,
            run_id=level.run_id,
            because=level.because,
            change=change_at(index, result, settings),
        )
        for index, level in sorted(levels.items())
    )


def _splits(numbers: Sequence[int], restarts: Sequence[int]) -> list[int]:
    """Return the nights of a series, counted in it, that are the first at or after a new start."""
    firsts = (next((i for i, n in enumerate(numbers) if n >= night), 0) for night in restarts)
    return sorted({first for first in firsts if first > 0})


def _worst(each: SeriesHistory) -> tuple[int, float, str, str]:
    newest = each.result.newest
    rank = WORST_FIRST.index(newest.verdict)
    return rank, -abs(newest.relative or 0.0), each.kernel_name, each.series_id


def _moment(since: int | datetime | None, nights: Sequence[HistoryNight]) -> datetime | None:
    """Return when the first night was that is to be shown; windows count nights with results."""
    if isinstance(since, int):
        return nights[max(0, len(nights) - since)].time
    return since


def _left_out(branch: Branch, others: tuple[int, int, int]) -> list[str]:
    """Return which runs are left out."""
    without, of_others, unlike = others
    notes = []
    if without and branch.name is not None:
        command = f"advisor runs label RUN… --branch {branch.name}"
        notes.append(f"{count(without, 'run')} without a branch left out: `{command}` adds them")
    if of_others:
        named = "without a branch" if branch.name is None else f"of branch {branch.name}"
        note = f"{count(of_others, 'run')} of other branches left out: this is the history {named}"
        notes.append(f"{note}; --branch NAME shows another")
    if unlike:
        kind = "measured" if branch.simulated else "simulated"
        notes.append(f"{count(unlike, f'{kind} run')} left out: they are never compared")
    return notes


def falling_apart(runs: Sequence[NightRun], settings: TrackingSettings) -> list[str]:
    """Return notes on labels that are part of every series and new with every run."""
    notes = []
    options = {"label": "--label", "configuration": "--config"}
    for name, option in options.items():
        given = Counter(getattr(run, name) for run in runs if getattr(run, name))
        alone = sum(number == 1 for number in given.values())
        if alone >= settings.labels_alone and 2 * alone >= sum(given.values()):
            notes.append(
                f"{count(alone, 'run')} of {len(runs):,} have a {name} of their own, so that every"
                f" series falls apart: `advisor runs label RUN… {option} NAME` joins it"
            )
    return notes
