"""Where the names of marks go: beside their mark, over nothing that matters, never over a name.

Marks come by falling importance. Ten places are tried for each; overlap with placed labels and
marks costs most, then the binding roof, then other lines; outside the frame is no place at all. A
name that fits nowhere keeps its head and its tail, then loses its second line, then is left out,
for the readout has it. Only the first three may cover other marks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from advisor.records import dataclass

FONT_SIZE = 12.0
LINE_HEIGHT = 15.0

_ASCENT = 10.5
_DESCENT = 3.5
_GAP = 6.0
_LOWER = 11.0  # what a label sinks to come off a line beside its mark
_COST_TAKEN = 10.0
_COST_ROOF = 3.0
_COST_LINE = 1.0
_SHORT = 14
_OVER_MARKS = 3
# Advances of DejaVu Sans at 12 px, the widest of the fonts a system's sans may be.
_WIDTHS = {
    **dict.fromkeys("ijl'|", 3.6),
    **dict.fromkeys(" ,.:;!()[]/\\It", 4.8),
    **dict.fromkeys("fr-\u00a0", 5.0),
    **dict.fromkeys("_", 6.1),
    **dict.fromkeys("mwMW@%&+<>=~×", 11.9),
}
_WIDTH_LOWER = 7.5
_WIDTH_UPPER = 9.3

Anchor = Literal["start", "middle", "end"]
_BEFORE: Mapping[Anchor, float] = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""What of a text's width lies before its anchor."""


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """Return the area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return width * height if width > 0 and height > 0 else 0.0

    def covered(self, others: Iterable[Box]) -> list[Box]:
        """Return those of others of which this covers something."""
        left, top, right, bottom = self
        return [
            other
            for other in others
            if other[0] < right and other[2] > left and other[1] < bottom and other[3] > top
        ]

    def is_free_of(self, others: Iterable[Box]) -> bool:
        """Return whether this covers nothing of any other, which is asked very often."""
        left, top, right, bottom = self
        for x0, y0, x1, y1 in others:
            if x0 < right and x1 > left and y0 < bottom and y1 > top:
                return False
        return True

    def holds(self, other: Box) -> bool:
        """Return whether ``other`` lies inside."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


@dataclass(frozen=True)
class LineSegment:
    """A piece of a drawn line in pixels."""

    x1: float
    y1: float
    x2: float
    y2: float

    def length_in(self, box: Box) -> float:
        """Return how much of the piece lies in ``box`` (Liang and Barsky's clipping)."""
        dx, dy = self.x2 - self.x1, self.y2 - self.y1
        low, high = 0.0, 1.0
        for step, room in (
            (-dx, self.x1 - box.left),
            (dx, box.right - self.x1),
            (-dy, self.y1 - box.top),
            (dy, box.bottom - self.y1),
        ):
            if step == 0:
                if room < 0:
                    return 0.0
            elif step < 0:
                low = max(low, room / step)
            else:
                high = min(high, room / step)
        return max(0.0, high - low) * math.hypot(dx, dy)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A mark that wants a label: centre and radius in pixels, name and second line.

    One that is not named only keeps its room.
    """

    key: str
    x: float
    y: float
    radius: float
    name: str
    second: str
    is_named: bool = True


@dataclass(frozen=True, kw_only=True)
class Label:
    """A placed label: its lines hang at ``x``; baselines at ``y`` and one line height below."""

    key: str
    x: float
    y: float
    anchor: Anchor
    lines: tuple[str, ...]
    box: Box


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What labels have to reckon with."""

    frame: Box
    taken: tuple[Box, ...]
    roof: tuple[LineSegment, ...]
    lines: tuple[LineSegment, ...]


@lru_cache(maxsize=4096)
def text_width(text: str) -> float:
    """Return an upper bound of the width in pixels of ``text`` at 12 px."""
    return sum(map(_advance, text))


def text_box(x: float, y: float, text: str, anchor: Anchor = "start") -> Box:
    """Return the box of one line of text whose baseline is at ``y``."""
    width = text_width(text)
    left = x - _BEFORE[anchor] * width
    return Box(left, y - _ASCENT, left + width, y + _DESCENT)


