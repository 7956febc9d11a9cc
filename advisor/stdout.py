"""Standard output, which may know few characters, or take a part of what it is given."""

from __future__ import annotations

import codecs
import io
import sys

_ESCAPED = "advisor-escaped"


def ready_stdout() -> None:
    """Let stdout lose nothing: neither what its encoding lacks, nor what a full disk cuts off.

    What cannot be encoded becomes an escape that JSON reads back. An unbuffered stdout
    (PYTHONUNBUFFERED) would take a part of a text and say nothing.
    """
    out = sys.stdout
    if not isinstance(out, io.TextIOWrapper):
        return
    codecs.register_error(_ESCAPED, _escaped)
    errors = out.errors if has_unicode() else _ESCAPED
    if isinstance(out.buffer, io.RawIOBase):
        buffered = io.BufferedWriter(out.buffer)
        sys.stdout = io.TextIOWrapper(
            buffered, encoding=out.encoding, errors=errors, line_buffering=True
        )
    else:
        out.reconfigure(errors=errors)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    pairs = zip(text[::2], text[1::2], strict=True)
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in pairs), error.end


def has_unicode() -> bool:
    """Return whether stdout can show more than ASCII."""
    return (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf")
