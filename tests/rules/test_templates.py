from __future__ import annotations

from functools import cache
from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import StrictUndefined
from jinja2 import Template as JinjaTemplate
from jinja2.sandbox import ImmutableSandboxedEnvironment

from advisor.errors import Location, RuleError
from advisor.expression import Kind
from advisor.facts import Vocabulary
from advisor.rules.language.rule import Template
from advisor.rules.language.sentences import FILTERS, told
from advisor.rules.language.templates import read_template
from advisor.rules.language.words import load_words
from advisor.wording import NO_BREAK
from tests.support.knowledge import rules_once

AT = Location(name="rule.yaml", line=3, column=5)


def filled(text: str, vocabulary: Vocabulary, **values: float | str | bool | None) -> str:
    template = read_template(text, vocabulary.symbols, AT)
    return template.fill(values).replace(NO_BREAK, " ")


def test_fills_in_numbers_with_their_units(vocabulary: Vocabulary) -> None:
    text = "{{ load_efficiency | percent }} in {{ duration | seconds }}, {{ dram_bytes | bytes }}"
    shown = filled(text, vocabulary, load_efficiency=0.25, duration=4e-4, dram_bytes=1.5e9)
    assert shown == "25 % in 400 µs, 1.50 GB"


@pytest.mark.parametrize(
    ("text", "before", "after", "begins"),
    [
        ("{{ a | percent(1) }} → {{ b | percent(1) }} of the roof", 0.0346, 0.0350, True),
        ("{{ a | percent(1) }} → {{ b | percent(1) }} of the roof", 0.0344, 0.0350, False),
        ("It has {{ a | percent(1) }} → {{ b | percent(1) }} of it", 0.0346, 0.0350, False),
        ("{{ a | percent(1) }} and {{ b | percent(1) }} of the roof", 0.0346, 0.0350, False),
        ("{{ a | percent(1) }}", 0.0346, 0.0350, False),
    ],
)
def test_knows_a_sentence_that_begins_with_a_change_too_small_for_its_digits(
    text: str, before: float, after: float, begins: bool, vocabulary: Vocabulary
) -> None:
    text = text.replace("a |", "l1_hit_rate |").replace("b |", "l2_hit_rate |")
    template = read_template(text, vocabulary.symbols, AT)
    assert template.begins_unchanged({"l1_hit_rate": before, "l2_hit_rate": after}) is begins


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Warps stall 93 %. Schedulers issued in unknown of cycles.", "Warps stall 93 %."),
        ("Half of it waits. unknown waves ran. 4 blocks fit.", "Half of it waits. 4 blocks fit."),
        ("L2 is 91 % busy; DRAM is unknown busy.", "L2 is 91 % busy."),
        ("DRAM is unknown busy; L2 is 91 % busy.", "L2 is 91 % busy."),
        ("It took 1.5 ms in unknown launches.", "It took 1.5 ms in unknown launches."),
        ("unknown, unknown", "unknown, unknown"),
        ("The unknowns are many. They stay.", "The unknowns are many. They stay."),
    ],
)
def test_leaves_out_what_a_sentence_cannot_say(
    vocabulary: Vocabulary, text: str, told: str
) -> None:
    assert filled(text, vocabulary) == told


def test_says_unknown_where_there_is_no_value(vocabulary: Vocabulary) -> None:
    text = "{{ limiter }}, {{ duration | seconds }}"
    assert filled(text, vocabulary, limiter=None, duration=None) == "unknown, unknown"


def test_chooses_words_by_a_condition(vocabulary: Vocabulary) -> None:
    text = "{% if limiter == 'memory' %}bytes{% else %}other{% endif %}"
    assert filled(text, vocabulary, limiter="memory") == "bytes"
    assert filled(text, vocabulary, limiter=None) == "other"


def test_leaves_hostile_text_for_the_report_to_escape(vocabulary: Vocabulary) -> None:
    text = "{{ limiter }}"
    assert filled(text, vocabulary, limiter="{{ 1/0 }}<b>") == "{{ 1/0 }}<b>"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{ ''.__class__ }}", "cannot use Getattr"),
        ("{{ duration.__class__ }}", "cannot use Getattr"),
        ("{{ limiter[0] }}", "cannot use Getitem"),
        ("{{ range(9) }}", "cannot use Call"),
        ("{% for x in limiter %}{% endfor %}", "cannot use For"),
        ("{% set x = 1 %}", "cannot use Assign"),
        ("{{ 'a' * 1000000000 }}", "cannot use Mul"),
        ("{{ limiter ~ limiter }}", "cannot use Concat"),
        ("{% include 'x' %}", "cannot use Include"),
        ("{% macro f() %}{% endmacro %}", "cannot use Macro"),
        ("{% if duration or limiter %}{% endif %}", "cannot use Or"),
        ("{% if duration < 3 %}{% endif %}", "compares with == and !="),
        ("{{ duration }}", "'duration' has no filter"),
        ("{{ duration | secnds }}", "secnds"),
        ("{{ duration | si(*limiter) }}", "one by one"),
        ("{{ duration | si(**limiter) }}", "one by one"),
        ("{{ duration | si(limiter) }}", "written out"),
        ("{{ duration | number(100000000) }}", "written out"),
        ("{{ duration | si }}", "does not take these arguments"),
        ("{{ duration | percent('s') }}", "does not take these arguments"),
        ("{{ duration | rate(1, 2, 3) }}", "does not take these arguments"),
        ("{{ waves | number('wave') }}", "does not take these arguments"),
        ("{{ waves | number(3, 2) }}", "does not take these arguments"),
        ("{{ launch_count | count(3) }}", "does not take these arguments"),
        ("{{ limiter | number }}", "'number' needs a number"),
        ("{{ duration | seconds | number }}", "'number' needs a number"),
        ("{{ (duration if limiter) | number }}", "'number' needs a number"),
        ("{{ 'x' if limiter else duration }}", "'duration' has no filter"),
        ("{{ duratoin | seconds }}", "unknown name 'duratoin'"),
        ("{{ duration", "the template is wrong"),
        ("x" * 2001, "longer than"),
    ],
)
def test_refuses_what_a_template_must_not_do(
    text: str, problem: str, vocabulary: Vocabulary
) -> None:
    with pytest.raises(RuleError) as caught:
        read_template(text, vocabulary.symbols, AT)
    assert problem in caught.value.problem
    assert caught.value.at is not None
    assert caught.value.at.line == 3


