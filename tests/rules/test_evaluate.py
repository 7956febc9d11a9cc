from __future__ import annotations

import pytest

from advisor.rules import Outcome
from advisor.wording import NO_BREAK
from tests.support.sample_rule import RULE, Judge, Load

REQUIRED = RULE.replace(
    "{when: l1_utilization < 0.2,", "{required: true, when: l1_utilization < 0.2,"
)
APPLIES = RULE.replace("mechanism:", "applies_to: compute_capability >= 7\nmechanism:").replace(
    "tests:\n",
    "tests:\n  - {name: na, facts: {compute_capability: 6}, expect: not applicable}\n",
)
GOOD = {"load_efficiency": 0.5, "l1_utilization": 0.9, "duration": 1.0}


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        (RULE, GOOD, Outcome.FIRES),
        (RULE, {**GOOD, "load_efficiency": 0.8}, None),
        (RULE, {**GOOD, "load_efficiency": None}, Outcome.UNKNOWN),
        (RULE, {**GOOD, "l1_utilization": 0.1}, Outcome.RULED_OUT),
        (RULE, {**GOOD, "l1_utilization": None}, Outcome.FIRES),
        (RULE, {"load_efficiency": None, "l1_utilization": 0.1}, Outcome.UNKNOWN),
        (REQUIRED, {**GOOD, "l1_utilization": None}, Outcome.UNKNOWN),
        (REQUIRED, {**GOOD, "l1_utilization": 0.1}, Outcome.RULED_OUT),
        (REQUIRED, {"load_efficiency": 0.9, "l1_utilization": None}, None),
        (APPLIES, {**GOOD, "compute_capability": 7}, Outcome.FIRES),
        (APPLIES, {**GOOD, "compute_capability": 6}, None),
        (APPLIES, {**GOOD, "compute_capability": None}, Outcome.UNKNOWN),
        (APPLIES, {"load_efficiency": 0.9, "compute_capability": None}, None),
        (APPLIES, {"load_efficiency": None, "compute_capability": 6}, None),
    ],
)
def test_decides_in_the_order_of_the_design(
    text: str,
    facts: dict[str, float | None],
    expected: Outcome | None,
    load_rule: Load,
    judge: Judge,
) -> None:
    found = judge(load_rule(text), **facts)
    assert [each.outcome for each in found] == ([] if expected is None else [expected])


def test_says_why_it_is_ruled_out(load_rule: Load, judge: Judge) -> None:
    found = judge(load_rule(RULE), load_efficiency=0.5, l1_utilization=0.1, duration=1.0)[0]
    assert found.because == f"L1 is 10{NO_BREAK}% busy"
    assert found.gain is None


def test_says_what_is_missing(load_rule: Load, judge: Judge) -> None:
    found = judge(load_rule(APPLIES), duration=1.0)[0]
    assert found.missing == ("compute_capability", "load_efficiency")
    found = judge(load_rule(REQUIRED), load_efficiency=0.5, duration=1.0)[0]
    assert found.missing == ("l1_utilization",)


def test_keeps_the_values_it_read(load_rule: Load, judge: Judge) -> None:
    found = judge(load_rule(RULE), **GOOD)[0]
    assert {name: found.values[name] for name in GOOD} == GOOD
    assert found.evidence == f"50{NO_BREAK}% used in 1.00{NO_BREAK}s"
    assert found.recommendation == (f"Raise 50{NO_BREAK}%.",)


def test_fires_without_a_gain_where_it_cannot_be_estimated(load_rule: Load, judge: Judge) -> None:
    found = judge(load_rule(RULE), load_efficiency=0.5, l1_utilization=0.9, duration=None)[0]
    assert (found.outcome, found.gain, found.expected) == (Outcome.FIRES, None, None)


def test_trusts_an_unchecked_guard_less(load_rule: Load, judge: Judge) -> None:
    rule = load_rule(RULE)
    checked = judge(rule, **GOOD, evidence_level=1.0, very_short=False)[0]
    assert (checked.confidence, checked.confidence_because) == (1.0, ())
    found = judge(rule, load_efficiency=0.5, duration=1.0, evidence_level=3.0)[0]
    # Level 3 evidence counts 0.7, an unchecked guard 0.8.
    assert found.confidence == pytest.approx(0.56)
    assert found.confidence_because == ("utilisations only", "one exclusion not checked")
    assert found.unchecked == ("l1_utilization < 0.2",)
    assert found.expected == pytest.approx(0.5 * 0.56)


def test_trusts_a_gain_without_a_source_less(load_rule: Load, judge: Judge) -> None:
    text = RULE.replace("likely: duration * 0.5", "likely: duration * wasted")
    found = judge(load_rule(text), **GOOD, evidence_level=1.0)[0]
    assert found.confidence == pytest.approx(0.7)
    assert found.confidence_because == (
        "gain computed with a factor that no measurement confirms yet",
    )
    text = text.replace("duration * wasted", "duration * wasted * l2_hit_rate")
    none = judge(load_rule(text), **GOOD, l2_hit_rate=None, evidence_level=1.0)[0]
    assert (none.gain, none.share, none.confidence, none.confidence_because) == (None, None, 1, ())


