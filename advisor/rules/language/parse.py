"""One rule's YAML becomes one ``Rule``: every key checked, every expression compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import partial
from typing import TypeVar

from advisor.documents import DocumentNode, MappingNode
from advisor.errors import RuleError
from advisor.expression import Expression, Kind, Symbol, compile_expression
from advisor.records import dataclass
from advisor.rules.language.estimators import Estimator
from advisor.rules.language.example_files import check_examples, read_examples
from advisor.rules.language.rule import (
    BOUNDS,
    SECONDS,
    FilledExpression,
    GainRange,
    Guard,
    Rule,
    Severity,
    Template,
    Threshold,
)
from advisor.rules.language.settings import SharedGuard
from advisor.rules.language.templates import read_template
from advisor.rules.language.thresholds import Override, in_scope, read_thresholds
from advisor.rules.language.verify_files import read_verify
from advisor.suggest import did_you_mean

REQUIRED = (
    "id",
    "title",
    "headline",
    "severity",
    "subject",
    "mechanism",
    "when",
    "evidence",
    "why",
    "recommendation",
    "verify",
    "references",
    "tests",
)
OPTIONAL = (
    "applies_to",
    "assumes",
    "caveats",
    "enabled",
    "extends",
    "gain",
    "instructions",
    "threshold",
    "unless",
)
NUMBERS_IN_EVIDENCE = 2

_Choice = TypeVar("_Choice", bound=Enum)


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What rules about one subject may name, and what stands behind it.

    ``instructions`` are the names of what shows a symptom in single instructions, ``terms`` the
    words that follow the vendor, ``counts`` the facts that no rule assumes; ``tolerance`` is the
    relative change that verifying takes for none.
    """

    symbols: Mapping[str, Symbol]
    estimators: Mapping[str, Estimator]
    shared_guards: tuple[SharedGuard, ...]
    tolerance: float
    instructions: frozenset[str] = frozenset()
    terms: frozenset[str] = frozenset()
    counts: frozenset[str] = frozenset()


def parse_rule(
    node: MappingNode,
    scopes: Mapping[str, Scope],
    *,
    text_hash: str,
    overrides: Mapping[str, Override],
) -> Rule:
    """Return the rule that a mapping describes.

    Raises:
        RuleError: a key, name, unit, template or test is wrong or missing; with its place.
        ConfigError: an override names a threshold that the rule does not have.
    """
    node.refuse_unknown((*REQUIRED, *OPTIONAL))
    for key in REQUIRED:
        _ = node[key]
    scope = scopes[_subject(node["subject"], scopes)]
    thresholds = read_thresholds(node.get("threshold"), scope.symbols, overrides)
    rule = _rule(node, scope, thresholds, text_hash)
    _check(rule, node, scope.symbols)
    return _with_shared_guards(rule, scope.shared_guards)


def problems(
    node: MappingNode, scopes: Mapping[str, Scope], *, overrides: Mapping[str, Override]
) -> list[RuleError]:
    """Return everything that is wrong with a rule, one problem per key; what needs it is last."""
    checks: list[Callable[[], object]] = [lambda: node.refuse_unknown((*REQUIRED, *OPTIONAL))]
    checks += [partial(node.__getitem__, key) for key in REQUIRED]
    found = _failures(checks)
    if not found:
        found = _failures([lambda: _subject(node["subject"], scopes)])
    if found:
        return found
    scope = scopes[_subject(node["subject"], scopes)]
    try:
        thresholds = read_thresholds(node.get("threshold"), scope.symbols, overrides)
    except RuleError as error:
        return [error]
    names = in_scope(scope.symbols, thresholds)
    found = _failures(_key_checks(node, scope, names))
    if found:
        return found
    return _failures([lambda: parse_rule(node, scopes, text_hash="", overrides=overrides)])


def _key_checks(
    node: MappingNode, scope: Scope, names: Mapping[str, Symbol]
) -> list[Callable[[], object]]:
    return [
        lambda: node.text("mechanism"),
        *(partial(_words, node[key], scope) for key in ("title", "why")),
        lambda: _headline(node["headline"], scope),
        lambda: _choice(node["severity"], Severity),
        lambda: _condition(node.get("applies_to"), names),
        lambda: _compile(node["when"], names, Kind.BOOLEAN),
        lambda: _guards(node.get("unless"), names, scope),
        lambda: _gain(node.get("gain"), names, scope),
        lambda: _assumptions(node.get("assumes"), names, scope),
        lambda: _template(node["evidence"], names, scope),
        lambda: [_template(each, names, scope) for each in node.sequence("recommendation")],
        lambda: _caveats(node.get("caveats"), scope),
        lambda: read_verify(node["verify"], names, scope.tolerance),
        lambda: node.sequence("references").texts(),
        lambda: _instructions(node.get("instructions"), scope.instructions),
        lambda: read_examples(node.sequence("tests"), scope.symbols),
    ]