def test_finds_the_line_of_a_wrong_name(vocabulary: Vocabulary) -> None:
    with pytest.raises(RuleError) as caught:
        read_template("fine\n{{ duratoin | seconds }}", vocabulary.symbols, AT)
    assert caught.value.at is not None
    assert (caught.value.at.line, caught.value.at.column) == (4, 4)
    assert caught.value.hint == "did you mean 'duration'?"


TERMS = dict(load_words().default.terms)


@cache
def shipped() -> tuple[tuple[Template, JinjaTemplate], ...]:
    """Return the templates of the shipped rules, and as Jinja itself would fill them in.

    Those about two nights name facts of each, which Jinja takes for attributes.
    """
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, finalize=lambda value: "unknown" if value is None else value
    )
    environment.filters = dict(FILTERS)
    nights = (rule for rule in rules_once() if rule.subject != "change")
    templates = {each.text: each for rule in nights for each in rule.templates}
    return tuple((each, environment.from_string(text)) for text, each in templates.items())


@given(numbers=st.lists(st.none() | st.floats(0, 1e15), min_size=1, max_size=20))
@settings(max_examples=20, deadline=None)
def test_says_what_jinja_would_say(numbers: list[float | None], vocabulary: Vocabulary) -> None:
    for template, jinja in shipped():
        values = {
            name: value if is_number(name, vocabulary) else f"text {value}"
            for name, value in zip(template.names, cycle(numbers), strict=False)
        }
        values |= TERMS
        assert template.fill(values) == told(jinja.render(values).strip())


def is_number(name: str, vocabulary: Vocabulary) -> bool:
    """Return whether a fact is a number; so is a threshold."""
    return name not in vocabulary.symbols or vocabulary.symbols[name].kind is Kind.NUMBER


@pytest.mark.parametrize(
    ("text", "waves", "said"),
    [
        ("{% if waves == 1 %}one{% elif waves %}some{% else %}none{% endif %}", 1.0, "one"),
        ("{% if waves == 1 %}one{% elif waves %}some{% else %}none{% endif %}", 2.0, "some"),
        ("{% if waves == 1 %}one{% elif waves %}some{% else %}none{% endif %}", None, "none"),
        ("{{ 'none' if not waves else waves | number }}", 0.0, "none"),
        ("{{ 'none' if not waves else waves | number }}", 3.0, "3"),
        ("a{{ 'b' if waves != 3 }}", 3.0, "a"),
        ("{% if waves and waves != 2 %}other{% else %}two or none{% endif %}", 2.0, "two or none"),
        ("{% if waves and waves != 2 %}other{% else %}two or none{% endif %}", None, "two or none"),
        ("{% if waves and waves != 2 %}other{% else %}two or none{% endif %}", 3.0, "other"),
        ("{% if waves != none %}{{ waves | number }}{% else %}none{% endif %}", 0.0, "0"),
        ("{% if waves != none %}{{ waves | number }}{% else %}none{% endif %}", None, "none"),
        ("{{ waves | si('s') }}", 0.5, "500 ms"),
        ("{{ waves | number(3, 'wave') }}", 1.0, "1 wave"),
        ("{{ waves | number(3, 'wave') }}", 0.25, "0.250 waves"),
        ("{{ waves | count('wave') }}", 1.0, "1 wave"),
        ("{{ waves | count('batch') }}", 0.0, "0 batches"),
        ("{{ (waves if waves == 2 else 7) | number }}", 2.0, "2"),
        ("{{ (waves if waves == 2 else 7) | number }}", 3.0, "7"),
        ("{{ 'none' if not (waves if waves != 2 else 0) else 'some' }}", 2.0, "none"),
        ("{{ 'two' if (waves if waves else 0) == 2 else 'other' }}", 2.0, "two"),
    ],
)
def test_chooses_words(text: str, waves: float | None, said: str, vocabulary: Vocabulary) -> None:
    assert filled(text, vocabulary, waves=waves) == said
