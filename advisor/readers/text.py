"""Text as people send it: byte-order marks, UTF-16 from a Windows console, any line ends."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONGEST_LINE = 16 * 1024 * 1024


def decode_head(head: bytes) -> str:
    """Return the first bytes of a file as text; what cannot be decoded is replaced."""
    return head.decode(_encoding(head), errors="replace")


def text_lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a text file, each with its line end, cut at 16 MiB.

    Bytes that are not valid in the file's encoding become U+FFFD. A NUL cannot be part of a text
    and is left out.
    """
    head = file.read(4)
    file.seek(0)
    with io.TextIOWrapper(file, encoding=_encoding(head), errors="replace", newline="") as text:
        while line := text.readline(_LONGEST_LINE):
            yield line.replace("\0", "")


def _encoding(head: bytes) -> str:
    return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
