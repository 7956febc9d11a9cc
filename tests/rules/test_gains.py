"""Every named estimator by hand, the cut, and times under assumptions."""

from __future__ import annotations

import re

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from advisor.database.facts_table import FactsTable
from advisor.errors import RuleError
from advisor.facts import Vocabulary
from advisor.rules import EvaluationSettings, Rule
from advisor.rules.engine.evaluate import run_program
from advisor.rules.engine.gains import Raw, Seconds, cut
from advisor.rules.engine.program import compile_program
from advisor.rules.language.estimators import load_estimators
from advisor.rules.language.rule import Value
from advisor.rules.language.subjects import SUBJECTS
from tests.support.knowledge import compiled_once
from tests.support.sample_rule import RULE, Judge, Load

TIMES = st.none() | st.floats(-1e3, 1e3)

# A kernel of 1 ms, in which no unit is busy for more than 40 % of the time; no roof is known.
KERNEL = {
    "load_efficiency": 0.5,
    "duration": 1e-3,
    "busiest_unit": 0.4,
    "busiest_over_time": 0.4,
}


ESTIMATES = [
    # The roof takes 0.3 ms: at 75 % of it 0.4, at 87.5 % 0.342857.
    ("estimator: cap_sol", {"t_least": 3e-4}, (6e-4, 6.571428571e-4, 7e-4)),
    # Half of the cycles stalled, 60 % of them idle: 0.3 ms; all of the half at most.
    ("estimator: stall_fraction, share: wasted * 2.5", {}, (1.5e-4, 3e-4, 5e-4)),
    # A fifth of the traffic for nothing on a level half busy.
    (
        "estimator: excess_traffic, wasted: wasted, busy: l2_utilization",
        {"l2_utilization": 0.5},
        (5e-5, 1e-4, 2e-4),
    ),
    # 1.25 waves take the time of 2: 0.75 of 2 is lost, and no more.
    # Several blocks share a multiprocessor, whose busiest unit works for 40 % of the time: the last
    # ones wait for it no more, and what is lost is 60 % of that.
    ("estimator: tail", {"waves": 1.25, "blocks_per_sm": 1}, (1.875e-4, 3.75e-4, 3.75e-4)),
    ("estimator: tail", {"waves": 1.25, "blocks_per_sm": 2}, (1.125e-4, 2.25e-4, 3.75e-4)),
    # Multiprocessors stood without a block for 30 % of the time, which is more.
    (
        "estimator: tail",
        {"waves": 1.25, "blocks_per_sm": 2, "sm_busy": 0.7},
        (1.5e-4, 3e-4, 3.75e-4),
    ),
    # A fifth of the places is taken; halves of blocks take half of the time, parts a quarter, and
    # the busiest unit 40 % of it.
    (
        "estimator: spread",
        {"places_taken": 0.2, "halves_take": 0.5, "parts_take": 0.25},
        (1.25e-4, 3e-4, 6e-4),
    ),
    # No block ran for a quarter of the launch, which stays; a unit is busy for 40 % of all of it.
    (
        "estimator: spread",
        {"places_taken": 0.2, "halves_take": 0.5, "parts_take": 0.25, "idle_of_launch": 0.25},
        (8.75e-5, 1.75e-4, 3.5e-4),
    ),
    # From 25 to 50 % occupancy: half the time at most, 60 % idle of it, and half of that.
    (
        "estimator: occupancy_latency, now: occupancy_achieved, possible: wasted * 2.5",
        {"occupancy_achieved": 0.25},
        (7.5e-5, 1.5e-4, 5e-4),
    ),
    # 0.8 ms of traffic: half of it at a factor of 2, three quarters at 4.
    (
        "estimator: bytes_ratio, likely_factor: wasted * 10, high_factor: wasted * 20",
        {"t_dram": 8e-4},
        (2e-4, 4e-4, 6e-4),
    ),
    # 0.6 ms on a pipe, five times as fast on another.
    (
        "estimator: peak_ratio, pipe_time: t_fp64, factor: wasted * 25",
        {"t_fp64": 6e-4},
        (2.4e-4, 4.8e-4, 4.8e-4),
    ),
    (
        "estimator: heuristic_band, low_share: wasted / 2, likely_share: wasted,"
        " high_share: wasted * 2",
        {},
        (1e-4, 2e-4, 4e-4),
    ),
]


