"""The rows of the tables that ``ncu --csv`` prints, among other lines.

Source: Nsight Compute CLI documentation, "Console Output"; pages of 2019 to 2026.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from advisor.errors import InputError, Location
from advisor.readers.ncu.notes import Notes
from advisor.readers.text import LINE_ENDS, LONGEST_LINE

# A spreadsheet that saves the table again may take the quotes off and separate by ; or tabs; one
# that Python saved has the number of the row in front, and whole numbers with a point.
HEADER = re.compile(
    r"\ufeff?(?P<index>(?:Unnamed: 0)?[,;\t])?"
    r'(?P<quote>"?)(?:ID"?(?P<delimiter>[,;\t])"?Process ID|'
    r'Process ID"?(?P<of_summary>[,;\t])"?Process Name)"?[,;\t]'
)
_MOST_COLUMNS = 200_000
EXPORT_AGAIN = "export again with: ncu --import REPORT --csv --page raw"


@dataclass(frozen=True)
class TableRow:
    """The cells of a row, where it begins, and whether it was all there."""

    cells: list[str]
    at: Location
    header: bool = False
    whole: bool = True


class TableRows:
    """Makes rows of lines: a quoted cell may hold line breaks, other lines are no rows.

    A row begins with an ID and a process, both numbers, or with two empty cells (the units).
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._delimiter = ","
        self._begins: re.Pattern[str] | None = None
        self._first = 0
        self._held: list[str] = []
        self._length = 0
        self.inside_quotes = False
        self._at = Location(name=notes.name)

    def take(self, line: str, number: int) -> Iterator[TableRow]:
        """Take a line; yield the rows that end with it, or before it."""
        header = HEADER.match(line)
        if header or (self._begins and self._begins.match(line)):
            yield from self.end()
            if header:
                self._open(header)
            self._at = Location(name=self._notes.name, line=number)
        elif not self._held and not self._may_be_cut(line):
            self._notes.line(line)
            return
        self._held.append(line)
        self._length += len(line)
        self.inside_quotes ^= line.count('"') % 2 == 1
        if not self.inside_quotes or self._length > LONGEST_LINE:
            yield from self.end()

    def end(self) -> Iterator[TableRow]:
        """Yield the row that was begun, whole or not."""
        if self._held:
            text = "".join(self._held).removeprefix("\ufeff")
            # An unquoted number at the end of a file may have lost digits.
            whole = not self.inside_quotes and text.endswith((*LINE_ENDS, '"', self._delimiter))
            header = HEADER.match(text) is not None
            yield TableRow(self._split(text.rstrip("\r\n")), self._at, header, whole)
        self._held, self._length, self.inside_quotes = [], 0, False

    def _open(self, header: re.Match[str]) -> None:
        of_summary = header["of_summary"]  # where a name stands behind the process
        self._delimiter = delimiter = of_summary or header["delimiter"]
        self._first = 0 if header["index"] is None else 1
        number = r'"\d*"' if header["quote"] else r'"?\d*(?:\.0)?"?'
        numbers = self._first + (1 if of_summary else 2)
        self._begins = re.compile(f"{number}{delimiter}" * numbers, re.ASCII)

    def _may_be_cut(self, line: str) -> bool:
        """Return whether a line may be what is left of the last row of a table."""
        return self._begins is not None and line.startswith('"') and not line.endswith(LINE_ENDS)

    def _split(self, text: str) -> list[str]:
        if text.count(self._delimiter) >= _MOST_COLUMNS:
            problem = f"a row with more than {_MOST_COLUMNS:,} cells"
            raise InputError(problem, at=self._at, hint=EXPORT_AGAIN)
        try:
            return next(csv.reader([text], delimiter=self._delimiter), [])[self._first :]
        except csv.Error as error:
            problem = f"the row is no row of a table: {error}"
            raise InputError(problem, at=self._at, hint=EXPORT_AGAIN) from error
