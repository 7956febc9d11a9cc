"""Names, texts and numbers as SQL writes them: the only quoters."""

from __future__ import annotations

from collections.abc import Iterable


def quoted(name: str) -> str:
    """Return ``name`` as an SQL identifier.

    >>> quoted('a "b".c')
    '"a ""b"".c"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return ``text`` as an SQL string.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def double(value: float) -> str:
    """Return ``value`` as an SQL literal of a DOUBLE: without an exponent it is a decimal.

    >>> double(0.5), double(1e-30)
    ('0.5e0', '1e-30')
    """
    digits = repr(value)
    return digits if "e" in digits else f"{digits}e0"


def listed(texts: Iterable[str]) -> str:
    """Return ``texts`` as what stands in the brackets behind ``IN``.

    >>> listed(["a", "b"]), listed([])
    ("'a', 'b'", 'NULL')
    """
    return ", ".join(map(literal, texts)) or "NULL"
