"""Two runs side by side: paired, judged by both gates, split into terms, and explained."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np

from advisor.database.comparisons import durations_of, past_of, take_kernels
from advisor.database.read import StoredRun, run_details
from advisor.facts import current, kernels_select
from advisor.knowledge.knowledge import Knowledge
from advisor.reports.record.compared import (
    GONE,
    NEW,
    ComparedKernel,
    ComparedSeries,
    Differs,
    RunComparison,
)
from advisor.reports.record.why import KERNELS, Changed, explain_changes, facts_read
from advisor.tracking.attribution import Side, attribute
from advisor.tracking.comparing import Comparing, load_comparing
from advisor.tracking.gates import Gated, Samples, judge
from advisor.tracking.noise import noise_of_differences, scale
from advisor.tracking.pair import Pair, Variant, pair_variants
from advisor.tracking.records import Verdict
from advisor.tracking.settings import load_settings

_KEYS = (
    "run_id", "variant_id", "series_id", "kernel_id", "short_name", "launch_shape",
    "launch_count", "launches_excluded", "duration", "duration_median", "position",
)  # fmt: skip
_WORK = ("flops", "thread_count")

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Joined:
    """The kernels of both runs, and which is which."""

    base: Sequence[Row]
    head: Sequence[Row]
    pairs: Sequence[Pair]

    def rows(self, pair: Pair) -> tuple[Row | None, Row | None]:
        before = None if pair.base is None else self.base[pair.base]
        after = None if pair.head is None else self.head[pair.head]
        return before, after


def compare_runs(
    connection: duckdb.DuckDBPyConnection, base: StoredRun, head: StoredRun, knowledge: Knowledge
) -> RunComparison:
    """Return the outer join of two runs, with verdicts, terms and causes."""
    comparing = load_comparing()
    joined = _join(connection, base, head, knowledge, comparing)
    samples = _samples(connection, base, head, joined, comparing)
    common = [pair for pair in joined.pairs if pair.base is not None and pair.head is not None]
    gated, machine = judge([samples[_key(pair)] for pair in common], comparing.limits)
    details = [run_details(connection, each.run_id) for each in (base, head)]
    environment = _differing(comparing.environment, *details)
    around = _differing(comparing.around, *details)
    by_pair = dict(zip(map(_key, common), gated, strict=True))
    changed = [
        _judged(pair, joined, by_pair.get(_key(pair)), bool(environment), comparing)
        for pair in joined.pairs
    ]
    whole = RunComparison(
        base=base,
        head=head,
        rows=changed,
        total_base=_total(changed, "base"),
        total_head=_total(changed, "head"),
        environment=environment,
        around=around,
        machine=machine,
    )
    asked = [
        Changed(
            row=row, samples=samples.get(_key(pair)), series_changed=_other_series(joined, pair)
        )
        for row, pair in zip(changed, joined.pairs, strict=True)
    ]
    return explain_changes(connection, whole, asked, knowledge, comparing)


def _key(pair: Pair) -> tuple[int, int]:
    return (-1 if pair.base is None else pair.base, -1 if pair.head is None else pair.head)


def _other_series(joined: _Joined, pair: Pair) -> bool:
    before, after = joined.rows(pair)
    return before is not None and after is not None and before["series_id"] != after["series_id"]


def _join(
    connection: duckdb.DuckDBPyConnection,
    base: StoredRun,
    head: StoredRun,
    knowledge: Knowledge,
    comparing: Comparing,
) -> _Joined:
    vocabulary = knowledge.vocabulary
    runs = [base.run_id, head.run_id]
    names = {*_KEYS, *_WORK, *comparing.amounts, *comparing.peaks, *comparing.clocks}
    names |= facts_read(knowledge)
    select = kernels_select(vocabulary, sorted(names), current(connection, vocabulary, runs))
    take_kernels(connection, KERNELS, select, runs)
    cursor = connection.execute(f"FROM {KERNELS} ORDER BY run_id, position, variant_id")
    columns = [column[0] for column in cursor.description or ()]
    rows = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    before = [row for row in rows if row["run_id"] == base.run_id]
    after = [row for row in rows if row["run_id"] == head.run_id]
    pairs = pair_variants(
        [_variant(index, row) for index, row in enumerate(before)],
        [_variant(index, row) for index, row in enumerate(after)],
        equal_work=comparing.limits.equal_work,
    )
    return _Joined(base=before, head=after, pairs=pairs)


def _variant(index: int, row: Row) -> Variant:
    ran = _launches(row)
    flops = row["flops"]
    return Variant(
        index=index,
        series=str(row["series_id"]),
        kernel=str(row["kernel_id"]),
        shape=row["launch_shape"],
        position=index,
        work=(None if flops is None or not ran else flops / ran, row["thread_count"]),
    )


def _launches(row: Row) -> int:
    """Return the launches that ran."""
    return int((row["launch_count"] or 0) - (row["launches_excluded"] or 0))


def _samples(
    connection: duckdb.DuckDBPyConnection,
    base: StoredRun,
    head: StoredRun,
    joined: _Joined,
    comparing: Comparing,
) -> dict[tuple[int, int], Samples]:
    """Return what the statistical gate reads, by pair; the past where launches are few."""
    limits = comparing.limits
    durations = durations_of(connection, [base.run_id, head.run_id])
    found: dict[tuple[int, int], tuple[Row, Row, list[float], list[float]]] = {}
    few = []
    for pair in joined.pairs:
        before, after = joined.rows(pair)
        if before is None or after is None:
            continue
        ours, theirs = (_times(row, durations) for row in (before, after))
        found[_key(pair)] = (before, after, ours, theirs)
        if min(len(ours), len(theirs)) < limits.least_launches:
            few.append(before["series_id"])
    past = past_of(
        connection,
        base.run_id,
        few,
        simulated=base.simulated,
        nights=limits.past_nights,
        least=limits.least_past,
    )
    noises = _noises(past)
    return {
        key: Samples(
            base=ours,
            head=theirs,
            base_launches=_launches(before),
            head_launches=_launches(after),
            past_noise=noises.get((before["series_id"], before["launch_shape"])),
        )
        for key, (before, after, ours, theirs) in found.items()
    }


def _times(row: Row, durations: Mapping[tuple[str, str], list[float]]) -> list[float]:
    """Return the times of a variant's launches; of a pruned run, the median stands for all."""
    found = durations.get((row["run_id"], row["variant_id"]))
    if found:
        return found
    return [] if row["duration_median"] is None else [row["duration_median"]]


