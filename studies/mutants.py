"""Rules with one thing changed, to see whether a rule's own tests notice.

Mutants are made from the checked tree and checked again: one that the loader would refuse (unlike
units, a name of another kind) is none, and neither is one that comes to the same SQL as its
original.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.documents import load, locate
from advisor.errors import ExpressionError
from advisor.expression import Kind
from advisor.expression.check import Checker
from advisor.expression.tree import ExpressionNode, Text
from advisor.quoting import quoted
from advisor.rules.language.rule import BOUNDS, FilledExpression
from advisor.rules.language.thresholds import in_scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from advisor.errors import Location
    from advisor.expression import Expression, Symbol
    from advisor.rules.language.rule import GainRange, Rule, Threshold

    Others = Callable[[str], list[str]]

OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=",
    "+": "-", "-": "+", "*": "/", "/": "*", "and": "or", "or": "and",
}  # fmt: skip
FUNCTIONS = {
    "max": "min", "min": "max", "max_known": "min_known", "min_known": "max_known",
    "ceil": "floor", "floor": "ceil",
}  # fmt: skip
NUDGES = (1.1, 0.9)  # of thresholds and numbers
SCALES = (1.1, 1 / 1.1)  # of gains
PERCENT, PREFIX = 100, 1000  # how far off a number is with the wrong unit
ALTERNATIVES = 2  # names of the same rule that take another's place


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A changed rule: ``part`` of it at ``at``, which now reads ``text``."""

    rule: Rule
    part: str
    text: str
    at: Location


def mutants(rule: Rule, symbols: Mapping[str, Symbol]) -> list[Mutant]:
    """Return every mutant of a rule that would load and is not the rule itself.

    Each has an id of its own. ``symbols`` are the facts that rules about its subject may name.
    """
    original = _written(rule)
    made = [m for m in _Maker(rule, symbols).make() if _written(m.rule) != original]
    return [
        replace(mutant, rule=replace(mutant.rule, id=f"{rule.id} {number}"))
        for number, mutant in enumerate(made)
    ]


def spell(node: ExpressionNode) -> str:
    """Return a tree as text of the rule language, with brackets round every operation."""
    parts = [spell(operand) for operand in node.operands]
    match node.head:
        case "literal":
            return _literal(node.value)
        case "name":
            return str(node.value)
        case "call":
            return f"{node.value}({', '.join(parts)})"
        case "case":
            pairs = zip(parts[:-1:2], parts[1:-1:2], strict=True)
            branches = " ".join(f"when {condition} then {value}" for condition, value in pairs)
            return f"case {branches} else {parts[-1]} end"
        case "not" | "negate":
            return f"({'not' if node.head == 'not' else '-'} {parts[0]})"
        case "is null":
            return f"({parts[0]} is null)"
        case "in":
            return f"({parts[0]} in ({', '.join(parts[1:])}))"
        case "between":
            return f"({parts[0]} between {parts[1]} and {parts[2]})"
        case operator:
            return f"({parts[0]} {operator} {parts[1]})"


def _literal(value: str | float | bool | None) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float):
        return f"{value:g}"
    return "null" if value is None else str(value).lower()


def _written(rule: Rule) -> tuple[object, ...]:
    """Return what the engine makes of a rule, as SQL."""

    def column(name: str) -> str:
        threshold = rule.thresholds.get(name)
        return quoted(name) if threshold is None else repr(threshold.value)

    return (
        rule.applies_to and rule.applies_to.sql(column),
        rule.when.sql(column),
        [(guard.when.sql(column), guard.required) for guard in rule.unless],
        rule.gain and [getattr(rule.gain, bound).sql(column) for bound in BOUNDS],
        {name: assumed.sql(column) for name, assumed in rule.assumes.items()},
        [threshold for threshold in rule.thresholds.values() if _is_shown(rule, threshold.name)],
    )


def _is_shown(rule: Rule, name: str) -> bool:
    return any(name in template.names for template in rule.templates)


