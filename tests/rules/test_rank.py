from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.rules import Evaluation, Outcome, Rule, Seconds, Severity, rank
from advisor.rules.engine.gains import Share
from tests.support.sample_rule import RULE, Load


@pytest.fixture
def rule(load_rule: Load) -> Rule:
    return load_rule(RULE)


def finding(
    rule: Rule,
    name: str,
    likely: float | None,
    *,
    cap: float = 10,
    cause: str | None = None,
    variant: str = "v1",
    confidence: float = 1,
    high: float | None = None,
) -> Evaluation:
    gain = None
    if likely is not None:
        gain = Seconds(low=likely / 2, likely=likely, high=likely if high is None else high)
    return Evaluation(
        rule=replace(rule, id=f"sample/{name}", mechanism=cause or name),
        run_id="r1",
        variant_id=variant,
        outcome=Outcome.FIRES,
        values={},
        gain=gain,
        cap=cap,
        cap_likely=cap,
        confidence=confidence,
    )


def names(found: list[Evaluation]) -> list[str]:
    return [action.evaluation.rule.id.removeprefix("sample/") for action in rank(found)]


def test_shares_of_unknown_times_come_after_seconds_and_never_exceed_the_whole(rule: Rule) -> None:
    def share(name: str, likely: float, variant: str = "v2") -> Evaluation:
        promised = Share(low=likely / 2, likely=likely, high=likely, cap=0.8, cap_likely=0.6)
        untold = finding(rule, name, None, variant=variant)
        return replace(untold, share=promised, cap=None, cap_likely=None)

    found = rank(
        [share("b", 0.4), share("c", 0.5), finding(rule, "a", 1e-3), share("d", 0.3, "v3")]
    )
    assert [each.evaluation.rule.id[-1] for each in found] == ["a", "c", "d", "b"]
    first, second = found[1], found[3]
    assert first.gain is first.evaluation.cap is None
    assert first.share == Share(low=0.25, likely=0.5, high=0.5, cap=0.8, cap_likely=0.6)
    # 0.6 can go in practice, 0.5 of it by the first.
    assert second.share is not None
    assert (second.share.likely, second.after) == (pytest.approx(0.1), ("sample/c",))


def test_puts_the_most_likely_seconds_first(rule: Rule) -> None:
    found = [
        finding(rule, "small", 1),
        finding(rule, "doubtful", 6, variant="v2", confidence=0.2),
        finding(rule, "large", 3, variant="v3"),
        finding(rule, "unmeasured", None),
    ]
    assert names(found) == ["large", "doubtful", "small", "unmeasured"]
    assert [action.position for action in rank(found)] == [1, 2, 3, 4]


def test_puts_doubts_of_the_measurement_last(rule: Rule) -> None:
    doubt = finding(rule, "doubt", None)
    doubt = replace(
        doubt, rule=replace(doubt.rule, id="quality/doubt", severity=Severity.WARNING, gain=None)
    )
    stop = finding(rule, "stop", None)
    stop = replace(stop, rule=replace(stop.rule, severity=Severity.NOTE, gain=None))
    assert names([doubt, stop]) == ["stop", "quality/doubt"]


def test_gives_one_action_for_one_cause(rule: Rule) -> None:
    found = [finding(rule, "a", 1, cause="x"), finding(rule, "b", 2, cause="x")]
    actions = rank(found)
    assert names(found) == ["b"]
    assert [each.rule.id for each in actions[0].also] == ["sample/a"]


def test_keeps_causes_of_different_kernels_apart(rule: Rule) -> None:
    found = [finding(rule, "a", 1, cause="x"), finding(rule, "b", 2, cause="x", variant="v2")]
    assert names(found) == ["b", "a"]


def test_promises_no_more_than_the_kernel_could_save(rule: Rule) -> None:
    # 10 s could be saved: the first takes 7, so three tenths of what others save are left.
    found = [finding(rule, "c", 1), finding(rule, "a", 7, high=9), finding(rule, "b", 5)]
    first, second, third = rank(found)
    assert (first.gain, first.after) == (Seconds(low=3.5, likely=7, high=9), ())
    assert second.gain is not None
    assert third.gain is not None
    assert second.gain.low == pytest.approx(0.75)
    assert (second.gain.likely, second.gain.high) == (pytest.approx(1.5), 3)
    assert second.after == ("sample/a",)
    assert third.gain.likely == pytest.approx(0.15)  # 1.5 s of ten are left


