from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor import documents
from advisor.documents import load, locate
from advisor.errors import Location, RuleError

RULE = """\
title: A rule       # with a comment
threshold:
  wasted: {value: 0.2, source: uncalibrated}
when: >-
  limiter = 'memory'
    and share > wasted
steps:
  - first
  - 'it''s the second'
plain: one two
  three
escaped: "a \\"b\\" c"
enabled: true
nothing: null
count: 12
"""


def test_reads_texts_numbers_words_lists_and_mappings() -> None:
    rule = load(RULE)
    assert rule.text("title") == "A rule"
    assert rule.mapping("threshold").mapping("wasted").number("value") == 0.2
    assert rule.sequence("steps").texts() == ("first", "it's the second")
    assert rule.boolean("enabled") is True
    assert rule.number("count") == 12.0
    assert rule["nothing"].plain() is None
    assert rule.mapping("threshold").plain() == {"wasted": {"value": 0.2, "source": "uncalibrated"}}


def test_keeps_the_file_order_of_keys() -> None:
    assert list(load("b: 1\na: 2\n")) == ["b", "a"]


@pytest.mark.parametrize(
    ("key", "word", "place"),
    [
        ("when", "share", "rule.yaml:6:9"),
        ("when", "limiter", "rule.yaml:5:3"),
        ("plain", "two", "rule.yaml:10:12"),
        ("plain", "three", "rule.yaml:11:3"),
        ("escaped", "c", "rule.yaml:12:19"),
    ],
)
def test_finds_the_place_of_a_word_inside_a_text(key: str, word: str, place: str) -> None:
    node = load(RULE, name="rule.yaml")[key]
    text = node.as_text()
    assert str(locate(node.at, text, text.rindex(word))) == place


def test_finds_the_place_after_a_doubled_quote() -> None:
    node = load("a: 'it''s  here'", name="f")["a"]
    assert str(locate(node.at, node.as_text(), node.as_text().index("here"))) == "f:1:12"


def test_finds_the_place_in_a_text_that_comes_from_no_file() -> None:
    at = Location(name="option", line=1, column=5)
    assert str(locate(at, "ab\ncd", 1)) == "option:1:6"
    assert str(locate(at, "ab\ncd", 4)) == "option:2:2"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0.5", 0.5),
        ("4.0e-4", 4e-4),
        ("-1.5e+9", -1.5e9),
        ("12", 12),
        ("-3", -3),
        ("true", True),
        ("~", None),
        ("yes", "yes"),
        ("on", "on"),
        ("1:30", "1:30"),
        ("010", "010"),
        ("989e12", "989e12"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("2024-01-01", "2024-01-01"),
        ("'12'", "12"),
        ('"true"', "true"),
    ],
)
def test_gives_plain_scalars_the_meaning_that_all_readers_of_yaml_share(
    written: str, meant: object
) -> None:
    value = load(f"a: {written}")["a"].plain()
    assert (value, type(value)) == (meant, type(meant))


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("989e12", "YAML reads this as text; write 989000000000000"),
        ("1e-3", "YAML reads this as text; write 0.001"),
        ("1e20", "YAML reads this as text; write 1.0e+20"),
        ("16_777_216", "YAML reads this as text; write 16777216"),
        ("'1024'", "YAML reads this as text; write 1024"),
        ("1" + 400 * "0", None),
        ("many", None),
    ],
)
def test_says_how_to_write_a_number_that_yaml_reads_as_text(written: str, hint: str | None) -> None:
    with pytest.raises(RuleError, match=r"f:1:4: expected a number, found the text") as caught:
        load(f"a: {written}", name="f").number("a")
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", r"^f:2:1: the key 'a' is given twice"),
        ("a: {b: 1, b: 2}", r"^f:1:11: the key 'b' is given twice"),
        ("a: &x [1]\nb: *x", r"^f:2:4: YAML aliases are not allowed"),
        ("a: !!python/object/apply:os.system [x]", r"^f:1:4: the YAML tag .* is not allowed"),
        ("a: !custom x", r"^f:1:4: the YAML tag '!custom' is not allowed"),
        ("a: [1", r"^f:\d+:\d+: not YAML"),
        ("a: b: c", r"^f:1:5: not YAML"),
        ("", r"^f:1:1: the file is empty"),
        ("- 1", r"^f:1:1: expected a mapping .* found a list"),
        ("a: 1\n---\nb: 2", r"^f:3:1: more than one YAML document"),
        ("? [1]\n: 2", r"^f:1:3: expected a key, found a list"),
        ("a: \x00", r"^f.*: not YAML"),
    ],
)
def test_refuses_with_a_place(text: str, message: str) -> None:
    with pytest.raises(RuleError, match=message):
        load(text, name="f")


def test_names_the_missing_key_and_proposes_the_key_that_was_meant() -> None:
    rule = load("titel: x\n", name="f")
    with pytest.raises(RuleError, match=r"^f:1:1: unknown key 'titel'") as caught:
        rule.refuse_unknown({"title", "when"})
    assert caught.value.hint == "did you mean 'title'?"
    with pytest.raises(RuleError, match=r"^f:1:1: the key 'title' is missing"):
        rule.text("title")


@pytest.mark.parametrize(
    "bomb",
    [
        "a: " + "[" * 200_000,
        "- " * 200_000,
        "a: {" * 100_000,
        "a: [" + "1," * 200_000 + "1]",
        "a: " + "x" * 3_000_000,
        "a: &a [x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(1000)),
    ],
    ids=["brackets", "dashes", "braces", "nodes", "bytes", "laughs"],
)
def test_refuses_a_bomb_before_it_goes_off(bomb: str) -> None:
    with pytest.raises(RuleError):
        load(bomb)


def test_refuses_files_that_are_absent_too_large_or_no_text(tmp_path: Path) -> None:
    path = tmp_path / "rule.yaml"
    with pytest.raises(RuleError, match="cannot be read"):
        load(path)
    path.write_bytes(b"a: \xff")
    with pytest.raises(RuleError, match=r"rule\.yaml: at byte 3: not UTF-8"):
        load(path)
    path.write_bytes(b"#" * (documents.MAX_BYTES + 1))
    with pytest.raises(RuleError, match="larger than"):
        load(path)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_reads_any_text_or_refuses_it_with_a_place(text: str) -> None:
    try:
        place: object = load(text, name="f").at
    except RuleError as error:
        place = error.at
    assert isinstance(place, Location)
    assert place.name == "f"
