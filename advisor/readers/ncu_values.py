"""Values and labels of Nsight Compute's printed pages → counters in base units.

Base units are those of the report file: ns, byte, Hz, percent, counts. Printed pages scale them by
decimal prefixes (``Kbyte`` is 1,000 bytes) and spell them differently from version to version.

Source: Nsight Compute CLI documentation, "Console Output"; the pages themselves, 2019 to 2026.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import yaml

from advisor.errors import InputError, Location, RuleError
from advisor.resources import data_dir
from advisor.units import parse_unit

_PLAIN = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
_GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")
_EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?")
_MISSING = frozenset({"", "n/a", "N/A", "no data", "(!) n/a", "-"})
_NOT_FINITE = frozenset({"nan", "-nan", "inf", "-inf", "nan(ind)", "-nan(ind)"})
_RULE_SEVERITY = {
    "INF": "ok",
    "OK": "ok",
    "OPT": "optimization",
    "WRN": "warning",
    "WARN": "warning",
    "ERR": "error",
}


def severity(word: str) -> str:
    """Return the vendor's severity for the abbreviation printed in front of a rule's message."""
    return _RULE_SEVERITY.get(word.strip().upper(), "none")


@dataclass
class Numbers:
    """Reads printed numbers of one file and remembers how it writes decimals.

    ``1,234`` is 1234 in English and 1.234 where a comma is the decimal mark. A file that shows
    elsewhere which one it means is read so; one that uses both is refused.
    """

    comma_at: Location | None = None
    point_at: Location | None = None
    either_at: Location | None = None

    def parse(self, text: str, at: Location) -> float | None:
        """Return the number; None where there is none; NaN where the page says so.

        Raises:
            InputError: the text is no number, or the file's decimal mark cannot be known.
        """
        text = text.strip()
        if text in _MISSING:
            return None
        if text.lower() in _NOT_FINITE:
            return math.nan
        if _PLAIN.fullmatch(text):
            if "." in text:
                self._point(at)
            return float(text)
        if _EITHER.fullmatch(text):
            self._either(at)
            return float(text.replace(",", ""))
        if _GROUPED.fullmatch(text):
            self._point(at)
            return float(text.replace(",", ""))
        if _COMMA.fullmatch(text):
            self._comma(at)
            return float(text.replace(".", "").replace(",", "."))
        problem = f"expected a number such as 1,234.5, found {text[:40]!r}"
        raise InputError(problem, at=at, hint="run the profiler with LC_ALL=C")

    def _point(self, at: Location) -> None:
        self.point_at = self.point_at or at
        self._refuse_both(at)

    def _comma(self, at: Location) -> None:
        self.comma_at = self.comma_at or at
        self._refuse_both(at)

    def _either(self, at: Location) -> None:
        self.either_at = self.either_at or at
        self._refuse_both(at)

    def _refuse_both(self, at: Location) -> None:
        other = self.point_at or self.either_at
        if self.comma_at is None or other is None:
            return
        problem = f"a comma is the decimal mark here and may be something else at {other}"
        raise InputError(problem, at=at, hint="run the profiler with LC_ALL=C and export again")


@lru_cache(maxsize=512)
def base_factor(unit: str) -> float | None:
    """Return what a value printed in ``unit`` is multiplied by to be in base units.

    None where the unit is not known: the value cannot be trusted then.

    >>> base_factor("usecond"), base_factor("%"), base_factor("Gbyte/second")
    (1000.0, 1.0, 1000000000.0)
    """
    text = unit.strip()
    if text in ("", "%"):
        return 1.0
    try:
        parsed = parse_unit(text)
    except RuleError:
        return None
    nanosecond = parse_unit("ns")
    if parsed.dimension == nanosecond.dimension:
        return float(parsed.scale / nanosecond.scale)
    return float(parsed.scale)


@dataclass(frozen=True)
class Labels:
    """Section and label as printed → counter; ``unknown`` collects labels that are not known."""

    sections: Mapping[str, Mapping[str, object]]
    unknown: dict[str, int] = field(default_factory=dict)

    def counter(self, section: str, label: str, unit: str) -> str | None:
        """Return the counter's name, or None (and remember the label) where there is none."""
        name = label.strip()
        if "__" in name:
            return name
        found = self.sections.get(section.strip(), {}).get(name)
        if isinstance(found, Mapping):
            found = found.get(unit.strip())
        if isinstance(found, str):
            return found
        place = f"{section.strip()}: {name}"
        self.unknown[place] = self.unknown.get(place, 0) + 1
        return None


def load_labels() -> Labels:
    """Return the labels of ``rules/labels/ncu.yaml``."""
    path = data_dir("rules") / "labels" / "ncu.yaml"
    with path.open("rb") as file:
        return Labels(sections=yaml.load(file, Loader=yaml.CSafeLoader)["sections"])
