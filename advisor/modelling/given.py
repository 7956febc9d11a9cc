"""Numbers that a user gives: plain, or as a formula over the sizes of a scenario."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from advisor.documents import DocumentNode, ScalarNode
from advisor.errors import Location, RuleError, UsageError
from advisor.expression import Kind, Symbol, compile_expression
from advisor.records import dataclass
from advisor.units import DIMENSIONLESS

if TYPE_CHECKING:
    from advisor.expression.calculate import Value

_NUMERIC = re.compile(r"[-+]?([0-9][0-9_,.]*([eE][-+]?[0-9]+)?|\.(nan|inf))", re.IGNORECASE)
Calculate = Callable[[Callable[[str], "Value"]], "Value"]


@dataclass(frozen=True, kw_only=True)
class Given:
    """A number, or a formula over ``names``; ``text`` is how it was written."""

    text: str
    value: float | None = None
    names: frozenset[str] = frozenset()
    at: Location | None = None
    calculate: Calculate | None = field(default=None, compare=False, repr=False)

    def amount(self, sizes: Callable[[str], float]) -> float:
        """Return the number.

        Raises:
            UsageError: the formula comes to nothing, or to less than nothing.
        """
        if self.value is not None:
            return self.value
        found = None if self.calculate is None else self.calculate(sizes)
        if found is None or isinstance(found, str | bool) or found < 0:
            came = "no number" if found is None else f"{found:.10g}"
            raise UsageError(f"{self.text!r} comes to {came}", at=self.at, hint="0 or more")
        return float(found)


def number(value: float, at: Location | None = None) -> Given:
    """Return a plain number."""
    return Given(text=f"{value:.15g}", value=float(value), at=at)


def read_given(node: DocumentNode, names: Iterable[str], *, what: str = "a size") -> Given:
    """Return the number of a node, or the formula of a text over ``names``.

    Raises:
        RuleError: it is negative, no number and no formula, or asks for another name.
    """
    plain = node.plain()
    if isinstance(plain, str) and isinstance(node, ScalarNode) and not _NUMERIC.fullmatch(plain):
        return _formula(plain, frozenset(names), node.at)
    value = node.as_number()
    if value < 0:
        raise node.unexpected(f"{what}, 0 or more")
    return number(value, node.at)


def _formula(text: str, names: frozenset[str], at: Location) -> Given:
    if (name := text.strip()) in names:  # as most are, and the compiler takes a while to load
        return Given(text=text, names=frozenset({name}), at=at, calculate=lambda find: find(name))
    symbols = dict.fromkeys(names, Symbol(Kind.NUMBER, DIMENSIONLESS))
    made = compile_expression(text, symbols, at=at, kind=Kind.NUMBER)
    return Given(text=text, names=made.names, at=at, calculate=made.calculation())


class Sizes:
    """The sizes of a scenario, each worked out when it is first asked for."""

    def __init__(
        self, given: Mapping[str, Given], fixed: Mapping[str, float] | None = None
    ) -> None:
        self._given = given
        self._known = dict(fixed or {})

    def __call__(self, name: str) -> float:
        """Return a size."""
        if name not in self._known:
            self._known[name] = self._given[name].amount(self)
        return self._known[name]


def check_circles(sizes: Mapping[str, Given]) -> None:
    """Refuse formulas that need themselves.

    Raises:
        RuleError: names the circle, at the place of one of its formulas.
    """
    done: set[str] = set()

    def follow(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " → ".join((*path[path.index(name) :], name))
            raise RuleError(f"the sizes go in a circle: {circle}", at=sizes[name].at)
        if name not in done:
            for other in sorted(sizes[name].names & sizes.keys()):
                follow(other, (*path, name))
            done.add(name)

    for name in sizes:
        follow(name, ())