class _Maker:
    """Makes the mutants of one rule, part by part."""

    def __init__(self, rule: Rule, symbols: Mapping[str, Symbol]) -> None:
        self._rule = rule
        self._symbols = in_scope(symbols, rule.thresholds)
        self._file = load(Path(rule.at.name))

    def make(self) -> Iterator[Mutant]:
        """Yield the mutants, part by part."""
        yield from self._thresholds()
        yield from self._conditions()
        yield from self._guards()
        if self._rule.gain is not None:
            yield from self._bounds(self._rule.gain)
            yield from self._arguments(self._rule.gain)
        yield from self._assumptions()

    def _mutant(self, part: str, text: str, at: Location, rule: Rule) -> Mutant:
        return Mutant(rule=rule, part=part, text=text, at=at)

    def _thresholds(self) -> Iterator[Mutant]:
        for name, threshold in self._rule.thresholds.items():
            at = self._file.mapping("threshold").places[name]
            for factor in _factors(threshold):
                value, shown = threshold.value * factor, threshold.shown * factor
                changed = replace(threshold, value=value, shown=shown)
                thresholds = {**self._rule.thresholds, name: changed}
                rule = replace(self._rule, thresholds=thresholds)
                yield self._mutant("threshold", f"{name}: {shown:g} {threshold.unit}", at, rule)

    def _conditions(self) -> Iterator[Mutant]:
        rule = self._rule
        for changed, at in self._changed(rule.when, negated=True):
            yield self._mutant("when", changed.text, at, replace(rule, when=changed))
        if rule.applies_to is None:
            return
        for changed, at in self._changed(rule.applies_to, negated=True):
            yield self._mutant("applies_to", changed.text, at, replace(rule, applies_to=changed))
        without = replace(rule, applies_to=None)
        yield self._mutant("applies_to", "(removed)", rule.applies_to.at, without)

    def _guards(self) -> Iterator[Mutant]:
        """Yield mutants of the rule's own guards; those of many rules are tested on their own."""
        guards = self._rule.unless
        for number, guard in enumerate(guards):
            if guard.shared:
                continue
            before, after, part = guards[:number], guards[number + 1 :], f"unless {number + 1}"
            without = replace(self._rule, unless=(*before, *after))
            yield self._mutant(part, "(removed)", guard.when.at, without)
            if guard.required:
                loose = (*before, replace(guard, required=False), *after)
                rule = replace(self._rule, unless=loose)
                yield self._mutant(part, "required: false", guard.when.at, rule)
            for changed, at in self._changed(guard.when, negated=True):
                unless = (*before, replace(guard, when=changed), *after)
                yield self._mutant(part, changed.text, at, replace(self._rule, unless=unless))

    def _bounds(self, gain: GainRange) -> Iterator[Mutant]:
        """Yield mutants of the three formulas; those of an estimator are scaled only.

        What an estimator computes is tested on its own.
        """
        place = self._file["gain"].at
        for bound in BOUNDS:
            formula: FilledExpression = getattr(gain, bound)
            for factor in () if _is_zero(formula.expression.tree, formula.parameters) else SCALES:
                scaled = _scaled(formula, factor)
                new = _with_bounds(gain, {bound: scaled})
                yield self._gain(f"{bound}: {scaled.expression.text}", place, new)
            if gain.estimator is None:
                for changed, at in self._changed(formula.expression):
                    new = _with_bounds(gain, {bound: FilledExpression(expression=changed)})
                    yield self._gain(f"{bound}: {changed.text}", at, new)
        for one, other in pairwise(BOUNDS):
            swapped = {one: getattr(gain, other), other: getattr(gain, one)}
            yield self._gain(f"({one} and {other} swapped)", place, _with_bounds(gain, swapped))

    def _arguments(self, gain: GainRange) -> Iterator[Mutant]:
        """Yield mutants of what stands for the parameters of an estimator."""
        arguments = gain.likely.parameters
        for name, argument in arguments.items():
            for changed, at in self._changed(argument):
                parameters = {**arguments, name: changed}
                bounds = {b: replace(getattr(gain, b), parameters=parameters) for b in BOUNDS}
                yield self._gain(f"{name}: {changed.text}", at, _with_bounds(gain, bounds))

    def _gain(self, text: str, at: Location, gain: GainRange) -> Mutant:
        return self._mutant("gain", text, at, replace(self._rule, gain=gain))

    def _assumptions(self) -> Iterator[Mutant]:
        assumes = self._rule.assumes
        for name, assumed in assumes.items():
            fewer = {key: value for key, value in assumes.items() if key != name}
            without = replace(self._rule, assumes=fewer)
            yield self._mutant("assumes", f"({name} removed)", assumed.at, without)
            for changed, at in self._changed(assumed):
                rule = replace(self._rule, assumes={**assumes, name: changed})
                yield self._mutant("assumes", f"{name}: {changed.text}", at, rule)

    def _changed(
        self, expression: Expression, *, negated: bool = False
    ) -> Iterator[tuple[Expression, Location]]:
        """Yield the expression with one thing changed, and the place of the change."""
        changes = list(_changes(expression.tree, self._others))
        if negated:
            changes.append((ExpressionNode("not", (expression.tree,)), 0))
        for tree, position in changes:
            changed = self._checked(expression, tree)
            if changed is not None:
                yield changed, locate(expression.at, expression.text, position)

    def _checked(self, expression: Expression, tree: ExpressionNode) -> Expression | None:
        """Return the expression with another tree; None where the loader would refuse it."""
        text = spell(tree)
        checker = Checker(Text(text, expression.at), self._symbols)
        try:
            found = checker.infer(tree)
        except ExpressionError:
            return None
        if expression.unit and found.unit and not found.unit.is_like(expression.unit):
            return None
        scales = {name: s.unit.scale for name, s in checker.met.items() if s.unit is not None}
        names = frozenset(checker.met)
        return replace(expression, text=text, tree=tree, names=names, scales=scales)

    def _others(self, name: str) -> list[str]:
        """Return names that could stand there by mistake: some of the rule, the nearest of all."""
        thresholds = self._rule.thresholds
        known = (*self._rule.reads, *thresholds)
        own = [other for other in known if other != name and self._are_like(other, name)]
        own.sort(key=lambda other: (other in thresholds) != (name in thresholds))
        facts = [
            other
            for other in self._symbols
            if other not in (*known, name) and self._are_like(other, name)
        ]
        return own[:ALTERNATIVES] + get_close_matches(name, facts, n=1, cutoff=0)

    def _are_like(self, name: str, other: str) -> bool:
        one, two = self._symbols[name], self._symbols[other]
        if one.kind is not Kind.NUMBER or one.unit is None or two.unit is None:
            return one.kind is two.kind
        return one.unit.is_like(two.unit)


