"""Numbers and names as people read them: the only module that writes a number.

Three significant digits unless asked otherwise, digits that are known never replaced by zeros;
decimal prefixes, bytes too; a no-break space before every unit; a true minus. A column of like
numbers has fixed decimals and one unit. What is missing or not finite is the word "unknown".
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from sys import float_info
from typing import TypeGuard

UNKNOWN = "unknown"
NO_BREAK = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
_PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_PLAIN = frozenset({"1", "", "FLOP/B", "B/FLOP", "cycle", "FLOP/cycle"})
_SPELLED = {"1": "", "cycle": "cycles"}
_TIMES = {"ns": 1e9, "µs": 1e6, "ms": 1e3, "s": 1.0}
_FEW = {1: "one", 2: "two", 3: "three"}
_MANY = 1e7
_LARGE = {6: "million", 9: "billion", 12: "trillion", 15: "quadrillion", 18: "quintillion"}


def known(value: float | None) -> TypeGuard[float]:
    """Return whether there is a finite number to show."""
    return value is not None and math.isfinite(value)


def fixed(value: float | None, decimals: int = 0) -> str:
    """Return ``value`` with that many decimals, commas between thousands, and a true minus.

    >>> fixed(65535.0), fixed(-0.004, 1), fixed(None)
    ('65,535', '0.0', 'unknown')
    """
    if not known(value):
        return UNKNOWN
    text = f"{value:,.{decimals}f}"
    return text if value > 0 else text.replace("-", MINUS if float(text.replace(",", "")) else "")


def significant(value: float | None, digits: int = 3) -> str:
    """Return ``value`` with so many significant digits, trailing zeros kept.

    >>> significant(0.080912), significant(1234.0), significant(9.9996), significant(-2.0)
    ('0.0809', '1,234', '10.0', '−2.00')
    """
    if not known(value):
        return UNKNOWN
    if value == 0:
        return "0"
    exponent = int(f"{abs(value):.{digits - 1}e}".split("e")[1])
    if not -5 <= exponent <= 14:
        return f"{value:.{digits - 1}e}".replace("-", MINUS)
    return fixed(value, max(0, digits - 1 - exponent))


@lru_cache(maxsize=4096)  # charts of several sizes write the same numbers
def scaled(value: float | None, unit: str, digits: int = 4) -> tuple[str, str]:
    """Return the number and its prefixed unit apart; of plain units, whole numbers as they are.

    >>> scaled(8.99e11, "B/s", 3), scaled(0.0809, "FLOP/B", 3), scaled(1.312e-5, "s")
    (('899', 'GB/s'), ('0.0809', 'FLOP/B'), ('13.12', 'µs'))
    """
    if not known(value):
        return UNKNOWN, ""
    name = _SPELLED.get(unit, unit)
    if unit in _PLAIN:
        whole = float(value).is_integer() and abs(value) < 1e15
        return fixed(value) if whole else significant(value, digits), name
    exponent = _exponent(value, digits, shrinks=unit == "s")
    return significant(value / 10.0**exponent, digits), f"{_PREFIXES[exponent]}{name}"


def _exponent(value: float, digits: int, *, shrinks: bool) -> int:
    """Return the power of ten of the prefix; a number that rounds up to 1000 takes the next.

    What ``shrinks``, a time, takes small prefixes only; all else takes large ones.
    """
    if value == 0:
        return 0
    rounded = float(f"{abs(value):.{digits - 1}e}")
    exponent = 3 * math.floor(math.log10(rounded) / 3 + 1e-12)
    return min(0 if shrinks else max(_PREFIXES), max(min(_PREFIXES) if shrinks else 0, exponent))


def si(value: float | None, unit: str, digits: int = 3) -> str:
    """Return value and unit with the prefix that leaves one to three digits before the point.

    >>> si(1.5e12, "FLOP/s"), si(2.5e-6, "s"), si(None, "B"), si(0.25, "1")
    ('1.50\\xa0TFLOP/s', '2.50\\xa0µs', 'unknown', '0.250')
    """
    number, name = scaled(value, unit, digits)
    return f"{number}{NO_BREAK}{name}" if name else number


def seconds(value: float | None, digits: int = 3) -> str:
    """Return a time in s, ms, µs or ns."""
    return si(value, "s", digits)


def between(low: float | None, high: float | None, digits: int = 3) -> str:
    """Return two times with "to" between them; nothing is 0, without a unit.

    >>> [between(*pair).replace(NO_BREAK, " ") for pair in ((0.0, 7.62e-4), (9e-7, 2.5e-3))]
    ['0 to 762 µs', '900 ns to 2.50 ms']
    """
    return f"{'0' if low == 0 else seconds(low, digits)} to {seconds(high, digits)}"


def between_shares(low: float, high: float) -> str:
    """Return two shares as percentages with "to" between them.

    >>> between_shares(0.0, 0.123).replace(NO_BREAK, " "), between_shares(0.1, 1.0)[:4]
    ('0 to 12 %', '10 t')
    """
    return f"{share(low).removesuffix(f'{NO_BREAK}%')} to {share(high)}"


def size(value: float | None, digits: int = 3) -> str:
    """Return an amount of bytes; GB is 10⁹ B."""
    return si(value, "B", digits)


def percent(value: float | None, decimals: int = 0) -> str:
    """Return a share in [0, 1] as a percentage with that many decimals.

    What would be shown as zero and is not, is less than the last digit.

    >>> [percent(share).replace(NO_BREAK, " ") for share in (0.256, 0.0004, None)]
    ['26 %', '< 1 %', 'unknown']
    >>> [percent(share, 1).replace(NO_BREAK, " ") for share in (0.7443, 0.0, 0.00001)]
    ['74.4 %', '0.0 %', '< 0.1 %']
    """
    return f"{_hundredths(value, decimals)}{NO_BREAK}%" if known(value) else UNKNOWN


def signed_percent(value: float | None, decimals: int = 1) -> str:
    """Return a change as a percentage with its sign.

    >>> [signed_percent(change).replace(NO_BREAK, " ") for change in (0.049, -0.5, 0.0)]
    ['+4.9 %', '−50.0 %', '0.0 %']
    """
    shown = percent(value, decimals)
    return f"+{shown}" if known(value) and value > 0 else shown


def _hundredths(value: float, decimals: int) -> str:
    digit = 10.0**-decimals
    if 0 < 100 * value < digit / 2:
        return f"<{NO_BREAK}{fixed(digit, decimals)}"
    return fixed(100 * value, decimals)


def share(value: float | None) -> str:
    """Return a share as a percentage for a sentence: none, one or two decimals by its size.

    >>> [share(x).replace(NO_BREAK, " ") for x in (0.7443, 0.0321, 0.0008, 0.00001)]
    ['74 %', '3.2 %', '0.08 %', '< 0.01 %']
    """
    if not known(value):
        return UNKNOWN
    if 0 < value < 1e-4:
        return f"<{NO_BREAK}0.01{NO_BREAK}%"
    size = 100 * abs(value)
    return percent(value, 0 if size >= 9.95 or size == 0 else 1 if size >= 0.995 else 2)


def count(value: float | None, noun: str = "") -> str:
    """Return a whole number with all its digits, grouped by commas, and perhaps its noun.

    >>> count(1234), count(1, "block"), count(45, "launch"), count(None, "block")
    ('1,234', '1 block', '45 launches', 'unknown blocks')
    """
    whole = float(round(value)) if known(value) else None
    return f"{fixed(whole)} {plural(noun, whole)}" if noun else fixed(whole)


def number(value: float | None, digits: int = 3, noun: str = "") -> str:
    """Return a plain number: whole ones as they are, others to so many significant digits.

    >>> number(1.0, 3, "wave"), number(2.5, 3, "wave")
    ('1 wave', '2.50 waves')
    """
    if not known(value) or float(value).is_integer():
        return count(value, noun)
    shown = significant(value, digits)
    return f"{shown} {plural(noun, value)}" if noun else shown


def amount(value: float | None) -> str:
    """Return a plain number for a sentence: from ten million on three digits and a word.

    >>> [amount(value).replace(NO_BREAK, " ") for value in (1234.0, 2.5, 81_013_639_074_374.0)]
    ['1,234', '2.50', '81.0 trillion']
    """
    if not known(value) or abs(value) < _MANY:
        return number(value)
    exponent = _exponent(value, 3, shrinks=False)
    return f"{significant(value / 10.0**exponent)}{NO_BREAK}{_LARGE[exponent]}"


def few(value: int, noun: str) -> str:
    """Return a whole number with its noun, spelled out up to three.

    >>> few(1, "exclusion"), few(2, "launch"), few(12, "block")
    ('one exclusion', 'two launches', '12 blocks')
    """
    return f"{_FEW.get(value, f'{value:,}')} {plural(noun, value)}"


def plural(noun: str, value: float | None) -> str:
    """Return the noun as it stands after the number.

    >>> plural("launch", 1), plural("launch", 2), plural("variant", None), plural("history", 2)
    ('launch', 'launches', 'variants', 'histories')
    """
    if value != 1 and noun.endswith("ry"):
        return f"{noun[:-1]}ies"
    return noun if value == 1 else f"{noun}es" if noun.endswith(("ch", "s")) else f"{noun}s"


def chance(value: float) -> str:
    """Return a probability with one digit; below what a double tells from 0, that it is less.

    >>> chance(0.0123)
    '0.01'
    >>> chance(0.0)
    '< 2e-16'
    """
    return f"< {float_info.epsilon:.0e}" if value < float_info.epsilon else f"{value:.1g}"


def ratio(value: float | None, digits: int = 3) -> str:
    """Return a factor such as ``1.23×``."""
    return f"{significant(value, digits)}×" if known(value) else UNKNOWN


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


def decimals(values: Iterable[float | None], unit: str, digits: int = 3) -> int:
    """Return the decimals at which the largest of some times has so many digits.

    >>> decimals([8.1263e-4, 2.6e-5], "µs"), decimals([3.2e-3], "ms")
    (0, 2)
    """
    largest = max((value * _TIMES[unit] for value in values if known(value)), default=0.0)
    return max(0, digits - max(1, len(fixed(largest).replace(",", ""))))


def in_unit(value: float | None, unit: str, decimals: int = 3) -> str:
    """Return a time in a unit that ``time_unit`` gave, without the unit's name.

    >>> in_unit(0.00619, "ms")
    '6.190'
    """
    return fixed(value * _TIMES[unit], decimals) if known(value) else UNKNOWN


def minute(moment: float) -> str:
    """Return a moment [s since 1970] to the minute.

    >>> minute(1.7e9)
    '2023-11-14 22:13 UTC'
    """
    return datetime.fromtimestamp(moment, tz=UTC).strftime("%Y-%m-%d %H:%M UTC")


def printable(text: str) -> str:
    """Return the text without characters that a terminal would act on; newlines stay.

    Control characters, escapes and characters that change the direction of writing are shown as
    ``\\x1b`` and the like, so a hostile kernel name is seen for what it is.
    """
    # ``isprintable`` refuses the same characters, and every space but one.
    if text.replace("\xa0", " ").isprintable():
        return text
    return "".join(
        character if character == "\n" or _harmless(character) else _escaped(character)
        for character in text
    )


def one_line(text: str) -> str:
    """Return the text as ``printable`` does, its line breaks shown too: a name forges no line.

    >>> one_line("a\\nnew  run")
    'a\\\\nnew  run'
    """
    return printable(text).replace("\n", "\\n")


def _harmless(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
