"""Tables, CSV and JSON on stdout; progress on stderr."""

from __future__ import annotations

import itertools
import math
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import click

from advisor.errors import OutputError
from advisor.records import dataclass
from advisor.scratch import whole_file
from advisor.wording import one_line, printable

FORMATS = click.Choice(["table", "csv", "json"])

Cell = Any
Row = Sequence[Cell]


_NARROW = 12  # to how many characters a column may be cut


@dataclass(frozen=True, kw_only=True)
class Narrow:
    """What becomes of the columns of a table that is too wide for its terminal.

    ``whole`` ones are never cut; others are cut at the right, at the left where their ``ends``
    tell more, or in the middle where they are ``names``, which often differ at their ends only.
    Those that one can ``spare`` are left out where cutting is not enough, in this order.
    """

    whole: Sequence[str] = ()
    ends: Sequence[str] = ()
    names: Sequence[str] = ()
    spare: Sequence[str] = ()


def pasted(command: str) -> str:
    """Return a command of the program as the shell that called it finds it."""
    called = Path(sys.argv[0])
    is_found = shutil.which("advisor") is not None or called.stem != "advisor"
    return command if is_found else shlex.quote(str(called)) + command.removeprefix("advisor")


def write_next(command: str) -> None:
    """Say on stderr which command to run next."""
    click.echo(f"next: {pasted(command)}", err=True)


def write_rows(
    columns: Sequence[str], rows: Iterable[Row], style: str, narrow: Narrow | None = None
) -> None:
    """Print rows as an aligned table, as CSV, or as a JSON list of objects."""
    if style == "json":
        _write_json(columns, rows)
    elif style == "csv":
        from advisor.escaping import csv_lines

        for line in csv_lines(columns, rows):
            click.echo(line, nl=False)
    else:
        click.echo(table(columns, list(rows), width=terminal_width(), narrow=narrow))


def terminal_width() -> int:
    """Return the columns of the terminal, or those that COLUMNS says; else 0 (no limit)."""
    asked = os.environ.get("COLUMNS", "").isdecimal()
    return shutil.get_terminal_size().columns if asked or sys.stdout.isatty() else 0


def table(
    columns: Sequence[str], rows: Sequence[Row], *, width: int = 0, narrow: Narrow | None = None
) -> str:
    """Return an aligned table; numbers right and whole; the widest text gives way to ``width``."""
    narrow = narrow or Narrow()
    lines = [list(columns), *([_text(cell) for cell in row] for row in rows)]
    sizes = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    numeric = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(columns))]
    least = [
        size if number or name in narrow.whole else min(size, _NARROW)
        for name, size, number in zip(columns, sizes, numeric, strict=True)
    ]
    shown = list(range(len(columns)))
    left_out = []
    for name in narrow.spare if width else ():
        if _wide([least[i] for i in shown]) > width:
            shown.remove(columns.index(name))
            left_out.append(name)
    _shrink(sizes, least, shown, width)
    lines.insert(1, ["-" * size for size in sizes])
    kept = [_kept(name, narrow) for name in columns]
    text = [
        "  ".join(_cell(line[i], sizes[i], numeric[i], kept[i]) for i in shown) for line in lines
    ]
    if left_out:
        note = f"left out, for want of room: {', '.join(left_out)}"
        text += ["", *textwrap.wrap(note, width)]
    return "\n".join(line.rstrip() for line in text)


def _wide(sizes: Sequence[int]) -> int:
    return sum(sizes) + 2 * (len(sizes) - 1)


def _shrink(sizes: list[int], least: Sequence[int], shown: Sequence[int], width: int) -> None:
    """Take from the widest columns what is too much for ``width``, as long as they may shrink."""
    while width and _wide([sizes[i] for i in shown]) > width:
        larger = [i for i in shown if sizes[i] > least[i]]
        if not larger:
            return
        sizes[max(larger, key=sizes.__getitem__)] -= 1


def _kept(column: str, narrow: Narrow) -> float:
    """Return which share of what a cut leaves of a column's cells is their beginning."""
    return 0.0 if column in narrow.ends else 0.5 if column in narrow.names else 1.0


def _cell(text: str, size: int, is_number: bool, kept: float) -> str:
    if len(text) > size:
        head = int(kept * (size - 1))
        text = f"{text[:head]}…{text[len(text) - (size - 1 - head) :]}"
    return text.rjust(size) if is_number else text.ljust(size)


def _is_number(cell: Cell) -> bool:
    """Return whether a cell is a number, or is unknown and may stand in a column of them."""
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def _text(cell: Cell) -> str:
    if cell is None:
        return "unknown"
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return one_line(str(cell))


def csv_text(columns: Sequence[str], rows: Iterable[Row]) -> str:
    """Return rows as CSV, for a file as well as for stdout."""
    from advisor.escaping import csv_lines

    return "".join(csv_lines(columns, rows))


def _write_json(columns: Sequence[str], rows: Iterable[Row]) -> None:
    from advisor.escaping import json_text

    names = _unlike(columns)
    click.echo("[", nl=False)
    for number, row in enumerate(rows):
        record = dict(zip(names, map(plain, row), strict=True))
        click.echo("," * bool(number) + "\n" + json_text(record), nl=False)
    click.echo("\n]")


def _unlike(columns: Sequence[str]) -> list[str]:
    """Return names that differ, as JSON has each key once: ``a`` and ``a_1`` of ``a`` twice."""
    names: list[str] = []
    for name in columns:
        others = (f"{name}_{number}" for number in itertools.count(1))
        names.append(name if name not in names else next(n for n in others if n not in names))
    return names


def plain(cell: Cell) -> Cell:
    """Return a value that JSON can hold; what is not finite becomes null."""
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, dict):
        return {str(key): plain(value) for key, value in cell.items()}
    if isinstance(cell, list | tuple):
        return [plain(value) for value in cell]
    return str(cell)


def write_text(text: str, output: str | None) -> None:
    """Write to the file ``output``, whole or not at all; to stdout for None and ``-``."""
    if output is None or output == "-":
        click.echo(text, nl=not text.endswith("\n"))
        return
    try:
        with whole_file(Path(output)) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"cannot write {output}: {error.strerror}"
        raise OutputError(problem, hint="choose another place with -o") from error


class Progress:
    """One line on stderr that tells how far long work is; silent where stderr is no terminal."""

    def __init__(self, label: str, *, clock: Callable[[], float]) -> None:
        self._label = label
        self._clock = clock
        self._started = self._shown = clock()
        self._live = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away, so that something else can be printed there."""
        if self._live and self._shown != self._started:
            click.echo("\r\x1b[K", nl=False, err=True)

    def __call__(self, text: str) -> None:
        """Show ``text`` beside the label, at most ten times a second, from the first second on."""
        now = self._clock()
        if self._live and now - self._started > 1.0 and now - self._shown > 0.1:
            self._shown = now
            line = printable(f"{self._label} {text}")[: shutil.get_terminal_size().columns - 1]
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)
