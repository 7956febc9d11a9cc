"""How to see that advice worked: what must move, which way, how far; and whether it did."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from advisor.expression import Expression
from advisor.quoting import double, quoted
from advisor.records import dataclass

Columns = Callable[[str], str]


class Direction(Enum):
    """Which way a value must move, or must not."""

    UP = "up"
    DOWN = "down"
    NOT_UP = "not up"
    NOT_DOWN = "not down"

    @property
    def forbids(self) -> bool:
        """Return whether the value may stay as it is."""
        return self in (Direction.NOT_UP, Direction.NOT_DOWN)


class Movement(Enum):
    """The outcome of one value once the advice was followed."""

    AS_EXPECTED = "moved as expected"
    NOT_MOVED = "not moved"
    WRONG_WAY = "moved the wrong way"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """One value that must move, or must not.

    A relative change of at most ``tolerance`` is none; it is the rule's own where
    ``has_own_tolerance``, else that of all rules. ``target`` is what the value should come to, in
    the unit of ``expression``. ``called`` is what readers call an expression that is not one fact.
    """

    expression: Expression
    moves: Direction
    tolerance: float
    has_own_tolerance: bool = False
    target: Expression | None = None
    called: str | None = None

    @property
    def fact(self) -> str | None:
        """Return the fact that the expression is; None where it is more than one name."""
        return self.expression.text if self.expression.text in self.expression.names else None


@dataclass(frozen=True, kw_only=True)
class Verify:
    """What to check, and what only a person can: ``notes``."""

    checks: tuple[Criterion, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Return the facts and thresholds that the checks read."""
        expressions = [check.expression for check in self.checks]
        expressions += [check.target for check in self.checks if check.target is not None]
        return frozenset().union(*(each.names for each in expressions))


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The value of a check for one subject, and its target, in SI units; None is unknown."""

    value: float | None
    target: float | None


def moved(check: Criterion, before: float | None, after: float | None) -> Movement:
    """Return the outcome of the value of a check, given in one unit before and after.

    From 0, any change is one.
    """
    if before is None or after is None or not math.isfinite(before) or not math.isfinite(after):
        return Movement.UNKNOWN
    change = after - before
    if abs(change) <= check.tolerance * abs(before):
        return Movement.AS_EXPECTED if check.moves.forbids else Movement.NOT_MOVED
    wants_more = check.moves in (Direction.UP, Direction.NOT_DOWN)
    return Movement.AS_EXPECTED if (change > 0) is wants_more else Movement.WRONG_WAY


def compare(
    verify: Verify, before: Sequence[float | None], after: Sequence[float | None]
) -> tuple[Movement, ...]:
    """Return the outcome of each check, from its values before and after, in order of the checks.

    Raises:
        ValueError: there is not one value for each check.
    """
    lines = zip(verify.checks, before, after, strict=True)
    return tuple(moved(check, was, now) for check, was, now in lines)


def measure_sql(verify: Verify, thresholds: Mapping[str, float], table: str, key: str) -> str:
    """Return a SELECT: ``key``, then value and target of each check, from a table of facts.

    ``thresholds`` are the values of those that the rule names, in SI.
    """

    def column(name: str) -> str:
        value = thresholds.get(name)
        return quoted(name) if value is None else double(value)

    parts = [quoted(key)]
    for check in verify.checks:
        parts.append(check.expression.sql(column))
        parts.append("NULL" if check.target is None else check.target.sql(column))
    return f"SELECT {', '.join(parts)} FROM {table}"


def measured(row: Sequence[float | None]) -> tuple[Measured, ...]:
    """Return value and target of each check from a row of ``measure_sql``, without its key."""
    pairs = zip(row[::2], row[1::2], strict=True)
    return tuple(Measured(value=value, target=target) for value, target in pairs)
