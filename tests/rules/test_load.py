from __future__ import annotations

import re
from pathlib import Path

import pytest

from advisor.errors import ConfigError, RuleError
from advisor.facts import Vocabulary
from advisor.resources import data_dir
from advisor.rules import Outcome, Rule, Severity, load_rules
from advisor.rules.language.load import load_directories, rule_paths
from advisor.rules.language.thresholds import Override
from tests.support.sample_rule import RULE, Judge, Load, Write


def test_reads_what_a_rule_says(load_rule: Load) -> None:
    rule = load_rule(RULE)
    assert (rule.id, rule.family, rule.severity) == ("sample/slow", "sample", Severity.WARNING)
    assert {"duration", "l1_utilization", "load_efficiency"} <= set(rule.reads)
    assert rule.thresholds["wasted"].value == 0.2
    assert [example.expect for example in rule.examples] == [
        Outcome.FIRES,
        Outcome.SILENT,
        Outcome.RULED_OUT,
        Outcome.UNKNOWN,
    ]


SILENT = "{name: silent, facts: {load_efficiency: 0.9}, expect: silent}"


@pytest.mark.parametrize(
    ("old", "new", "place", "problem"),
    [
        ("why: It is", "wy: It is", ":14:1", "unknown key 'wy'"),
        ("why: It is a sample.\n", "", "", "the key 'why' is missing"),
        ("severity: warning", "severity: loud", ":4:11", "'warning'"),
        ("id: sample/slow", "id: sample/fast", ":1:5", "the path says 'sample/slow'"),
        ("when: load_efficiency", "when: load_eficiency", ":9:7", "load_eficiency"),
        ("when: load_efficiency", "when: launch_index", ":9:7", "there is no 'launch_index'"),
        ("when: load_efficiency", "when: duration", ":9:", "s and 1"),
        ("likely: duration * 0.5", "likely: load_efficiency * 0.5", ":12:", "declared in s"),
        ("value: 0.2,", "value: 2e-1,", ":8:19", "expected a number"),
        (", source: uncalibrated}", "}", ":8:11", "the key 'source' is missing"),
        ("{value: 0.2", "{value: 0.2, unit: parsec", ":8:", "parsec"),
        ("< 1 - wasted", "< 0.8", ":8:3", "the threshold 'wasted' is not used"),
        ("wasted: {v", "duration: {v", ":8:13", "'duration' is a fact"),
        ("{{ l1_utilization", "{{ l1_utilisation", ":11:", "l1_utilisation"),
        (" used in {{ duration | seconds }}", "", ":13:11", "too few numbers"),
        ('["Raise {{ load_efficiency | percent }}."]', "[]", ":15:17", "no recommendation"),
        (SILENT, SILENT.replace("silent", "fires"), ":19:", "no test that is silent"),
        (SILENT, SILENT.replace("load_e", "load_"), ":22:", "unknown fact 'load_fficiency'"),
        (SILENT, SILENT.replace("0.9", "high"), ":22:", "a number for 'load_efficiency'"),
        ("why: It", "instructions: stalls/barier\nwhy: It", ":14:15", "view of instructions"),
        ("why: It", 'assumes: {limiter: "1"}\nwhy: It', ":14:11", "limiter is no number"),
        ("why: It", "assumes: {very_short: duration}\nwhy: It", ":14:11", "very_short is no"),
        ("why: It", 'assumes: {launch_count: "1"}\nwhy: It', ":14:11", "which launches there are"),
        ("why: It", "assumes: {run_duration: duration}\nwhy: It", ":14:11", "which launches"),
        ("expect: silent", "expect: quiet", ":22:", "'not applicable'"),
    ],
)
def test_refuses_a_rule_that_is_wrong_and_says_where(
    old: str, new: str, place: str, problem: str, load_rule: Load
) -> None:
    assert RULE.count(old) >= 1
    with pytest.raises(RuleError) as caught:
        load_rule(RULE.replace(old, new, 1))
    assert problem in caught.value.problem
    assert caught.value.at is not None
    assert f"slow.yaml{place}" in str(caught.value.at)


def test_proposes_the_name_that_was_meant(load_rule: Load) -> None:
    with pytest.raises(RuleError) as caught:
        load_rule(RULE.replace("when: load_efficiency", "when: load_eficiency"))
    assert "load_efficiency" in (caught.value.hint or "")


def test_names_what_shows_the_symptom_in_instructions(load_rule: Load) -> None:
    assert load_rule(RULE).instructions is None
    text = RULE.replace("why:", "instructions: stalls/barrier\nwhy:", 1)
    assert load_rule(text).instructions == "stalls/barrier"
    with pytest.raises(RuleError) as caught:
        load_rule(text.replace("/barrier", "/barier"))
    assert "stalls/barrier" in (caught.value.hint or "")


