"""What the nights of a branch say about two runs: the level and the noise of each series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import duckdb

from advisor.database.night_durations import durations_of_branch
from advisor.database.nights import (
    Around,
    Branch,
    NightRun,
    ShapeNights,
    calibrated_noises,
    chains_of,
    runs_of_branch,
    series_links,
)
from advisor.database.read import StoredRun
from advisor.records import dataclass
from advisor.tracking.comparing import Limits
from advisor.tracking.conditions import environment_texts, known_conditions, split_nights
from advisor.tracking.history import Tracked, scan_histories
from advisor.tracking.levels import Levels, levels_between
from advisor.tracking.settings import TrackingSettings, load_settings


@dataclass(frozen=True, kw_only=True)
class SeriesAsked:
    """A series: its launch shape in the base, and the time of a launch in the head [s]."""

    series: str
    base_shape: str | None
    head_value: float | None


@dataclass(frozen=True, kw_only=True)
class SeriesPast:
    """What is known of one series: the noise of A/A runs, and the levels of both nights."""

    noise: float | None
    levels: Levels | None


def past_of(
    connection: duckdb.DuckDBPyConnection,
    base: StoredRun,
    head: StoredRun,
    asked: Sequence[SeriesAsked],
    limits: Limits,
) -> list[SeriesPast]:
    """Return what the nights of the baseline's branch say about each series, in the order asked.

    Runs of other branches are never read, nor simulated runs beside measured ones.
    """
    noises = calibrated_noises(connection)
    links = series_links(connection)
    window = _window(connection, base, head, limits)
    levels = window.levels_of(asked, links) if window is not None else [None] * len(asked)
    return [
        SeriesPast(noise=noises.get(links.get(each.series, each.series)), levels=found)
        for each, found in zip(asked, levels, strict=True)
    ]


@dataclass(frozen=True, kw_only=True)
class _Window:
    """The nights around two runs; ``base`` and ``head`` are positions, None off the branch."""

    environment: Mapping[int, str | None]
    restarts: Sequence[int]
    chains: Sequence[Sequence[ShapeNights]]
    base: int
    head: int | None
    settings: TrackingSettings

    def levels_of(
        self, asked: Sequence[SeriesAsked], links: Mapping[str, str]
    ) -> list[Levels | None]:
        """Return the levels of both nights of each series."""
        of_shapes = {
            (one.series_id, one.shape): chain
            for chain in self.chains
            for one in chain
            if self.base in one.nights
        }
        chains = [
            of_shapes.get((links.get(each.series, each.series), each.base_shape or ""), ())
            for each in asked
        ]
        tracked = {number: self._tracked(chain) for number, chain in enumerate(chains) if chain}
        results = scan_histories(list(tracked.values()), settings=self.settings)
        found: list[Levels | None] = [None] * len(asked)
        for (number, series), result in zip(tracked.items(), results, strict=True):
            chain = chains[number]
            nights = _nights(chain)
            base = nights.index(self.base)
            head = nights.index(self.head) if self.head in nights else None
            value = asked[number].head_value
            if value is None or self._is_split(series, base, head):
                continue
            found[number] = levels_between(series, result, base, head, value, self.settings)
        return found

    def _tracked(self, chain: Sequence[ShapeNights]) -> Tracked:
        nights = _nights(chain)
        firsts = (next((i for i, n in enumerate(nights) if n >= one), 0) for one in self.restarts)
        return Tracked(
            values=[duration for one in chain for duration in one.durations],
            environment=[self.environment[night] for night in nights],
            splits=sorted({first for first in firsts if first > 0}),
        )

    def _is_split(self, series: Tracked, base: int, head: int | None) -> bool:
        """Return whether times before and after are not compared: by another profiler or clock."""
        last = len(series.values) - 1 if head is None else head
        first, last = sorted((base, last))
        return any(first < split <= last for split in series.splits)


def _window(
    connection: duckdb.DuckDBPyConnection, base: StoredRun, head: StoredRun, limits: Limits
) -> _Window | None:
    """Return the nights around two runs, None where there are too few to know any noise."""
    settings = load_settings()
    branch = Branch(name=base.branch, simulated=base.simulated)
    around = Around(
        run_ids=(base.run_id, head.run_id), before=limits.past_nights, after=settings.window
    )
    runs = runs_of_branch(connection, branch, around)
    positions = {run.run_id: run.position for run in runs}
    at_base, at_head = positions[base.run_id], positions.get(head.run_id)
    ends = [at for at in (at_base, at_head) if at is not None]
    first, last = max(0, min(ends) - limits.past_nights), max(ends) + settings.window
    nights = _first_runs(runs)
    if len(nights) < settings.least_nights:
        return None
    shapes = durations_of_branch(connection, branch, first=first, last=last)
    texts = environment_texts([run.environment for run in nights])
    measured = known_conditions([run.measured_by for run in nights])
    return _Window(
        environment={run.position: text for run, text in zip(nights, texts, strict=True)},
        restarts=[nights[number].position for number in split_nights(measured, settings)],
        chains=chains_of(shapes),
        base=at_base,
        head=at_head,
        settings=settings,
    )


def _first_runs(runs: Iterable[NightRun]) -> list[NightRun]:
    """Return the first run of each night, in order."""
    first: dict[int, NightRun] = {}
    for run in runs:
        first.setdefault(run.position, run)
    return [first[position] for position in sorted(first)]


def _nights(chain: Sequence[ShapeNights]) -> list[int]:
    return [night for one in chain for night in one.nights]
