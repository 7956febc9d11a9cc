"""The verdict: says that nothing is worth doing where that is known, and only there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from advisor.reports.record.judgement import load_judgement
from advisor.reports.record.kernel_records import Gain
from advisor.reports.record.records import Collect, Recommendation, RunVerdict
from advisor.reports.record.verdict import totals, verdict
from tests.support.example_report import example_report

Values = Mapping[str, object]

# 9.5 of 10 ms at the roof that can be reached, 9 at the profiled one.
DONE: Values = {
    "duration": 10e-3,
    "t_sol": 9e-3,
    "t_least": 9e-3,
    "t_sol_achievable": 9.5e-3,
    "wasted_time": 1e-3,
    "evidence_level": 1.0,
    "limiter": "memory",
}
LACKING = Collect(rule_count=63, kernel_count=2, most_valuable=None, command=None)
NOTHING = "nothing to tune"


def verdict_of(
    rows: Sequence[Values],
    actions: Sequence[Recommendation] = (),
    collect: Collect | None = None,
) -> RunVerdict:
    return verdict(rows, totals(rows), actions, collect, load_judgement())


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def card(headline: str, *, about_measurement: bool) -> Recommendation:
    first = example_report().actions[0]
    return replace(first, headline=headline, gain=None, about_measurement=about_measurement)


def test_says_that_nothing_is_worth_doing_at_the_roof() -> None:
    said = plain(verdict_of([DONE]).sentence)
    assert said == "This run reaches 95 % of the achievable roof: nothing to tune."


def test_lets_no_kernel_pay_for_another() -> None:
    # By hand: one at 102 % of what can be reached counts as its 5.270 ms, so that both are at
    # (5.270 + 0.296) / 6.047 = 92 %; profiled, (4.749 + 0.260) / 6.047 = 83 %.
    above = {**DONE, "duration": 5.270e-3, "t_least": 4.749e-3, "t_sol_achievable": 5.397e-3}
    below = {**DONE, "duration": 0.777e-3, "t_least": 0.260e-3, "t_sol_achievable": 0.296e-3}
    sums = totals([above, below])
    assert sums.t_sol_achievable == pytest.approx(5.566e-3)
    assert sums.least == pytest.approx(5.009e-3)


def test_does_not_subtract_what_is_above_its_roof() -> None:
    above = {**DONE, "t_least": 10.1e-3, "wasted_time": -0.1e-3}
    sums = totals([above, DONE])
    assert (sums.least, sums.wasted) == pytest.approx((19e-3, 1e-3))


def test_finds_something_to_do_where_one_kernel_is_far_from_its_roof() -> None:
    # 19 of 20 ms are done; of the other at 38 % of its roof, 0.62 ms are 3 % of the run.
    slow = {**DONE, "duration": 1e-3, "t_sol": 0.33e-3, "t_sol_achievable": 0.38e-3}
    assert NOTHING not in verdict_of([DONE, DONE, slow]).sentence
    # A hundredth of that time is below what a card must be worth, 0.5 %.
    brief = {name: v / 100 if isinstance(v, float) and v < 1 else v for name, v in slow.items()}
    assert NOTHING in verdict_of([DONE, DONE, brief]).sentence


@pytest.mark.parametrize(
    "doubtful", [{"evidence_level": 3.0}, {"evidence_level": None}, {"measured_above_roof": True}]
)
def test_claims_nothing_on_little_evidence(doubtful: Values) -> None:
    said = verdict_of([{**DONE, **doubtful}], collect=LACKING).sentence
    assert said == (
        "This run is memory-bound. Nothing to recommend yet: "
        "63 rules need counters that this profile does not have."
    )


def test_counts_one_rule_as_one() -> None:
    one = replace(LACKING, rule_count=1)
    said = verdict_of([{"duration": 1e-3}], collect=one).sentence
    assert "yet: 1 rule needs counters" in said


def test_does_not_open_with_what_is_about_the_measurement() -> None:
    doubt = card("checking the clock", about_measurement=True)
    assert plain(verdict_of([DONE], [doubt]).sentence) == (
        "This run reaches 95 % of the achievable roof: nothing to tune. "
        "Check the measurement first, by checking the clock."
    )
    action = card("coalescing the loads", about_measurement=False)
    said = verdict_of([DONE], [doubt, action]).sentence
    assert said == "This run is memory-bound. Start by coalescing the loads."


def test_opens_with_a_note_where_it_is_all_there_is() -> None:
    note = replace(
        card("calling the library differently", about_measurement=False), severity="note"
    )
    far = {**DONE, "t_least": 2e-3, "t_sol_achievable": 3e-3}
    said = verdict_of([far], [note], LACKING).sentence
    assert said == "This run is memory-bound. Start by calling the library differently."
    # What is known to be at its roof says so.
    assert NOTHING in verdict_of([DONE], [note]).sentence
    assert NOTHING not in verdict_of([DONE], [replace(note, severity="warning")]).sentence


def test_tells_no_estimate_from_no_gain() -> None:
    note = replace(card("keeping it", about_measurement=False), severity="note", gain=None)
    for severity in ("note", "warning"):
        found = verdict_of([DONE], [replace(note, severity=severity)]).figures[2]
        assert (found.value, found.note) == ("not estimated", "no step has an estimate")
    found = verdict_of([DONE], []).figures[2]
    assert (found.value, found.note) == ("none", "no step")


def test_promises_of_a_new_profile_only_what_the_cause_may_be_worth() -> None:
    far = {**DONE, "limiter": "latency", "t_least": 2e-3, "t_sol_achievable": 3e-3}
    gain = Gain(low=0.0, likely=2e-3, high=4e-3)
    again = replace(card("profiling again", about_measurement=False), gain=gain, only_measures=True)
    said = plain(verdict_of([far], [again]).sentence)
    assert said == (
        "This run is latency-bound. Start by profiling again: what that shows may save up to "
        "4.0 ms of 10.0 ms."
    )
    share = replace(again, gain=None, share=Gain(low=0.0, likely=0.2, high=0.4))
    said = plain(verdict_of([far], [share]).sentence)
    assert said.endswith("what that shows may save up to 40 % of the kernel's time.")


def test_adds_no_promise_of_a_new_profile_to_the_sum() -> None:
    again = replace(example_report().actions[0], only_measures=True)
    both = verdict_of([DONE], [again, example_report().actions[1]]).figures[2]
    assert plain(both.note).endswith("causes that a new profile shows may be worth 1.0 ms more")
    assert (both.value, both.unit) == ("3.0", "ms, 30 %")
    alone = verdict_of([DONE], [again]).figures[2]
    assert (alone.value, alone.note) == ("none", "what a new profile shows may save time")
    of_time = replace(again, gain=None, share=Gain(low=0.0, likely=0.2, high=0.4))
    assert verdict_of([DONE], [of_time]).figures[2].value == "none"


def test_steps_for_one_kernel_save_no_more_than_it_can() -> None:
    # By hand: 3 + 4 ms for one kernel, which can save 5 ms; 2 ms for another, which can save 9.
    first = example_report().actions[0]
    gain = Gain(low=1e-3, likely=2e-3, high=3e-3)
    steps = [
        replace(first, gain=gain, most={"one": (3e-3, 5e-3)}),
        replace(first, gain=gain, most={"one": (4e-3, 5e-3), "other": (2e-3, 9e-3)}),
    ]
    found = [figure for figure in verdict_of([DONE], steps).figures if "gain" in figure.label]
    assert plain(found[0].note).startswith("2.0 ms to 7.0 ms, overlaps removed")


def test_says_what_balanced_means() -> None:
    paragraph = plain(verdict_of([{**DONE, "limiter": "balanced"}]).paragraph)
    assert paragraph.startswith(
        "100 % of the profiled kernel time is bound by memory and compute alike."
    )


def test_without_times_tells_what_limits_all_kernels_alike() -> None:
    timeless: Values = {"duration": None, "launch_count": 1, "limiter": "memory"}
    found = verdict_of([timeless, timeless])
    assert found.sentence.startswith("This run is memory-bound.")
    assert found.paragraph == (
        "This profile has no durations, so the kernels cannot be compared by time."
    )
    for other in ("compute", None):
        sentence = verdict_of([timeless, {**timeless, "limiter": other}]).sentence
        assert sentence.startswith("Not enough counters to tell what limits this run.")


def test_takes_the_busiest_unit_where_the_roof_lacks_terms() -> None:
    # The bytes alone would take 0.2 ms of 32.4 s; some unit was busy for 127 ms of them.
    simulate = {"duration": 32.4, "t_sol": 2e-4, "t_least": 0.127, "limiter": "latency"}
    simulate["wasted_time"] = 32.4 - 0.127
    found = verdict_of([simulate])
    assert plain(found.paragraph).endswith("would take at least 127 ms instead of 32.4 s.")
    figure = next(each for each in found.figures if each.label == "of profiled roof")
    assert (plain(figure.value), figure.unit) == ("at least 0.39", "%")
    assert plain(figure.note) == "at least 127 ms at the roof, at most 32.3 s above it"


def test_names_what_a_roof_lacks() -> None:
    bare: Values = {"duration": 1e-3, "limiter": "latency", "evidence_level": 4.0}
    assert "counts neither bytes nor operations" in verdict_of([bare]).paragraph
    counted = {**bare, "dram_bytes": 1e6, "flops": 2e6, "evidence_level": 2.0}
    found = verdict_of([counted, bare])
    assert "gives no peaks of the device, so there is no profiled roof" in found.paragraph
    figure = next(each for each in found.figures if each.label == "evidence")
    assert (figure.value, plain(figure.note)) == ("0", "has a roofline; 2 kernels without")
    # Peaks are there; a time is what lacks.
    assert "gives no peaks" not in verdict_of([{**counted, "peak_dram_bandwidth": 1e12}]).paragraph


UNSEEN = {
    "variant_id": "v9",
    "short_name": "solve",
    "duration": 30e-3,
    "limiter": None,
    "t_sol": None,
}


def test_starts_with_profiling_what_takes_most_of_the_run_unseen() -> None:
    # 30 of 40 ms are in a kernel without counters, and the only advice is about the other.
    action = card("coalescing the loads", about_measurement=False)
    said = plain(verdict_of([UNSEEN, DONE], [action]).sentence)
    assert said == (
        "75 % of the run is solve, for which this profile lacks the counters. "
        "Start by profiling it."
    )


def test_asks_for_no_counters_of_what_a_caller_cannot_edit() -> None:
    said = verdict_of([{**UNSEEN, "library": "cuBLAS"}, DONE]).sentence
    assert "profiling" not in said


def test_a_roof_that_knows_few_units_tells_no_more_of_a_kernel() -> None:
    floor = {**UNSEEN, "t_sol": 1e-3, "t_least": 1e-3, "t_sol_complete": False}
    assert "lacks the counters" in verdict_of([floor, DONE]).sentence
    assert (
        "lacks the counters" not in verdict_of([{**floor, "t_sol_complete": True}, DONE]).sentence
    )


def test_names_no_limit_of_a_run_of_which_most_has_none() -> None:
    # Three kernels of 5 ms have no limiter, the one of 10 ms has one: 15 of 25 ms are not told.
    unseen = {**UNSEEN, "duration": 5e-3}
    said = verdict_of([DONE, unseen, unseen, unseen], collect=LACKING)
    assert said.sentence.startswith("Not enough counters to tell what limits this run.")
    assert "memory-bound" not in said.paragraph
    said = verdict_of([DONE, unseen], collect=LACKING)
    assert said.sentence.startswith("This run is memory-bound.")


def test_starts_with_advice_where_half_of_the_run_is_seen() -> None:
    action = card("coalescing the loads", about_measurement=False)
    half = {**UNSEEN, "duration": 10e-3}
    assert "coalescing" in verdict_of([half, DONE], [action]).sentence
    seen = {**UNSEEN, "limiter": "latency"}
    assert "coalescing" in verdict_of([seen, DONE], [action]).sentence


def test_promises_nothing_where_the_profile_tells_nothing() -> None:
    void = replace(card("building with optimisation", about_measurement=False), voids=True)
    found = verdict_of([DONE], [void])
    assert "roof" not in found.paragraph
    assert "At the profiled roof" in verdict_of([DONE], [replace(void, voids=False)]).paragraph
    assert found.sentence == (
        "This profile tells little of how fast the run could be."
        " Start by building with optimisation."
    )


def test_the_headline_says_that_a_gain_may_be_nothing() -> None:
    advised = card("using tensor cores", about_measurement=False)
    gain = Gain(low=0.0, likely=2e-3, high=3e-3)
    (sure, maybe) = (
        plain(
            verdict_of([{**DONE, "t_sol_achievable": 4e-3}], [replace(advised, gain=each)]).sentence
        )
        for each in (replace(gain, low=1e-3), gain)
    )
    assert sure.endswith("Start by using tensor cores: saves about 2.0 ms of 10.0 ms.")
    assert maybe.endswith(
        "Start by using tensor cores: saves 0 to 3.0 ms of 10.0 ms, likely 2.0 ms."
    )


@pytest.mark.parametrize(
    ("gain", "share", "said"),
    [
        (Gain(low=0.0, likely=0.0, high=3e-3), None, "at most 3.0 ms, by doing it."),
        (
            None,
            Gain(low=0.0, likely=0.0, high=0.3),
            "at most 30 % of the kernel's time, by doing it.",
        ),
    ],
)
def test_does_not_start_by_what_likely_saves_nothing(
    gain: Gain | None, share: Gain | None, said: str
) -> None:
    far = {**DONE, "limiter": "latency", "t_least": 2e-3, "t_sol_achievable": 3e-3}
    action = replace(card("doing it", about_measurement=False), gain=gain, share=share)
    sentence = plain(verdict_of([far], [action]).sentence)
    assert sentence.endswith(f"No step likely saves time; {said}")
    assert "Start by" not in sentence
    asks = plain(verdict_of([far], [replace(action, only_measures=True)]).sentence)
    assert "Start by" in asks


def test_promises_with_low_confidence_no_more_than_perhaps() -> None:
    far = {**DONE, "limiter": "latency", "t_least": 2e-3, "t_sol_achievable": 3e-3}
    gain = Gain(low=1e-3, likely=2e-3, high=4e-3)
    sure = replace(card("doing it", about_measurement=False), gain=gain, confidence="high")
    said = plain(verdict_of([far], [sure]).sentence)
    assert said.endswith("Start by doing it: saves about 2.0 ms of 10.0 ms.")
    said = plain(verdict_of([far], [replace(sure, confidence="low")]).sentence)
    assert said.endswith("Start by doing it: perhaps saves about 2.0 ms of 10.0 ms.")
