"""Two runs side by side: paired, judged by both gates, split into terms, and explained."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import duckdb

from advisor.database.comparisons import Durations, durations_of, take_kernels, taken_kernels
from advisor.database.read import StoredRun, run_details
from advisor.errors import UsageError
from advisor.facts import current, kernels_select
from advisor.knowledge.knowledge import Knowledge
from advisor.records import dataclass
from advisor.reports.record.accepted import Again, judge_accepted
from advisor.reports.record.compared import (
    GONE,
    NEW,
    ComparedKernel,
    ComparedSeries,
    Differs,
    RunComparison,
)
from advisor.reports.record.past import SeriesAsked, SeriesPast, past_of
from advisor.reports.record.spreads import launches_of, spread_of
from advisor.reports.record.why import KERNELS, Changed, explain_changes, facts_read
from advisor.tracking.attribution import Side, Terms, attribute
from advisor.tracking.comparing import Comparing, load_comparing
from advisor.tracking.gates import Gated, MachineShift, Samples, judge
from advisor.tracking.levels import Levels
from advisor.tracking.pair import Pair, Variant, pair_variants
from advisor.tracking.records import Verdict

_KEYS = (
    "run_id", "variant_id", "series_id", "kernel_id", "short_name", "launch_shape",
    "launch_count", "launches_excluded", "duration", "duration_median",
    "duration_stddev", "position", "grid_size",
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
    """Return the outer join of two runs, with verdicts, terms and causes.

    Raises:
        UsageError: one run is simulated and the other was measured.
    """
    _refuse_other_kinds(base, head)
    comparing = load_comparing()
    joined = _join(connection, base, head, knowledge, comparing)
    samples = _samples(connection, base, head, joined, comparing)
    details = [run_details(connection, each.run_id) for each in (base, head)]
    environment = differing(comparing.environment, *details)
    around = differing(comparing.around, *details)
    changed, machine = _verdicts(
        connection, base, head, joined, samples, bool(environment), comparing
    )
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
        Changed(row=row, samples=each, series_changed=_other_series(joined, pair))
        for row, each, pair in zip(changed, samples, joined.pairs, strict=True)
    ]
    return explain_changes(connection, whole, asked, knowledge, comparing)


def _verdicts(
    connection: duckdb.DuckDBPyConnection,
    base: StoredRun,
    head: StoredRun,
    joined: _Joined,
    samples: Sequence[Samples | None],
    environment: bool,
    comparing: Comparing,
) -> tuple[list[ComparedSeries], MachineShift | None]:
    """Return what each pair of series did, and whether the whole machine shifted."""
    common = [(number, each) for number, each in enumerate(samples) if each is not None]
    judged, machine = judge([each for _, each in common], comparing.limits)
    asked = [(joined.head[joined.pairs[number].head or 0], each) for number, each in common]
    again = judge_accepted(connection, base, head, asked, comparing)
    gated = {number: each for (number, _), each in zip(common, judged, strict=True)}
    accepted = {common[index][0]: each for index, each in again.items()}
    changed = [
        _judged(
            pair,
            joined,
            gated.get(number),
            None if each is None else each.levels,
            accepted.get(number),
            environment,
            comparing,
        )
        for number, (pair, each) in enumerate(zip(joined.pairs, samples, strict=True))
    ]
    return changed, machine


def _refuse_other_kinds(base: StoredRun, head: StoredRun) -> None:
    if base.simulated != head.simulated:
        simulated, measured = (base, head) if base.simulated else (head, base)
        problem = f"run {simulated.run_id} is simulated, run {measured.run_id} was measured"
        raise UsageError(problem, hint="compare runs of one kind: advisor runs list shows which")


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
    read = {*_KEYS, *_WORK, *comparing.amounts, *comparing.peaks, *comparing.clocks}
    names = sorted(read | facts_read(knowledge))
    select = kernels_select(vocabulary, names, current(connection, vocabulary, runs))
    take_kernels(connection, KERNELS, select, runs)
    rows = taken_kernels(connection, KERNELS, sorted(read))
    before = [row for row in rows if row["run_id"] == base.run_id]
    after = [row for row in rows if row["run_id"] == head.run_id]
    pairs = pair_variants(
        [_variant(index, row) for index, row in enumerate(before)],
        [_variant(index, row) for index, row in enumerate(after)],
        equal_work=comparing.limits.equal_work,
    )
    return _Joined(base=before, head=after, pairs=pairs)


def _variant(index: int, row: Row) -> Variant:
    ran = launches_of(row)
    flops = row["flops"]
    return Variant(
        index=index,
        series=str(row["series_id"]),
        kernel=str(row["kernel_id"]),
        shape=_shape(row),
        position=index,
        work=(None if flops is None or not ran else flops / ran, row["thread_count"]),
    )


def _samples(
    connection: duckdb.DuckDBPyConnection,
    base: StoredRun,
    head: StoredRun,
    joined: _Joined,
    comparing: Comparing,
) -> list[Samples | None]:
    """Return what the statistical gate reads, by pair; None of a series that one run lacks."""
    durations = durations_of(connection, [base.run_id, head.run_id])
    common: list[tuple[int, Row, Row]] = []
    for number, pair in enumerate(joined.pairs):
        before, after = joined.rows(pair)
        if before is not None and after is not None:
            common.append((number, before, after))
    asked = [
        SeriesAsked(
            series=str(before["series_id"]),
            base_shape=before["launch_shape"],
            head_value=after["duration_median"],
        )
        for _, before, after in common
    ]
    past = past_of(connection, base, head, asked, comparing.limits)
    found: list[Samples | None] = [None] * len(joined.pairs)
    for (number, before, after), known in zip(common, past, strict=True):
        found[number] = _sampled(before, after, durations, known)
    return found


def _sampled(before: Row, after: Row, durations: Durations, known: SeriesPast) -> Samples:
    """Return what is known of one series; a run that was pruned has no times of launches."""
    base = durations.get((before["run_id"], before["variant_id"]), [])
    head = durations.get((after["run_id"], after["variant_id"]), [])
    is_whole = bool(base and head)
    return Samples(
        base=base,
        head=head,
        base_spread=None if is_whole else spread_of(before),
        head_spread=None if is_whole else spread_of(after),
        base_launches=launches_of(before),
        head_launches=launches_of(after),
        past_noise=known.noise,
        levels=known.levels,
    )


def _judged(
    pair: Pair,
    joined: _Joined,
    gated: Gated | None,
    levels: Levels | None,
    again: Again | None,
    environment: bool,
    comparing: Comparing,
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
    attributed = partial(terms_of, before, after, comparing)
    verdict, judged = gated.verdict, gated
    if again is not None:
        verdict, judged = again.gated.verdict, again.gated
        levels, environment = again.levels, again.environment
    if environment and verdict in (Verdict.REGRESSED, Verdict.IMPROVED):
        by_code = _is_by_code(judged, attributed(), levels, comparing)
        verdict = verdict if by_code else Verdict.ENVIRONMENT
    return ComparedSeries(
        series=str(named["series_id"]),
        kernel=str(named["short_name"]),
        verdict=verdict,
        base=base,
        head=head,
        relative=_relative(base, head),
        of_medians=None if gated.effect is None else math.expm1(gated.effect),
        p_value=gated.p_value,
        noise=gated.noise,
        needed=None if gated.needed is None else math.expm1(gated.needed),
        between_levels=None if gated.levels is None else math.expm1(gated.levels),
        attributed=attributed,
        shape_changed=pair.shape_changed,
        accepted=None if again is None else again.accepted,
    )


def _relative(base: ComparedKernel | None, head: ComparedKernel | None) -> float | None:
    """Return head over base less 1, of the times in the run, None where one is not known."""
    if base is None or head is None or not base.total or not head.total:
        return None
    return head.total / base.total - 1


def _is_by_code(
    gated: Gated, terms: Terms | None, levels: Levels | None, comparing: Comparing
) -> bool:
    """Return whether a change that comes with another environment has nothing to do with it.

    Launches and counted work are most of it, which no environment makes; or the detector found
    most of it on nights when the environment stayed the same.
    """
    effect = gated.judged
    if not effect:
        return False
    parts = {} if terms is None else terms.parts
    own = parts.get("launches", 0.0) + parts.get("work", 0.0)
    share = comparing.limits.work_share
    if own / effect >= share:
        return True
    if levels is None or levels.environment is None:
        return False
    return (effect - levels.environment) / effect >= share


def _shape(row: Row) -> str | None:
    """Return the grid and block of a kernel; a grid of no blocks is one that was not measured."""
    return None if row["grid_size"] == 0 else row["launch_shape"]


def _kernel(row: Row) -> ComparedKernel:
    return ComparedKernel(
        variant_id=str(row["variant_id"]),
        shape=_shape(row),
        launches=launches_of(row),
        total=row["duration"],
    )


def terms_of(before: Row, after: Row, comparing: Comparing) -> Terms | None:
    """Return what the change of a kernel's time is made of, None where a time is not known."""
    sides = _side(before, comparing), _side(after, comparing)
    return attribute(*sides, comparing.resources, clock=comparing.clock)


def _side(row: Row, comparing: Comparing) -> Side:
    """Return what terms are made of, amounts of one launch, from a kernel's facts."""
    launches = launches_of(row)
    return Side(
        launches=launches,
        duration=row["duration"] or 0.0,
        amounts={
            name: row[name] / launches
            for name in comparing.amounts
            if launches and row[name] is not None
        },
        peaks=row,
        clocks=row,
    )


def differing(names: Sequence[str], before: Row, after: Row) -> tuple[Differs, ...]:
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
