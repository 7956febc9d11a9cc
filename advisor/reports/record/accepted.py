"""Levels that the user accepted between two runs: the later run is judged by them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from advisor.database.comparisons import durations_of, variants_of_series
from advisor.database.nights import accepted_levels, series_links
from advisor.database.read import StoredRun, get_runs, run_details
from advisor.records import dataclass
from advisor.reports.record.compared import AcceptedBaseline
from advisor.reports.record.past import SeriesAsked, past_of
from advisor.reports.record.spreads import launches_of, spread_of
from advisor.tracking.comparing import Comparing
from advisor.tracking.gates import Gated, Samples, judge
from advisor.tracking.levels import Levels

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Again:
    """The verdict on a series against the level that was accepted.

    ``environment``: the run whose level it is ran on something else than the head.
    """

    gated: Gated
    levels: Levels | None
    accepted: AcceptedBaseline
    environment: bool


def judge_accepted(
    connection: duckdb.DuckDBPyConnection,
    base: StoredRun,
    head: StoredRun,
    common: Sequence[tuple[Row, Samples]],
    comparing: Comparing,
) -> dict[int, Again]:
    """Return verdicts against accepted levels, by the index of the pair.

    ``common`` are the kernel in the head, and what both runs measured, of each pair. Only levels
    count that were accepted in a run after the base and not after the head, of one branch.
    """
    accepted = _between(connection, base, head)
    if not accepted:
        return {}
    links = series_links(connection)
    runs = get_runs(connection, {each.run_id for each in accepted.values()})
    pairs: dict[str, list[tuple[int, AcceptedBaseline]]] = defaultdict(list)
    for index, (row, _) in enumerate(common):
        series = str(row["series_id"])
        found = accepted.get(links.get(series, series))
        if found is not None:
            pairs[found.run_id].append((index, found))
    again: dict[int, Again] = {}
    for run_id, chosen in pairs.items():
        against = [(i, found, *common[i]) for i, found in chosen]
        again |= _against(connection, runs[run_id], head, against, links, comparing)
    return again


def _between(
    connection: duckdb.DuckDBPyConnection, base: StoredRun, head: StoredRun
) -> dict[str, AcceptedBaseline]:
    """Return the last level that was accepted of each series, of those between two runs."""
    stored = accepted_levels(connection)
    runs = get_runs(connection, {each.run_id for each in stored})
    levels = [each for each in stored if each.run_id in runs]
    found: dict[str, AcceptedBaseline] = {}
    for each in sorted(levels, key=lambda level: (runs[level.run_id].night, level.accepted_at)):
        run = runs[each.run_id]
        is_alike = run.branch in (base.branch, head.branch) and run.simulated == head.simulated
        if is_alike and base.night < run.night <= head.night:
            found[each.series_id] = AcceptedBaseline(run_id=each.run_id, because=each.because)
    return found


def _against(
    connection: duckdb.DuckDBPyConnection,
    run: StoredRun,
    head: StoredRun,
    chosen: Sequence[tuple[int, AcceptedBaseline, Row, Samples]],
    links: Mapping[str, str],
    comparing: Comparing,
) -> dict[int, Again]:
    """Return what some series of the head say against one run."""
    variants = variants_of_series(connection, run.run_id)
    durations = durations_of(connection, [run.run_id])
    ran_on = [run_details(connection, each.run_id) for each in (run, head)]
    known = []
    for index, accepted, row, samples in chosen:
        series = str(row["series_id"])
        before = _same(variants.get(links.get(series, series), ()), row["launch_shape"])
        if before is not None:
            known.append((index, accepted, row, samples, before))
    asked = [
        SeriesAsked(
            series=str(row["series_id"]),
            base_shape=before["launch_shape"],
            head_value=row["duration_median"],
        )
        for _, _, row, _, before in known
    ]
    past = past_of(connection, run, head, asked, comparing.limits)
    samples_again = [
        Samples(
            base=durations.get((run.run_id, before["variant_id"]), []),
            head=samples.head,
            base_spread=spread_of(before),
            head_spread=spread_of(row),
            base_launches=launches_of(before),
            head_launches=samples.head_launches,
            past_noise=each.noise,
            levels=None if run.run_id == head.run_id else each.levels,
        )
        for (_, _, row, samples, before), each in zip(known, past, strict=True)
    ]
    gated, _ = judge(samples_again, comparing.limits)
    environment = any(_differs(name, *ran_on) for name in comparing.environment)
    return {
        index: Again(gated=each, levels=samples.levels, accepted=accepted, environment=environment)
        for (index, accepted, *_), each, samples in zip(known, gated, samples_again, strict=True)
    }


def _differs(name: str, before: Row, after: Row) -> bool:
    """Return whether something known on both sides is another thing."""
    known = before.get(name) is not None and after.get(name) is not None
    return known and before[name] != after[name]


def _same(variants: Sequence[Row], shape: str | None) -> Row | None:
    """Return the variant with a launch shape, or the only one of the series."""
    alike = [each for each in variants if each["launch_shape"] == shape]
    if alike:
        return alike[0]
    return variants[0] if len(variants) == 1 else None
