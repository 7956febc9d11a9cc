"""Names and texts as SQL writes them: the only quoters."""

from __future__ import annotations


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
