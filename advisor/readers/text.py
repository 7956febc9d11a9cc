"""Text as people send it: byte-order marks, UTF-16 of a Windows console, line ends, colours."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from typing import BinaryIO

LONGEST_LINE = 8 * 1024 * 1024
"""Characters of a line that are kept; a table's header of 100,000 counters takes 6 million."""

LINE_ENDS = ("\n", "\r")

_ESCAPE = "\x1b"
_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")  # ECMA-48

_PREFIX = re.compile(
    r"(?:\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ]|[A-Z][a-z]{2} [ \d]\d )?"  # a day
    r"\d\d:\d\d:\d\d[^\s\]]{0,20}\]?(?: |$))?"
    r"(?P<rank>\d{1,6}: |\[\d{1,6},\d{1,6}\]<\w+>:)?"
)

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode_head(head: bytes) -> str:
    """Return the first bytes of a file as text, in the way of ``text_lines``."""
    return _plain(head.decode(_encoding(head), errors="replace"))


def text_lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a text file, each with its line end.

    Of a line longer than ``LONGEST_LINE`` the rest is dropped, its end too: it shows that the line
    is not whole. Bytes that are not valid in the file's encoding become U+FFFD. A NUL cannot be
    part of a text and is left out, which also reads ASCII in UTF-16 that lost its mark; so is
    what colours or moves a terminal.
    """
    head = file.read(4)
    file.seek(0)
    with io.TextIOWrapper(file, encoding=_encoding(head), errors="replace", newline="") as text:
        while line := text.readline(LONGEST_LINE):
            yield _plain(line)
            while line and not line.endswith(LINE_ENDS):
                line = text.readline(LONGEST_LINE)


def split_prefix(line: str) -> tuple[str, str]:
    """Return the rank before a line of a log ("" without one), and the line without rank and time.

    >>> split_prefix("2026-01-02T03:04:05.1Z 3:     Section: Occupancy")
    ('3: ', '    Section: Occupancy')
    """
    prefix = _PREFIX.match(line)
    if prefix is None or not prefix.end():
        return "", line
    return prefix["rank"] or "", line[prefix.end() :]


def _plain(text: str) -> str:
    text = text.replace("\0", "")
    return _SEQUENCE.sub("", text) if _ESCAPE in text else text


def _encoding(head: bytes) -> str:
    return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
