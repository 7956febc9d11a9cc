"""Units: what a number measures, and the scale that brings it to SI.

A dimension is a tuple of integer exponents over ``BASES``. Counts (instructions, warps, sectors,
blocks …) are dimensionless: they differ in what is counted, which names say, not units.

Source: SI Brochure, 9th edition, section 3 (decimal prefixes); the spellings of profilers are those
of the unit row that the Nsight Compute command line prints, versions 2019.5 to 2025.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from advisor.errors import RuleError
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from advisor.errors import Location

BASES = ("s", "B", "FLOP", "cycle", "J")

Dimension = tuple[int, ...]


@dataclass(frozen=True)
class Unit:
    """A dimension and the exact factor that converts a value in this unit to SI.

    >>> str(parse_unit("Gbyte/second")), float(parse_unit("Gbyte/second").scale)
    ('B/s', 1000000000.0)
    """

    dimension: Dimension
    scale: Fraction = Fraction(1)

    @property
    def is_dimensionless(self) -> bool:
        """Return whether the unit is a pure number (of any scale: percent is one)."""
        return not any(self.dimension)

    @property
    def measures(self) -> Dimension:
        """The dimension, cycles being counts: profilers print some of theirs as ``inst``."""
        return tuple(n for base, n in zip(BASES, self.dimension, strict=True) if base != "cycle")

    def is_like(self, other: Unit) -> bool:
        """Return whether values of both units may be added and compared."""
        return self.dimension == other.dimension

    def __mul__(self, other: Unit) -> Unit:
        """Return the unit of a product."""
        dimension = tuple(a + b for a, b in zip(self.dimension, other.dimension, strict=True))
        return Unit(dimension, self.scale * other.scale)

    def __truediv__(self, other: Unit) -> Unit:
        """Return the unit of a quotient."""
        dimension = tuple(a - b for a, b in zip(self.dimension, other.dimension, strict=True))
        return Unit(dimension, self.scale / other.scale)

    def __pow__(self, exponent: int) -> Unit:
        """Return the unit of an integer power."""
        return Unit(tuple(a * exponent for a in self.dimension), self.scale**exponent)

    def in_si(self) -> Unit:
        """Return the same dimension at scale 1."""
        return Unit(self.dimension)

    def __str__(self) -> str:
        """Return the SI spelling of the dimension, such as ``FLOP/B``; the scale is not shown."""
        if self.dimension in _SPELLED:
            return _SPELLED[self.dimension]
        powers = list(zip(BASES, self.dimension, strict=True))
        above = "·".join(_power(base, n) for base, n in powers if n > 0) or "1"
        below = "".join(f"/{_power(base, -n)}" for base, n in powers if n < 0)
        return above + below


def _power(base: str, exponent: int) -> str:
    return base if exponent == 1 else f"{base}^{exponent}"


DIMENSIONLESS = Unit((0,) * len(BASES))

_SECOND, _BYTE, _FLOP, _CYCLE, _JOULE = (
    Unit(tuple(int(base == other) for other in BASES)) for base in BASES
)
_SPELLED = {(_CYCLE / _SECOND).dimension: "Hz", (_JOULE / _SECOND).dimension: "W"}

_PREFIXES = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "µ": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "k": Fraction(10**3),
    "K": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
}
_SMALL = ("", "n", "u", "µ", "m")
_LARGE = ("", "k", "K", "M", "G", "T", "P")
_PREFIXED = (
    (("s",), _SECOND, _SMALL),
    (("second", "seconds"), _SECOND, ("", "n", "u", "m")),
    (("B",), _BYTE, (*_LARGE, "Ki", "Mi", "Gi")),
    (("byte", "bytes"), _BYTE, _LARGE),
    (("FLOP", "OP", "flop"), _FLOP, _LARGE),
    (("flops",), _FLOP, ("",)),
    (("Hz", "hz"), _CYCLE / _SECOND, _LARGE),
    (("cycle", "cycles"), _CYCLE, ("", "K", "M", "G")),
    (("J",), _JOULE, ("", "n", "u", "µ", "m", "k", "M")),
    (("W",), _JOULE / _SECOND, ("", "m", "k", "M")),
)
_COUNTS = (
    "block", "cluster", "grid", "inst", "instruction", "launch", "register", "request", "sample",
    "sector", "SM", "thread", "warp", "wavefront",
)  # fmt: skip


def _spellings() -> dict[str, Unit]:
    units = {
        prefix + word: Unit(unit.dimension, _PREFIXES[prefix])
        for words, unit, prefixes in _PREFIXED
        for word in words
        for prefix in prefixes
    }
    units |= {
        prefix + word + ending: Unit(DIMENSIONLESS.dimension, _PREFIXES[prefix])
        for word in _COUNTS
        for ending in ("", "s")
        for prefix in ("", "K", "M", "G")
    }
    units |= dict.fromkeys(("1", "branch", "branches", "pass", "passes"), DIMENSIONLESS)
    units["%"] = Unit(DIMENSIONLESS.dimension, Fraction(1, 100))
    return units


_SPELLINGS = 1024  # of units that are held: rules, facts and counters write a few dozen

_UNITS = _spellings()
_FACTOR = re.compile(r"(?P<name>%|1|[A-Za-zµ]+)(?:\^(?P<power>-?[1-9]))?")


def parse_unit(text: str, *, at: Location | None = None) -> Unit:
    """Return the unit that ``text`` spells: factors joined by ``*``, ``·``, ``/``, left to right.

    ``FLOP/s/W``, ``1/s`` and ``B^2`` are units; an empty text is not (a profiler that prints no
    unit means ``1``, and its reader says so).

    Raises:
        RuleError: a word is no unit that we know; proposes a near one.
    """
    unit = _known(text)
    return _product(text, at) if unit is None else unit


def is_known_unit(text: str) -> bool:
    """Return whether ``parse_unit`` knows every word of ``text``, without looking for near ones."""
    factors = (_FACTOR.fullmatch(part.strip()) for part in re.split(r"[*·/]", text))
    return all(factor is not None and factor["name"] in _UNITS for factor in factors)


@lru_cache(maxsize=_SPELLINGS)
def _known(text: str) -> Unit | None:
    """Return the unit that a text spells; None where it is none."""
    return _product(text, None) if is_known_unit(text) else None


def _product(text: str, at: Location | None) -> Unit:
    unit = DIMENSIONLESS
    for index, part in enumerate(re.split(r"([*·/])", text.strip())):
        if index % 2:
            operator = part
        elif index == 0:
            unit = _factor(part, text, at)
        else:
            factor = _factor(part, text, at)
            unit = unit / factor if operator == "/" else unit * factor
    return unit


def _factor(part: str, text: str, at: Location | None) -> Unit:
    match = _FACTOR.fullmatch(part.strip())
    unit = _UNITS.get(match["name"]) if match else None
    if match is None or unit is None:
        hint = did_you_mean(part.strip(), _UNITS, "units look like s, B, FLOP/s, Hz, W, %, 1")
        problem = f"{text[:80]!r} is not a unit that is known here"
        raise RuleError(problem, at=at, hint=hint)
    return unit ** int(match["power"]) if match["power"] else unit