def test_a_new_profile_takes_nothing_from_advice(rule: Rule) -> None:
    # It saves nothing itself, though the cause that it finds may be worth 6 s of the 10.
    again = finding(replace(rule, only_measures=True), "again", 6)
    first, second = rank([again, finding(rule, "a", 5)])
    assert first.evaluation.rule.only_measures
    assert second.gain is not None
    assert (second.gain.likely, second.gain.high, second.after) == (5, 5, ())
    assert (first.all_save, second.all_save) == (10, 10)


def test_leaves_nothing_where_the_first_saves_all(rule: Rule) -> None:
    found = [finding(rule, "a", 10), finding(rule, "b", 5)]
    (first,) = rank(found)
    assert [each.rule.id for each in first.overtaken] == ["sample/b"]


def test_what_keeps_the_work_stays_above_the_roof_beside_what_moves_it(rule: Rule) -> None:
    # The roof leaves 4 s; advice that moves it could save 10, and is shown with what is left.
    keeps = replace(rule, assumes={})
    found = [
        replace(
            finding(keeps, name, likely, cap=4),
            rule=replace(keeps, id=f"sample/{name}", mechanism=name),
        )
        for name, likely in (("a", 3), ("b", 2))
    ]
    moves = finding(rule, "moves", 1, cap=10)
    moves = replace(
        moves, rule=replace(moves.rule, assumes=rule.assumes or {"dram_bytes": rule.when})
    )
    gains = {
        each.evaluation.rule.id: each.gain.likely for each in rank([*found, moves]) if each.gain
    }
    assert gains == {"sample/a": 3, "sample/b": 1, "sample/moves": pytest.approx(0.6)}


def test_what_assumes_without_moving_the_roof_shares_its_room(rule: Rule) -> None:
    # Of 4 s below the roof "a" takes 3 and "less" the last one, though it assumes less work.
    assumes = rule.assumes or {"dram_bytes": rule.when}
    found = [
        replace(
            finding(rule, name, likely, cap=cap),
            rule=replace(rule, id=f"sample/{name}", mechanism=name, assumes=assumed),
        )
        for name, likely, cap, assumed in (
            ("a", 3, 4, {}),
            ("less", 2, 4, assumes),
            ("b", 1.5, 4, {}),
            ("moves", 0.5, 10, assumes),
        )
    ]
    gains = {each.evaluation.rule.id: each.gain.likely for each in rank(found) if each.gain}
    assert gains == {"sample/a": 3, "sample/less": 1, "sample/moves": pytest.approx(0.3)}


def test_orders_by_what_is_left_after_the_cut(rule: Rule) -> None:
    found = [
        finding(rule, "a", 7),
        finding(rule, "b", 5),
        finding(rule, "other", 4, variant="v2"),
    ]
    assert names(found) == ["a", "other", "b"]


def test_ranks_only_what_fires(rule: Rule) -> None:
    out = replace(finding(rule, "a", 1), outcome=Outcome.RULED_OUT)
    assert rank([out]) == []


def state(found: Evaluation, severity: Severity = Severity.NOTE) -> Evaluation:
    return replace(found, rule=replace(found.rule, is_state=True, severity=severity))


def test_puts_a_state_beside_the_cause_that_explains_it(rule: Rule) -> None:
    found = [finding(rule, "cause", 2), state(finding(rule, "gap", 2))]
    first, *others = rank([*found, state(finding(rule, "waiting", None))])
    assert first.evaluation.rule.id == "sample/cause"
    assert [each.rule.id for each in first.overtaken] == ["sample/gap", "sample/waiting"]
    assert others == []


def test_leaves_a_state_what_the_causes_do_not_explain(rule: Rule) -> None:
    found = [finding(rule, "cause", 2), state(finding(rule, "gap", 5))]
    first, second = rank(found)
    assert (first.evaluation.rule.id, second.evaluation.rule.id) == ("sample/gap", "sample/cause")
    assert first.gain == Seconds(low=1.5, likely=3, high=5)
    assert first.after == ("sample/cause",)
    assert second.gain == Seconds(low=1, likely=2, high=2)


