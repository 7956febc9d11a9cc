"""Names from strangers made harmless in what programs read: JSON, CSV, XML, metrics, commands.

``wording.printable`` does it for terminals, ``reports.escaping`` for Markdown, Jinja for HTML and
SVG.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

import orjson

from advisor.wording import one_line, printable

# Characters that a terminal acts on or that change the direction of writing; JSON asks for none.
_ACTED_ON = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_NEVER_ACTED_ON = bytes(range(0x7F))  # in JSON, which asks for none of the first 32
_AS_RECORDS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_NON_STR_KEYS
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def utc_text(moment: datetime) -> str:
    """Return a moment, stored in UTC without a zone, as ISO 8601 with its zone.

    Without one, JavaScript and others take it for local time.

    >>> utc_text(datetime(2026, 1, 5, 2, 30))
    '2026-01-05T02:30:00+00:00'
    """
    return moment.replace(tzinfo=UTC).isoformat()


def json_text(
    value: object,
    *,
    indent: int | None = None,
    default: Callable[[object], object] | None = None,
) -> str:
    r"""Return a value as JSON that is safe to look at; a parser reads what it was.

    ``default`` returns what stands for a value that JSON does not know.

    >>> json_text({"kernel": "a\x9b\u202eb"})
    '{"kernel": "a\\u009b\\u202eb"}'

    Raises:
        ValueError: a number is not finite.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, default=default)
    return _inert(text)


def json_document(
    members: Mapping[str, object], *, default: Callable[[object], object] | None = None
) -> str:
    r"""Return an object as JSON with a line for each member, and for each item of its lists.

    A report of 500 kernels is 7 MB; indented to the last number it takes three times as long.
    What is not finite is null; ``default`` as for ``json_text``.

    >>> print(json_document({"run": {"id": 1}, "kernels": [{"n": 1}, {"n": 2}], "skipped": []}))
    {
    "run":{"id":1},
    "kernels":[
    {"n":1},
    {"n":2}
    ],
    "skipped":[]
    }
    """

    def text(value: object) -> str:
        try:
            return orjson.dumps(value, default=default, option=_AS_RECORDS).decode()
        except orjson.JSONEncodeError:  # half of a surrogate pair, an integer of more than 64 bits
            known = json.loads(json.dumps(value, default=default), parse_constant=lambda _: None)
            return json.dumps(known)

    def by_items(value: object) -> str:
        if not isinstance(value, list | tuple) or not value:
            return text(value)
        return "[\n" + ",\n".join(map(text, value)) + "\n]"

    lines = (f"{text(name)}:{by_items(value)}" for name, value in members.items())
    return _inert("{\n" + ",\n".join(lines) + "\n}")


def _inert(text: str) -> str:
    """Return JSON with what a terminal acts on as numbers: mostly as it is, for there is none."""
    rest = text.encode(errors="surrogatepass").translate(None, _NEVER_ACTED_ON)
    if not _ACTED_ON.search(rest.decode(errors="surrogatepass")):
        return text
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


def workflow_text(text: str) -> str:
    r"""Return the message of a workflow command: it ends no line and begins no other command.

    Source: GitHub, actions/toolkit, ``packages/core/src/command.ts``.

    >>> workflow_text("50 %\n::error::x")
    '50 %25\\n::error::x'
    """
    return one_line(text).replace("%", "%25")


def workflow_property(text: str) -> str:
    """Return a property of a workflow command, such as its file.

    >>> workflow_property("a,b::c")
    'a%2Cb%3A%3Ac'
    """
    return workflow_text(text).replace(":", "%3A").replace(",", "%2C")


def label_text(text: str) -> str:
    r"""Return the value of a metric's label for between double quotes.

    Source: OpenMetrics 1.0, "ABNF", ``escaped-string``.

    >>> label_text('a"b\\c')
    'a\\"b\\\\c'
    """
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')


def sarif_text(text: str) -> str:
    r"""Return text for a message of SARIF, in which brackets make links and braces are filled in.

    Source: SARIF 2.1.0, 3.11.5 "Messages with placeholders", 3.11.6 "Messages with embedded links".

    >>> sarif_text("[x](y) {0}")
    '\\[x\\](y) {{0}}'
    """
    apart = one_line(text).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return apart.replace("{", "{{").replace("}", "}}")


def relative_address(path: str) -> str:
    """Return a relative path as an address that names no scheme, no host and no folder above.

    >>> relative_address("src/a b.cu"), relative_address("//host/../x:y")
    ('src/a%20b.cu', 'host/x%3Ay')
    """
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return "/".join(quote(one_line(part), safe="") for part in parts)
