"""The section of a printed page that is read: its title, and the table of it that is open."""

from __future__ import annotations

from dataclasses import dataclass, field

from advisor.errors import Location
from advisor.readers.ncu import lines
from advisor.readers.ncu.lines import PageLine, PageTable, Row
from advisor.readers.ncu.notes import Notes
from advisor.readers.ncu.values import CounterLabels


@dataclass(kw_only=True)
class PageSection:
    """What stands below a title, or below the line of a kernel where none has come yet.

    ``part`` is the section around the ``title``, which is its own, or that of a table in it.
    ``tables`` counts those that were begun.
    """

    title: str = ""
    part: str = ""
    at: Location | None = None
    margins: set[int] = field(default_factory=set)
    table: PageTable | None = None
    tables: int = 0

    def below(self, is_section: bool, title: str, line: PageLine, at: Location) -> PageSection:
        """Return what begins with the title of a section, or of a table in this one."""
        part = title if is_section else self.part
        return PageSection(title=title, part=part, at=at, margins={line.indent})

    @property
    def key(self) -> tuple[str, str]:
        """The titles of section and table, \"\" where the title is the section's own."""
        return self.part, "" if self.title == self.part else self.title

    @property
    def of_row(self) -> str:
        """The title that the next row stands below."""
        return self.table.section if self.table else "" if self.tables else self.title

    def has(self, line: PageLine) -> bool:
        """Return whether a line begins where those of the section do."""
        return line.indent in self.margins

    def holding(self, line: PageLine) -> PageTable | None:
        """Return the table that a line stands in, None where it stands in none."""
        return self.table if self.table is not None and self.table.holds(line) else None

    def rule(
        self,
        line: PageLine,
        columns: list[tuple[int, int]],
        number: int,
        *,
        is_cut: bool,
        launch: str | None,
    ) -> None:
        """Take a ruler; ``launch`` is the name of the one that is read, None where none is."""
        self.margins.add(line.indent)
        is_like_first = self.table is not None and self.table.columns == columns
        if is_cut and not is_like_first and (self.table or (self.title and not self.tables)):
            self._begun(launch).ends_at = number
            return
        fits = len(columns) == lines.COLUMNS or bool(launch and len(columns) == lines.OF_SUMMARY)
        if not fits or self.table is None or self.table.rows:
            ends = self.table is not None and self.table.rows and not self.table.is_apart
            self.table = None
            if ends or not fits:
                return
        table = self._begun(launch)
        table.columns, table.prefix, table.ends_at = columns, line.prefix, number
        table.indents.add(line.indent)

    def head(self, line: PageLine, number: int, *, launch: str | None) -> None:
        """Take the head of a table."""
        if self.table is not None and self.table.rows:
            self.table = None
        table = self._begun(launch)
        table.is_headed, table.ends_at = True, number
        table.indents.add(line.indent)

    def _begun(self, launch: str | None) -> PageTable:
        """Return the table that is being read, a new one where there is none.

        Only the first below a title is the title's.
        """
        if self.table is None:
            is_told = self.tables == 0 and launch is not None and bool(self.title or launch)
            self.table = PageTable(section=self.title if is_told else "", is_told=is_told)
            self.tables += 1
        return self.table


def counter_of(section: str, row: Row, labels: CounterLabels, notes: Notes) -> str | None:
    """Return the counter of a row: where its section lacks the label, the only one that it may be.

    Sections change from version to version, and people add rows to them.
    """
    if labels.knows(section, row.label):
        return labels.counter(section, row.label, row.unit)
    found = labels.counters(row.label, row.unit)
    fit = {counter for counter in found if not notes.is_unlike(counter, row.unit)}
    fit = fit or (set() if section else found)
    return fit.pop() if len(fit) == 1 else None
