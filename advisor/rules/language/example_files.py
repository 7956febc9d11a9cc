"""The tests that a rule file carries: read, and refused where a branch of the rule has none."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.documents import DocumentNode, MappingNode, ScalarNode, SequenceNode
from advisor.errors import Location, RuleError
from advisor.expression import Kind, Symbol
from advisor.rules.language.rule import BOUNDS, JUDGED, Outcome, Rule, RuleExample, Value
from advisor.suggest import did_you_mean

EXAMPLE_KEYS = ("name", "facts", "expect", "gain", "share", "assumed", "evidence", "because")
_PYTHON_TYPES: Mapping[Kind, tuple[type, ...]] = {
    Kind.NUMBER: (int, float),
    Kind.TEXT: (str,),
    Kind.BOOLEAN: (bool,),
}


def read_examples(node: SequenceNode, symbols: Mapping[str, Symbol]) -> tuple[RuleExample, ...]:
    """Return the examples in file order.

    Raises:
        RuleError: an example is wrong; with its place.
    """
    return tuple(_example(entry.as_mapping(), symbols) for entry in node)


def check_examples(rule: Rule, at: Location) -> None:
    """Refuse a rule whose examples leave an outcome out, or expect what it does not assume.

    Raises:
        RuleError: names the outcomes that have no example, or what is not assumed.
    """
    wanted = [Outcome.FIRES, Outcome.SILENT, Outcome.UNKNOWN]
    if rule.unless:
        wanted.append(Outcome.RULED_OUT)
    if rule.applies_to is not None:
        wanted.append(Outcome.NOT_APPLICABLE)
    seen = {example.expect for example in rule.examples}
    missing = [outcome.value for outcome in wanted if outcome not in seen]
    if missing:
        problem = f"the rule has no test that is {' or '.join(missing)}"
        raise RuleError(problem, at=at, hint="one test each at least")
    for example in rule.examples:
        if wrong := example.assumed.keys() - rule.assumes.keys():
            problem = f"the rule assumes nothing of {min(wrong)!r}"
            raise RuleError(problem, at=example.at, hint=f"it assumes {', '.join(rule.assumes)}")


def _example(node: MappingNode, symbols: Mapping[str, Symbol]) -> RuleExample:
    node.refuse_unknown(EXAMPLE_KEYS)
    facts = node.mapping("facts")
    evidence, because = node.get("evidence"), node.get("because")
    return RuleExample(
        name=node.text("name"),
        facts={name: _value(name, value, facts, symbols) for name, value in facts.items()},
        expect=_outcome(node["expect"]),
        gain=_gain(node.get("gain")),
        share=_gain(node.get("share")),
        assumed=_numbers(node.get("assumed")),
        evidence=None if evidence is None else evidence.as_text(),
        because=None if because is None else because.as_text(),
        at=node.at,
    )


def _value(
    name: str, node: DocumentNode, facts: MappingNode, symbols: Mapping[str, Symbol]
) -> Value:
    if name not in symbols:
        hint = did_you_mean(name, symbols)
        raise RuleError(f"unknown fact {name!r}", at=facts.places[name], hint=hint)
    value = node.value if isinstance(node, ScalarNode) else None
    if not isinstance(node, ScalarNode):
        raise node.unexpected("a value")
    if value is None:
        return None
    kind = symbols[name].kind
    if not isinstance(value, _PYTHON_TYPES[kind]) or (
        isinstance(value, bool) != (kind is Kind.BOOLEAN)
    ):
        raise node.unexpected(f"a {kind.name.lower()} for {name!r}")
    return float(value) if kind is Kind.NUMBER else value


def _outcome(node: DocumentNode) -> Outcome:
    text = node.as_text()
    for outcome in JUDGED:
        if outcome.value == text:
            return outcome
    raise node.unexpected(" or ".join(repr(outcome.value) for outcome in JUDGED))


def _gain(node: DocumentNode | None) -> dict[str, float]:
    if node is None:
        return {}
    if not isinstance(node, MappingNode):
        return {"likely": node.as_number()}
    node.refuse_unknown(BOUNDS)
    return _numbers(node)


def _numbers(node: DocumentNode | None) -> dict[str, float]:
    if node is None:
        return {}
    return {name: value.as_number() for name, value in node.as_mapping().items()}
