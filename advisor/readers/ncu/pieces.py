"""A launch while its rows are read: its pieces, and whether they are of one launch at all.

Pages that people keep may lack the line that names a kernel. Then a section or a label that comes
again begins the next launch. Which rows stand together is less plain where words stand between
them, a heading, or the fence of a block of code: those before and behind are pieces. Pieces
without a name are of one launch as long as the page has no section twice, since it shows that
launch bit by bit. Once one comes again, the page shows several launches, maybe section by section,
and nothing tells with which section of the others a piece belongs: each is a launch of its own.
So is what stands below the name of another kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from advisor.errors import Location
from advisor.model import Launch
from advisor.readers.ncu.lines import Row
from advisor.readers.ncu.notes import Notes
from advisor.readers.ncu.outline import is_fence
from advisor.readers.ncu.printed import Building
from advisor.readers.ncu.values import Numbers
from advisor.readers.ncu.versions import WrittenLaunch
from advisor.readers.ncu.written import tell_a_profile

Key = tuple[str, str | None]


@dataclass(kw_only=True)
class Pieces:
    """The launch that is read: its last piece, those before that, and what all of them have.

    ``is_apart`` says that words stand between the last row and what is read now; ``has_others``
    that something came again on the page; ``is_loose`` that people wrote all rows of the launch,
    outside of tables; ``above`` is what they wrote above its line.
    """

    notes: Notes
    launch: Building | None = None
    begun_at: Location | None = None
    before: list[tuple[Building, Location | None]] = field(default_factory=list)
    is_page: bool = False
    title: Key | None = None
    titles: set[Key] = field(default_factory=set)
    comes_again: bool = False
    known: set[Key] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    is_apart: bool = False
    is_loose: bool = True
    above: WrittenLaunch | None = None
    has_others: bool = False

    def begin(self, launch: Building, at: Location | None = None) -> Building:
        """Take a launch of which nothing is known yet, and return it."""
        self.launch, self.begun_at, self.is_page, self.is_apart = launch, at, False, False
        self.is_loose = True
        self.titles, self.known, self.told, self.comes_again = set(), set(), set(), False
        return launch

    def entitle(self, title: Key) -> None:
        """Take the title of what follows, of a section and a table in it."""
        self.title, self.comes_again = title, title in self.titles
        self.titles.add(title)

    def ends_before(self, key: Key, *, is_printed: bool, part: str) -> bool:
        """Return whether the launch ends before a value with a ``key``: it comes again, or apart.

        ``part`` is the kernel that the page speaks of. The pieces of a launch whose kernel has a
        line, and rows without title and head, stay together as long as no value comes again.
        """
        is_piece = self._is_piece(is_printed)
        comes_again = self.comes_again and (is_piece or key in self.known)
        comes_again |= not key[0] and key in self.known
        self.has_others |= comes_again
        is_other = self.launch is not None and part not in {"", self.launch.part}
        return comes_again or (is_piece and (self.has_others or is_other))

    def is_other(self, counter: str | None, row: Row, numbers: Numbers, at: Location) -> bool:
        """Return whether a row outside of tables is of another launch than the one with sections.

        It tells another number than they do.
        """
        if self.launch is None or counter not in self.launch.counters or not self.titles:
            return False
        return self.launch.tells_other(counter, row.unit, row.cell, numbers, at)

    def go_on(self, *, is_printed: bool, part: str, at: Location | None) -> None:
        """Begin the next piece of the launch with a printed value that stands apart."""
        if self.launch is not None and self._is_piece(is_printed):
            self.before.append((self.launch, self.begun_at))
            more: dict[str, Any] = {"process": self.launch.process, "part": part}
            more["clock_locked"] = self.launch.clock_locked
            self.launch = Building(notes=self.notes, name="", **more)
            self.begun_at = at
        self.is_apart &= not is_printed

    def take(self, key: Key, *, is_loose: bool) -> None:
        """Take it that the launch has a value with a ``key``, which may stand below the title."""
        self.known.add(key)
        self.is_loose &= is_loose
        if key[0] and self.title is not None:
            self.titles.add(self.title)

    def _is_piece(self, is_printed: bool) -> bool:
        launch = self.launch
        is_begun = launch is not None and not launch.name and launch.counters
        return bool(is_printed and self.is_apart and is_begun)

    def leave_unnamed(self) -> None:
        """Leave out what people wrote above a kernel's line, and of no kernel: it is told there.

        Where the launch tells other values, it is noted; so it is if they stand in a table.
        """
        launch = self.launch
        if launch is None or launch.name or launch.part or self.titles or not launch.is_written:
            return
        self.launch, self.above = None, None
        if tell_a_profile(self.told) or not self.is_loose:
            self.above = WrittenLaunch(title="", building=launch, at=self.begun_at)

    def _note_above(self, launch: Building) -> None:
        above, self.above = self.above, None
        if above is not None and not above.agrees(launch, 1):
            self.notes.rows.place(above.at)

    def finish(self, *, at_end: bool) -> Iterator[Launch]:
        """Yield the launch that was being read, or each of its pieces, if anything is known of it.

        Where a page holds nothing else, that may be what a message says.
        """
        before, done, begun_at = self.before, self.launch, self.begun_at
        self.before, self.launch = [], None
        if done is None:
            return
        told_alone = bool(at_end and not (self.notes.launches or before) and done.findings)
        self._note_above(done)
        pieces = [*before, (done, begun_at)]
        for piece, at in pieces if self.has_others else [_joined(pieces)]:
            if piece.counters or (piece.name and self.titles) or told_alone:
                yield from self._finished(piece, at, told_alone)

    def _finished(
        self, done: Building, begun_at: Location | None, told_alone: bool
    ) -> Iterator[Launch]:
        is_certain = self.is_page or tell_a_profile(self.told) or told_alone
        if not is_certain and (done.is_written or not done.name):
            if not self.is_loose:
                self.notes.rows.place(begun_at)
            return
        done.name = done.name or done.part
        if not done.name:
            done.name = self.notes.nameless(begun_at)
        done.leave_contradicting()
        yield from done.launches()


def says(line: str) -> bool:
    """Return whether a line parts what stands around it, as words and fences do, and dots do not.

    >>> says("And with tiles:"), says("[...]")
    (True, False)
    """
    return is_fence(line) or any(map(str.isalnum, line))


def _joined(
    pieces: list[tuple[Building, Location | None]],
) -> tuple[Building, Location | None]:
    """Return the first piece with what the others have."""
    (first, at), *others = pieces
    for other, _ in others:
        first.counters |= other.counters
        first.texts |= other.texts
        first.findings += other.findings
        first.said_at += other.said_at
        first.invalid |= other.invalid
        first.grid, first.block = first.grid or other.grid, first.block or other.block
        first.device_name = first.device_name or other.device_name
        first.part = first.part or other.part
        first.is_written |= other.is_written
        if first.clock_locked is None:
            first.clock_locked = other.clock_locked
    return first, at