def place(subjects: Sequence[Subject], around: Surroundings) -> tuple[Label, ...]:
    """Return a label for each subject that has room for one; no two labels overlap.

    ``subjects`` by falling importance: the first ones choose first.
    """
    marks = {
        s.key: Box(s.x - s.radius, s.y - s.radius, s.x + s.radius, s.y + s.radius) for s in subjects
    }
    placed: list[Label] = []
    for position, subject in enumerate(subjects):
        if not subject.is_named:
            continue
        others = [box for key, box in marks.items() if key != subject.key]
        texts = [*around.taken, *(label.box for label in placed)]
        label = _first_fit(subject, (), [*texts, *others], around)
        if label is None and position < _OVER_MARKS:
            label = _first_fit(subject, others, texts, around)
        if label is not None:
            placed.append(label)
    return tuple(placed)


def shortened(name: str, most: int) -> str:
    """Return a name with so many characters of its head and tail: kernels differ in either.

    >>> shortened("compute_tendencies_x_279_gpu", 14), shortened("gather", 14)
    ('compute…279_gpu', 'gather')
    """
    return name if len(name) <= most + 1 else f"{name[: most - most // 2]}…{name[-(most // 2) :]}"


def crossed(box: Box, around: Surroundings) -> float:
    """Return what the lines that a box lies on cost."""
    roof = sum(segment.length_in(box) for segment in around.roof) * FONT_SIZE
    lines = sum(segment.length_in(box) for segment in around.lines) * FONT_SIZE
    return _COST_ROOF * roof + _COST_LINE * lines


def _advance(character: str) -> float:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if ord(character) > 0x2E7F:
        return FONT_SIZE
    return _WIDTH_UPPER if character.isupper() else _WIDTH_LOWER


def _first_fit(
    subject: Subject, marks: Sequence[Box], texts: Sequence[Box], around: Surroundings
) -> Label | None:
    """Return the longest wording at its cheapest place that covers none of ``texts``.

    To cover some of ``marks`` costs.
    """
    wordings = tuple(_wordings(subject))
    reach = _reach(subject, wordings)
    near = reach.covered(texts)
    for lines in wordings:
        free = [
            place
            for place in _candidates(subject, lines)
            if around.frame.holds(place.box) and place.box.is_free_of(near)
        ]
        if free:
            best = min(free, key=lambda place: _cost(place.box, marks, around))
            return Label(
                key=subject.key, x=best.x, y=best.y, anchor=best.anchor, lines=lines, box=best.box
            )
    return None


def _wordings(subject: Subject) -> Iterator[tuple[str, ...]]:
    short = shortened(subject.name, _SHORT)
    if subject.second:
        yield subject.name, subject.second
        yield short, subject.second
    yield (short,)


def _reach(subject: Subject, wordings: Iterable[tuple[str, ...]]) -> Box:
    """Return a box that all places of a label lie in."""
    gap = subject.radius + _GAP
    beside = gap + max(text_width(line) for lines in wordings for line in lines)
    above = gap + 2 * LINE_HEIGHT + _ASCENT + _LOWER
    return Box(subject.x - beside, subject.y - above, subject.x + beside, subject.y + above)


class _Place(NamedTuple):
    """Where a label could stand, and what it would cover there."""

    x: float
    y: float
    anchor: Anchor
    box: Box


def _candidates(subject: Subject, lines: tuple[str, ...]) -> Iterator[_Place]:
    """Yield the place right, below right, above right, left, below, above … of its mark."""
    gap = subject.radius + _GAP
    height = LINE_HEIGHT * (len(lines) - 1)
    middle = subject.y + 4 - height / 2
    diagonal = 0.75 * gap
    places: tuple[tuple[float, float, Anchor], ...] = (
        (subject.x + gap, middle, "start"),
        (subject.x + diagonal, subject.y + diagonal + _ASCENT, "start"),
        (subject.x + diagonal, subject.y - diagonal - _DESCENT - height, "start"),
        (subject.x - gap, middle, "end"),
        (subject.x, subject.y + gap + _ASCENT, "middle"),
        (subject.x, subject.y - gap - height, "middle"),
        (subject.x + subject.radius, subject.y + gap + _ASCENT, "end"),
        (subject.x + subject.radius, subject.y - gap - height, "end"),
        (subject.x, subject.y + gap + _ASCENT + _LOWER, "middle"),
        (subject.x + subject.radius, subject.y + gap + _ASCENT + _LOWER, "end"),
    )
    width = max(map(text_width, lines))
    for x, y, anchor in places:
        left = x - _BEFORE[anchor] * width
        box = Box(left, y - _ASCENT, left + width, y + _DESCENT + height)
        yield _Place(x, y, anchor, box)


def _cost(box: Box, marks: Sequence[Box], around: Surroundings) -> float:
    """Return what a place that covers no text costs."""
    taken = sum(box.overlap(mark) for mark in marks)
    return _COST_TAKEN * taken + crossed(box, around)
