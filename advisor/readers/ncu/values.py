"""Values and labels of Nsight Compute's printed pages → counters in base units.

Base units are those of the report file: ns, byte, Hz, percent, counts. Printed pages scale them by
decimal prefixes (``Kbyte`` is 1,000 bytes) and spell them differently from version to version.

Source: Nsight Compute CLI documentation, "Console Output"; the pages themselves, 2019 to 2026.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from advisor.cache import remembered
from advisor.documents import MappingNode, load
from advisor.errors import InputError, Location
from advisor.model import Dim3
from advisor.readers.ncu.findings import plain
from advisor.resources import data_dir
from advisor.units import Dimension, is_known_unit, parse_unit

T = TypeVar("T")

COUNTER_NAME = r"[a-z]\w*__[\w.:]+"
"""The form of the names that counters have on pages."""

_PLAIN = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_GROUPED = re.compile(
    r"[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d?(?:,\d\d)+,\d{3})(?:\.\d+)?", re.ASCII
)  # by thousands, or by lakhs behind them
_DOTTED = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)
_SPACED = re.compile(r"[-+]?[1-9]\d{0,2}([ \u00a0\u2009\u202f'’]\d{3})+([.,]\d+)?", re.ASCII)
_GROUPS = str.maketrans("", "", " \u00a0\u2009\u202f'’")
_COMMA = re.compile(r"[-+]?(\d+|[1-9]\d{0,2}(\.\d{3})+),\d+([eE][-+]?\d+)?", re.ASCII)
_WITH_INSTANCES = re.compile(r"(\S+) \([^;()]+(?:; [^;()]+)*\)")
_FAILED = "(!) "  # stands before what a counter that failed has for a value
_MISSING = frozenset({"", "n/a", "no data", "-"})
_NOT_FINITE = frozenset({"nan", "-nan", "inf", "-inf", "nan(ind)", "-nan(ind)"})
_COUNTER = re.compile(r"[\w.:]*_[\w.:]*", re.ASCII)
_ADDRESS = re.compile(r" \(https?://[^\s()]{1,300}\)")
_WHOLE = re.compile(r"\d{1,10}", re.ASCII)
_DIMENSIONS = re.compile(r"\(?\s*(\d{1,10})\s*,\s*(\d{1,10})\s*,\s*(\d{1,10})\s*\)?", re.ASCII)
_SIZE_LIMIT = 2**32  # no grid, block, device or process number reaches it
_FAR = 0.2  # of the greater of two values; one code on one shape differs less, clocks aside
_LONGEST_UNIT = 40  # characters; "register/thread" has 15
_POWER = frozenset("^*·")  # no printed unit has a power or a product
_HINT = "run the profiler with LC_ALL=C and export again"
_RULE_SEVERITY = {
    "INF": "ok",
    "OK": "ok",
    "OPT": "optimization",
    "WRN": "warning",
    "ERR": "error",
}


def severity(word: str) -> str:
    """Return the vendor's severity for the abbreviation printed in front of a rule's message."""
    return _RULE_SEVERITY.get(word.strip().upper(), "none")


def printed_message(message: str) -> str:
    """Return a rule's message as a report has it: without the addresses of what it refers to.

    >>> printed_message("See the Guide (https://example.org/#a) for more.")
    'See the Guide for more.'
    """
    return plain(_ADDRESS.sub("", message))


def is_counter(name: str) -> bool:
    """Distinguish a counter's name from a label for people or a column that tells about the launch.

    >>> is_counter("inst_executed"), is_counter("Memory Throughput"), is_counter("Device")
    (True, False, False)
    """
    return _COUNTER.fullmatch(name) is not None


def whole_number(text: str) -> int | None:
    """Return a number such as a process or a stream has, which Python may have saved as ``7.0``."""
    text = text.strip().removesuffix(".0")
    return int(text) if _WHOLE.fullmatch(text) and int(text) < _SIZE_LIMIT else None


def dimensions(text: str) -> Dim3 | None:
    """Return the three numbers of ``(256, 1, 1)``, or None.

    >>> dimensions("(256, 1, 1)"), dimensions("")
    ((256, 1, 1), None)
    """
    match = _DIMENSIONS.fullmatch(text.strip())
    return None if match is None else shape_of(int(match[1]), int(match[2]), int(match[3]))


def shape_of(x: float | None, y: float | None, z: float | None) -> Dim3 | None:
    """Return three sizes as integers, None where one is absent or impossible."""
    if x is None or y is None or z is None or not (is_size(x) and is_size(y) and is_size(z)):
        return None
    return int(x), int(y), int(z)


def is_size(number: float) -> bool:
    """Return whether ``number``, which is finite, can count blocks, threads or devices."""
    return 0 <= number < _SIZE_LIMIT and number == int(number)


@dataclass
class Numbers:
    """Reads printed numbers of one file and remembers how it writes decimals.

    ``1.234`` is 1234 where a comma was the decimal mark before; a file that uses both marks is
    refused. Thousands may be set apart by spaces or apostrophes, too.
    """

    comma_at: Location | None = None
    point_at: Location | None = None

    def parse(self, text: str, at: Location) -> float | str | None:
        """Return the number; NaN where the page says so, None where there is none, else the text.

        Raises:
            InputError: the file's decimal mark cannot be known.
        """
        if _PLAIN.fullmatch(text):
            return self._with_point(text, at)
        text = text.strip().removeprefix(_FAILED)
        if text.lower() in _MISSING:
            return None
        if text.lower() in _NOT_FINITE:
            return math.nan
        instances = _WITH_INSTANCES.fullmatch(text)
        number = self._number(instances[1] if instances else text, at)
        return text if number is None else number

    def _number(self, text: str, at: Location) -> float | None:
        if _SPACED.fullmatch(text):
            text = text.translate(_GROUPS)
        elif text.count(".") > 1 and _DOTTED.fullmatch(text):
            return self._with_comma(text, at)
        if _PLAIN.fullmatch(text) or _GROUPED.fullmatch(text):
            return self._with_point(text, at)
        if not _COMMA.fullmatch(text):
            return None
        return self._with_comma(text, at)

    def _with_comma(self, text: str, at: Location) -> float:
        if self.comma_at is None:
            self.comma_at = _sole(at, self.point_at)
        return float(text.replace(".", "").replace(",", "."))

    def _with_point(self, text: str, at: Location) -> float:
        if self.comma_at is not None and _DOTTED.fullmatch(text):
            return self._with_comma(text, at)
        if self.point_at is None and ("." in text or "," in text):
            self.point_at = _sole(at, self.comma_at)
        return float(text.replace(",", ""))


def _sole(at: Location, other: Location | None) -> Location:
    """Return the place of a decimal mark in a file where no ``other`` one stands.

    Raises:
        InputError: one does.
    """
    if other is not None:
        problem = f"the decimal mark here contradicts the one at {other}"
        raise InputError(problem, at=at, hint=_HINT)
    return at


@dataclass(kw_only=True)
class WrittenNumbers(Numbers):
    """Reads the numbers that people wrote beside the profiler's tables.

    The decimal mark of ``tables`` counts, where they show one before. A number with another mark is
    none, and ``leave`` is called with its place: what people write is no reason to refuse a page.
    """

    tables: Numbers
    leave: Callable[[Location], None]

    def parse(self, text: str, at: Location) -> float | str | None:
        """Return the number as ``Numbers`` does; None for one with another decimal mark."""
        if self.tables.comma_at or self.tables.point_at:
            self.comma_at, self.point_at = self.tables.comma_at, self.tables.point_at
        try:
            return super().parse(text, at)
        except InputError:
            self.leave(at)
            return None


def is_number(text: str) -> bool:
    """Return whether a cell is a number, whatever its decimal mark; ``n/a`` and nan are none."""
    forms = (_PLAIN, _GROUPED, _DOTTED, _COMMA)
    return any(form.fullmatch(text) for form in forms)


def is_far(one: float, other: float) -> bool:
    """Return whether two values are so far apart that they are hardly of one code and shape.

    >>> is_far(100.0, 90.0), is_far(100.0, 70.0), is_far(0.0, 0.0)
    (False, True, False)
    """
    return abs(one - other) > _FAR * max(abs(one), abs(other))


def no_number(text: str, unit: str, at: Location) -> InputError:
    """Return the error that ``text`` is no number although it has a unit."""
    problem = f"expected a number such as 1,234.5 in {unit}, found {text[:40]!r}"
    return InputError(problem, at=at, hint=_HINT)


@lru_cache(maxsize=256)
def base_factor(unit: str) -> float | None:
    """Return what a value printed in ``unit`` is multiplied by to be in base units.

    None where the unit is not known: the value cannot be trusted then.

    >>> base_factor("usecond"), base_factor("%"), base_factor("Gbyte/second")
    (1000.0, 1.0, 1000000000.0)
    """
    if unit in ("", "%"):
        return 1.0
    if len(unit) > _LONGEST_UNIT or _POWER & set(unit) or not is_known_unit(unit):
        return None
    parsed, nanosecond = parse_unit(unit), parse_unit("ns")
    is_time = parsed.dimension == nanosecond.dimension
    try:
        return float(parsed.scale / nanosecond.scale if is_time else parsed.scale)
    except OverflowError:
        return None


def whole_size(cell: str, factor: float) -> float:
    """Return the size in bytes that a page has rounded, printed in units of ``factor`` bytes.

    Of all that it may be, the multiple of the largest power of two.

    >>> whole_size("4.61", 1000.0)
    4608.0
    """
    number, step = float(cell), factor * 10.0 ** -len(cell.partition(".")[2]) / 2
    low, high = math.ceil(number * factor - step), math.floor(number * factor + step)
    if low < 1 or low >= high:
        return number * factor
    return float(high >> (bits := ((low - 1) ^ high).bit_length() - 1) << bits)


@lru_cache(maxsize=256)
def measured(unit: str) -> Dimension:
    """Return what a ``unit`` that is known measures."""
    return parse_unit(unit).measures


@dataclass(frozen=True)
class CounterLabels:
    """Section and label as printed → counter.

    ``shortened`` are the endings that names of counters are cut to, and what they stand for;
    ``sizes`` the counters of which a printed value is a rounded size in bytes.
    """

    sections: Mapping[str, object]
    shortened: Mapping[str, str]
    sizes: frozenset[str]

    def counter(self, section: str, label: str, unit: str) -> str | None:
        """Return the counter's name, or None where there is none."""
        if is_counter(label):
            return self._whole(label)
        labels = self.sections.get(section)
        found = labels.get(label) if isinstance(labels, Mapping) else None
        if isinstance(found, Mapping):
            found = found.get(unit)
        return found if isinstance(found, str) else None

    def _whole(self, name: str) -> str:
        for ending, whole in self.shortened.items():
            if name.endswith(ending):
                return name.removesuffix(ending) + whole
        return name

    def counters(self, label: str, unit: str) -> set[str]:
        """Return the counters that a label means in any of the sections."""
        found = (self.counter(section, label, unit) for section in self.sections)
        return {counter for counter in found if counter is not None}

    def knows(self, section: str, label: str) -> bool:
        """Return whether a section has a label, or the label is a counter's name."""
        labels = self.sections.get(section)
        return is_counter(label) or (isinstance(labels, Mapping) and label in labels)

    def names(self) -> frozenset[str]:
        """Return the labels of all sections."""
        known = (labels for labels in self.sections.values() if isinstance(labels, Mapping))
        return frozenset(str(label) for labels in known for label in labels)


