"""Names from strangers made harmless in what programs read: JSON and CSV.

``wording.printable`` does it for terminals, ``reports.escaping`` for Markdown, Jinja for HTML and
SVG.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence

from advisor.wording import printable

# Characters that a terminal acts on or that change the direction of writing; JSON asks for none.
_ACTED_ON = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def json_text(value: object, *, indent: int | None = None) -> str:
    r"""Return a value as JSON that is safe to look at; a parser reads what it was.

    >>> json_text({"kernel": "a\x9b\u202eb"})
    '{"kernel": "a\\u009b\\u202eb"}'

    Raises:
        ValueError: a number is not finite.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return _ACTED_ON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a CSV table; None is an empty cell."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in itertools.chain([columns], rows):
        writer.writerow([csv_cell(cell) for cell in row])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def csv_cell(cell: object) -> object:
    r"""Return a cell that makes no row of its own, and that no spreadsheet takes for a formula.

    >>> csv_cell("=cmd()"), csv_cell("a\rb"), csv_cell(None), csv_cell(-1.5)
    ("'=cmd()", 'a\\rb', '', -1.5)
    """
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return cell
    return printable(f"'{cell}" if cell.lstrip()[:1] in _FORMULA else cell)