@pytest.mark.parametrize(("gain", "facts", "expected"), ESTIMATES)
def test_estimates_what_is_worked_out_by_hand(
    gain: str,
    facts: dict[str, float],
    expected: tuple[float, float, float],
    load_rule: Load,
    judge: Judge,
) -> None:
    rule = load_rule(re.sub(r"gain: .*", f"gain: {{{gain}}}", RULE))
    found = judge(rule, **KERNEL, l1_utilization=0.9, **facts)[0].gain
    assert found is not None
    assert (found.low, found.likely, found.high) == pytest.approx(expected)


@pytest.mark.parametrize(("gain", "facts", "expected"), ESTIMATES)
def test_without_a_time_a_gain_is_a_share_of_it(
    gain: str,
    facts: dict[str, float],
    expected: tuple[float, float, float],
    load_rule: Load,
    judge: Judge,
) -> None:
    rule = load_rule(re.sub(r"gain: .*", f"gain: {{{gain}}}", RULE))
    timeless = {**KERNEL, **facts, "duration": None}
    found = judge(rule, **timeless, l1_utilization=0.9)[0]
    assert found.gain is None
    if {"t_dram", "t_fp64", "t_least"} & facts.keys():  # seconds of another thing give no share
        assert found.share is None
        return
    assert found.share is not None
    shares = (found.share.low, found.share.likely, found.share.high)
    assert shares == pytest.approx([each / 1e-3 for each in expected])


def test_a_share_leaves_the_time_for_which_units_were_busy(load_rule: Load, judge: Judge) -> None:
    """Of a kernel whose pipe is busy for 70 % of its time, 30 % can go, and 22 % in practice."""
    rule = load_rule(RULE)
    facts = {"load_efficiency": 0.5, "l1_utilization": 0.9, "compute_utilization": 0.7}
    (found,) = judge(rule, **facts)
    assert found.share is not None
    assert (found.share.cap, found.share.high) == pytest.approx((0.3, 0.3))
    assert found.share.likely == pytest.approx(1 - 0.7 / 0.9)


def test_a_rule_that_names_seconds_promises_no_share(load_rule: Load, judge: Judge) -> None:
    text = RULE.replace(
        "wasted: {value", "ten: {value: 10, unit: us, source: none}\n  wasted: {value"
    )
    text = text.replace("high: duration * 0.9", 'high: "max(duration * 0.9, ten)"')
    (found,) = judge(load_rule(text), load_efficiency=0.5, l1_utilization=0.9)
    assert (found.gain, found.share) == (None, None)


# Runs of a step of 10 ms, 6 ms of it in 1,000 kernels; no roof is known.
RUN = {"elapsed": 0.01, "step_time": 0.01, "duration": 0.006, "idle_time": 0.004, "launches": 1000}
ESTIMATES_OF_RUNS = [
    # One after the other: the shorter could hide behind the longer.
    (
        "estimator: overlap, one: duration, other: idle_time, together: step_time",
        {},
        (0.002, 0.004, 0.004),
    ),
    # 7 ms are not the longer one already, but 1 ms more than it: what is hidden is hidden.
    (
        "estimator: overlap, one: duration, other: idle_time, together: largest_duration",
        {"largest_duration": 0.007},
        (0.0005, 0.001, 0.004),
    ),
    # Both run at once already.
    (
        "estimator: overlap, one: duration, other: idle_time, together: duration",
        {},
        (0, 0, 0.004),
    ),
    # 4 us between two of 1,000 kernels become 1 us; fused, nothing is left of 4 ms.
    (
        "estimator: launch, count: launches, gap: mean_gap, remaining: short_mean",
        {"mean_gap": 4e-6, "short_mean": 1e-6},
        (0.0015, 0.003, 0.004),
    ),
    # Launches that are as close as a graph's gain nothing by one.
    (
        "estimator: launch, count: launches, gap: mean_gap, remaining: short_mean",
        {"mean_gap": 1e-6, "short_mean": 2e-6},
        (0, 0, 0.001),
    ),
]
RUN_RULE = RULE.replace("subject: kernel", "subject: run").replace("l1_utilization", "roof_share")


