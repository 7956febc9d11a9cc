"""The closed list of functions: how many arguments each takes, and of what kinds and units."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Units(Enum):
    """How the unit of a function's result follows from its arguments."""

    ALIKE = "arguments have like units, and so has the result"
    ROOT = "the square root of the argument's unit"
    PURE = "pure numbers"
    POWER = "a pure number, or any unit raised to a whole literal"
    ANY = "any value, of any kind"
    LABELS = "pairs of a label and a number of like units"
    TEXTS = "texts"


@dataclass(frozen=True, kw_only=True)
class Function:
    """One function; ``most`` None means any number of arguments."""

    least: int
    most: int | None
    units: Units


FUNCTIONS = {
    "abs": Function(least=1, most=1, units=Units.ALIKE),
    "arg_max": Function(least=2, most=None, units=Units.LABELS),
    "ceil": Function(least=1, most=1, units=Units.ALIKE),
    "coalesce": Function(least=2, most=None, units=Units.ALIKE),
    "exp": Function(least=1, most=1, units=Units.PURE),
    "floor": Function(least=1, most=1, units=Units.ALIKE),
    "known": Function(least=1, most=1, units=Units.ANY),
    "ln": Function(least=1, most=1, units=Units.PURE),
    "log2": Function(least=1, most=1, units=Units.PURE),
    "max": Function(least=2, most=None, units=Units.ALIKE),
    "max_known": Function(least=2, most=None, units=Units.ALIKE),
    "min": Function(least=2, most=None, units=Units.ALIKE),
    "min_known": Function(least=2, most=None, units=Units.ALIKE),
    "power": Function(least=2, most=2, units=Units.POWER),
    "round": Function(least=1, most=1, units=Units.ALIKE),
    "round_up": Function(least=2, most=2, units=Units.ALIKE),
    "sqrt": Function(least=1, most=1, units=Units.ROOT),
    "starts_with": Function(least=2, most=2, units=Units.TEXTS),
    "sum_known": Function(least=2, most=None, units=Units.ALIKE),
}
OVER_ANY_KIND = {"coalesce"}
