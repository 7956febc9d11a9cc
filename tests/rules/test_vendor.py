from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.errors import RuleError
from advisor.facts import Vocabulary
from advisor.rules import Rule
from studies.symptoms import Knowledge, read_knowledge
from studies.vendor import FOUND, Answer, Message, answer, over_cap, page
from tests.support.sample_rule import RULE, Judge, Load

KERNEL = ("r1", "v1")


@pytest.fixture(scope="module")
def knowledge(vocabulary: Vocabulary, shipped_rules: tuple[Rule, ...]) -> Knowledge:
    return read_knowledge(vocabulary, (rule.id for rule in shipped_rules))


def message(rule: str, title: str) -> Message:
    return Message(
        subject=KERNEL,
        launch=0,
        rule=rule,
        title=title,
        estimate=0.5,
        report="a.ncu-rep",
        kernel="copy",
    )


@pytest.mark.parametrize(
    ("rule", "title", "ours"),
    [
        ("CPIStall", "Long Scoreboard Stalls", "scheduling/long-scoreboard"),
        ("CPIStall", "imc_miss", "scheduling/constant-miss"),
        ("CPIStallBarrier", "CPI Stall 'Barrier'", "scheduling/barrier"),
        ("LaunchConfiguration", "Tail Effect", "launch/tail-wave"),
        ("WorkloadImbalance", "L2 Slices Workload Imbalance", "memory/uneven-l2-slices"),
        ("WorkloadImbalance", "SMSPs Workload Imbalance", "scheduling/uneven-multiprocessors"),
    ],
)
def test_knows_the_symptom_by_rule_and_title(
    rule: str, title: str, ours: str, knowledge: Knowledge
) -> None:
    assert ours in knowledge.symptom(rule, title).ours


def test_refuses_a_message_that_it_does_not_know(knowledge: Knowledge) -> None:
    with pytest.raises(RuleError, match="no symptom matches"):
        knowledge.symptom("SomethingNew", "at all")


@pytest.mark.parametrize(
    ("facts", "said", "code"),
    [
        ({"waves": 1.2, "tail_share": 0.4}, FOUND, ""),
        ({"waves": 3.7, "tail_share": 0.08}, "stricter", "nearly-full-wave"),
        ({"waves": None, "tail_share": None}, "unknown", "not-collected"),
        (
            {
                "waves": 1.2,
                "tail_share": 0.4,
                "idle_slots": 0.1,
            },
            "ruled out",
            "guarded",
        ),
    ],
)
def test_says_what_becomes_of_the_same_symptom(
    facts: dict[str, float | None],
    said: str,
    code: str,
    knowledge: Knowledge,
    shipped_rules: tuple[Rule, ...],
    judge: Judge,
) -> None:
    rules = {rule.id: rule for rule in shipped_rules}
    found = judge(rules["launch/tail-wave"], duration=1.0, **facts)
    by_key = {(KERNEL, each.rule.id): each for each in found}
    held = {KERNEL: {"nearly-full-wave"}}
    told = answer(message("LaunchConfiguration", "Tail Effect"), knowledge, by_key, held)
    assert (told.said, told.code) == (said, code)


def test_finds_a_gain_that_is_too_large(load_rule: Load, judge: Judge) -> None:
    found = judge(load_rule(RULE), load_efficiency=0.5, l1_utilization=0.9, duration=1.0)
    # 0.9 s of 1 s are promised at most; a roof at 0.5 s leaves 0.5 s, and none leaves all.
    assert over_cap(found, {KERNEL: (1.0, 0.0)}) == []
    assert len(over_cap(found, {KERNEL: (1.0, 0.5)})) == 1
    assert len(over_cap([replace(found[0], cap=0.8)], {})) == 1


def test_lists_what_the_vendor_sees_and_we_do_not(knowledge: Knowledge) -> None:
    silent = Answer(
        message=message("ThreadDivergence", "Thread Divergence"),
        symptom=knowledge.symptom("ThreadDivergence", "Thread Divergence"),
        said="stricter",
        code="some-code",
        words="in words",
    )
    text = page([silent, replace(silent, said=FOUND, code="")], 7, 3, knowledge)
    assert "| `a.ncu-rep`, 0 | `copy` | stricter | some-code | in words |" in text
    assert "**ThreadDivergence, some-code** (1 of 2)" in text
    assert "| all |  | 2 | 1 |  | 1 |  |  |" in text