@pytest.mark.parametrize(("gain", "facts", "expected"), ESTIMATES_OF_RUNS)
def test_estimates_of_runs_what_is_worked_out_by_hand(
    gain: str,
    facts: dict[str, float],
    expected: tuple[float, float, float],
    load_rule: Load,
    vocabulary: Vocabulary,
    settings: EvaluationSettings,
) -> None:
    text = RUN_RULE.replace("load_efficiency", "largest_share")
    rule = load_rule(re.sub(r"gain: .*", f"gain: {{{gain}}}", text))
    program = compile_program([rule], SUBJECTS["run"].counted(settings), vocabulary)
    given = {"largest_share": 0.5, "roof_share": 0.9, **RUN, **facts}
    columns = [f"{given.get(name, 'NULL')}::DOUBLE AS {name}" for name in program.columns]
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE facts AS SELECT 'r1' AS run_id, {', '.join(columns)}")
        table = FactsTable(engine=connection, name="facts")
        found = run_program(table, program, key="run_id")[0].gain
    assert found is not None
    assert (found.low, found.likely, found.high) == pytest.approx(expected)


def test_tests_every_estimator(vocabulary: Vocabulary, settings: EvaluationSettings) -> None:
    tested = {re.split(r"[:,]", gain)[1].strip() for gain, _, _ in ESTIMATES + ESTIMATES_OF_RUNS}
    of_runs = load_estimators(settings.run.symbols, "run")
    assert tested == set(load_estimators(vocabulary.symbols)) | set(of_runs)
    assert {"overlap", "launch"} <= set(of_runs)
    assert "launch" not in load_estimators(vocabulary.symbols)


def test_refuses_an_estimator_of_another_subject(load_rule: Load) -> None:
    text = "gain: {estimator: launch, count: wasted, gap: duration, remaining: duration}"
    with pytest.raises(RuleError, match="unknown estimator 'launch'"):
        load_rule(re.sub(r"gain: .*", text, RULE))


def test_cuts_gains_of_a_run_at_its_step_where_that_is_known(
    load_rule: Load, vocabulary: Vocabulary, settings: EvaluationSettings
) -> None:
    # 6 ms of kernels that can take 5 ms at least; without a step no more than 1 ms can be saved,
    # with a step of 10 ms up to 5 ms.
    text = RUN_RULE.replace("load_efficiency", "largest_share").replace("duration *", "elapsed *")
    program = compile_program([load_rule(text)], SUBJECTS["run"].counted(settings), vocabulary)
    assert "elapsed" in program.columns
    high = {}
    for elapsed in (0.006, 0.01):
        given = {
            "largest_share": 0.5, "roof_share": 0.9, "duration": 0.006, "elapsed": elapsed,
            "least_time": 0.005,
        }  # fmt: skip
        columns = [f"{given.get(name, 'NULL')}::DOUBLE AS {name}" for name in program.columns]
        with duckdb.connect(":memory:") as connection:
            connection.execute(f"CREATE TABLE facts AS SELECT 'r1' AS run_id, {', '.join(columns)}")
            table = FactsTable(engine=connection, name="facts")
            found = run_program(table, program, key="run_id")[0].gain
        assert found is not None
        high[elapsed] = found.high
    assert high == pytest.approx({0.006: 0.001, 0.01: 0.005})


