"""Numbers for tables and charts: fixed decimals, one unit per column, unit beside the number.

Rules' texts use ``advisor.wording``; here a column of numbers stays aligned, so trailing zeros are
kept, counts keep all digits, and a value can be had apart from its unit. Missing is "unknown".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeGuard

from advisor.wording import UNKNOWN, plural

__all__ = [
    "MINUS",
    "NO_BREAK_SPACE",
    "UNKNOWN",
    "counted",
    "decimals",
    "digits",
    "fact",
    "fixed",
    "in_unit",
    "known",
    "percent",
    "ratio",
    "scaled",
    "seconds",
    "share",
    "si",
    "time_unit",
]

MINUS = "\N{MINUS SIGN}"
NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"

_PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}
_PLAIN = frozenset({"1", "", "FLOP/B", "B/FLOP", "cycle", "FLOP/cycle"})
_TIMES = {"ns": 1e9, "µs": 1e6, "ms": 1e3, "s": 1.0}


def known(value: float | None) -> TypeGuard[float]:
    """Tell whether there is a finite number to show."""
    return value is not None and math.isfinite(value)


def fixed(value: float | None, decimals: int = 0) -> str:
    """Return ``value`` with that many decimals, commas between thousands, and a true minus.

    >>> fixed(65535.0), fixed(-0.004, 1), fixed(None)
    ('65,535', '0.0', 'unknown')
    """
    if not known(value):
        return UNKNOWN
    text = f"{value:,.{decimals}f}"
    return text.replace("-", MINUS if float(text.replace(",", "")) else "")


def digits(value: float | None, significant: int = 3) -> str:
    """Return ``value`` with so many significant digits, trailing zeros kept.

    >>> digits(0.080912), digits(12345.0), digits(9.9996), digits(0.0)
    ('0.0809', '12,345', '10.0', '0')
    """
    if not known(value):
        return UNKNOWN
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(float(f"{abs(value):.{significant - 1}e}")))
    if not -5 <= exponent <= 14:
        return f"{value:.{significant - 1}e}".replace("-", MINUS)
    return fixed(value, max(0, significant - 1 - exponent))


def percent(value: float | None, decimals: int = 1) -> str:
    """Return a share in [0, 1] as a percentage with that many decimals.

    >>> [percent(x).replace(NO_BREAK_SPACE, " ") for x in (0.7443, 0.0, 0.00001)]
    ['74.4 %', '0.0 %', '< 0.1 %']
    """
    return f"{_hundredths(value, decimals)}{NO_BREAK_SPACE}%" if known(value) else UNKNOWN


def _hundredths(value: float, decimals: int) -> str:
    """Return a share times 100; what would be shown as zero and is not, as less than a digit."""
    digit = 10.0**-decimals
    if 0 < 100 * value < digit / 2:
        return f"<{NO_BREAK_SPACE}{fixed(digit, decimals)}"
    return fixed(100 * value, decimals)


def share(value: float | None) -> str:
    """Return a share as a percentage for a sentence: none, one or two decimals by its size.

    >>> [share(x).replace(NO_BREAK_SPACE, " ") for x in (0.7443, 0.0321, 0.0008, 0.00001)]
    ['74 %', '3.2 %', '0.08 %', '< 0.01 %']
    """
    if not known(value):
        return UNKNOWN
    if 0 < value < 1e-4:
        return f"<{NO_BREAK_SPACE}0.01{NO_BREAK_SPACE}%"
    size = 100 * abs(value)
    return percent(value, 0 if size >= 9.95 or size == 0 else 1 if size >= 0.995 else 2)


def counted(value: float | None, noun: str) -> str:
    """Return a count and its noun, plural where it must be.

    >>> counted(1, "launch"), counted(45, "launch"), counted(2, "variant")
    ('1 launch', '45 launches', '2 variants')
    """
    return f"{fixed(value)} {plural(noun, value)}"


def ratio(value: float | None) -> str:
    """Return a ratio such as ``1.23×``."""
    return f"{digits(value)}×" if known(value) else UNKNOWN


def scaled(value: float | None, unit: str, significant: int = 4) -> tuple[str, str]:
    """Return the number and its prefixed unit apart.

    >>> scaled(8.99e11, "B/s", 3), scaled(0.0809, "FLOP/B", 3), scaled(1.312e-5, "s")
    (('899', 'GB/s'), ('0.0809', 'FLOP/B'), ('13.12', 'µs'))
    """
    if not known(value):
        return UNKNOWN, ""
    name = {"1": "", "cycle": "cycles"}.get(unit, unit)
    if unit in _PLAIN:
        whole = float(value).is_integer() and abs(value) < 1e15
        return fixed(value) if whole else digits(value, significant), name
    exponent = _exponent(value, significant, shrinks=unit == "s")
    return digits(value / 10.0**exponent, significant), f"{_PREFIXES[exponent]}{name}"


def si(value: float | None, unit: str, significant: int = 3) -> str:
    """Return number and unit joined by a no-break space.

    >>> si(0.00371, "s").replace(NO_BREAK_SPACE, " ")
    '3.71 ms'
    """
    number, name = scaled(value, unit, significant)
    return f"{number}{NO_BREAK_SPACE}{name}" if name else number


def seconds(value: float | None, significant: int = 3) -> str:
    """Return a time in ns, µs, ms or s by its size."""
    return si(value, "s", significant)


def fact(value: float | str | None, unit: str) -> tuple[str, str]:
    """Return a fact's value and unit as text, apart; a unit ``share`` is shown in percent.

    >>> fact(0.578, "share"), fact("memory", "")
    (('57.8', '%'), ('memory', ''))
    """
    if isinstance(value, str):
        return value, ""
    if unit == "share" and known(value):
        return _hundredths(value, 1), "%"
    return scaled(value, unit, 4)


def time_unit(values: Iterable[float | None]) -> str:
    """Return the unit that suits the largest of some times, for a column or a card.

    >>> time_unit([0.0062, 1e-6, None]), time_unit([])
    ('ms', 's')
    """
    largest = max((value for value in values if known(value)), default=0.0)
    return f"{_PREFIXES[_exponent(largest, 3, shrinks=True)]}s"


def decimals(values: Iterable[float | None], unit: str, significant: int = 3) -> int:
    """Return the decimals at which the largest of some times has so many digits.

    >>> decimals([8.1263e-4, 2.6e-5], "µs"), decimals([3.2e-3], "ms")
    (0, 2)
    """
    largest = max((value * _TIMES[unit] for value in values if known(value)), default=0.0)
    return max(0, significant - max(1, len(fixed(largest).replace(",", ""))))


def in_unit(value: float | None, unit: str, decimals: int = 3) -> str:
    """Return a time in a unit that ``time_unit`` gave, without the unit's name.

    >>> in_unit(0.00619, "ms")
    '6.190'
    """
    return fixed(value * _TIMES[unit], decimals) if known(value) else UNKNOWN


def _exponent(value: float, significant: int, *, shrinks: bool) -> int:
    """Return the power of ten of the prefix; a number that rounds up to 1000 takes the next.

    What ``shrinks``, a time, takes small prefixes only; all else takes large ones.
    """
    if value == 0:
        return 0
    rounded = float(f"{abs(value):.{significant - 1}e}")
    exponent = 3 * math.floor(math.log10(rounded) / 3 + 1e-12)
    return min(0 if shrinks else 15, max(-9 if shrinks else 0, exponent))
