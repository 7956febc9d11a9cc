"""Sentences with numbers to fill in: what ``templates`` made of a text, without a library.

A sentence is a tuple of pieces. It names facts, passes them through the filters of
``advisor.wording`` and chooses between words; there is nothing else that a piece could do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from advisor import wording

FILTERS: Mapping[str, Callable[..., str]] = {
    "bytes": wording.size,
    "count": wording.count,
    "number": wording.number,
    "percent": wording.percent,
    "rate": lambda value: wording.si(value, "B/s"),
    "seconds": wording.seconds,
    "si": wording.si,
}


@dataclass(frozen=True)
class PlainPiece:
    """Text that stands as it is, or a value written into the template."""

    value: object

    def of(self, _: Mapping[str, object]) -> object:
        """Return the value."""
        return self.value


@dataclass(frozen=True)
class Named:
    """The value of a fact or threshold; one that is not given is unknown."""

    name: str

    def of(self, values: Mapping[str, object]) -> object:
        """Return the value."""
        return values.get(self.name)


@dataclass(frozen=True)
class Filtered:
    """A value in the words of a filter."""

    piece: Piece
    filter: str
    arguments: tuple[Piece, ...]

    def of(self, values: Mapping[str, object]) -> object:
        """Return the words."""
        arguments = [argument.of(values) for argument in self.arguments]
        return FILTERS[self.filter](self.piece.of(values), *arguments)


@dataclass(frozen=True)
class ComparedPieces:
    """Whether neighbours are equal, or differ, all along a chain."""

    pieces: tuple[Piece, ...]
    equal: tuple[bool, ...]

    def of(self, values: Mapping[str, object]) -> object:
        """Return the answer."""
        found = [piece.of(values) for piece in self.pieces]
        pairs = zip(found, found[1:], self.equal, strict=False)
        return all((left == right) is equal for left, right, equal in pairs)


@dataclass(frozen=True)
class Negated:
    """Whether a value is unknown, false, zero or empty."""

    piece: Piece

    def of(self, values: Mapping[str, object]) -> object:
        """Return the answer."""
        return not self.piece.of(values)


@dataclass(frozen=True)
class Both:
    """Two conditions at once."""

    left: Piece
    right: Piece

    def of(self, values: Mapping[str, object]) -> object:
        """Return the second value where the first holds."""
        return self.left.of(values) and self.right.of(values)


@dataclass(frozen=True)
class Chosen:
    """One of two sentences, or of two values; the second where the condition is unknown."""

    condition: Piece
    then: tuple[Piece, ...]
    otherwise: tuple[Piece, ...]

    def of(self, values: Mapping[str, object]) -> object:
        """Return the sentence that holds; a single piece stays a value, for a filter around it."""
        chosen = self.then if self.condition.of(values) else self.otherwise
        return chosen[0].of(values) if len(chosen) == 1 else spoken(chosen, values)


Piece = PlainPiece | Named | Filtered | ComparedPieces | Both | Negated | Chosen


_ARROW = " → "
_SENTENCE, _CLAUSE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9]|unknown\b)"), "; "
_UNKNOWN = re.compile(rf"\b{wording.UNKNOWN}\b")


def spoken(pieces: tuple[Piece, ...], values: Mapping[str, object]) -> str:
    """Return the sentence with the values in it; what is NULL reads "unknown".

    What reads the same before and after, on both sides of an arrow, stands once.
    """
    found = [piece.of(values) for piece in pieces]
    words = [wording.UNKNOWN if value is None else str(value) for value in found]
    if _ARROW not in words:
        return "".join(words)
    same = (
        range(place, place + 2)
        for place in range(1, len(words) - 1)
        if words[place] == _ARROW and words[place - 1] == words[place + 1]
    )
    left_out = {place for places in same for place in places}
    return "".join(word for place, word in enumerate(words) if place not in left_out)


def begins_unchanged(pieces: tuple[Piece, ...], values: Mapping[str, object]) -> bool:
    """Return whether a sentence begins with a change that reads the same before and after."""
    before, arrow, after = pieces[:3] if len(pieces) > 2 else (None, None, None)
    if before is None or after is None or arrow != PlainPiece(_ARROW):
        return False
    return str(before.of(values)) == str(after.of(values))


def told(text: str) -> str:
    """Return a text without the sentences, and clauses, in which a value is unknown.

    Where nothing would be left, all of it stays.
    """
    if not _UNKNOWN.search(text):
        return text
    return " ".join(_known([_known_clauses(each) for each in _SENTENCE.split(text)]))


def _known_clauses(sentence: str) -> str:
    clauses = _known(sentence.split(_CLAUSE))
    end = "." if sentence.endswith(".") and not clauses[-1].endswith(".") else ""
    return _CLAUSE.join(clauses) + end


def _known(parts: list[str]) -> list[str]:
    """Return the parts that say what is known; all where none does."""
    return [each for each in parts if not _UNKNOWN.search(each)] or parts
