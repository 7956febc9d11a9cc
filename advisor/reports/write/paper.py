"""A terminal as paper: wrapped lines, aligned columns, meters; ASCII where it must be.

Every text that comes from outside goes through ``wording.printable`` here, so that no name can move
the cursor or change colours.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from advisor.wording import printable

DEFAULT_WIDTH = 80
_LEAST_WIDTH = 40
_LEAST_TEXT = 8
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_METER_CELLS = 10
_COLOURS = {"memory": "34", "compute": "33", "latency": "35", "balanced": "36"}
_SYMBOLS = {"memory": "●", "compute": "■", "latency": "▲", "balanced": "◆"}
_UNDETERMINED = "○"
_ASCII = str.maketrans(
    {
        "●": "o", "■": "#", "▲": "^", "◆": "*", "○": ".", "×": "x", "µ": "u", "−": "-", "·": "|",
        "…": "~", "–": "-", "—": "-", "“": '"', "”": '"', "’": "'", "≥": ">", "≤": "<", "→": ">",
        "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "=", "▍": "-", "▎": "-", "▏": " ",
    }
)  # fmt: skip


@dataclass(kw_only=True)
class Paper:
    """Lines of at most ``width`` columns; ``colour`` marks the limiter and nothing else."""

    width: int = DEFAULT_WIDTH
    colour: bool = False
    ascii_only: bool = False
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.width = max(_LEAST_WIDTH, self.width or DEFAULT_WIDTH)

    def heading(self, text: str) -> None:
        """Begin a section."""
        self.blank()
        self.write(text)
        self.lines.append("-" * min(self.width, columns(self._clean(text))))

    def blank(self) -> None:
        """Leave a line free, once."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def write(self, text: str, *, indent: int = 0, first: str | None = None) -> None:
        """Write wrapped text; ``first`` stands in the indent of the first line."""
        lead = " " * indent
        head = lead if first is None else first.ljust(indent)
        for part in self._clean(text).split("\n"):
            self.lines += textwrap.wrap(
                part,
                self.width,
                initial_indent=head,
                subsequent_indent=lead,
                break_on_hyphens=False,
            ) or [head.rstrip()]
            head = lead

    def command(self, text: str) -> None:
        """Write a command on one line, however long, so that it can be copied."""
        self.lines.append("  " + self._clean(text).replace("\n", " "))

    def row(self, cells: Sequence[str], widths: Sequence[int]) -> None:
        """Write cells in columns: a negative width aligns to the right, 0 takes what is left.

        What stands to the right is a number, which is never cut. A text that is too wide, or has
        to give way, loses its middle; a last cell that takes what is left wraps first.
        """
        self._rows([cells], widths, max(self.width, _wide(widths)))

    def table(self, rows: Sequence[Sequence[str]], widths: Sequence[int]) -> None:
        """Write rows in columns as ``row`` does, each as wide as its widest cell where it can be.

        Where the lines have no room for that, the widest texts give way first.
        """
        grown = [
            max(width, *(columns(self._clean(row[i])) for row in rows)) if width > 0 else width
            for i, width in enumerate(widths)
        ]
        self._rows(rows, grown, self.width)

    def _rows(self, rows: Sequence[Sequence[str]], widths: Sequence[int], most: int) -> None:
        clean = [[self._clean(cell) for cell in row] for row in rows]
        sizes = _fitting(clean, widths, most)
        for *others, last in clean:
            lines = [last] if widths[-1] else _wrapped(last, sizes[-1])
            self.lines.append(_line((*others, lines[0]), sizes))
            empty = [""] * len(others)
            self.lines += [_line((*empty, line), sizes) for line in lines[1:]]

    def limiter(self, name: str | None) -> str:
        """Return the limiter's symbol and word."""
        return f"{_SYMBOLS.get(name or '', _UNDETERMINED)} {name or 'undetermined'}"

    def text(self) -> str:
        """Return everything written."""
        body = "\n".join(self.lines) + "\n"
        if self.ascii_only:
            body = body.translate(_ASCII)
            body = unicodedata.normalize("NFKD", body).encode("ascii", "replace").decode()
        body = body.replace("\u00a0", " ")
        return self._coloured(body) if self.colour else body

    def _clean(self, text: str) -> str:
        return printable(text.replace("\t", " "))

    def _coloured(self, body: str) -> str:
        symbols = {name: sign.translate(_ASCII) for name, sign in _SYMBOLS.items()}
        for name, colour in _COLOURS.items():
            for sign in {_SYMBOLS[name], symbols[name]}:
                body = body.replace(f"{sign} {name}", f"\x1b[{colour}m{sign} {name}\x1b[0m")
        return body


def _fitting(rows: Sequence[Sequence[str]], widths: Sequence[int], most: int) -> list[int]:
    """Return widths that hold every number; the widest texts give way to ``most`` columns."""
    sizes = [
        min(width, *(-columns(row[i]) for row in rows)) if width < 0 else width
        for i, width in enumerate(widths)
    ]
    left = most - _wide(sizes)
    sizes = [size or max(_LEAST_TEXT, left) for size in sizes]
    spare = sum(max(0, size - _LEAST_TEXT) for size in sizes)
    for _ in range(min(spare, _wide(sizes) - most)):
        sizes[sizes.index(max(sizes))] -= 1
    return sizes


def _wide(widths: Sequence[int]) -> int:
    """Return how many columns a line takes, gaps included."""
    return sum(map(abs, widths)) + 2 * (len(widths) - 1)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    parts = []
    for cell, width in zip(cells, widths, strict=True):
        text = cell if width < 0 else cut(cell, width)
        pad = " " * (abs(width) - columns(text))
        parts.append(pad + text if width < 0 else text + pad)
    return "  ".join(parts).rstrip()


def columns(text: str) -> int:
    """Return how many columns a text takes; wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def cut(text: str, most: int) -> str:
    """Return the text, its middle left out where it is wider than ``most`` columns."""
    if columns(text) <= most:
        return text
    head = (most - 1) // 2
    tail = most - 1 - head
    return text[:head] + "…" + text[len(text) - tail :]


def meter(share: float | None) -> str:
    """Return a bar of ten cells, drawn in eighths.

    >>> meter(0.5)
    '█████     '
    """
    if share is None:
        return " " * _METER_CELLS
    eighths = round(8 * _METER_CELLS * min(1.0, max(0.0, share)))
    full, part = divmod(eighths, 8)
    bar = _EIGHTHS[8] * full + (_EIGHTHS[part] if part else "")
    return bar.ljust(_METER_CELLS)