@given(
    duration=TIMES,
    low=TIMES,
    likely=TIMES,
    high=TIMES,
    floor=TIMES,
    achievable=TIMES,
    busy=TIMES,
    busy_after=TIMES,
)
@example(  # 85 * (0.003 / 85) is more than 0.003
    duration=1.0, low=85.0, likely=85.0, high=0.003, floor=None, achievable=None, busy=None,
    busy_after=None,
)  # fmt: skip
@example(  # a unit that works for longer than its kernel, before and after
    duration=1.0, low=0.0, likely=0.0, high=1.0, floor=0.0, achievable=0.0, busy=9.0, busy_after=5.0
)
@example(  # a rule that assumes less than nothing of a unit
    duration=2.0,
    low=0.0,
    likely=1.0,
    high=0.0,
    floor=None,
    achievable=None,
    busy=-0.5,
    busy_after=-1.0,
)
def test_promises_nothing_beyond_the_caps(
    duration: float | None,
    low: float | None,
    likely: float | None,
    high: float | None,
    floor: float | None,
    achievable: float | None,
    busy: float | None,
    busy_after: float | None,
) -> None:
    raw = Raw(
        duration=duration,
        low=low,
        likely=likely,
        high=high,
        floor=floor,
        floor_achievable=achievable,
        busy=busy,
        busy_after=busy_after,
    )
    gain = cut(raw)
    if None in (duration, low, likely, high):
        assert gain is None
        return
    assert gain is not None
    assert duration is not None
    assert 0 <= gain.low <= gain.likely <= gain.high
    assert gain.high <= max(0, duration - (floor or 0))
    assert gain.likely <= max(0, duration - (achievable or 0))


def test_cuts_likely_at_the_achievable_and_high_at_the_profiled_roof() -> None:
    # Of 8 s that were thought likely 5 are left, so of the 4 s at least 2.5 are.
    raw = Raw(duration=10, low=4, likely=8, high=9, floor=4, floor_achievable=5)
    assert cut(raw) == Seconds(low=2.5, likely=5, high=6)


def test_recomputes_the_roof_under_assumptions(load_rule: Load, judge: Judge) -> None:
    # 0.9 ms of 1 ms are traffic at 1 TB/s, 0.2 ms are work. A third of the bytes takes 0.3 ms, so
    # 0.7 ms can be saved; a tenth would take 0.09 ms, and then work is the roof: 0.8 ms.
    facts = {
        "duration": 1e-3, "dram_bytes": 9e8, "peak_dram_bandwidth": 1e12, "t_dram": 9e-4,
        "flops_fp32": 2e9, "peak_fp32": 1e13, "t_fp32": 2e-4, "t_compute": 2e-4, "t_sol": 9e-4,
        "t_sol_complete": True, "load_efficiency": 0.5, "l1_utilization": 0.9,
    }  # fmt: skip
    for factor, cap in ((1, 1e-4), (3, 7e-4), (10, 8e-4)):
        text = RULE.replace("gain:", f"assumes: {{dram_bytes: dram_bytes / {factor}}}\ngain:")
        found = judge(load_rule(text), **facts)[0]
        assert found.cap == pytest.approx(cap)
        assert found.gain is not None
        assert found.gain.high == pytest.approx(min(cap, 9e-4))


def test_scales_what_was_added_over_launches(load_rule: Load, judge: Judge) -> None:
    # Launches with different clocks: the sum of their times, 0.8 ms, is not total bytes over mean
    # bandwidth, 0.9 ms. Half of the bytes takes half of the sum.
    facts = {
        "duration": 1e-3, "dram_bytes": 9e8, "peak_dram_bandwidth": 1e12, "t_dram": 8e-4,
        "t_sol": 8e-4, "t_sol_complete": True, "load_efficiency": 0.5, "l1_utilization": 0.9,
    }  # fmt: skip
    text = RULE.replace("gain:", "assumes: {dram_bytes: dram_bytes / 2}\ngain:")
    assert judge(load_rule(text), **facts)[0].cap == pytest.approx(6e-4)