def test_puts_a_state_that_leaves_little_unexplained_after_the_cause(rule: Rule) -> None:
    assert names([finding(rule, "cause", 2), state(finding(rule, "gap", 3))]) == ["cause", "gap"]


def test_keeps_a_state_where_no_cause_promises_anything(rule: Rule) -> None:
    found = [finding(rule, "cause", 0), state(finding(rule, "gap", 0))]
    assert names([*found, state(finding(rule, "b", None))]) == ["cause", "gap", "b"]


def test_keeps_a_state_beside_a_cause_of_another_kernel(rule: Rule) -> None:
    found = [finding(rule, "cause", 3), state(finding(rule, "gap", 2, variant="v2"))]
    assert names(found) == ["cause", "gap"]


def test_keeps_a_warning_about_the_profile_in_sight(rule: Rule) -> None:
    profile = state(finding(rule, "profile", None), Severity.WARNING)
    doubt = replace(profile, rule=replace(profile.rule, id="quality/profile"))
    assert names([finding(rule, "cause", 3), doubt]) == ["cause", "quality/profile"]


def test_asks_for_another_profile_only_where_no_cause_is_known(rule: Rule) -> None:
    again = state(finding(rule, "again", None), Severity.WARNING)
    waiting = state(finding(rule, "a state", None))
    assert names([finding(rule, "cause", 3), again]) == ["cause"]
    assert names([waiting, again]) == ["again", "a state"]


def test_puts_a_state_beside_what_says_that_all_is_well(rule: Rule) -> None:
    stop = replace(finding(rule, "stop", None), rule=replace(rule, id="sample/stop", gain=None))
    assert names([stop, state(finding(rule, "waiting", None))]) == ["stop"]


def test_puts_unproven_rules_last_and_lets_them_take_nothing(rule: Rule) -> None:
    unproven = finding(rule, "unproven", 9)
    unproven = replace(unproven, rule=replace(unproven.rule, is_unproven=True))
    found = [unproven, finding(rule, "proven", 4), finding(rule, "unmeasured", None, variant="v2")]
    assert names(found) == ["proven", "unmeasured", "unproven"]
    first, _, last = rank(found)
    assert first.gain is not None
    assert first.gain.likely == 4
    assert last.gain is not None
    assert last.gain.likely == pytest.approx(5.4)  # of nine, what the proven one left of ten


def test_lets_no_unproven_rule_explain_a_state(rule: Rule) -> None:
    cause, state = finding(rule, "cause", 4), finding(rule, "state", None)
    state = replace(state, rule=replace(state.rule, is_state=True, severity=Severity.NOTE))
    assert names([cause, state]) == ["cause"]
    cause = replace(cause, rule=replace(cause.rule, is_unproven=True))
    proven = finding(rule, "proven", 2)
    assert names([cause, state, proven]) == ["proven", "cause"]


def test_tells_an_unproven_cause_before_a_state_where_no_other_is_found(rule: Rule) -> None:
    cause, state = finding(rule, "cause", 4), finding(rule, "state", 6)
    cause = replace(cause, rule=replace(cause.rule, is_unproven=True))
    state = replace(state, rule=replace(state.rule, is_state=True))
    assert names([cause, state]) == ["cause", "state"]
    first, last = rank([cause, state])
    assert first.evaluation.confidence_because == ("no published profile has shown this cause yet",)
    assert last.gain is not None
    assert last.gain.likely == 2  # what the cause leaves unexplained
    # What promises nothing is no cause to tell of, and says nothing of the state.
    nothing = finding(rule, "cause", 0)
    nothing = replace(nothing, rule=replace(nothing.rule, is_unproven=True))
    assert names([nothing, state]) == ["state", "cause"]


def explained(evaluation: Evaluation, *causes: str) -> Evaluation:
    names = tuple(f"sample/{cause}" for cause in causes)
    rule = replace(evaluation.rule, explained_by=names, explained_at=0.25, unexplained_at=0.5)
    return replace(evaluation, rule=rule)


def test_puts_a_cause_before_the_symptom_that_promises_more(rule: Rule) -> None:
    found = [finding(rule, "cause", 3), explained(finding(rule, "symptom", 6), "cause")]
    assert names(found) == ["cause"]
    assert [each.rule.id for each in rank(found)[0].also] == ["sample/symptom"]


