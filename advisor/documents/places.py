"""The place in the file of every character of a scalar."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.errors import Location
from advisor.records import dataclass


@dataclass(frozen=True, kw_only=True)
class TextLocation(Location):
    """The place of a scalar, and how its text is written there.

    ``written`` is what stands in the file between the scalar's marks, quotes and block header
    included; ``style`` is YAML's: ``'`` and ``"`` quoted, ``|`` and ``>`` block, empty for plain.
    """

    written: str
    style: str

    def __str__(self) -> str:
        """Return ``name:line:column``."""
        return super().__str__()

    def inside(self, text: str, offset: int) -> Location:
        """Return the place in the file of ``text[offset]``, where ``text`` is the scalar's value.

        Folding and indentation change white space only, so the place is found by counting the other
        characters.
        """
        wanted = sum(not character.isspace() for character in text[:offset])
        line, column = self.line or 1, self.column or 1
        for index, width in _characters(self.written, self.style):
            if wanted == 0:
                before = self.written[:index]
                rows = before.count("\n")
                column = index - before.rfind("\n") if rows else column + index
                return Location(name=self.name, line=line + rows, column=column)
            wanted -= width
        return Location(name=self.name, line=self.line, column=self.column)


def locate(at: Location, text: str, offset: int) -> Location:
    """Return the place of ``text[offset]`` where ``text`` begins at ``at``."""
    if isinstance(at, TextLocation):
        return at.inside(text, offset)
    before = text[:offset]
    rows = before.count("\n")
    column = offset - before.rfind("\n") if rows else (at.column or 1) + offset
    return Location(name=at.name, line=(at.line or 1) + rows, column=column)


def _characters(written: str, style: str) -> Iterator[tuple[int, int]]:
    """Yield the index of each character that is not white space; 1 if it is one of the value's."""
    index = 0
    if style in ("|", ">"):
        index = written.find("\n") + 1
    elif style:
        index = 1
    escapes = {"'": "'", '"': "\\"}.get(style)
    while index < len(written):
        character = written[index]
        if not character.isspace():
            yield index, 1
            index += character == escapes
        index += 1