def test_changes_nothing_where_the_assumption_is_unknown(load_rule: Load, judge: Judge) -> None:
    facts = {
        "duration": 1e-3, "dram_bytes": 9e8, "peak_dram_bandwidth": 1e12, "t_dram": 9e-4,
        "t_sol": 9e-4, "t_sol_complete": True, "load_efficiency": 0.5, "l1_utilization": 0.9,
    }  # fmt: skip
    text = RULE.replace("gain:", "assumes: {dram_bytes: dram_bytes - dram_read_bytes}\ngain:")
    assert judge(load_rule(text), **facts)[0].cap == pytest.approx(1e-4)


def test_what_is_not_known_to_shrink_bounds_nothing(load_rule: Load, judge: Judge) -> None:
    # Of compute, 60 % busy and the busiest unit, nobody can say what stays; L1 stays as it is, so
    # 0.1 of 0.6 ms go, or of the 1 ms that follows them: 0.1333 ms lie between.
    gain = "gain: {low: 0 * duration, likely: duration * 0.3, high: duration * 0.3}"
    facts = {
        "duration": 1e-3, "t_units": 6e-4, "compute_utilization": 0.6, "l1_utilization": 0.5,
        "load_efficiency": 0.5, "limiter": "compute",
    }  # fmt: skip
    for limiter, likely in (("compute", 4e-4 / 3), ("latency", 3e-4)):
        fewer = "case when limiter = 'compute' then compute_utilization / 2 end"
        text = re.sub(r"gain: .*", f"assumes: {{compute_utilization: {fewer}}}\n{gain}", RULE)
        said = judge(load_rule(text), **{**facts, "limiter": limiter})[0]
        assert said.gain is not None
        assert said.gain.likely == pytest.approx(likely)


def test_keeps_the_assumptions_of_rules_apart(
    shipped_rules: tuple[Rule, ...], judge: Judge
) -> None:
    rules = [rule for rule in shipped_rules if rule.assumes and rule.subject == "kernel"]
    # Each level of memory, and each pipe, takes 0.1 ms longer than the one before.
    levels = {"dram": 9e-4, "l2": 8e-4, "l1": 7e-4, "shared": 6e-4}
    facts: dict[str, Value] = {"duration": 1e-3, "t_sol": 9e-4, "t_sol_complete": True}
    for level, seconds in levels.items():
        facts |= {f"{level}_bytes": seconds * 1e12, f"peak_{level}_bandwidth": 1e12}
        facts[f"t_{level}"] = seconds
    facts |= {"dram_read_bytes": 6e8, "dram_write_bytes": 3e8, "l2_read_bytes": 4e8}
    facts |= {"l2_write_bytes": 4e8, "load_efficiency": 0.5, "l1_hit_rate": 0.25}
    together = {each.rule.id: (each.cap, each.cap_likely) for each in judge(*rules, **facts)}
    alone = {
        each.rule.id: (each.cap, each.cap_likely) for rule in rules for each in judge(rule, **facts)
    }
    assert together == alone
    assert len(set(together.values())) > 2


def test_floors_are_planned_for_the_rules_that_spoke() -> None:
    program = compiled_once().of_kernels
    chosen = [index for index in program.assumes if index in program.relieving][:2]
    both, one = program.floors("facts", "id", chosen), program.floors("facts", "id", chosen[:1])
    assert [f"IN ({index})" in both for index in chosen] == [True, True]
    assert [f"IN ({index})" in one for index in chosen] == [True, False]
    assert len(one) < len(both) < len(program.floors("facts", "id", program.assumes))