def test_keeps_a_symptom_that_its_cause_explains_too_little_of(rule: Rule) -> None:
    # A quarter of 6 s is 1.5 s: 1.4 s do not explain it, 1.5 s do.
    symptom = explained(finding(rule, "symptom", 6), "cause")
    assert names([finding(rule, "cause", 1.4), symptom]) == ["symptom", "cause"]
    assert names([finding(rule, "cause", 1.5), symptom]) == ["cause", "symptom"]
    nothing = explained(finding(rule, "symptom", None), "cause")
    assert names([finding(rule, "cause", 0), nothing]) == ["cause", "symptom"]


def test_puts_what_causes_leave_of_a_symptom_behind_them(rule: Rule) -> None:
    # Half of 6 s is 3 s: more than that is left by 2.9 s, by 3 s it is not.
    symptom = explained(finding(rule, "symptom", 6), "cause")
    cause, rest = rank([finding(rule, "cause", 2.9), symptom])
    assert (cause.evaluation.rule.id, rest.evaluation.rule.id) == ("sample/cause", "sample/symptom")
    assert rest.gain is not None
    assert rest.gain.likely == pytest.approx(3.1)
    assert rest.after == ("sample/cause",)
    assert names([finding(rule, "cause", 3), symptom]) == ["cause"]
    # What other causes save is not left either.
    assert names([finding(rule, "cause", 2.9), finding(rule, "b", 0.2), symptom]) == ["cause", "b"]


def test_puts_the_rest_of_a_symptom_next_to_its_cause(rule: Rule) -> None:
    symptom = explained(finding(rule, "symptom", 8), "cause")
    loud = replace(symptom, rule=replace(symptom.rule, severity=Severity.ERROR))
    found = [finding(rule, "cause", 2), loud, finding(rule, "other", 3, variant="v2")]
    assert names(found) == ["other", "cause", "symptom"]
    state_ = state(finding(rule, "gap", 9))
    assert names([finding(rule, "cause", 2), symptom, state_]) == ["cause", "symptom", "gap"]


def test_puts_symptoms_of_a_symptom_behind_it(rule: Rule) -> None:
    found = [
        finding(rule, "cause", 1),
        explained(finding(rule, "between", 3), "cause"),
        explained(finding(rule, "last", 9), "between"),
    ]
    assert names(found) == ["cause", "between", "last"]
    assert [e.gain.likely for e in rank(found) if e.gain is not None] == [1, 2, 6]


def test_follows_causes_to_the_first(rule: Rule) -> None:
    found = [
        finding(rule, "cause", 4),
        explained(finding(rule, "between", 5), "cause"),
        explained(finding(rule, "symptom", 6), "between"),
    ]
    assert names(found) == ["cause"]
    assert len(rank(found)[0].also) == 2


def test_keeps_rules_apart_that_explain_each_other(rule: Rule) -> None:
    found = [
        explained(finding(rule, "a", 4), "b"),
        explained(finding(rule, "b", 4), "a"),
    ]
    assert sorted(each.evaluation.rule.id for each in rank(found)) != []


def test_lets_no_unproven_rule_explain_a_symptom(rule: Rule) -> None:
    cause = finding(rule, "cause", 4)
    cause = replace(cause, rule=replace(cause.rule, is_unproven=True))
    assert names([cause, explained(finding(rule, "symptom", 6), "cause")]) == ["symptom", "cause"]


def test_puts_advice_that_changes_results_after_advice_of_like_size(rule: Rule) -> None:
    narrower = finding(rule, "narrower", 5)
    narrower = replace(narrower, rule=replace(narrower.rule, handicap=2.0))
    assert names([narrower, finding(rule, "layout", 3, variant="v2")]) == ["layout", "narrower"]
    assert names([narrower, finding(rule, "layout", 2, variant="v2")]) == ["narrower", "layout"]


def test_puts_what_voids_a_profile_by_all_that_could_be_saved(rule: Rule) -> None:
    void = finding(rule, "void", None, cap=7)
    void = replace(void, rule=replace(void.rule, voids=True))
    others = [finding(rule, "six", 6, variant="v2"), finding(rule, "eight", 8, variant="v3")]
    assert names([void, *others]) == ["eight", "void", "six"]
