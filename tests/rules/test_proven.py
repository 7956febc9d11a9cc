"""Rules that were seen to tell real kernels apart, and those that were not yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.errors import RuleError
from advisor.facts import Vocabulary
from advisor.rules import Outcome, load_rules
from advisor.rules.language.proven import Evidence, load_proven, tally
from studies.proven import MEASURED, Count, count, count_stored, written
from tests.support.sample_rule import RULE, Write

REPORTS = ("ncu-rep", "ncu-text", "ncu-csv")


def test_needs_a_kernel_that_fires_and_one_that_does_not() -> None:
    assert tally([Outcome.FIRES, Outcome.SILENT]).is_proof
    assert tally([Outcome.FIRES, Outcome.RULED_OUT]).is_proof
    assert not tally([Outcome.FIRES, Outcome.FIRES]).is_proof
    assert Evidence(fired=0, silent=1, elsewhere=1).is_proof
    assert not Evidence(fired=0, silent=0, elsewhere=1).is_proof
    assert not tally([Outcome.SILENT, Outcome.RULED_OUT]).is_proof
    assert not tally([Outcome.FIRES, Outcome.UNKNOWN, Outcome.NOT_APPLICABLE]).is_proof


def test_marks_shipped_rules_without_proof(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = {
        "memory/uncoalesced-loads": Evidence(fired=1, silent=1),
        "memory/uncoalesced-stores": Evidence(fired=0, silent=9),
    }
    monkeypatch.setattr("advisor.rules.language.load.load_proven", lambda: counted)
    rules = load_rules(vocabulary)
    found = {rule.id: rule.is_unproven for rule in rules if not rule.voids}
    # What voids a profile is said even unproven: to miss it costs more.
    assert not any(rule.is_unproven for rule in rules if rule.voids)
    assert not found.pop("memory/uncoalesced-loads")
    assert found["memory/uncoalesced-stores"]
    assert all(found.values())


def test_leaves_the_rules_of_other_directories_to_their_owners(
    vocabulary: Vocabulary, write_rule: Write
) -> None:
    rules = load_rules(vocabulary, [write_rule(RULE)])
    (own,) = [rule for rule in rules if rule.id == "sample/slow"]
    assert not own.is_unproven


def test_reads_what_the_program_writes(tmp_path: Path) -> None:
    evidence = {"a/b": Evidence(fired=3, silent=0), "c/d": Evidence(fired=0, silent=2, elsewhere=1)}
    path = tmp_path / "proven.yaml"
    path.write_text(written(Count(reports=2, kernels=5, rules=evidence)))
    assert load_proven(path) == evidence


def test_refuses_other_keys(tmp_path: Path) -> None:
    path = tmp_path / "proven.yaml"
    path.write_text("reports: 1\nkernels: 1\nrules:\n  a/b: {fired: 1, silnt: 2}\n")
    with pytest.raises(RuleError, match="silnt"):
        load_proven(path)


@pytest.mark.real
@pytest.mark.slow
def test_still_holds_over_the_real_profiles(real_data: Path, real_database: Path) -> None:
    found = count_stored(str(real_database), [real_data / each for each in REPORTS]).rules
    measured = count([MEASURED]).rules
    stored = load_proven()
    both = {
        rule: Evidence(
            fired=each.fired + measured[rule].fired,
            silent=each.silent + measured[rule].silent,
            elsewhere=each.elsewhere,
        )
        for rule, each in found.items()
    }
    now = {rule for rule, evidence in both.items() if evidence.is_proof}
    then = {rule for rule, evidence in stored.items() if evidence.is_proof and rule in found}
    # A rule or two may lag behind a change; beyond that, `python -m studies.proven` counts again.
    assert len(now ^ then) <= len(now) / 10, sorted(now ^ then)