@lru_cache(maxsize=1)
def load_labels() -> CounterLabels:
    """Return the labels of ``rules/labels/ncu.yaml``."""
    return _remembered("labels of pages", _labels)


def _labels(document: MappingNode) -> CounterLabels:
    sections = document.mapping("sections").items()
    shortened = (node.as_mapping() for node in document.sequence("shortened"))
    return CounterLabels(
        {name: labels.as_mapping().plain() for name, labels in sections},
        {each.text("ending"): each.text("whole") for each in shortened},
        frozenset(document.sequence("sizes").texts()),
    )


@dataclass(frozen=True)
class Messages:
    """How the profiler's messages are told.

    ``alone`` matches the beginning of a line that only the profiler writes, ``worth`` that of a
    message that says what it is worth; the line ``unlocked`` says that clocks were not held.
    """

    alone: re.Pattern[str]
    worth: re.Pattern[str]
    unlocked: str


@lru_cache(maxsize=1)
def load_messages() -> Messages:
    """Return how messages are told by ``rules/labels/ncu.yaml``."""
    return _remembered("messages of pages", _messages)


def _messages(document: MappingNode) -> Messages:
    return Messages(
        alone=re.compile("|".join(each.as_text() for each in document.sequence("alone"))),
        worth=re.compile(document.text("worth")),
        unlocked=document.text("unlocked"),
    )


