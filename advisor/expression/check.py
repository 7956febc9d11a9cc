"""Names, kinds and units of a tree: everything that can be wrong before there are values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from advisor.expression.functions import FUNCTIONS, OVER_ANY_KIND, LanguageFunction, Units
from advisor.expression.tree import ExpressionNode, Kind, Symbol, Text
from advisor.suggest import did_you_mean
from advisor.units import DIMENSIONLESS, Unit


@dataclass(frozen=True)
class Type:
    """Kind and SI unit of a node; None where it suits any (``null``; the number 0 for units)."""

    kind: Kind | None
    unit: Unit | None = None


_BOOLEAN = Type(Kind.BOOLEAN)
_TEXT = Type(Kind.TEXT)
_PURE = Type(Kind.NUMBER, DIMENSIONLESS)
_THRESHOLD_HINT = "use a named threshold with a unit"


class Checker:
    """Infers types from the leaves up; ``met`` are the symbols that were read on the way."""

    def __init__(self, source: Text, symbols: Mapping[str, Symbol]) -> None:
        self._source = source
        self._symbols = symbols
        self.met: dict[str, Symbol] = {}
        self._heads = {
            "literal": self._literal,
            "name": self._name,
            "call": self._call,
            "case": self._case,
            "is null": self._any,
            **dict.fromkeys(("and", "or", "not"), self._logic),
            **dict.fromkeys(("+", "-", "negate"), self._sum),
            **dict.fromkeys(("*", "/"), self._product),
        }

    def infer(self, node: ExpressionNode) -> Type:
        """Return the type of ``node``.

        Raises:
            ExpressionError: an unknown name or function, kinds or units that do not fit.
        """
        return self._heads.get(node.head, self._comparison)(node)

    def _logic(self, node: ExpressionNode) -> Type:
        for operand in node.operands:
            self._require(operand, Kind.BOOLEAN)
        return _BOOLEAN

    def _any(self, node: ExpressionNode) -> Type:
        self._value(node.operands[0])
        return _BOOLEAN

    def _sum(self, node: ExpressionNode) -> Type:
        return self._alike(node.operands, Kind.NUMBER)

    def _literal(self, node: ExpressionNode) -> Type:
        if isinstance(node.value, bool):
            return _BOOLEAN
        if isinstance(node.value, str):
            return _TEXT
        if node.value is None:
            return Type(None)
        return _PURE if node.value else Type(Kind.NUMBER)

    def _name(self, node: ExpressionNode) -> Type:
        name = str(node.value)
        symbol = self._symbols.get(name)
        if symbol is None:
            hint = did_you_mean(name, self._symbols)
            raise self._source.error(f"there is no {name[:80]!r}", node.position, hint)
        self.met[name] = symbol
        if symbol.kind is not Kind.NUMBER:
            return Type(symbol.kind)
        return Type(Kind.NUMBER, (symbol.unit or DIMENSIONLESS).in_si())

    def _value(self, node: ExpressionNode) -> Type:
        """Return the type of a node that may not be a bare ``null``."""
        found = self.infer(node)
        if found.kind is None:
            hint = "use 'is null'; a null may only be the value of a case branch"
            raise self._source.error("null is not a value to work with", node.position, hint)
        return found

    def _require(self, node: ExpressionNode, kind: Kind) -> Type:
        found = self._value(node)
        if found.kind is not kind:
            problem = f"expected {kind.value} here" + (
                f", not {found.kind.value}" if found.kind else ""
            )
            raise self._source.error(problem, node.position)
        return found

    def _alike(self, nodes: Sequence[ExpressionNode], kind: Kind | None = None) -> Type:
        """Return the common type of ``nodes``; of ``kind``, or of the first one's kind."""
        common = self._require(nodes[0], kind) if kind else self._value(nodes[0])
        for node in nodes[1:]:
            common = self._merge(
                common, self._require(node, common.kind or Kind.NUMBER), node, nodes
            )
        return common

    def _merge(
        self, one: Type, other: Type, node: ExpressionNode, nodes: Sequence[ExpressionNode]
    ) -> Type:
        if one.unit is None or other.unit is None:
            return Type(one.kind, one.unit or other.unit)
        if not one.unit.is_like(other.unit):
            bare = any(_is_number(operand) for operand in nodes)
            problem = f"{one.unit} and {other.unit} do not go together"
            raise self._source.error(problem, node.position, _THRESHOLD_HINT if bare else None)
        return one

    def _product(self, node: ExpressionNode) -> Type:
        left, right = (self._require(operand, Kind.NUMBER) for operand in node.operands)
        if left.unit is None or right.unit is None:
            return Type(Kind.NUMBER)
        unit = left.unit * right.unit if node.head == "*" else left.unit / right.unit
        return Type(Kind.NUMBER, unit)

    def _comparison(self, node: ExpressionNode) -> Type:
        common = self._alike(node.operands)
        if node.head not in ("=", "<>", "in") and common.kind is not Kind.NUMBER:
            raise self._source.error("only numbers can be put in order", node.position)
        return _BOOLEAN

    def _case(self, node: ExpressionNode) -> Type:
        for condition in node.operands[:-1:2]:
            self._require(condition, Kind.BOOLEAN)
        values = [*node.operands[1::2], node.operands[-1]]
        given = [value for value in values if not _is_null(value)]
        if not given:
            raise self._source.error("every branch of this case is null", node.position)
        return self._alike(given)

    def _call(self, node: ExpressionNode) -> Type:
        name = str(node.value)
        function = FUNCTIONS.get(name)
        if function is None:
            hint = did_you_mean(name, FUNCTIONS, f"functions: {', '.join(FUNCTIONS)}")
            raise self._source.error(f"there is no function {name[:80]!r}", node.position, hint)
        count = len(node.operands)
        if count < function.least or (function.most is not None and count > function.most):
            raise self._source.error(_arity(name, function, count), node.position)
        rules = {
            Units.ALIKE: self._alike_call,
            Units.ROOT: self._root,
            Units.PURE: self._pure_call,
            Units.POWER: self._power,
            Units.ANY: self._any,
            Units.LABELS: self._labels,
            Units.TEXTS: self._texts,
        }
        return rules[function.units](node)

    def _alike_call(self, node: ExpressionNode) -> Type:
        return self._alike(node.operands, None if node.value in OVER_ANY_KIND else Kind.NUMBER)

    def _pure_call(self, node: ExpressionNode) -> Type:
        self._pure(node.operands[0])
        return _PURE

    def _texts(self, node: ExpressionNode) -> Type:
        for operand in node.operands:
            self._require(operand, Kind.TEXT)
        return _BOOLEAN

    def _pure(self, node: ExpressionNode) -> None:
        unit = self._require(node, Kind.NUMBER).unit
        if unit is not None and not unit.is_dimensionless:
            raise self._source.error(f"expected a pure number, not {unit}", node.position)

    def _root(self, call: ExpressionNode) -> Type:
        node = call.operands[0]
        unit = self._require(node, Kind.NUMBER).unit
        if unit is not None and any(n % 2 for n in unit.dimension):
            raise self._source.error(f"{unit} has no square root", node.position)
        return Type(Kind.NUMBER, unit and Unit(tuple(n // 2 for n in unit.dimension)))

    def _power(self, node: ExpressionNode) -> Type:
        base, exponent = node.operands
        unit = self._require(base, Kind.NUMBER).unit
        self._pure(exponent)
        if unit is None or unit.is_dimensionless:
            return _PURE
        whole = _whole(exponent)
        if whole is None or abs(whole) > 9:
            problem = f"a value in {unit} can only be raised to a whole number up to 9"
            raise self._source.error(problem, exponent.position)
        return Type(Kind.NUMBER, unit**whole)

    def _labels(self, node: ExpressionNode) -> Type:
        if len(node.operands) % 2:
            raise self._source.error("arg_max takes pairs of a label and a number", node.position)
        for label in node.operands[::2]:
            if label.head != "literal" or not isinstance(label.value, str):
                raise self._source.error("expected a label such as 'dram'", label.position)
        self._alike(node.operands[1::2], Kind.NUMBER)
        return _TEXT


def _is_null(node: ExpressionNode) -> bool:
    return node.head == "literal" and node.value is None


def _is_number(node: ExpressionNode) -> bool:
    return node.head == "literal" and isinstance(node.value, float)


def _whole(node: ExpressionNode) -> int | None:
    """Return the value of a whole literal, signed or not."""
    if node.head == "negate":
        inner = _whole(node.operands[0])
        return None if inner is None else -inner
    if isinstance(node.value, float) and node.value.is_integer():
        return int(node.value)
    return None


def _arity(name: str, function: LanguageFunction, count: int) -> str:
    wanted = f"{function.least}" if function.most == function.least else f"{function.least} or more"
    return f"{name} takes {wanted} arguments, not {count}"
