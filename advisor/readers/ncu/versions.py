"""Launches in tables in Markdown, joined over the tables of a page.

Tables with the same titles are sections of the same launches as long as they stand below the same
names and agree where they say the same thing twice; else the next launches begin.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from advisor.errors import Location
from advisor.model import Launch, names_function, titled
from advisor.readers.ncu.markdown import FEWEST, Entry, TableReading, Version
from advisor.readers.ncu.notes import Notes
from advisor.readers.ncu.outline import Outline, is_code, launch_name, speaks_of
from advisor.readers.ncu.printed import Building, differs
from advisor.readers.ncu.values import Numbers
from advisor.readers.ncu.written import COUNT, is_share

_GRID, _BLOCK = "launch__grid_size", "launch__block_size"
_PROOF = 2  # values that must agree where titles are only alike, or differ between launches
_LATEST = 20  # groups that a table may go on with
_WORDS = re.compile(r"[\W_]+")


@dataclass(kw_only=True)
class WrittenLaunch:
    """A launch of a table: what it has so far, and how many digits each value was written with."""

    title: str
    building: Building
    at: Location | None
    digits: dict[str, int] = field(default_factory=dict)
    measured: set[str] = field(default_factory=set)
    contradicted: set[str] = field(default_factory=set)

    def agrees(self, other: Building, fewest: int = 0) -> bool:
        """Return whether all values that both have are the same but for rounding."""
        differ = self._differ(other.counters)
        return len(differ) >= fewest and not any(differ)

    def is_other_than(self, counters: Mapping[str, float]) -> bool:
        """Return whether this is another launch than one with ``counters``.

        Enough of the values that both have differ by more than rounding, and half of them.
        """
        differ = self._differ(counters)
        return sum(differ) >= _PROOF and 2 * sum(differ) >= len(differ)

    def _differ(self, others: Mapping[str, float]) -> list[bool]:
        """Return of each value that both have whether they differ by more than rounding."""
        mine = self.building.counters
        both = mine.keys() & others.keys()
        return [differs(mine[name], others[name]) for name in both]

    def add_one(self, counter: str, other: Building, digits: int) -> None:
        """Take a value of the same table; one that contradicts another leaves both out."""
        if not self.agrees(other):
            self.contradicted.add(counter)
            del self.building.counters[counter]
        elif counter in other.counters and counter not in self.contradicted:
            more = WrittenLaunch(title="", building=other, at=self.at, digits={counter: digits})
            self.add(more)

    def add(self, other: WrittenLaunch) -> None:
        """Take the values of another table; of two, the one with more digits."""
        for name, number in other.building.counters.items():
            if other.digits[name] > self.digits.get(name, 0):
                self.building.counters[name] = number
                self.digits[name] = other.digits[name]
        self.building.grid = self.building.grid or other.building.grid
        self.building.block = self.building.block or other.building.block
        self.measured |= other.measured


@dataclass(kw_only=True)
class _Group:
    scope: tuple[str, ...]
    launches: list[WrittenLaunch]

    def counterparts(self, others: Sequence[WrittenLaunch]) -> list[WrittenLaunch] | None:
        """Return those launches that are in another table, too; None where it has others."""
        by_title = {launch.title: launch for launch in self.launches}
        if len(by_title) < len(self.launches) or len({each.title for each in others}) < len(others):
            return None
        if all(each.title in by_title for each in others):
            found, fewest = [by_title[each.title] for each in others], 0
        elif len(others) == len(self.launches):
            found, fewest = self.launches, _PROOF
            if not all(self._is_alike(*pair) for pair in zip(found, others, strict=True)):
                return None
        else:
            return None
        pairs = zip(found, others, strict=True)
        return found if all(a.agrees(b.building, fewest) for a, b in pairs) else None

    def _is_alike(self, launch: WrittenLaunch, other: WrittenLaunch) -> bool:
        """Return whether a title is a word of this launch's title and of no other's."""
        word = other.title.casefold()
        having = [each for each in self.launches if word in _WORDS.split(each.title.casefold())]
        return len(having) == 1 and having[0] is launch


@dataclass(kw_only=True)
class Versions:
    """The launches of a page that are told in columns or rows of tables."""

    notes: Notes
    numbers: Numbers
    groups: list[_Group] = field(default_factory=list)

    def take(self, reading: TableReading, outline: Outline) -> None:
        """Take the launches of a table."""
        self.tell(reading)
        titles = [version.title for version in reading.versions]
        launches = [self.launch(version, titles) for version in reading.versions]
        if len(launches) == 1 and not reading.versions[0].is_kernel:
            (only,) = launches
            is_named = is_code(only.title) or not outline.name
            only.building.name = launch_name(only.title) if is_named else outline.name
        elif outline.name:
            for launch in (each for each in launches if not names_function(each.building.name)):
                launch.building.name = titled(f"{outline.name}: {launch.title}")
        for group in self.groups[: -_LATEST - 1 : -1]:
            found = group.counterparts(launches) if group.scope == outline.scope else None
            if found:
                for launch, more in zip(found, launches, strict=True):
                    launch.add(more)
                return
        self.groups.append(_Group(scope=outline.scope, launches=launches))

    def named(self, name: str, read: Building | None) -> Building | None:
        """Return the launch that was titled so last, or the one that is read where it may be it."""
        launches = (launch for group in reversed(self.groups) for launch in group.launches)
        found = next((each.building for each in launches if name and each.title == name), None)
        own = read.name or read.part if read is not None else ""
        return found or (read if name and speaks_of(name, own) else None)

    def tell(self, reading: TableReading) -> None:
        """Note what of a table was not understood."""
        for label in reading.labels:
            self.notes.labels.add(label)
        for title in reading.columns:
            self.notes.tables.add(title)
        for line in reading.lines:
            self.notes.rows.place(Location(name=self.notes.name, line=line))

    def launch(self, version: Version, titles: Sequence[str] = ()) -> WrittenLaunch:
        """Return a launch of a table with its values; a word is a name beside ``word_more``."""
        line = version.values[0].line if version.values else 0
        begins = any(is_code(each) and each.startswith(f"{version.title}_") for each in titles)
        name = launch_name(version.title, is_kernel=version.is_kernel or begins)
        launch = WrittenLaunch(
            title=version.title,
            building=Building(notes=self.notes, name=name, is_written=True),
            at=Location(name=self.notes.name, line=line),
        )
        for said in version.values:
            self._take(launch, said)
        return launch

    def _take(self, launch: WrittenLaunch, said: Entry) -> None:
        counter, unit = self._counter(said)
        if counter is None:
            told = "without a unit" if said.value.unit == COUNT else f"in {said.value.unit}"
            self.notes.unlike.add(f"{min(said.counters)} {told}")
            return
        at = Location(name=self.notes.name, line=said.line)
        building = Building(notes=self.notes, name="")
        building.take(counter, unit, said.value.cell, self.numbers, at)
        if said.value.shape and counter == _GRID:
            building.grid = said.value.shape
        elif said.value.shape and counter == _BLOCK:
            building.block = said.value.shape
        launch.add_one(counter, building, _significant(said.value.cell))
        if unit not in {"", COUNT} and counter in building.counters:
            launch.measured.add(counter)

    def _counter(self, said: Entry) -> tuple[str | None, str]:
        """Return the counter that a value is of, and its unit: nothing needs none.

        A share is only one with its percent sign, as its number alone may be a ratio.
        """
        unit = said.value.unit
        if said.value.is_nothing and len(said.counters) == 1:
            return min(said.counters), ""
        fit = [
            counter
            for counter in said.counters
            if is_share(counter) == (unit == "%") and not self.notes.is_unlike(counter, unit)
        ]
        return (fit[0] if len(fit) == 1 else None), unit

    def finish(self) -> Iterator[Launch]:
        """Yield the launches of which tables have enough; note where the others stand.

        A title that is no kernel's name, and comes again for others, gets a number.
        """
        groups, self.groups = self.groups, []
        seen = Counter[str]()
        for launch in (launch for group in groups for launch in group.launches):
            building = launch.building
            if len(building.counters) < FEWEST or not launch.measured:
                self.notes.rows.place(launch.at)
                continue
            seen[building.name] += 1
            if seen[building.name] > 1 and not names_function(building.name):
                building.name = titled(f"{building.name[1:-1]} {seen[building.name]}")
            building.leave_contradicting()
            yield building.launch()

    def leave(self, printed: Sequence[Mapping[str, float]]) -> None:
        """Leave out, and note, launches that may be of those that the page has printed.

        Tables sum up what is printed; launches whose values are others than those of each printed
        one are launches of their own.
        """
        for group in self.groups:
            launches, group.launches = group.launches, []
            for launch in launches:
                if all(map(launch.is_other_than, printed)):
                    group.launches.append(launch)
                else:
                    self.notes.rows.place(launch.at)


def _significant(number: str) -> int:
    """Return how many digits a number is written with; noughts at its end may only fill it up.

    >>> _significant("82,324,275"), _significant("82300000")
    (8, 3)
    """
    return max(1, len("".join(filter(str.isdigit, number)).strip("0")))
