from __future__ import annotations

from advisor.documents import load
from advisor.errors import Location
from advisor.expression import compile_expression
from advisor.facts import Vocabulary
from advisor.rules import EvaluationSettings, Rule
from studies.mutants import mutants, spell
from studies.mutation import EQUIVALENTS, TARGET, score
from tests.support.sample_rule import RULE, Load

SAMPLE = ("quality/low-clock", "launch/small-grid")


def texts(text: str, load_rule: Load, vocabulary: Vocabulary) -> dict[str, set[str]]:
    """Return what the mutants of a rule read, by the part that was changed."""
    found: dict[str, set[str]] = {}
    for mutant in mutants(load_rule(text), vocabulary.symbols):
        found.setdefault(mutant.part, set()).add(mutant.text)
    return found


def test_changes_every_part_of_a_rule(load_rule: Load, vocabulary: Vocabulary) -> None:
    found = texts(RULE, load_rule, vocabulary)
    assert found["threshold"] == {"wasted: 0.22 1", "wasted: 0.18 1", "wasted: 20 1"}
    assert {
        "(load_efficiency <= (1 - wasted))",
        "(load_efficiency < (1 + wasted))",
        "(load_efficiency < (1.1 - wasted))",
        "(l1_utilization < (1 - wasted))",
        "(not (load_efficiency < (1 - wasted)))",
    } <= found["when"]
    assert {"(removed)", "(l1_utilization <= 0.2)", "(not (l1_utilization < 0.2))"} <= found[
        "unless 1"
    ]
    assert {
        "low: (1.1 * (duration * 0.1))",
        "likely: (duration * 0.55)",
        "(low and likely swapped)",
    } <= found["gain"]


def test_makes_no_mutant_that_the_loader_would_refuse(
    load_rule: Load, vocabulary: Vocabulary
) -> None:
    # seconds / 0.5 are seconds, but 0.5 instead of a time, or a time plus a number, are no gain.
    gains = texts(RULE, load_rule, vocabulary)["gain"]
    assert "likely: (duration / 0.5)" in gains
    assert not [text for text in gains if "duration + " in text or "load_efficiency" in text]


def test_makes_no_mutant_that_is_the_rule_itself(load_rule: Load, vocabulary: Vocabulary) -> None:
    # With equal bounds there is nothing to swap, and a product with 0 stays 0 whatever is changed.
    text = RULE.replace(
        "low: duration * 0.1, likely: duration * 0.5", "low: 0 * duration, likely: 0 * duration"
    )
    gains = texts(text, load_rule, vocabulary)["gain"]
    assert "(low and likely swapped)" not in gains
    assert not [text for text in gains if text.startswith(("low", "likely"))]


def test_writes_a_tree_that_means_the_same(vocabulary: Vocabulary) -> None:
    text = (
        "case when limiter in ('memory', 'latency') and not waves is null then -max(waves, 2) * 3"
        " else coalesce(waves, 1) end"
    )
    at = Location(name="here")
    one = compile_expression(text, vocabulary.symbols, at=at)
    two = compile_expression(spell(one.tree), vocabulary.symbols, at=at)
    assert one.sql() == two.sql()


def test_notices_what_no_test_of_a_rule_notices(
    load_rule: Load, vocabulary: Vocabulary, settings: EvaluationSettings
) -> None:
    # The sample's tests say nothing of its gain, and keep far from its threshold.
    found = score(load_rule(RULE), vocabulary, settings)
    survivors = {mutant.text for mutant in found.survivors}
    assert {"wasted: 0.22 1", "low: (1.1 * (duration * 0.1))"} <= survivors
    assert "(not (load_efficiency < (1 - wasted)))" not in survivors
    assert found.killed + len(found.survivors) == found.made


def test_finds_shipped_rules_well_tested(
    vocabulary: Vocabulary, settings: EvaluationSettings, shipped_rules: tuple[Rule, ...]
) -> None:
    rules = {rule.id: rule for rule in shipped_rules}
    for name in SAMPLE:
        found = score(rules[name], vocabulary, settings)
        assert found.killed >= TARGET * found.made, [m.text for m in found.survivors]


def test_marks_equivalents_of_rules_that_exist(shipped_rules: tuple[Rule, ...]) -> None:
    assert set(load(EQUIVALENTS)) <= {rule.id for rule in shipped_rules}