def test_removed_work_saves_what_the_busiest_unit_shrinks_by() -> None:
    # Of 10 s the busiest unit works 8 s now and 5 s then: 3 s at least, 10 · 3 / 8 s if the whole
    # kernel follows it, and at most 3 / 8 of what lies between that and the floor of 4 s.
    common = {"duration": 10.0, "low": 1.0, "likely": 6.0, "high": 9.0}
    raw = Raw(**common, floor=4, floor_achievable=None, busy=8, busy_after=5)
    assert cut(raw) == Seconds(low=0.5625, likely=3.375, high=4.59375)
    raw = Raw(**common, floor=None, floor_achievable=None, busy=8, busy_after=5)
    assert cut(raw) == Seconds(low=0.5625, likely=3.375, high=5)  # the unit still works for 5 s
    bound = Raw(**common, floor=None, floor_achievable=None, busy=8, busy_after=8)
    assert cut(bound) == Seconds(low=0, likely=0, high=0)
    unknown = Raw(**common, floor=None, floor_achievable=None, busy=8, busy_after=None)
    assert cut(unknown) == Seconds(low=1, likely=6, high=9)


def test_some_of_what_is_left_goes_along_with_work_that_goes() -> None:
    # As above, 4.59375 of 10 s go at best. Of the 5.40625 s that remain, 0.459375 of a quarter
    # go along: 0.62087 s.
    common = {"duration": 10.0, "low": 1.0, "likely": 6.0, "high": 9.0, "goes_along": 0.25}
    raw = Raw(**common, floor=4, floor_achievable=None, busy=8, busy_after=5)
    found = cut(raw)
    assert found is not None
    assert (found.likely, found.high) == (3.375, pytest.approx(5.214624, abs=1e-6))
    # With a floor of 5.3 s it would be 4.10625 s and 0.605 s, of which the floor leaves 4.7 s.
    low = Raw(**common, floor=5.3, floor_achievable=None, busy=8, busy_after=5)
    assert cut(low) == Seconds(low=0.5625, likely=3.375, high=4.7)
    bound = Raw(**common, floor=None, floor_achievable=None, busy=8, busy_after=8)
    assert cut(bound) == Seconds(low=0, likely=0, high=0)  # another unit binds: nothing goes
    unknown = Raw(**common, floor=None, floor_achievable=None)
    assert cut(unknown) == Seconds(low=1, likely=6, high=9)  # nothing is assumed of units


def test_work_removed_where_another_unit_binds_saves_nothing(load_rule: Load, judge: Judge) -> None:
    text = re.sub(r"gain: .*", "gain: {low: 0 * duration, likely: duration, high: duration}", RULE)
    assumed = "assumes: {l2_utilization: l2_utilization * wasted}\ngain:"
    rule = load_rule(text.replace("gain:", assumed))
    facts = {"load_efficiency": 0.5, "duration": 1e-3, "l1_utilization": 0.2, "l2_utilization": 0.5}
    bound = judge(rule, **facts, t_units=9e-4, dram_utilization=0.9, compute_utilization=0.1)
    assert bound[0].gain == Seconds(low=0, likely=0, high=0)
    # L2 goes from 50 % to 10 %, and DRAM takes 30 %: 0.2 of 0.5 ms, or of the 1 ms that follows it,
    # and two fifths of what is left of that: 0.64 ms. Of the 0.36 ms that remain, 0.64 of a quarter
    # goes along.
    (said,) = judge(rule, **facts, t_units=5e-4, dram_utilization=0.3, compute_utilization=0.1)
    assert said.gain is not None
    assert (said.gain.likely, said.gain.high) == pytest.approx((3e-4, 6.976e-4))
    # Utilisations were not collected: nothing can be said of units.
    unknown = {**facts, "l2_utilization": None}
    assert judge(rule, **unknown)[0].gain == Seconds(low=0, likely=1e-3, high=1e-3)