def _noises(
    past: Mapping[tuple[str, str | None], Sequence[float]],
) -> dict[tuple[str, str | None], float]:
    """Return the relative deviation of one night, by the detector's own estimate."""
    settings = load_settings()
    groups: dict[int, list[tuple[str, str | None]]] = {}
    for key, values in past.items():
        groups.setdefault(len(values), []).append(key)
    found: dict[tuple[str, str | None], float] = {}
    for keys in groups.values():
        scaled = scale(np.array([past[key] for key in keys]))
        noises = noise_of_differences(scaled.values, scaled.ticks, settings)
        found |= dict(zip(keys, noises.deviations.tolist(), strict=True))
    return found


def _judged(
    pair: Pair, joined: _Joined, gated: Gated | None, environment: bool, comparing: Comparing
) -> ComparedSeries:
    before, after = joined.rows(pair)
    named = after if after is not None else before
    assert named is not None
    base, head = (None if row is None else _kernel(row) for row in (before, after))
    if before is None or after is None or gated is None:
        return ComparedSeries(
            series=str(named["series_id"]),
            kernel=str(named["short_name"]),
            verdict=NEW if before is None else GONE,
            base=base,
            head=head,
            relative=None,
        )
    sides = [_side(row, comparing) for row in (before, after)]
    terms = attribute(sides[0], sides[1], comparing.resources, clock=comparing.clock)
    verdict = gated.verdict
    if environment and verdict in (Verdict.REGRESSED, Verdict.IMPROVED):
        by_work = terms is not None and _explains(terms.parts, gated.effect, comparing)
        verdict = verdict if by_work else Verdict.ENVIRONMENT
    return ComparedSeries(
        series=str(named["series_id"]),
        kernel=str(named["short_name"]),
        verdict=verdict,
        base=base,
        head=head,
        relative=None if gated.effect is None else math.expm1(gated.effect),
        p_value=gated.p_value,
        noise=gated.noise,
        needed=None if gated.needed is None else math.expm1(gated.needed),
        terms=terms,
        shape_changed=pair.shape_changed,
    )


def _explains(parts: Mapping[str, float], effect: float | None, comparing: Comparing) -> bool:
    """Return whether launches and counted work are most of a change, which no environment makes."""
    own = parts.get("launches", 0.0) + parts.get("work", 0.0)
    return effect is not None and own / effect >= comparing.limits.work_share


def _kernel(row: Row) -> ComparedKernel:
    return ComparedKernel(
        variant_id=str(row["variant_id"]),
        shape=row["launch_shape"],
        launches=_launches(row),
        total=row["duration"],
    )


def _side(row: Row, comparing: Comparing) -> Side:
    """Return what terms are made of, amounts of one launch."""
    launches = _launches(row)
    return Side(
        launches=launches,
        duration=row["duration"] or 0.0,
        amounts={
            name: None if row[name] is None or not launches else row[name] / launches
            for name in comparing.amounts
        },
        peaks={name: row[name] for name in comparing.peaks},
        clocks={name: row[name] for name in comparing.clocks},
    )


def _differing(names: Sequence[str], before: Row, after: Row) -> tuple[Differs, ...]:
    """Return what is known on both sides and differs: from unknown to known is no change."""
    pairs = ((name, before.get(name), after.get(name)) for name in names)
    return tuple(
        Differs(what=name, before=str(one), after=str(other))
        for name, one, other in pairs
        if one is not None and other is not None and one != other
    )


def _total(rows: Sequence[ComparedSeries], side: str) -> float:
    common = (row for row in rows if row.base is not None and row.head is not None)
    return math.fsum((getattr(row, side).total or 0.0) for row in common)
