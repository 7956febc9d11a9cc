"""Labels and values as people write them from a profile: shortened, marked, with words behind.

A label may carry its unit ("Duration (us)", "DRAM %"), a value a remark ("63.9 % (of its peak)").
What is not certain is not read: two numbers in a cell, a word that is no remark, a share without
its percent sign.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from advisor.model import Dim3
from advisor.readers.ncu.values import COUNTER_NAME, base_factor, is_number, load_labels, shape_of
from advisor.readers.ncu.words import load_words, plain_label, unmarked
from advisor.records import dataclass

COUNT = "1"
"""The unit of what is counted."""

FEWEST_ROWS = 4
"""Rows of different labels with units that make a page without any head."""

LONGEST = 300
"""Characters of a cell that can be a label or a value."""

_BRACKETS = re.compile(
    r"(?P<label>.*\S)\s*[(\[](?P<inside>[^()\[\]]*)[)\]]|(?P<before>.*[^\s,]), (?P<behind>[^,]+)"
)
_LAST_WORD = re.compile(r"(?P<label>.*\S)\s+(?P<unit>\S+)")
_ABOUT = re.compile(r"[~≈]\s*|ca\.?\s+")
_NUMBER = re.compile(
    r"(?P<number>\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?:\.\d+)?(?![\d.,])"
    r"|\d(?:[\d.,]*\d)?(?:[eE][-+]?\d+)?)",
    re.ASCII,
)
_UNIT = re.compile(r"\s?(?P<unit>%|[^\W\d_][\w/]*)")
_SHAPE = re.compile(r"\(\s*(\d{1,10})\s*(?:,\s*(\d{1,10})\s*)?(?:,\s*(\d{1,10})\s*)?\)", re.ASCII)
_TOTAL = re.compile(r"(?<!\s)\s*=\s*\d[\d., ]*(?:blocks?|threads?)?$")
_COUNTER = re.compile(COUNTER_NAME, re.ASCII)
_GRID, _BLOCK = "launch__grid_size", "launch__block_size"
_MISSING = frozenset({"", "-", "--", "—", "–", "n/a", "na", "none", "?", "…", "..."})


@dataclass(frozen=True, kw_only=True)
class WrittenValue:
    """A number as it is written and its unit; ``shape`` where three numbers say it."""

    cell: str
    unit: str
    shape: Dim3 | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether the number is nought and has no unit, which needs none."""
        return self.unit == COUNT and not self.cell.strip("0.,")


@dataclass(frozen=True, kw_only=True)
class WrittenLabel:
    """The counters that a label may mean, and the unit that stands in it; "" where none does.

    A label of both shapes of a launch means two counters that stand in one cell.
    """

    counters: frozenset[str]
    unit: str = ""
    is_shape: bool = False

    @property
    def is_grid(self) -> bool:
        """Whether it means the grid, beside which people write the block."""
        return self.counters == {_GRID}

    def within(self, unit: str) -> WrittenLabel:
        """Return the label with the unit of the one beside it."""
        return WrittenLabel(counters=self.counters, unit=unit)

    def fits(self, value: WrittenValue) -> bool:
        """Return whether a value can be of one of the counters: only shares are in percent."""
        if value.is_nothing:
            return True
        return any(is_share(name) == (value.unit == "%") for name in self.counters)


Pair = tuple[frozenset[str], WrittenValue]
"""The counters that a value may be of, and the value."""


def is_share(counter: str) -> bool:
    """Return whether a counter is measured in percent."""
    return "pct" in counter


def is_missing(cell: str) -> bool:
    """Return whether a cell says that there is no value."""
    return unmarked(cell).casefold() in _MISSING


@lru_cache(maxsize=4096)
def written_label(text: str) -> WrittenLabel | None:
    """Return what a label means, None where that is not certain.

    >>> written_label("DRAM Throughput %").unit, written_label("Duration (NCU, µs)").unit
    ('%', 'µs')
    """
    text = unmarked(text)
    if not text or len(text) > LONGEST:
        return None
    if _COUNTER.fullmatch(text):
        return _named(load_labels().counter("", text, ""))
    words = load_words()
    key = plain_label(text)
    if key in words.shapes:
        return WrittenLabel(counters=frozenset({_GRID, _BLOCK}), is_shape=True)
    if counters := words.labels.get(key):
        return WrittenLabel(counters=counters)
    return _bracketed(text) or _with_unit(text)


