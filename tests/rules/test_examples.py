"""Every test inside every shipped rule, through the SQL of production."""

from __future__ import annotations

import pytest

from advisor.errors import RuleError
from advisor.facts import Vocabulary
from advisor.rules import (
    EvaluationSettings,
    ExampleResult,
    Outcome,
    Rule,
    run_examples,
)
from advisor.rules.language.words import load_words
from tests.support.sample_rule import RULE, Load


@pytest.fixture(scope="session")
def results(
    vocabulary: Vocabulary, settings: EvaluationSettings, shipped_rules: tuple[Rule, ...]
) -> list[ExampleResult]:
    return run_examples(shipped_rules, vocabulary=vocabulary, settings=settings)


def test_every_example_comes_out_as_its_rule_says(results: list[ExampleResult]) -> None:
    wrong = [
        f"{result.rule.id}: {result.example.name}: {problem}"
        for result in results
        for problem in result.problems
    ]
    assert wrong == []
    assert len(results) > len({result.rule.id for result in results}) > 0


def _bent(
    text: str, load_rule: Load, vocabulary: Vocabulary, settings: EvaluationSettings
) -> ExampleResult:
    """Return the result of the first example of a rule."""
    return run_examples([load_rule(text)], vocabulary=vocabulary, settings=settings)[0]


def test_says_which_outcome_was_found(
    load_rule: Load, vocabulary: Vocabulary, settings: EvaluationSettings
) -> None:
    text = RULE.replace("{load_efficiency: 0.5, l1_utilization: 0.9, d", "{load_efficiency: 0.8, d")
    result = _bent(text, load_rule, vocabulary, settings)
    assert result.outcome is Outcome.SILENT
    assert result.problems == ("expected fires, found silent",)


def test_says_what_had_no_value(
    load_rule: Load, vocabulary: Vocabulary, settings: EvaluationSettings
) -> None:
    text = RULE.replace("{load_efficiency: 0.5, l1_utilization: 0.9, d", "{d")
    result = _bent(text, load_rule, vocabulary, settings)
    assert result.problems == ("expected fires, found unknown (no value for load_efficiency)",)


def test_compares_gain_and_evidence(
    load_rule: Load, vocabulary: Vocabulary, settings: EvaluationSettings
) -> None:
    text = RULE.replace("expect: fires\n", "expect: fires\n    gain: 0.4\n    evidence: none\n")
    result = _bent(text, load_rule, vocabulary, settings)
    assert result.problems == (
        "expected likely gain 0.4 s, found 0.5 s",
        "expected evidence 'none', found '50 % used in 1.00 s'",
    )


ASSUMING = RULE.replace("evidence:", "assumes: {l1_bytes: l1_bytes * (1 - wasted)}\nevidence:")


def _assuming(expected: str) -> str:
    return ASSUMING.replace(
        "duration: 1.0}\n    expect: fires\n",
        f"duration: 1.0, l1_bytes: 10}}\n    expect: fires\n    assumed: {{{expected}}}\n",
    )


@pytest.mark.parametrize(
    ("expected", "problems"),
    [
        # 10 B less a fifth, which is the threshold `wasted`.
        ("l1_bytes: 8", ()),
        ("l1_bytes: 9", ("expected l1_bytes assumed 9, found 8",)),
    ],
)
def test_compares_what_a_rule_assumes(
    expected: str,
    problems: tuple[str, ...],
    load_rule: Load,
    vocabulary: Vocabulary,
    settings: EvaluationSettings,
) -> None:
    result = _bent(_assuming(expected), load_rule, vocabulary, settings)
    assert result.problems == problems


def test_refuses_to_compare_what_a_rule_does_not_assume(load_rule: Load) -> None:
    with pytest.raises(RuleError, match="assumes nothing of 'l2_bytes'") as caught:
        load_rule(_assuming("l2_bytes: 8"))
    assert caught.value.hint == "it assumes l1_bytes"


def test_has_titles_of_at_most_eight_words(results: list[ExampleResult]) -> None:
    rules = {result.rule.id: result.rule for result in results}
    words = load_words().words("NVIDIA")
    titles = {words.fill(rule.title) for rule in rules.values()}
    assert len(titles) == len(rules)
    assert [title for title in titles if len(title.split()) > 8 or title.endswith(".")] == []
    assert all(title[:1].isupper() for title in titles)
