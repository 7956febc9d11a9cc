"""Operations as configured: loaded, remembered apart from other configurations, and shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from advisor.api.configured import configured
from advisor.api.rule_files import lint_rules, run_rule_tests
from advisor.configuration import DEFAULTS, Configuration, KernelOperation, Setting
from advisor.errors import ConfigError, Location
from advisor.facts.bindings import OfOperation
from advisor.knowledge.load import load_facts, load_knowledge
from tests.support.sample_rule import RULE

ABOUT = {
    "memory/avoidable-traffic",
    "compute/avoidable-work",
    "quality/less-than-needed",
    "sample/slow",
}
OURS = """\
id: ours
title: Ours
sizes: {n: {about: elements}, element: {unit: B, about: an element}}
flops: "0"
bytes: n * element
references: [ours]
tests: [{name: ours, sizes: {n: 2, element: 4}, flops: 0, bytes: 8}]
"""


def bound(operation: str = "fill", n: float = 10) -> Configuration:
    sizes = {"n": Setting(value=n, origin="here"), "element": Setting(value=4.0, origin="here")}
    said = KernelOperation(
        kernel="fill_*",
        shape="*",
        operation=Setting(value=operation, origin="advisor.yaml:4:16"),
        sizes=sizes,
        at=Location(name="advisor.yaml", line=3, column=5),
    )
    return replace(DEFAULTS, operations=(said,))


def least_bytes(configuration: Configuration) -> list[list[float]]:
    """Return what is known of kernels, of the rules and of the facts alone."""
    found = []
    for vocabulary in (load_knowledge(configuration).vocabulary, load_facts(configuration)):
        expression = vocabulary.facts["operation_bytes"].expression
        assert isinstance(expression, OfOperation)
        found.append([each.bytes for each in expression.bound])
    return found


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    (tmp_path / "operations").mkdir()
    (tmp_path / "operations" / "ours.yaml").write_text(OURS)
    return tmp_path


def with_pack(configuration: Configuration, pack: Path) -> Configuration:
    return replace(configuration, rules=(Setting(value=pack, origin="advisor.yaml:1:9"),))


def test_are_remembered_apart_from_other_sizes() -> None:
    assert least_bytes(bound(n=10)) == [[40.0], [40.0]]
    assert least_bytes(bound(n=20)) == [[80.0], [80.0]]
    assert least_bytes(DEFAULTS) == [[], []]
    assert least_bytes(bound(n=10)) == [[40.0], [40.0]]


def test_come_from_other_directories_and_are_read_again_when_they_change(pack: Path) -> None:
    configuration = with_pack(bound("ours"), pack)
    assert least_bytes(configuration) == [[40.0], [40.0]]
    text = OURS.replace("n * element", "2 * n * element").replace("bytes: 8", "bytes: 16")
    (pack / "operations" / "ours.yaml").write_text(text)
    assert least_bytes(configuration) == [[80.0], [80.0]]


def test_name_what_is_not_there(pack: Path) -> None:
    for load in (load_knowledge, load_facts):
        with pytest.raises(ConfigError, match="there is no operation 'ours'") as caught:
            load(bound("ours"))
        assert str(caught.value.at) == "advisor.yaml:4:16"


def test_are_tested_and_linted_with_the_rules(pack: Path) -> None:
    (result,) = run_rule_tests(str(pack))
    assert (result.id, result.name, result.passed) == ("ours", "ours", True)
    assert [each.id for each in run_rule_tests("ours", with_pack(DEFAULTS, pack))] == ["ours"]
    assert [each.id for each in run_rule_tests(str(pack), with_pack(DEFAULTS, pack))] == ["ours"]
    assert lint_rules(str(pack)) == []
    wrong = pack / "operations" / "ours.yaml"
    wrong.write_text(OURS.replace("bytes: 8", "bytes: 9"))
    (result,) = run_rule_tests(str(pack))
    assert result.problems == ("expected bytes 9 B, found 8",)
    wrong.write_text(OURS.replace("n * element", "n * elemnt"))
    (remark,) = lint_rules(str(wrong))
    assert remark.problem == "there is no 'elemnt'"


def test_stand_in_the_table_of_what_is_configured() -> None:
    rows = configured(bound(), date(2026, 1, 1))
    assert ("operations", "fill_*: fill; n 10, element 4", "advisor.yaml:3:5") in rows


def planned(configuration: Configuration) -> set[str]:
    """Return the rules about operations that the SQL asks."""
    compiled = load_knowledge(configuration).compiled
    about = {rule.id for rule in compiled.rules} & ABOUT
    assert ABOUT - {"sample/slow"} <= about
    return {rule.id for rule in compiled.of_kernels.rules} & about


def test_are_asked_for_only_where_a_kernel_is_bound(tmp_path: Path) -> None:
    assert planned(DEFAULTS) == set()
    assert planned(bound()) == ABOUT - {"sample/slow"}
    # A rule about all other kernels applies to each of them.
    text = RULE.replace("when: load", "applies_to: operation is null\nwhen: load")
    test = "  - {name: bound, facts: {operation: copy}, expect: not applicable}\n"
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "slow.yaml").write_text(text + test)
    assert planned(with_pack(DEFAULTS, tmp_path)) == {"sample/slow"}
