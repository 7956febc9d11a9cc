"""Fact files are checked as a whole when they are loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.errors import RuleError
from advisor.facts import load_vocabulary
from tests.support.facts import vocabulary_once

WORDS = "about: a, source: s"


def write(directory: Path, content: str) -> Path:
    """Return ``directory`` with one fact file of this content."""
    (directory / "facts").mkdir()
    (directory / "facts" / "mine.yaml").write_text(content)
    return directory


def test_a_fact_of_the_user_joins_the_shipped_ones(tmp_path: Path) -> None:
    content = (
        "thresholds: {half: {value: 0.5, source: s}}\n"
        f"facts:\n  half_wasted: {{unit: s, formula: half * wasted_time, {WORDS}}}\n"
    )
    vocabulary = load_vocabulary([write(tmp_path, content)])
    fact = vocabulary.facts["half_wasted"]
    assert fact.expression.names == {"wasted_time"}
    assert vocabulary.unit("half_wasted") == "s"
    assert list(vocabulary.facts).index("half_wasted") > list(vocabulary.facts).index("wasted_time")


def test_a_directory_without_facts_adds_none(tmp_path: Path) -> None:
    assert load_vocabulary([tmp_path]).facts.keys() == vocabulary_once().facts.keys()


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        (f"{{unit: s, formula: duratoin, {WORDS}}}", r"mine\.yaml:2:25: .*duratoin"),
        (f"{{unit: s, formula: dram_bytes, {WORDS}}}", r"mine\.yaml:2:25: declared in s.* B"),
        (f"{{unit: s, formula: duration + dram_bytes, {WORDS}}}", r"mine\.yaml:2"),
        (f"{{unit: s, formula: duration + 1, {WORDS}}}", r"mine\.yaml:2"),
        (
            f"{{unit: parsec, formula: duration, {WORDS}}}",
            r"mine\.yaml:2:13: 'parsec' is not a unit",
        ),
        (f"{{formula: duration, {WORDS}}}", r"mine\.yaml:2:6: a number has a unit"),
        (
            f"{{kind: text, unit: s, formula: limiter, {WORDS}}}",
            r"mine\.yaml:2:6: a number has a unit",
        ),
        (f"{{kind: word, formula: limiter, {WORDS}}}", r"mine\.yaml:2:13: kind is one of text"),
        (f"{{unit: s, {WORDS}}}", r"mine\.yaml:2:6: expected either `formula` or"),
        (f"{{unit: s, formla: duration, {WORDS}}}", r"mine\.yaml:2:16: unknown key 'formla'"),
        ("{unit: s, formula: duration, about: a}", r"mine\.yaml:2:6: the key 'source' is missing"),
        (
            f"{{kind: text, known_of: {{d: durations}}, {WORDS}}}",
            r"mine\.yaml:2:33: unknown name 'durations'",
        ),
        (
            f"{{unit: s, level: launch, formula: duration_min, {WORDS}}}",
            "computed per launch; duration_min",
        ),
        (
            f"{{unit: '1', level: launch, formula: dram_fraction, {WORDS}}}",
            "computed per launch; dram_fraction",
        ),
        (
            f"{{unit: '1', formula: launch_index * 2, {WORDS}}}",
            "x is computed per kernel; launch_index is known per launch only",
        ),
        (
            f"{{unit: s, aggregate: sum, formula: duration, {WORDS}}}",
            "only facts of a launch are aggregated",
        ),
        (
            f"{{unit: Hz, paired: true, formula: sm_clock, {WORDS}}}",
            "paired, but sm_clock is no sum",
        ),
        (
            f"{{unit: B, level: launch, paired: true, formula: dram_bytes, {WORDS}}}",
            r"mine\.yaml:2:39: x cannot be paired: it is computed per launch",
        ),
        (
            f"{{kind: text, level: launch, aggregate: sum, formula: work_source, {WORDS}}}",
            r"mine\.yaml:2:45: x cannot be added up: it is a text",
        ),
        (
            f"{{kind: boolean, level: launch, aggregate: sum, formula: duration > 0, {WORDS}}}",
            r"mine\.yaml:2:48: x cannot be added up: it is a truth value",
        ),
        (
            f"{{unit: '1', known_of: {{d: duration}}, {WORDS}}}",
            r"mine\.yaml:2:28: x is a text: the labels of what is known",
        ),
        (
            f"{{kind: boolean, known_of: {{d: duration}}, {WORDS}}}",
            r"mine\.yaml:2:32: x is a text: the labels of what is known",
        ),
    ],
)
def test_a_wrong_fact_is_refused_with_its_place(tmp_path: Path, fact: str, message: str) -> None:
    directory = write(tmp_path, f"facts:\n  x: {fact}\n")
    with pytest.raises(RuleError) as caught:
        load_vocabulary([directory])
    assert caught.match(message)


def test_facts_that_need_each_other_are_refused(tmp_path: Path) -> None:
    content = (
        f"facts:\n  a: {{unit: s, formula: b, {WORDS}}}\n  b: {{unit: s, formula: a, {WORDS}}}\n"
    )
    with pytest.raises(RuleError, match=r"mine\.yaml:2:6: these facts need each other: a, b"):
        load_vocabulary([write(tmp_path, content)])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("duration", r"mine\.yaml:2:3: 'duration' is a quantity"),
        ("limiter", r"mine\.yaml:2:3: 'limiter' is defined twice"),
    ],
)
def test_a_name_that_is_taken_is_refused(tmp_path: Path, name: str, message: str) -> None:
    content = f"facts:\n  {name}: {{unit: s, formula: duration, {WORDS}}}\n"
    with pytest.raises(RuleError, match=message):
        load_vocabulary([write(tmp_path, content)])


def test_every_fact_says_what_it_is_and_where_it_comes_from() -> None:
    facts = vocabulary_once().facts.values()
    assert [fact.name for fact in facts if not fact.about or not fact.source] == []


def test_facts_come_after_what_they_need() -> None:
    seen: set[str] = set()
    facts = vocabulary_once().facts
    for name, fact in facts.items():
        assert fact.expression.names & facts.keys() <= seen
        seen.add(name)
