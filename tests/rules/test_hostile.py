"""A directory of a user: what it may add and change, and what it is refused."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from advisor.errors import ExpressionError, RuleError
from advisor.facts import Vocabulary, load_vocabulary
from advisor.rules import (
    EvaluationSettings,
    Outcome,
    Rule,
    compile_rules,
    evaluate_runs,
    load_rules,
    load_settings,
    run_examples,
)
from advisor.rules.language.load import load_directories
from tests.support.facts import FROM_LAUNCHES, database_of, vocabulary_once
from tests.support.knowledge import rules_once
from tests.support.sample_rule import RULE, Load

SECRET = "a line that nobody may see"

FACTS = """\
thresholds:
  wanted: {value: 1.0e+9, unit: B/s, source: our own}
facts:
  wanted_share: {unit: "1", formula: dram_bandwidth / wanted, about: ours, source: our own}
"""
NEW_RULE = (
    RULE.replace("sample/slow", "ours/starved")
    .replace("when: load_efficiency < 1 - wasted", "when: wanted_share < 1 - wasted")
    .replace("facts: {load_efficiency: ", "facts: {wanted_share: ")
)
A_RUN = """
    INSERT INTO run (run_id, content_hash, part, format, status, ingested_at, simulated)
    VALUES ('run', 'hash', 0, 'none', 'complete', '2026-01-05', false)