def label_key(label: str) -> str:
    """Return what is the same for all labels of one meaning."""
    found = written_label(label)
    return counters_key(found.counters) if found else label


def counters_key(counters: frozenset[str]) -> str:
    """Return one text for the counters that a label may mean."""
    return " ".join(sorted(counters))


def tell_a_profile(keys: Collection[str]) -> bool:
    """Return whether labels of values with units, by their keys, show a page of the profiler.

    Fewer will do where one of them is not found in other programs' reports.
    """
    own = (key for key in keys if not load_words().common.issuperset(key.split(" ")))
    return len(keys) >= FEWEST_ROWS - any(own)


def _named(counter: str | None) -> WrittenLabel | None:
    """Return the label that a counter's name is; what it is a share of stands in the name."""
    if counter is None:
        return None
    return WrittenLabel(counters=frozenset({counter}), unit="%" if is_share(counter) else "")


def _bracketed(text: str) -> WrittenLabel | None:
    """Return a label behind which a unit or a word that changes nothing stands, set apart."""
    found = _BRACKETS.fullmatch(text)
    label = written_label(found["label"] or found["before"]) if found else None
    if found is None or label is None or label.is_shape:
        return None
    for part in map(str.strip, (found["inside"] or found["behind"] or "").split(",")):
        unit = known_unit(part)
        if unit and not label.unit:
            label = WrittenLabel(counters=label.counters, unit=unit)
        elif not load_words().neutral.fullmatch(plain_label(part)):
            return None
    return label


def _with_unit(text: str) -> WrittenLabel | None:
    """Return a label before or behind which its unit stands."""
    found = _LAST_WORD.fullmatch(text)
    if text.startswith("%") or text.endswith("%"):
        label, unit = text.strip("% "), "%"
    elif found and (unit := known_unit(found["unit"]) or ""):
        label = found["label"].rstrip(", ")
    else:
        return None
    counters = load_words().labels.get(plain_label(label)) or frozenset()
    if not counters:
        inside = _bracketed(label)
        counters = inside.counters if inside and not inside.unit else frozenset()
    return WrittenLabel(counters=counters, unit=unit) if counters else None


def known_unit(text: str) -> str | None:
    """Return a unit in the profiler's spelling, None where it is not known."""
    unit = load_words().units.get(text, text)
    return unit if unit and unit != COUNT and base_factor(unit) is not None else None


def written_value(cell: str, unit: str = "") -> WrittenValue | None:
    """Return the one value in a cell; ``unit`` is what its label or its row says.

    >>> written_value("**12.5 %** (of its peak)")
    WrittenValue(cell='12.5', unit='%', shape=None)
    """
    text = unmarked(cell)
    if len(text) > LONGEST:
        return None
    text = text[about.end() :] if (about := _ABOUT.match(text)) else text
    if (found := _SHAPE.match(text)) and _is_remark(text[found.end() :]):
        return _shape(found)
    number = _NUMBER.match(text)
    if number is None or not (is_number(number["number"]) or " " in _blanks(number["number"])):
        return None
    digits, rest = number["number"], text[number.end() :]
    own, rest = _unit(rest)
    if own in load_words().multiples and known_unit(own) is None:
        digits, own = _times(digits, load_words().multiples[own]), ""
    if not _is_remark(rest) or not digits:
        return None
    if own and unit and not _are_same(own, unit):
        return None
    return WrittenValue(cell=digits, unit=own or unit or COUNT)


def _unit(rest: str) -> tuple[str, str]:
    """Return the unit or multiple at the beginning of what follows a number, and what is left."""
    found = _UNIT.match(rest)
    if found is None:
        return "", rest
    word = found["unit"]
    unit = known_unit(word) or (word if word in load_words().multiples else "")
    if unit:
        return unit, rest[found.end() :]
    short, slash, _ = word.partition("/")  # "1.5 ms/launch"
    unit = (slash and known_unit(short)) or ""
    return unit, rest[rest.index(word) + len(short) :] if unit else rest