def test_silences_what_rests_on_counters_in_doubt(load_rule: Load, judge: Judge) -> None:
    rule = load_rule(RULE.replace("when: load_efficiency", "when: dram_fraction"))
    found = judge(rule, dram_fraction=0.5, l1_utilization=0.9, measured_above_roof=True)[0]
    assert found.outcome is Outcome.RULED_OUT
    assert judge(load_rule(RULE), **GOOD, measured_above_roof=True)[0].outcome is Outcome.FIRES


def test_leaves_a_kernel_at_its_roof_alone_unless_its_work_can_shrink(
    load_rule: Load, judge: Judge
) -> None:
    at_roof = {**GOOD, "at_practical_roof": True, "roof_reached": 0.97}
    found = judge(load_rule(RULE), **at_roof)[0]
    assert found.outcome is Outcome.RULED_OUT
    assert found.because == (
        f"it runs at 97{NO_BREAK}% of its practical roof; only less work or traffic helps"
    )
    less = RULE.replace("gain:", "assumes: {dram_bytes: dram_bytes / 2}\ngain:")
    assert judge(load_rule(less), **at_roof)[0].outcome is Outcome.FIRES
    assert judge(load_rule(less), **at_roof, nothing_to_win=False)[0].outcome is Outcome.FIRES


def test_promises_no_time_where_there_is_nothing_to_win(load_rule: Load, judge: Judge) -> None:
    done = {**GOOD, "nothing_to_win": True, "roof_reached": 0.97}
    less = RULE.replace("gain:", "assumes: {dram_bytes: dram_bytes / 2}\ngain:")
    assert judge(load_rule(less), **done)[0].outcome is Outcome.RULED_OUT
    plain = "".join(line for line in RULE.splitlines(keepends=True) if "gain:" not in line)
    assert judge(load_rule(plain), **done)[0].outcome is Outcome.FIRES


def test_blames_too_few_warps_for_waiting(load_rule: Load, judge: Judge) -> None:
    few = {**GOOD, "too_few_warps": True, "waves": 0.5, "occupancy_theoretical": 1.0}
    waiting = RULE.replace("mechanism: sample", "mechanism: memory-latency")
    found = judge(load_rule(waiting), **few)[0]
    assert found.outcome is Outcome.RULED_OUT
    assert judge(load_rule(RULE), **few)[0].outcome is Outcome.FIRES


@pytest.mark.parametrize(
    "protected",
    [
        *("barriers", "constant-cache", "dependent-instructions", "exit-stores", "fences"),
        *("instruction-fetch", "memory-latency", "narrow-accesses", "shared-instructions"),
        *("shared-latency", "shuffles", "spinning", "texture-instructions"),
    ],
)
def test_shortens_no_wait_where_a_pipe_is_full(
    protected: str, load_rule: Load, judge: Judge
) -> None:
    full = {**GOOD, "full_pipe": True, "busiest_pipe": 0.85}
    waiting = load_rule(RULE.replace("mechanism: sample", f"mechanism: {protected}"))
    found = judge(waiting, **full)[0]
    assert found.outcome is Outcome.RULED_OUT
    assert found.because == (
        f"an arithmetic pipe is 85{NO_BREAK}% busy, which shorter waits do not change"
    )
    assert judge(waiting, **{**full, "full_pipe": None})[0].outcome is Outcome.FIRES
    assert judge(load_rule(RULE), **full)[0].outcome is Outcome.FIRES


def test_shortens_no_branch_where_a_pipe_is_full(load_rule: Load, judge: Judge) -> None:
    branches = RULE.replace(
        "load_efficiency <", "stall_share_branch_resolving > 0.1 or load_efficiency <"
    )
    full = {**GOOD, "full_pipe": True, "busiest_pipe": 0.85}
    assert judge(load_rule(branches), **full)[0].outcome is Outcome.RULED_OUT


def test_adds_no_warps_to_a_queue(load_rule: Load, judge: Judge) -> None:
    queue = {**GOOD, "warps_queue": True, "top_stall": "lg_throttle", "top_stall_share": 0.6}
    more = RULE.replace("load_efficiency <", "occupancy_limiter = 'warps' or load_efficiency <")
    found = judge(load_rule(more), **queue)[0]
    assert found.outcome is Outcome.RULED_OUT
    assert found.because == (
        f"warps stall 60{NO_BREAK}% of their time on the full queue of global accesses,"
        " which more of them do not shorten"
    )
    assert judge(load_rule(RULE), **queue)[0].outcome is Outcome.FIRES