"""
OVERRIDE = """\
id: launch/small-grid
extends: launch/small-grid
severity: error
title: Far too small for our machine
"""

Pack = Callable[[dict[str, str]], Path]


@pytest.fixture
def load_alone(load_rule: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load one rule without the shipped ones, which takes a moment for each of many tests."""
    (tmp_path / "none").mkdir()
    monkeypatch.setattr("advisor.rules.language.load.rule_dirs", lambda: (tmp_path / "none",))
    return load_rule


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    """Write files, by their path, below a directory, which is returned."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / "pack" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "pack"

    return write


@pytest.fixture
def ours(pack: Pack) -> tuple[Vocabulary, EvaluationSettings, dict[str, Rule]]:
    """Return vocabulary, settings and rules with a new fact, a new rule and an override."""
    directory = pack(
        {
            "facts/ours.yaml": FACTS,
            "ours/starved.yaml": NEW_RULE,
            "launch/small-grid.yaml": OVERRIDE,
        }
    )
    vocabulary = load_vocabulary([directory])
    settings = load_settings(vocabulary.symbols)
    rules = load_rules(vocabulary, [directory], settings=settings)
    return vocabulary, settings, {rule.id: rule for rule in rules}


def test_adds_a_fact_and_a_rule_and_changes_one(
    ours: tuple[Vocabulary, EvaluationSettings, dict[str, Rule]],
) -> None:
    vocabulary, _, rules = ours
    shipped = {rule.id: rule for rule in rules_once()}
    assert set(rules) - set(shipped) == {"ours/starved"}
    assert "ours/starved.yaml" in rules["ours/starved"].at.name
    changed, base = rules["launch/small-grid"], shipped["launch/small-grid"]
    assert (changed.title.text, changed.severity.value) == (
        "Far too small for our machine",
        "error",
    )
    assert changed.text_hash != base.text_hash
    assert (changed.when.text, changed.gain) == (base.when.text, changed.gain)
    assert "wanted_share" not in vocabulary_once().symbols
    assert vocabulary.unit("wanted_share") == "1"


def test_runs_the_tests_of_a_new_rule(
    ours: tuple[Vocabulary, EvaluationSettings, dict[str, Rule]],
) -> None:
    vocabulary, settings, rules = ours
    chosen = [rules["ours/starved"], rules["launch/small-grid"]]
    results = run_examples(chosen, vocabulary=vocabulary, settings=settings)
    assert {result.rule.id for result in results} == {"ours/starved", "launch/small-grid"}
    assert [result.problems for result in results if not result.passed] == []


def test_evaluates_a_new_fact_in_a_new_rule(
    ours: tuple[Vocabulary, EvaluationSettings, dict[str, Rule]],
) -> None:
    vocabulary, settings, rules = ours
    launch = {"duration": 1.0, "dram_bytes": 5e8, "grid_size": 4.0}
    with database_of([launch]) as connection:
        connection.execute(A_RUN)
        compiled = compile_rules([rules["ours/starved"]], vocabulary=vocabulary, settings=settings)
        found = evaluate_runs(connection, compiled, ["run"], FROM_LAUNCHES)["run"]
    # 5e8 B in one second are half of the 1e9 B/s that the pack wants.
    assert [(each.outcome, each.values["wanted_share"]) for each in found] == [(Outcome.FIRES, 0.5)]


@pytest.mark.parametrize(
    "text",
    [
        "read_text('{secret}') = ''",
        "starts_with(read_text('{secret}'), 'a')",
        "coalesce((select content from read_text('{secret}')), '') = ''",
        "duration in (select 1)",
        "exists (select 1)",
        "(select count(*) from glob('/*')) > 0",
        "duration > (from read_csv('{secret}'))",
        "getenv('HOME') = ''",
        "current_setting('home_directory') = ''",
        "duration > 0; attach '{secret}'",
        "duration > 0 -- and so on",
        "duration > 0 /* and so on */",
        "list_sum(range(1000000000)) > 0",
        "regexp_matches(limiter, '(a*)*b')",
        "limiter || limiter = ''",
        "cast(duration as varchar) = ''",
        "'x'::blob = ''",
        "duration[1] > 0",
        "main.launch.duration > 0",
        "count(*) > 1",
        "sum(duration) over () > 1",
        "? = 1",
        "$1 = 1",
        "lambda x: x",
    ],
)
def test_refuses_an_expression_that_reaches_out(
    text: str, load_alone: Load, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text(SECRET)
    hostile = text.replace("{secret}", str(secret))
    with pytest.raises(ExpressionError) as caught:
        load_alone(RULE.replace("when: load_efficiency < 1 - wasted", f'when: "{hostile}"'))
    assert caught.value.at is not None
    assert f"slow.yaml:{9}:" in str(caught.value.at)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "0 < " + "1+" * 500_000 + "1",
        "duration > 0" + " and duration > 0" * 1_000,
        "(" * 500_000 + "true" + ")" * 500_000,
        "not " * 500_000 + "true",
        "0 < " + "-" * 500_000 + "1",
        "case when " * 5_000 + "true",
        "max(" * 1_000 + "1" + ")" * 1_000 + " > 0",
        "limiter in (" + "'a'," * 300_000 + "'a')",
    ],
)
def test_refuses_an_expression_of_a_million_parts_at_once(text: str, load_alone: Load) -> None:
    with pytest.raises(RuleError) as caught:
        load_alone(RULE.replace("when: load_efficiency < 1 - wasted", f'when: "{text}"'))
    assert caught.value.at is not None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n", "aliases are not allowed"),
        ("a: &a\n  b: *a\n", "aliases are not allowed"),
        ("a: &a {x: 1}\nb:\n  <<: *a\n", "aliases are not allowed"),
        ("a: !!python/object/apply:os.system [id]\n", "the YAML tag"),
        ("a: !!binary aGk=\n", "the YAML tag"),
        ("a: " + "[" * 10_000 + "]" * 10_000, "nested deeper than"),
        ("a: [" + "1, " * 101_000 + "1]", "more than"),
        ("a: " + "x" * 3_000_000, "larger than"),
        ("a: 1\n---\na: 2\n", "more than one YAML document"),
        ("a: 1\na: 2\n", "given twice"),
        ("a: \x00\n", "not YAML"),
    ],
)
def test_refuses_a_bomb_of_yaml(
    text: str, problem: str, pack: Pack, vocabulary: Vocabulary, settings: EvaluationSettings
) -> None:
    directory = pack({"sample/slow.yaml": text})
    with pytest.raises(RuleError, match=problem) as caught:
        load_directories([directory], vocabulary, settings=settings)
    assert "slow.yaml" in str(caught.value.at)
    with pytest.raises(RuleError, match=problem):
        load_vocabulary([pack({"facts/bomb.yaml": text})])


@pytest.mark.parametrize("key", ["evidence", "because", "recommendation"])
@pytest.mark.parametrize(
    "attack",
    [
        "{{ duration.__class__.__mro__ }}",
        "{{ ''['__class__'] }}",
        "{{ duration | attr('__class__') }}",
        "{{ self.__init__.__globals__ }}",
        "{{ cycler.__init__ }}",
        "{% for x in range(1000000000) %}x{% endfor %}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{% extends 'x' %}",
        "{% set x = 1 %}",
        "{{ range(1000000000) | list }}",
        "{{ 'x' * 1000000000 }}",
        "{{ 10 ** 1000000000 }}",
        "{{ lipsum(100000) }}",
        "{% filter upper %}x{% endfilter %}",
        "{{ config }}",
    ],
)
def test_refuses_an_attack_by_template(key: str, attack: str, load_alone: Load) -> None:
    quoted = '"' + attack + '"'
    old = {
        "evidence": '"{{ load_efficiency | percent }} used in {{ duration | seconds }}"',
        "because": '"L1 is {{ l1_utilization | percent }} busy"',
        "recommendation": '"Raise {{ load_efficiency | percent }}."',
    }[key]
    assert RULE.count(old) == 1
    line = 1 + RULE[: RULE.index(old)].count("\n")
    with pytest.raises(RuleError) as caught:
        load_alone(RULE.replace(old, quoted))
    assert f"slow.yaml:{line}:" in str(caught.value.at)


def test_proposes_the_key_that_was_meant(load_alone: Load) -> None:
    with pytest.raises(RuleError, match="unknown key 'recomendation'") as caught:
        load_alone(RULE.replace("recommendation:", "recomendation:"))
    assert "slow.yaml:15:1" in str(caught.value.at)
    assert "recommendation" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "rule_id", ["../../etc/passwd", "/etc/passwd", "sample/../slow", "sample/slow\\u0000", "slow"]
)
def test_refuses_an_id_that_is_not_its_path(rule_id: str, load_alone: Load) -> None:
    with pytest.raises(RuleError, match="the path says 'sample/slow'") as caught:
        load_alone(RULE.replace("id: sample/slow", f'id: "{rule_id}"'))
    assert "slow.yaml:1:5" in str(caught.value.at)


def test_refuses_to_extend_a_path(load_alone: Load) -> None:
    with pytest.raises(RuleError, match=r"there is no rule '\.\./\.\./etc/passwd' to extend"):
        load_alone(RULE + "extends: ../../etc/passwd\n")


def test_refuses_one_id_in_two_packs(pack: Pack, tmp_path: Path, vocabulary: Vocabulary) -> None:
    first = pack({"sample/slow.yaml": RULE})
    second = tmp_path / "second"
    (second / "sample").mkdir(parents=True)
    (second / "sample" / "slow.yaml").write_text(RULE)
    with pytest.raises(RuleError, match="the rule 'sample/slow' exists") as caught:
        load_directories([first, second], vocabulary)
    assert "second/sample/slow.yaml:1:5" in str(caught.value.at)
    assert str(first) in (caught.value.hint or "")


def test_refuses_a_fact_that_is_there(pack: Pack) -> None:
    text = FACTS.replace("wanted_share", "roof_fraction")
    with pytest.raises(RuleError, match="'roof_fraction' is defined twice") as caught:
        load_vocabulary([pack({"facts/ours.yaml": text})])
    assert "ours.yaml:4:3" in str(caught.value.at)


def test_refuses_facts_that_need_each_other(pack: Pack) -> None:
    text = (
        "facts:\n"
        '  one: {unit: "1", formula: other + 1, about: x, source: x}\n'
        '  other: {unit: "1", formula: one + 1, about: x, source: x}\n'
    )
    with pytest.raises(RuleError, match="need each other: one, other"):
        load_vocabulary([pack({"facts/ours.yaml": text})])


def test_ends_where_directories_loop(pack: Pack, vocabulary: Vocabulary) -> None:
    directory = pack({"sample/slow.yaml": RULE, "facts/ours.yaml": FACTS})
    (directory / "loop").symlink_to(directory, target_is_directory=True)
    (directory / "sample" / "again").symlink_to(directory, target_is_directory=True)
    (directory / "round").symlink_to(directory / "round")
    found = {rule.id for rule in load_rules(vocabulary, [directory])}
    assert found == {rule.id for rule in rules_once()} | {"sample/slow"}
    assert "wanted_share" in load_vocabulary([directory]).symbols


def test_refuses_a_file_that_never_ends(pack: Pack, vocabulary: Vocabulary) -> None:
    directory = pack({"sample/slow.yaml": RULE})
    os.mkfifo(directory / "sample" / "pipe.yaml")
    with pytest.raises(RuleError, match="not a regular file") as caught:
        load_directories([directory], vocabulary)
    assert "pipe.yaml" in str(caught.value.at)


def test_keeps_thresholds_and_names_of_a_stranger_out_of_sql(
    load_rule: Load, vocabulary: Vocabulary, settings: EvaluationSettings
) -> None:
    # Names that are SQL themselves are refused as such, or quoted where they are texts.
    text = RULE.replace("mechanism: sample", 'mechanism: "x\'; drop table launch; --"')
    rule = load_rule(text)
    results = run_examples([rule], vocabulary=vocabulary, settings=settings)
    assert all(result.passed for result in results)
    odd = replace(rule, id="'; drop table rule_examples; --")
    assert run_examples([odd], vocabulary=vocabulary, settings=settings)[0].passed