def _is_remark(rest: str) -> bool:
    rest = rest.strip()
    return not rest or load_words().behind.fullmatch(rest) is not None


def _blanks(number: str) -> str:
    return re.sub(r"\s", " ", number)


def _are_same(unit: str, other: str) -> bool:
    """Return whether two units are one, or only one of them is a share."""
    factor, second = base_factor(unit), base_factor(other)
    return unit == other or ("%" not in (unit, other) and factor == second)


def _times(number: str, factor: int) -> str:
    """Return a number times a factor, written out; nothing where its decimal mark is not certain.

    >>> _times("82.3", 1000000), _times("1,5", 1000)
    ('82300000', '')
    """
    if "," in number or " " in _blanks(number) or "e" in number.lower():
        return ""
    return str(round(float(number) * factor)) if number.count(".") <= 1 else ""


def _shape(found: re.Match[str]) -> WrittenValue | None:
    x, y, z = (int(size or 1) for size in found.groups())
    shape = shape_of(x, y, z)
    return WrittenValue(cell=str(x * y * z), unit=COUNT, shape=shape) if shape else None


def written_shapes(cell: str) -> tuple[WrittenValue, WrittenValue] | None:
    """Return grid and block of a cell such as ``(512, 1, 1) × (256, 1, 1)``."""
    text = _TOTAL.sub("", unmarked(cell))
    first, *others = re.split(r"(?<=[)\d])\s*[x×*/]\s*(?=[(\d])", text)
    values = [written_value(first), *map(written_value, others)]
    if len(values) != len((_GRID, _BLOCK)) or any(v is None or v.unit != COUNT for v in values):
        return None
    grid, block = (value for value in values if value is not None)
    return grid, block


def written_pairs(text: str, cell: str, unit: str = "") -> list[Pair] | None:
    """Return the counters that a label may mean, each with its value in a cell.

    Two labels may share a row: "Grid Size / Waves Per SM" of "32 / 0.18", and "DRAM / Memory
    Throughput" one value. None where a label is known and the cell is no value; nothing where no
    label is known.
    """
    label = written_label(text)
    if label is not None and (label.is_shape or (label.is_grid and written_shapes(cell))):
        shapes = written_shapes(cell)
        return shapes and [
            (frozenset({name}), value) for name, value in zip((_GRID, _BLOCK), shapes, strict=True)
        ]
    labels = [label] if label else shared_labels(text)
    if not any(labels):
        return []
    cells = [cell] if label else unmarked(cell).split(" / ")
    if len(cells) == 1 and any(each and each.counters & load_words().whole for each in labels):
        cells *= len(labels)
    if len(cells) != len(labels):
        return None
    pairs = [
        (each.counters, value)
        for each, part in zip(labels, cells, strict=True)
        if each and (value := written_value(part, each.unit or unit)) and each.fits(value)
    ]
    return pairs if len(pairs) == sum(map(bool, labels)) else None


def shared_labels(text: str) -> list[WrittenLabel | None]:
    """Return the labels that share a row, which may share words at one end and a unit, too.

    >>> [label.unit for label in shared_labels("L1 / L2 hit rate (%)")]
    ['%', '%']
    """
    parts = unmarked(text).split(" / ")
    if len(parts) == 1 or len(text) > LONGEST:
        return []
    begins, words = parts[0].split(), parts[-1].split()
    ends = ["", *(" ".join(["", *words[at:]]) for at in range(len(words) - 1, 0, -1))]
    starts = [" ".join([*begins[:at], ""]) for at in range(1, len(begins))]
    found = [
        _first_known([*(part + end for end in ends), *(start + part for start in starts)])
        for part in parts
    ]
    unit = found[-1].unit if found[-1] else ""
    return [label and (label if label.unit else label.within(unit)) for label in found]


def _first_known(texts: Iterable[str]) -> WrittenLabel | None:
    return next((label for text in texts if (label := written_label(text))), None)
