"""The parts of one rule with the values that they have for a subject: conditions, guards, gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from advisor.expression import Expression, Kind, Symbol, compile_expression, written
from advisor.expression.reduced import names_of
from advisor.expression.tree import ExpressionNode
from advisor.quoting import double, quoted
from advisor.records import dataclass
from advisor.rules.engine.details import number, raw_of
from advisor.rules.engine.gains import Seconds, cut
from advisor.rules.engine.program import detail_columns
from advisor.rules.language.rule import SECONDS, FilledExpression, Rule, Value
from advisor.rules.language.settings import EvaluationSettings
from advisor.rules.language.words import VendorWords

_JOINING = ("and", "or", "not")
_ORDERED = ("<", "<=", ">", ">=", "=")

Row = Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class Clause:
    """A condition and its value for one subject; None is unknown.

    ``joined`` is and, or, not where it has ``parts``. A comparison of numbers has both sides in SI
    (``unit``) and ``distance``, how far apart they are. ``values`` are the facts it read.
    """

    text: str
    holds: bool | None
    joined: str | None = None
    parts: tuple[Clause, ...] = ()
    operator: str | None = None
    left: Value = None
    right: Value = None
    unit: str | None = None
    distance: float | None = None
    values: Row


@dataclass(frozen=True, kw_only=True)
class Guarded:
    """A guard of the rule: its condition, and the sentence where it holds."""

    clause: Clause
    because: str
    required: bool
    shared: bool


@dataclass(frozen=True, kw_only=True)
class Term:
    """A formula with its value in SI, and the facts and thresholds it read."""

    name: str
    text: str
    value: Value
    unit: str
    values: Row


@dataclass(frozen=True, kw_only=True)
class GainExplained:
    """How the gain came about: parameters, the three formulas in seconds, caps, what is left."""

    estimator: str | None
    parameters: tuple[Term, ...]
    bounds: tuple[Term, ...]
    assumes: tuple[Term, ...]
    duration: float | None
    floor: float | None
    floor_achievable: float | None
    cap: float | None
    cap_likely: float | None
    gain: Seconds | None


@dataclass(frozen=True, kw_only=True)
class Clauses:
    """The conditions of a rule with the values of one subject."""

    applies_to: Clause | None
    when: Clause
    unless: tuple[Guarded, ...]


class RuleParts:
    """The parts of one rule as columns of a SELECT, and back into clauses."""

    def __init__(
        self,
        rule: Rule,
        symbols: Mapping[str, Symbol],
        settings: EvaluationSettings,
        words: VendorWords,
    ) -> None:
        self._rule = rule
        self._words = words
        self._settings = settings
        self._symbols = symbols
        self._columns: dict[str, str] = {}
        self._units: dict[str, str | None] = {}
        for expression in self._conditions():
            self._add(expression.tree, Kind.BOOLEAN)
        for _, formula in self._formulas():
            self._columns[_formula_text(formula)] = formula.sql(self._column)
        for expression in (*self._parameters().values(), *rule.assumes.values()):
            self._columns[_text(expression)] = expression.sql(self._column)

    def select(self, key: str, table: str) -> str:
        """Return the SELECT of ``key`` and the value of every part, by its place."""
        parts = [f"{sql} AS v{place}" for place, sql in enumerate(self._columns.values())]
        return f"SELECT {', '.join((quoted(key), *parts))} FROM {table}"

    def clauses(self, row: Row, facts: Row) -> Clauses:
        """Return the rule's conditions with the values of one subject."""
        rule = self._rule
        read = self._read(facts)
        guards = tuple(
            Guarded(
                clause=self._clause(guard.when.tree, row, read),
                because=self._words.fill(guard.because, read),
                required=guard.required,
                shared=guard.shared,
            )
            for guard in rule.unless
        )
        applies = None
        if rule.applies_to is not None:
            applies = self._clause(rule.applies_to.tree, row, read)
        when = self._clause(rule.when.tree, row, read)
        return Clauses(applies_to=applies, when=when, unless=guards)

    def gain(self, row: Row, facts: Row, details: Row) -> GainExplained | None:
        """Return how the gain of one subject comes about; None for a rule without one."""
        rule = self._rule
        if rule.gain is None:
            return None
        read = self._read(facts)
        time = facts[self._settings.time]
        raw = raw_of(detail_columns(rule, 0), details, time, self._settings)
        parameters = self._parameters().items()
        return GainExplained(
            estimator=rule.gain.estimator,
            parameters=tuple(self._term(name, each, row, read) for name, each in parameters),
            bounds=tuple(self._bound(name, each, row, read) for name, each in self._formulas()),
            assumes=tuple(self._term(n, each, row, read) for n, each in rule.assumes.items()),
            duration=raw.duration,
            floor=raw.floor,
            floor_achievable=raw.floor_achievable,
            cap=None if raw.most is None else raw.at_best(raw.most),
            cap_likely=raw.most_likely,
            gain=cut(raw),
        )

    def _conditions(self) -> Iterator[Expression]:
        if self._rule.applies_to is not None:
            yield self._rule.applies_to
        yield self._rule.when
        yield from (guard.when for guard in self._rule.unless)

    def _formulas(self) -> Iterator[tuple[str, FilledExpression]]:
        gain = self._rule.gain
        if gain is not None:
            yield from (("low", gain.low), ("likely", gain.likely), ("high", gain.high))

    def _parameters(self) -> Mapping[str, Expression]:
        gain = self._rule.gain
        return {} if gain is None else gain.likely.parameters

    def _add(self, node: ExpressionNode, kind: Kind | None) -> None:
        text = written(node)
        if text not in self._columns:
            compiled = compile_expression(text, self._symbols, at=self._rule.when.at, kind=kind)
            self._columns[text] = compiled.sql(self._column)
            self._units[text] = None if compiled.unit is None else str(compiled.unit)
        if node.head in _JOINING:
            for operand in node.operands:
                self._add(operand, Kind.BOOLEAN)
        elif len(node.operands) > 1 and node.head not in ("call", "case"):
            for operand in node.operands:
                self._add(operand, None)

    def _column(self, name: str) -> str:
        threshold = self._rule.thresholds.get(name)
        return quoted(name) if threshold is None else double(threshold.value)

    def _read(self, facts: Row) -> dict[str, Value]:
        thresholds = {name: each.value for name, each in self._rule.thresholds.items()}
        return {**facts, **thresholds}

    def _value(self, text: str, row: Row) -> Value:
        return row[f"v{list(self._columns).index(text)}"]

    def _term(self, name: str, expression: Expression, row: Row, read: Row) -> Term:
        text = _text(expression)
        return Term(
            name=name,
            text=text,
            value=self._value(text, row),
            unit=str(expression.unit or "1"),
            values={each: read[each] for each in sorted(expression.names)},
        )

    def _bound(self, name: str, formula: FilledExpression, row: Row, read: Row) -> Term:
        return Term(
            name=name,
            text=_text(formula.expression),
            value=self._value(_formula_text(formula), row),
            unit=str(SECONDS),
            values={each: read[each] for each in sorted(formula.names)},
        )

    def _clause(self, node: ExpressionNode, row: Row, read: Row) -> Clause:
        text = written(node)
        holds = self._value(text, row)
        values = {name: read[name] for name in names_of(node)}
        common = Clause(text=text, holds=None if holds is None else bool(holds), values=values)
        if node.head in _JOINING:
            parts = tuple(self._clause(n, row, read) for n in _flat(node))
            return replace(common, joined=node.head, parts=parts)
        if node.head not in _ORDERED:
            return common
        left, right = (written(operand) for operand in node.operands)
        a, b = self._value(left, row), self._value(right, row)
        return _compared(common, node.head, a, b, self._units[left] or self._units[right])


def _compared(clause: Clause, operator: str, a: Value, b: Value, unit: str | None) -> Clause:
    x, y = number(a), number(b)
    distance = None if x is None or y is None else abs(x - y)
    return replace(clause, operator=operator, left=a, right=b, unit=unit, distance=distance)


def _flat(node: ExpressionNode) -> Iterator[ExpressionNode]:
    """Yield the operands of a chain of one operator: a and b and c has three."""
    for operand in node.operands:
        if operand.head == node.head and node.head != "not":
            yield from _flat(operand)
        else:
            yield operand


def _text(expression: Expression) -> str:
    return written(expression.tree)


def _formula_text(formula: FilledExpression) -> str:
    parameters = [f"{name} = {_text(each)}" for name, each in formula.parameters.items()]
    return "; ".join((_text(formula.expression), *parameters))