def _with_bounds(gain: GainRange, new: Mapping[str, FilledExpression]) -> GainRange:
    low, likely, high = (new.get(bound, getattr(gain, bound)) for bound in BOUNDS)
    return replace(gain, low=low, likely=likely, high=high)


def _factors(threshold: Threshold) -> tuple[float, ...]:
    """Return what a threshold is multiplied by; one that is 0 has no neighbours."""
    if threshold.value <= 0:
        return ()
    return (*NUDGES, PERCENT if threshold.unit == "1" else PREFIX)


def _is_zero(node: ExpressionNode, parameters: Mapping[str, Expression]) -> bool:
    """Return whether a product is 0 whatever its other factors are."""
    match node.head:
        case "literal":
            return node.value == 0
        case "name":
            parameter = parameters.get(str(node.value))
            return parameter is not None and _is_zero(parameter.tree, {})
        case "*":
            return any(_is_zero(operand, parameters) for operand in node.operands)
        case "/":
            return _is_zero(node.operands[0], parameters)
    return False


def _scaled(formula: FilledExpression, factor: float) -> FilledExpression:
    expression = formula.expression
    tree = ExpressionNode("*", (ExpressionNode("literal", value=factor), expression.tree))
    return replace(formula, expression=replace(expression, tree=tree, text=spell(tree)))


def _changes(node: ExpressionNode, others: Others) -> Iterator[tuple[ExpressionNode, int]]:
    """Yield trees that differ from ``node`` in one place, and that place in the text."""
    if _is_zero(node, {}):
        return
    for changed in _here(node, others):
        yield changed, node.position
    for number, operand in enumerate(node.operands):
        if node.value == "arg_max" and number % 2 == 0:
            continue
        for changed, position in _changes(operand, others):
            operands = (*node.operands[:number], changed, *node.operands[number + 1 :])
            yield replace(node, operands=operands), position


def _here(node: ExpressionNode, others: Others) -> Iterator[ExpressionNode]:
    """Yield what could stand in the place of the node, its operands unchanged."""
    match node.head:
        case "name":
            yield from (replace(node, value=name) for name in others(str(node.value)))
        case "literal" if isinstance(node.value, float):
            yield from (replace(node, value=node.value * factor) for factor in NUDGES)
        case "call" if node.value in FUNCTIONS:
            yield replace(node, value=FUNCTIONS[str(node.value)])
        case "not":
            yield node.operands[0]
        case "in":
            for number in range(1, len(node.operands)):
                rest = (*node.operands[:number], *node.operands[number + 1 :])
                if len(rest) > 1:
                    yield replace(node, operands=rest)
        case head if head in OPERATORS:
            yield replace(node, head=OPERATORS[head])