@dataclass(frozen=True)
class Sentence:
    """What a message of the profiler's rules says about a counter: ``value``, minus ``less``.

    Without a group ``value``, the number is what the message says that it is worth, in percent.
    """

    pattern: re.Pattern[str]
    counter: str

    def number(self, message: str, estimate: float | None = None) -> float | None:
        """Return the counter's value in its base unit; None where the message says nothing."""
        found = self.pattern.search(message)
        if found is None:
            return None
        if "value" not in self.pattern.groupindex:
            return None if estimate is None else 100 * estimate
        value, less = (found.groupdict("0").get(name, "0") for name in ("value", "less"))
        return float(value.replace(",", "")) - float(less.replace(",", ""))


def counters_in(messages: Iterable[tuple[str, float | None]]) -> dict[str, float]:
    """Return the counters that messages with their estimates name, with values in base units."""
    return {name: number for message in messages for name, number in _told(*message).items()}


@lru_cache(maxsize=64)
def _told(message: str, estimate: float | None) -> Mapping[str, float]:
    """Return what one message tells; messages of a launch are asked for twice."""
    told = ((each.counter, each.number(message, estimate)) for each in load_sentences())
    return {counter: number for counter, number in told if number is not None}


@lru_cache(maxsize=1)
def load_sentences() -> tuple[Sentence, ...]:
    """Return the sentences of ``rules/labels/ncu.yaml``."""
    return _remembered("sentences of pages", _sentences)


def _sentences(document: MappingNode) -> tuple[Sentence, ...]:
    entries = [node.as_mapping() for node in document.sequence("sentences")]
    return tuple(
        Sentence(re.compile(entry.text("match")), entry.text("counter")) for entry in entries
    )


def _remembered(name: str, read: Callable[[MappingNode], T]) -> T:
    """Return what ``read`` makes of ``rules/labels/ncu.yaml``, from the cache where it has it."""
    path = data_dir("rules") / "labels" / "ncu.yaml"
    return remembered(name, [path], "", lambda: read(load(path)))