def test_refuses_instructions_of_a_whole_run(load_rule: Load) -> None:
    text = RULE.replace("why:", "instructions: stalls\nwhy:", 1).replace("kernel", "run", 1)
    text = text.replace("load_efficiency", "largest_share").replace(
        "l1_utilization", "wasted_share"
    )
    with pytest.raises(RuleError, match="unknown view of instructions"):
        load_rule(text)


def test_wants_a_test_of_what_does_not_apply(load_rule: Load) -> None:
    text = RULE.replace("mechanism:", "applies_to: compute_capability > 7\nmechanism:")
    with pytest.raises(RuleError, match="no test that is not applicable"):
        load_rule(text)


def test_refuses_an_estimator_that_is_not_known(load_rule: Load) -> None:
    gain = re.sub(r"gain: .*", "gain: {estimator: tal}", RULE)
    with pytest.raises(RuleError, match="unknown estimator 'tal'") as caught:
        load_rule(gain)
    assert caught.value.hint == "did you mean 'tail'?"


def test_refuses_a_missing_parameter_of_an_estimator(load_rule: Load) -> None:
    gain = re.sub(r"gain: .*", "gain: {estimator: stall_fraction}", RULE)
    with pytest.raises(RuleError, match="the key 'share' is missing"):
        load_rule(gain)


def test_leaves_out_what_is_not_enabled(write_rule: Write, vocabulary: Vocabulary) -> None:
    rules = load_directories([write_rule(RULE + "enabled: false\n")], vocabulary)
    assert "sample/slow" not in {rule.id for rule in rules}


def test_extends_a_rule_with_other_keys(write_rule: Write, vocabulary: Vocabulary) -> None:
    text = (
        "id: roofline/dram-bound\nextends: roofline/dram-bound\nseverity: error\n"
        "threshold: {fused: {value: 4, source: our own}}\n"
    )
    rules = load_rules(vocabulary, [write_rule(text, "roofline/dram-bound")])
    rule = next(rule for rule in rules if rule.id == "roofline/dram-bound")
    assert rule.severity is Severity.ERROR
    assert (rule.thresholds["fused"].value, rule.thresholds["near"].value) == (4, 0.8)
    assert "pack" in rule.thresholds["fused"].origin


def test_refuses_a_second_rule_of_the_same_id(write_rule: Write, vocabulary: Vocabulary) -> None:
    text = (data_dir("rules") / "roofline" / "stop.yaml").read_text()
    with pytest.raises(RuleError, match="'roofline/stop' exists"):
        load_rules(vocabulary, [write_rule(text, "roofline/stop")])


def test_refuses_to_extend_what_is_not_there(write_rule: Write, vocabulary: Vocabulary) -> None:
    text = RULE + "extends: roofline/stpo\n"
    with pytest.raises(RuleError, match="no rule 'roofline/stpo'") as caught:
        load_rules(vocabulary, [write_rule(text)])
    assert caught.value.hint == "did you mean 'roofline/stop'?"


def test_takes_a_threshold_from_the_configuration(
    write_rule: Write, vocabulary: Vocabulary, judge: Judge
) -> None:
    new = {"sample/slow": {"wasted": Override(value=0.6, origin="advisor.yaml")}}
    rules = load_directories([write_rule()], vocabulary, overrides=new)
    rule = next(rule for rule in rules if rule.id == "sample/slow")
    assert rule.thresholds["wasted"].origin == "advisor.yaml"
    # 0.5 is not below 1 - 0.6, so the rule that fired by default is silent.
    assert judge(rule, load_efficiency=0.5, duration=1.0) == []


@pytest.mark.parametrize(
    ("rule_id", "threshold", "hint"),
    [
        ("sample/slow", "wastd", "did you mean 'wasted'?"),
        ("sample/slwo", "wasted", "did you mean 'sample/slow'?"),
    ],
)
def test_refuses_a_configuration_that_names_nothing(
    rule_id: str, threshold: str, hint: str, write_rule: Write, vocabulary: Vocabulary
) -> None:
    new = {rule_id: {threshold: Override(value=1, origin="advisor.yaml")}}
    with pytest.raises(ConfigError) as caught:
        load_directories([write_rule()], vocabulary, overrides=new)
    assert caught.value.hint == hint


def test_names_a_directory_that_is_not_there(tmp_path: Path, vocabulary: Vocabulary) -> None:
    with pytest.raises(RuleError, match="no such directory"):
        load_directories([tmp_path / "none"], vocabulary)


def test_loads_every_rule_file_that_is_shipped(shipped_rules: tuple[Rule, ...]) -> None:
    paths = list(rule_paths(data_dir("rules")))
    assert len(shipped_rules) == len(paths) >= 60
