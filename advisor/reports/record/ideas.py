"""What is known about an idea: the rules that speak of it, and why each does not fire."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from advisor.records import dataclass
from advisor.reports.record.kernel_records import Gain
from advisor.reports.record.opened import value_in_words
from advisor.rules.language.rule import Outcome

if TYPE_CHECKING:
    from advisor.facts import Vocabulary
    from advisor.rules import Rule
    from advisor.rules.engine.clauses import Clause
    from advisor.rules.engine.explain import Explanation
    from advisor.rules.language.rule import Value
    from advisor.rules.language.words import VendorWords

ANSWERS = {
    Outcome.FIRES: "found",
    Outcome.RULED_OUT: "not the cause",
    Outcome.SILENT: "not the cause",
    Outcome.UNKNOWN: "needs counters",
    Outcome.NOT_KNOWABLE: "not knowable here",
    Outcome.NOT_APPLICABLE: "does not apply",
}
"""What a rule's outcome answers to who has an idea, the most telling first."""

_FAILED = {"<": "not below", "<=": "above", ">": "not above", ">=": "below", "=": "not"}
_NO_WORD = re.compile(r"[^0-9a-z]+")


@dataclass(frozen=True, kw_only=True)
class Idea:
    """What one rule answers about a kernel; times of ``gain`` in s.

    ``share`` is what it saves of the kernel's time where that is unknown.
    """

    rule: str
    title: str
    answer: str
    sentence: str
    gain: Gain | None
    missing: tuple[str, ...]
    share: Gain | None = None


def rules_about(word: str, rules: Iterable[Rule], words: VendorWords) -> list[Rule]:
    """Return the rules whose names or titles hold a word, in any case, or all of several."""
    wanted = _words(word)
    return [
        rule
        for rule in rules
        if all(each in _words(_spoken(rule, words)) for each in wanted.split())
    ]


def _spoken(rule: Rule, words: VendorWords) -> str:
    return " ".join((rule.id, words.fill(rule.title), words.fill(rule.headline), rule.mechanism))


def _words(text: str) -> str:
    return _NO_WORD.sub(" ", text.lower()).strip()


def ideas_of(explanations: Sequence[Explanation], vocabulary: Vocabulary) -> list[Idea]:
    """Return what rules answer, what is found first, by the time it would save."""
    order = list(ANSWERS)
    ranked = sorted(
        explanations, key=lambda each: (order.index(each.outcome), -_likely(each), each.rule.id)
    )
    return [
        Idea(
            rule=each.rule.id,
            title=each.words.fill(each.rule.title),
            answer=ANSWERS[each.outcome],
            sentence=_sentence(each, vocabulary),
            gain=_gain(each),
            missing=each.missing,
            share=_share(each),
        )
        for each in ranked
    ]


def _gain(explanation: Explanation) -> Gain | None:
    found = explanation.gain
    if found is None or found.gain is None or explanation.outcome is not Outcome.FIRES:
        return None
    return Gain(low=found.gain.low, likely=found.gain.likely, high=found.gain.high)


def _share(explanation: Explanation) -> Gain | None:
    found = explanation.share
    return None if found is None else Gain(low=found.low, likely=found.likely, high=found.high)


def _likely(explanation: Explanation) -> float:
    saving = _gain(explanation) or _share(explanation)
    return 0.0 if saving is None else saving.likely


def _sentence(explanation: Explanation, vocabulary: Vocabulary) -> str:
    words = explanation.words
    match explanation.outcome:
        case Outcome.FIRES:
            return explanation.evidence
        case Outcome.UNKNOWN:
            return f"Unknown here: {words.list_names(explanation.missing)}."
        case Outcome.SILENT:
            return _failing(explanation.when, words, vocabulary)
        case Outcome.NOT_APPLICABLE if explanation.applies_to is not None:
            return _failing(explanation.applies_to, words, vocabulary)
    because = explanation.because
    return because[:1].upper() + because[1:] + "." * (not because.endswith("."))


def _failing(clause: Clause, words: VendorWords, vocabulary: Vocabulary) -> str:
    """Return the parts of a false condition that make it false, with their values."""
    reasons = dict.fromkeys(_failed(each, words, vocabulary) for each in _false(clause))
    text = "; ".join(reasons)
    return text[:1].upper() + text[1:] + "."


def _false(clause: Clause) -> list[Clause]:
    """Return the smallest parts that make a condition false: of several needed ones the first."""
    failing = [part for part in clause.parts if part.holds is False]
    if clause.joined == "and" and failing:
        return _false(failing[0])
    if clause.joined == "or":
        return [each for part in failing for each in _false(part)]
    return [clause]


def _failed(clause: Clause, words: VendorWords, vocabulary: Vocabulary) -> str:
    """Return why a condition without parts is false, in words."""
    name, operator, _ = clause.text.partition(f" {clause.operator} ")
    if operator and name in vocabulary.symbols:
        fact = words.name(name)
        verb = "are" if fact.is_plural else "is"
        value, bound = (
            _fact(name, side, words, vocabulary) for side in (clause.left, clause.right)
        )
        return f"{fact.text} {verb} {value}, {_FAILED[operator.strip()]} {bound}"
    known = [
        f"{words.name(name).text}: {_fact(name, value, words, vocabulary)}"
        for name, value in clause.values.items()
        if name in vocabulary.symbols
    ]
    return f"the numbers do not show it ({', '.join(known)})"


def _fact(name: str, value: Value, words: VendorWords, vocabulary: Vocabulary) -> str:
    if isinstance(value, str):
        return words.value(name, value)
    return value_in_words(name, value, vocabulary.unit(name))
