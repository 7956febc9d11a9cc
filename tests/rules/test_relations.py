"""What excludes and what explains: the shipped file, and what is done with it."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from advisor.errors import RuleError
from advisor.rules import Evaluation, Outcome, Rule, Seconds
from advisor.rules.engine.evaluation import settle
from advisor.rules.language.relations import Exclusion, load_relations
from tests.support.sample_rule import RULE, Load

EXCLUDED = Exclusion(found="sample/a", patterns=("sample/b",), because="a holds")
VOIDS = Exclusion(
    found="sample/a", patterns=("*",), spared=("sample/c",), voids=True, because="a voids all"
)


@pytest.fixture
def rule(load_rule: Load) -> Rule:
    return load_rule(RULE)


def said(rule: Rule, name: str, outcome: Outcome = Outcome.FIRES, variant: str = "v") -> Evaluation:
    return Evaluation(
        rule=replace(rule, id=f"sample/{name}"),
        run_id="r",
        variant_id=variant,
        outcome=outcome,
        values={},
        gain=Seconds(low=1, likely=2, high=3),
        confidence=0.5,
    )


def outcomes(found: list[Evaluation], *exclusions: Exclusion) -> list[str]:
    return [each.outcome.value for each in settle(found, exclusions)]


def test_rules_out_what_cannot_stand_beside_a_finding(rule: Rule) -> None:
    a, b = settle([said(rule, "a"), said(rule, "b")], [EXCLUDED])
    assert a.outcome is Outcome.FIRES
    assert (b.outcome, b.because, b.gain, b.recommendation) == (
        Outcome.RULED_OUT,
        "a holds",
        None,
        (),
    )


def test_leaves_other_kernels_alone(rule: Rule) -> None:
    assert outcomes([said(rule, "a"), said(rule, "b", variant="w")], EXCLUDED) == ["fires"] * 2


def test_excludes_nothing_by_what_is_not_found(rule: Rule) -> None:
    found = [said(rule, "a", Outcome.RULED_OUT), said(rule, "b")]
    assert outcomes(found, EXCLUDED) == ["ruled out", "fires"]
    unproven = replace(said(rule, "a"), rule=replace(said(rule, "a").rule, is_unproven=True))
    assert outcomes([unproven, said(rule, "b")], EXCLUDED) == ["fires"] * 2


def test_lets_what_was_excluded_exclude_nothing(rule: Rule) -> None:
    then = Exclusion(found="sample/b", patterns=("sample/d",), because="b holds")
    found = [said(rule, "a"), said(rule, "b"), said(rule, "d")]
    assert outcomes(found, EXCLUDED, then) == ["fires", "ruled out", "fires"]
    assert outcomes(found, then) == ["fires", "fires", "ruled out"]


def test_leaves_nothing_unknown_where_the_profile_is_void(rule: Rule) -> None:
    unknown, spared = said(rule, "b", Outcome.UNKNOWN), said(rule, "c", Outcome.UNKNOWN)
    assert outcomes([said(rule, "a"), unknown, spared], VOIDS) == ["fires", "ruled out", "unknown"]
    assert outcomes([said(rule, "a"), unknown], EXCLUDED) == ["fires", "unknown"]


def test_every_pattern_of_the_shipped_file_means_a_rule(shipped_rules: tuple[Rule, ...]) -> None:
    relations = load_relations()
    ids = {rule.id for rule in shipped_rules}
    named = [each.found for each in relations.exclusions]
    named += [cause for cause, _ in relations.causes]
    assert set(named) <= ids
    patterns = [p for each in relations.exclusions for p in (*each.patterns, *each.spared)]
    patterns += [p for _, symptoms in relations.causes for p in symptoms]
    patterns += relations.changing
    lost = [p for p in patterns if not any(fnmatchcase(each, p) for each in ids)]
    assert lost == []


def test_warps_that_wait_for_the_host_are_asked_nothing_else() -> None:
    (waits,) = [each for each in load_relations().exclusions if each.found == "memory/host-memory"]
    assert {*waits.patterns} == {"roofline/waits-with-enough-warps", "occupancy/uneven-warps"}


def test_nothing_explains_itself(shipped_rules: tuple[Rule, ...]) -> None:
    causes = {rule.id: rule.explained_by for rule in shipped_rules}

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [*causes[start]]
        while waiting:
            each = waiting.pop()
            if each not in found:
                found.add(each)
                waiting += causes[each]
        return found

    assert [each for each in causes if each in reached(each)] == []


def test_tells_where_the_file_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "relations.yaml"
    path.write_text("excludes:\n  - {found: a/b, nothing: [c/d]}\n")
    with pytest.raises(RuleError, match="explains"):
        load_relations(path)


USES = ("dram", "l2", "l1")


def test_what_removes_traffic_relieves_its_unit(shipped_rules: tuple[Rule, ...]) -> None:
    """A rule that assumes fewer bytes at a level must say what that leaves of its utilisation."""
    silent = [
        (rule.id, level)
        for rule in shipped_rules
        for level in USES
        if rule.subject == "kernel"
        if f"{level}_bytes" in rule.assumes and f"{level}_utilization" not in rule.assumes
    ]
    assert silent == []
    work = ("flops_fp32", "flops_fp64", "flops_tensor_fp16", "flops_tensor_tf32")
    for rule in shipped_rules:
        if rule.subject == "kernel" and any(name in rule.assumes for name in work):
            assert "compute_utilization" in rule.assumes, rule.id
