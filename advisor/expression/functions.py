"""The closed list of functions: how many arguments each takes, and of what kinds and units."""

from __future__ import annotations

from enum import Enum

from advisor.records import dataclass


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
class LanguageFunction:
    """One function; ``most`` None means any number of arguments."""

    least: int
    most: int | None
    units: Units


FUNCTIONS = {
    "abs": LanguageFunction(least=1, most=1, units=Units.ALIKE),
    "arg_max": LanguageFunction(least=2, most=None, units=Units.LABELS),
    "ceil": LanguageFunction(least=1, most=1, units=Units.ALIKE),
    "coalesce": LanguageFunction(least=2, most=None, units=Units.ALIKE),
    "exp": LanguageFunction(least=1, most=1, units=Units.PURE),
    "floor": LanguageFunction(least=1, most=1, units=Units.ALIKE),
    "known": LanguageFunction(least=1, most=1, units=Units.ANY),
    "ln": LanguageFunction(least=1, most=1, units=Units.PURE),
    "log2": LanguageFunction(least=1, most=1, units=Units.PURE),
    "max": LanguageFunction(least=2, most=None, units=Units.ALIKE),
    "max_known": LanguageFunction(least=2, most=None, units=Units.ALIKE),
    "min": LanguageFunction(least=2, most=None, units=Units.ALIKE),
    "min_known": LanguageFunction(least=2, most=None, units=Units.ALIKE),
    "power": LanguageFunction(least=2, most=2, units=Units.POWER),
    "round": LanguageFunction(least=1, most=1, units=Units.ALIKE),
    "round_up": LanguageFunction(least=2, most=2, units=Units.ALIKE),
    "sqrt": LanguageFunction(least=1, most=1, units=Units.ROOT),
    "starts_with": LanguageFunction(least=2, most=2, units=Units.TEXTS),
    "sum_known": LanguageFunction(least=2, most=None, units=Units.ALIKE),
}
OVER_ANY_KIND = {"coalesce"}