def _failures(checks: Iterable[Callable[[], object]]) -> list[RuleError]:
    found = []
    for check in checks:
        try:
            check()
        except RuleError as error:
            found.append(error)
    return found


def _rule(
    node: MappingNode, scope: Scope, thresholds: Mapping[str, Threshold], text_hash: str
) -> Rule:
    names = in_scope(scope.symbols, thresholds)
    enabled = node.get("enabled")
    return Rule(
        id=node.text("id"),
        title=_words(node["title"], scope),
        headline=_headline(node["headline"], scope),
        severity=_choice(node["severity"], Severity),
        subject=node.text("subject"),
        mechanism=node.text("mechanism"),
        thresholds=thresholds,
        applies_to=_condition(node.get("applies_to"), names),
        when=_compile(node["when"], names, Kind.BOOLEAN),
        unless=_guards(node.get("unless"), names, scope),
        gain=_gain(node.get("gain"), names, scope),
        assumes=_assumptions(node.get("assumes"), names, scope),
        evidence=_template(node["evidence"], names, scope),
        why=_words(node["why"], scope),
        recommendation=tuple(
            _template(step, names, scope) for step in node.sequence("recommendation")
        ),
        caveats=_caveats(node.get("caveats"), scope),
        verify=read_verify(node["verify"], names, scope.tolerance),
        references=node.sequence("references").texts(),
        examples=read_examples(node.sequence("tests"), scope.symbols),
        instructions=_instructions(node.get("instructions"), scope.instructions),
        enabled=enabled is None or enabled.as_boolean(),
        text_hash=text_hash,
        at=node.at,
    )


def _check(rule: Rule, node: MappingNode, symbols: Mapping[str, Symbol]) -> None:
    for name in rule.thresholds:
        if name not in _used_names(rule):
            hint = "use it or remove it"
            at = node.mapping("threshold").places[name]
            raise RuleError(f"the threshold {name!r} is not used", at=at, hint=hint)
    numbers = {n for n in rule.evidence.names if n in symbols and symbols[n].kind is Kind.NUMBER}
    if len(numbers) < NUMBERS_IN_EVIDENCE:
        hint = f"name at least {NUMBERS_IN_EVIDENCE} facts that are numbers"
        raise RuleError("the evidence shows too few numbers", at=node["evidence"].at, hint=hint)
    if not rule.recommendation:
        raise RuleError("there is no recommendation", at=node["recommendation"].at)
    check_examples(rule, node["tests"].at)


def _used_names(rule: Rule) -> set[str]:
    formulas: list[FilledExpression | Expression] = [rule.when, *(g.when for g in rule.unless)]
    formulas += list(rule.assumes.values())
    if rule.applies_to is not None:
        formulas.append(rule.applies_to)
    if rule.gain is not None:
        formulas += [rule.gain.low, rule.gain.likely, rule.gain.high]
    names = {name for formula in formulas for name in formula.names} | rule.verify.names
    return names | {name for template in rule.templates for name in template.names}


def _with_shared_guards(rule: Rule, shared: Iterable[SharedGuard]) -> Rule:
    """Return the rule with the guards that protect it and that it does not have already."""
    added = tuple(each.guard for each in shared if each.protects(rule))
    if not added:
        return rule
    return rule.with_guards(added)


def _compile(node: DocumentNode, names: Mapping[str, Symbol], kind: Kind) -> Expression:
    return compile_expression(node.as_text(), names, at=node.at, kind=kind)


def _condition(node: DocumentNode | None, names: Mapping[str, Symbol]) -> Expression | None:
    return None if node is None else _compile(node, names, Kind.BOOLEAN)


def _template(node: DocumentNode, names: Mapping[str, Symbol], scope: Scope) -> Template:
    return read_template(node.as_text(), names, node.at, terms=scope.terms)


def _words(node: DocumentNode, scope: Scope) -> Template:
    """Return a text that names no facts, only terms."""
    return _template(node, {}, scope)


