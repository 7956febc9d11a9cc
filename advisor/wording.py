"""Numbers and names as people read them: significant digits, SI prefixes, no-break spaces.

Three significant digits unless asked otherwise; decimal prefixes, bytes too; a no-break space
before every unit; a true minus. ``None`` becomes the word "unknown".
"""

from __future__ import annotations

import math
import unicodedata

UNKNOWN = "unknown"
NO_BREAK = "\u00a0"
_PREFIXES = {
    -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E",
}  # fmt: skip
_PREFIXED = ("FLOP", "FLOP/s", "B", "B/s", "s", "Hz", "W", "J")
_FEW = {1: "one", 2: "two", 3: "three"}
_SPELLED = {"1": "", "cycle": "cycles"}


def significant(value: float, digits: int = 3) -> str:
    """Return the number with so many significant digits and no exponent.

    >>> significant(1234.5), significant(0.012345), significant(-2.0)
    ('1,230', '0.0123', '−2.00')
    """
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    exponent = _exponent(value, digits)
    rounded = round(value, digits - 1 - exponent)
    decimals = max(0, digits - 1 - exponent)
    return f"{rounded:,.{decimals}f}".replace("-", "−")


def _exponent(value: float, digits: int) -> int:
    """Return the decimal exponent of the value after rounding to so many digits."""
    return int(f"{abs(value):.{digits - 1}e}".split("e")[1])


def si(value: float | None, unit: str, digits: int = 3) -> str:
    """Return value and unit with the prefix that leaves one to three digits before the point.

    >>> si(1.5e12, "FLOP/s"), si(2.5e-6, "s"), si(None, "B"), si(0.25, "1")
    ('1.50\\xa0TFLOP/s', '2.50\\xa0µs', 'unknown', '0.250')
    """
    if value is None:
        return UNKNOWN
    if unit not in _PREFIXED or value == 0 or not math.isfinite(value):
        return _join(significant(value, digits), _SPELLED.get(unit, unit))
    power = 3 * math.floor(_exponent(value, digits) / 3)
    highest = 0 if unit == "s" else max(_PREFIXES)
    lowest = 0 if unit.startswith("B") else min(_PREFIXES)
    power = min(max(power, lowest), highest)
    return _join(significant(value / 10.0**power, digits), _PREFIXES[power] + unit)


def _join(number: str, unit: str) -> str:
    return f"{number}{NO_BREAK}{unit}" if unit else number


def seconds(value: float | None, digits: int = 3) -> str:
    """Return a time in s, ms, µs or ns."""
    return si(value, "s", digits)


def size(value: float | None, digits: int = 3) -> str:
    """Return an amount of bytes; GB is 10⁹ B."""
    return si(value, "B", digits)


def percent(value: float | None, decimals: int = 0) -> str:
    """Return a share in [0, 1] as a percentage.

    >>> percent(0.256), percent(0.0004), percent(None)
    ('26\\xa0%', '< 1\\xa0%', 'unknown')
    """
    if value is None:
        return UNKNOWN
    least = 0.5 * 10.0**-decimals
    shown = 100 * value
    if 0 < shown < least:
        return f"< {10.0**-decimals:.{decimals}f}{NO_BREAK}%"
    return f"{shown:,.{decimals}f}{NO_BREAK}%".replace("-", "−")


def count(value: float | None, noun: str = "") -> str:
    """Return a whole number with all its digits, grouped by commas, and perhaps its noun.

    >>> count(1234), count(1, "block"), count(40, "block"), count(None, "block")
    ('1,234', '1 block', '40 blocks', 'unknown blocks')
    """
    shown = UNKNOWN if value is None else f"{round(value):,}".replace("-", "−")
    return f"{shown} {plural(noun, value and round(value))}" if noun else shown


def number(value: float | None, digits: int = 3, noun: str = "") -> str:
    """Return a plain number: whole ones as they are, others to so many significant digits.

    >>> number(1.0, 3, "wave"), number(2.5, 3, "wave")
    ('1 wave', '2.50 waves')
    """
    if value is None or float(value).is_integer():
        return count(value, noun)
    shown = significant(value, digits)
    return f"{shown} {plural(noun, value)}" if noun else shown


def few(value: int, noun: str) -> str:
    """Return a whole number with its noun, spelled out up to three.

    >>> few(1, "exclusion"), few(2, "launch"), few(12, "block")
    ('one exclusion', 'two launches', '12 blocks')
    """
    return f"{_FEW.get(value, f'{value:,}')} {plural(noun, value)}"


def plural(noun: str, value: float | None) -> str:
    """Return the noun as it stands after the number.

    >>> plural("launch", 1), plural("launch", 2), plural("variant", None)
    ('launch', 'launches', 'variants')
    """
    return noun if value == 1 else f"{noun}es" if noun.endswith(("ch", "s")) else f"{noun}s"


def ratio(value: float | None, digits: int = 3) -> str:
    """Return a factor such as ``1.23×``."""
    return UNKNOWN if value is None else f"{significant(value, digits)}×"


def printable(text: str) -> str:
    """Return the text without characters that a terminal would act on; newlines stay.

    Control characters, escapes and characters that change the direction of writing are shown as
    ``\\x1b`` and the like, so a hostile kernel name is seen for what it is.
    """
    if text.isascii() and text.isprintable():
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
