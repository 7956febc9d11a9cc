"""Rules and facts as configured: packs, thresholds, severities, and what is not there."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from advisor.api.rule_files import run_rule_tests
from advisor.api.rule_listing import show_rule
from advisor.configuration import (
    DEFAULTS,
    Configuration,
    Setting,
    Suppression,
    ThresholdSetting,
    load_configuration,
)
from advisor.configuration.entries import Budget
from advisor.counters import mapping as mappings
from advisor.errors import ConfigError, Location, RuleError
from advisor.hardware import devices
from advisor.knowledge import parts
from advisor.knowledge.configured import check_suppressed
from advisor.knowledge.load import load_facts, load_knowledge
from advisor.knowledge.parts import load_mapping, load_seed
from advisor.resources import data_dir
from advisor.rules import Rule, Severity
from tests.support.sample_rule import RULE

LOADS = "memory/uncoalesced-loads"
AT = Location(name="advisor.yaml", line=3, column=7)
FACT = """\
facts:
  launches_squared: {unit: "1", formula: launch_count * launch_count, about: a, source: here}
"""


def thresholds(**values: tuple[float, str | None]) -> Configuration:
    said = {n: ThresholdSetting(value=v, unit=unit, at=AT) for n, (v, unit) in values.items()}
    return replace(DEFAULTS, thresholds={LOADS: said})


def with_pack(folder: Path) -> Configuration:
    return replace(DEFAULTS, rules=(Setting(value=folder, origin="advisor.yaml:1:9"),))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return folder


def rule(configuration: Configuration, rule_id: str = LOADS) -> Rule:
    return next(each for each in load_knowledge(configuration).rules if each.id == rule_id)


@pytest.fixture(scope="module")
def shipped() -> Rule:
    return rule(DEFAULTS)


def test_takes_a_threshold_in_the_unit_of_the_rule_or_in_another() -> None:
    configuration = thresholds(wasted=(0.3, None), sector=(0.064, "kB"), idle=(25, "%"))
    changed = rule(configuration).thresholds
    assert {name: changed[name].value for name in configuration.thresholds[LOADS]} == {
        "wasted": 0.3,
        "sector": 64.0,
        "idle": 0.25,
    }
    assert changed["wasted"].origin == "advisor.yaml:3:7"


def test_gives_a_rule_with_another_threshold_another_hash(shipped: Rule) -> None:
    changed = rule(thresholds(wasted=(0.3, None)))
    assert changed.text_hash not in (
        shipped.text_hash,
        rule(thresholds(wasted=(0.4, None))).text_hash,
    )


def test_shows_a_threshold_with_its_origin() -> None:
    page = show_rule(LOADS, thresholds(wasted=(0.3, None)))
    assert "wasted = 0.3 (set in advisor.yaml:3:7; the rule's own rests on: uncalibrated" in page
    assert "idle = 0.2 (uncalibrated)" in page


def suppressed(rule: str) -> Configuration:
    entry = Suppression(rule=rule, kernel="*", reason="r", expires=None, owner=None, at=AT)
    return replace(DEFAULTS, suppress=(entry,))


def budget(fact: str) -> Configuration:
    entry = Budget(kernel="*", fact=fact, limit=1.0, unit="us", is_most=True, at=AT)
    return replace(DEFAULTS, budgets=(entry,))


@pytest.mark.parametrize(
    ("configuration", "problem", "hint"),
    [
        (thresholds(waste=(0.3, None)), "no threshold 'waste'", "did you mean 'wasted'?"),
        (thresholds(sector=(1.0, "s")), "'sector' is in B, not in s", "give it in B"),
        (thresholds(sector=(1.0, "parsec")), "'parsec' is not a unit", ""),
        (replace(DEFAULTS, disable={"memory/loads": AT}), "no rule 'memory/loads'", "did you mean"),
        (
            replace(DEFAULTS, severity={"memory/x": Setting(value="note", origin=str(AT))}),
            "no rule 'memory/x'",
            "",
        ),
        (suppressed("memory/uncoalesced-load"), "no rule 'memory/uncoalesced-load'", LOADS),
        (suppressed("memroy/*"), "no rule matches 'memroy/*'", "did you mean 'memory/*'?"),
        (suppressed("*zzz"), "no rule matches '*zzz'", "advisor rules list names them"),
        (budget("durations"), "no number called 'durations'", "did you mean 'duration'?"),
        (budget("limiter"), "'limiter' is a text, and a budget limits a number", "such as"),
        (budget("dram_bytes"), "dram_bytes is in B, not in us", ""),
        (
            replace(DEFAULTS, devices=Setting(value=Path("nope"), origin=str(AT))),
            "there is no directory 'nope'",
            "advisor hardware add",
        ),
    ],
)
def test_refuses_what_names_nothing_and_says_where(
    configuration: Configuration, problem: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_knowledge(configuration)
    assert problem in caught.value.problem
    assert hint in (caught.value.hint or "")
    assert str(caught.value.at) == "advisor.yaml:3:7"


def test_leaves_out_what_is_disabled_and_changes_severity() -> None:
    severity = {LOADS: Setting(value="error", origin=str(AT))}
    changed = replace(DEFAULTS, disable={"memory/l2-misses": AT}, severity=severity)
    rules = {each.id: each for each in load_knowledge(changed).rules}
    assert "memory/l2-misses" not in rules
    assert rules[LOADS].severity is Severity.ERROR


def test_reads_rules_and_facts_of_other_directories(tmp_path: Path) -> None:
    write(tmp_path, "facts/ours.yaml", FACT)
    text = RULE.replace(
        "when: load_efficiency <", "when: launches_squared > 0 and load_efficiency <"
    )
    write(tmp_path, "sample/slow.yaml", text.replace("{load_", "{launches_squared: 4, load_"))
    loaded = load_knowledge(with_pack(tmp_path))
    assert "launches_squared" in loaded.vocabulary.facts
    assert {"sample/slow", LOADS} <= {each.id for each in loaded.rules}
    results = run_rule_tests("sample/slow", with_pack(tmp_path))
    assert [each.passed for each in results] == [True] * 4


def test_changes_a_shipped_rule_from_another_directory(tmp_path: Path) -> None:
    threshold = "threshold: {wasted: {value: 0.4, source: our benchmarks}}"
    change = f"id: {LOADS}\nextends: {LOADS}\n{threshold}\n"
    path = write(tmp_path, f"{LOADS}.yaml", change) / f"{LOADS}.yaml"
    configuration = with_pack(tmp_path)
    assert rule(configuration).thresholds["wasted"].value == 0.4
    shown = " ".join(show_rule(LOADS, configuration).split())
    assert f"wasted = 0.4 (our benchmarks; in {path})" in shown


def test_runs_examples_with_the_thresholds_of_the_files() -> None:
    results = run_rule_tests(LOADS, thresholds(wasted=(0.9, None)))
    assert len(results) >= 4
    assert all(each.passed for each in results)


def test_refuses_a_directory_without_rules(tmp_path: Path) -> None:
    write(tmp_path, "slow.yaml", RULE)
    with pytest.raises(ConfigError, match="holds neither rules nor facts") as caught:
        load_knowledge(with_pack(tmp_path))
    assert str(caught.value.at) == "advisor.yaml:1:9"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("sample/slow.yaml", RULE.replace("why: It", "wy: It"), "unknown key 'wy'"),
        ("facts/ours.yaml", FACT.replace("launch_count *", "launch_cuont *"), "launch_cuont"),
        ("facts/ours.yaml", FACT.replace("launches_squared", "duration"), "is a quantity"),
        (f"{LOADS}.yaml", f"id: {LOADS}\n", f"the rule '{LOADS}' exists"),
    ],
)
def test_refuses_a_pack_that_is_wrong(tmp_path: Path, name: str, text: str, problem: str) -> None:
    with pytest.raises(RuleError) as caught:
        load_knowledge(with_pack(write(tmp_path, name, text)))
    assert problem in caught.value.problem
    assert str(tmp_path / name) in str(caught.value.at)


def test_takes_the_example_of_the_documentation(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    text = page.split("```yaml\n")[1].split("```")[0]
    write(tmp_path, "advisor.yaml", text)
    write(tmp_path / "perf" / "rules", "facts/ours.yaml", FACT)
    (tmp_path / "perf" / "devices").mkdir()
    found = load_configuration(
        directory=tmp_path, environment={"XDG_CONFIG_HOME": str(tmp_path / "home")}
    )
    rules = {each.id: each for each in load_knowledge(found).rules}
    assert rules[LOADS].thresholds["idle"].value == 0.25
    assert rules["launch/partial-warp"].severity is Severity.NOTE
    assert "scheduling/wait" not in rules


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("ADVISOR_CACHE", raising=False)
    return tmp_path / "advisor"


def test_remembers_mappings_and_devices_as_they_are_loaded(cache: Path) -> None:
    loaded = (mappings.load_mapping("ncu"), devices.load_seed())
    assert (load_mapping("ncu"), load_seed()) == loaded  # and kept
    assert len(list(cache.glob("counters-ncu-*"))) == len(list(cache.glob("devices-*"))) == 1
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(mappings, "load_mapping", None)
        broken.setattr(devices, "load_seed", None)
        assert (load_mapping("ncu"), load_seed()) == loaded


def test_loads_them_anew_when_a_file_changes(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("rules", "seed"):
        shutil.copytree(data_dir(name), tmp_path / name, ignore=shutil.ignore_patterns("runs"))
    monkeypatch.setattr(parts, "rule_dirs", lambda: (tmp_path / "rules",))
    monkeypatch.setattr(mappings, "counter_dirs", lambda: [tmp_path / "rules" / "counters"])
    monkeypatch.setattr(devices, "data_dir", lambda name: tmp_path / name)
    assert "no_duration" in load_mapping("ncu").flags
    assert "New device" not in {device.name for device in load_seed().devices}
    counters = tmp_path / "rules" / "counters" / "ncu" / "base.yaml"
    counters.write_text(counters.read_text().replace("no_duration:", "no_time_at_all:"))
    (first, *_) = (tmp_path / "seed" / "devices").glob("*.yaml")
    first.write_text(re.sub(r"(?m)^(    name:).*$", r"\1 New device", first.read_text(), count=1))
    assert "no_time_at_all" in load_mapping("ncu").flags
    assert "New device" in {device.name for device in load_seed().devices}
    assert len(list(cache.glob("*.pickle"))) == 4


@pytest.mark.parametrize("pattern", ["*", "memory/*", "*coalesced-loads", "mine/*"])
def test_a_pattern_may_match_disabled_rules_alone(pattern: str) -> None:
    configuration = replace(suppressed(pattern), disable={"mine/rule": AT})
    check_suppressed(configuration, load_knowledge().rules)


def test_queries_are_stopped_by_wrong_budgets_and_devices() -> None:
    """They load facts, and no rules."""
    for configuration in (
        budget("durations"),
        replace(DEFAULTS, devices=Setting(value=Path("nope"), origin=str(AT))),
    ):
        with pytest.raises(ConfigError):
            load_facts(configuration)


def test_compiles_anew_only_for_what_changes_rules(cache: Path, tmp_path: Path) -> None:
    load_knowledge()
    default = load_knowledge()  # as it was kept
    (tmp_path / "advisor.yaml").write_text(
        "database: other.duckdb\n"
        f"suppress: [{{rule: {LOADS}, reason: meant}}]\n"
        "budgets: [{fact: duration, at_most: 1, unit: ms}]\n"
    )
    found = load_configuration(directory=tmp_path, environment={})
    assert (len(found.suppress), len(found.budgets)) == (1, 1)
    assert load_knowledge(found) is default
    assert len(list(cache.glob("knowledge-*"))) == 1