def _headline(node: DocumentNode, scope: Scope) -> Template:
    """Return the clause after "Start by".

    Raises:
        RuleError: it would not read as one; with its place.
    """
    found = _words(node, scope)
    first = found.text.split(" ", 1)[0]
    if not first.endswith("ing") or ":" in found.text or found.text.endswith("."):
        hint = 'it stands after "Start by": moving products to the matrix units'
        raise RuleError("the headline is no clause that begins with -ing", at=node.at, hint=hint)
    return found


def _caveats(node: DocumentNode | None, scope: Scope) -> tuple[Template, ...]:
    return () if node is None else tuple(_words(each, scope) for each in node.as_sequence())


def _guards(
    node: DocumentNode | None, names: Mapping[str, Symbol], scope: Scope
) -> tuple[Guard, ...]:
    guards = []
    for entry in () if node is None else node.as_sequence():
        guard = entry.as_mapping()
        guard.refuse_unknown(("when", "because", "required"))
        required = guard.get("required")
        guards.append(
            Guard(
                when=_compile(guard["when"], names, Kind.BOOLEAN),
                because=_template(guard["because"], names, scope),
                required=required is not None and required.as_boolean(),
            )
        )
    return tuple(guards)


def _gain(node: DocumentNode | None, names: Mapping[str, Symbol], scope: Scope) -> GainRange | None:
    if node is None:
        return None
    gain = node.as_mapping()
    if "estimator" in gain:
        return _estimate(gain, names, scope.estimators)
    gain.refuse_unknown(BOUNDS)
    low, likely, high = (
        FilledExpression(
            expression=compile_expression(
                gain.text(bound), names, at=gain[bound].at, kind=Kind.NUMBER, unit=SECONDS
            )
        )
        for bound in BOUNDS
    )
    return GainRange(low=low, likely=likely, high=high)


def _estimate(
    gain: MappingNode, names: Mapping[str, Symbol], estimators: Mapping[str, Estimator]
) -> GainRange:
    name = gain.text("estimator")
    if name not in estimators:
        hint = did_you_mean(name, estimators, f"known: {', '.join(estimators)}")
        raise RuleError(f"unknown estimator {name!r}", at=gain["estimator"].at, hint=hint)
    parameters = estimators[name].parameters
    gain.refuse_unknown(("estimator", *parameters))
    arguments = {
        key: compile_expression(gain.text(key), names, at=gain[key].at, kind=Kind.NUMBER, unit=unit)
        for key, unit in parameters.items()
    }
    return estimators[name].bind(arguments)


def _assumptions(
    node: DocumentNode | None, names: Mapping[str, Symbol], scope: Scope
) -> dict[str, Expression]:
    assumed: dict[str, Expression] = {}
    if node is None:
        return assumed
    mapping = node.as_mapping()
    for name, value in mapping.items():
        unit = _assumable(name, mapping, scope).unit
        assumed[name] = compile_expression(
            value.as_text(), names, at=value.at, kind=Kind.NUMBER, unit=unit
        )
    return assumed


def _assumable(name: str, mapping: MappingNode, scope: Scope) -> Symbol:
    """Return what is known of a fact that may have another value once the advice is followed."""
    at = mapping.places[name]
    if name not in scope.symbols:
        hint = did_you_mean(name, scope.symbols)
        raise RuleError(f"unknown fact {name!r}", at=at, hint=hint)
    symbol = scope.symbols[name]
    hint = "assume the quantities that it follows from"
    if symbol.kind is not Kind.NUMBER:
        raise RuleError(f"{name} is no number, and cannot be assumed", at=at, hint=hint)
    if name in scope.counts:
        problem = f"{name} says which launches there are, and cannot be assumed"
        raise RuleError(problem, at=at, hint=hint)
    return symbol


def _instructions(node: DocumentNode | None, known: frozenset[str]) -> str | None:
    if node is None:
        return None
    name = node.as_text()
    if name not in known:
        hint = did_you_mean(name, known, "rules about kernels name a view of them")
        raise RuleError(f"unknown view of instructions {name!r}", at=node.at, hint=hint)
    return name


def _subject(node: DocumentNode, scopes: Mapping[str, Scope]) -> str:
    name = node.as_text()
    if name not in scopes:
        raise node.unexpected(" or ".join(map(repr, scopes)))
    return name


def _choice(node: DocumentNode, choices: type[_Choice]) -> _Choice:
    text = node.as_text()
    for choice in choices:
        if choice.value == text:
            return choice
    raise node.unexpected(" or ".join(repr(str(choice.value)) for choice in choices))
