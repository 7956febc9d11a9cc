"""Names from strangers made harmless: in Markdown and in running text.

HTML and SVG are escaped by Jinja, the terminal by ``wording.printable``, CSV by the command line.
"""

from __future__ import annotations

import re

from advisor.wording import printable

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$])")
_LINE_START = re.compile(r"^(\d*)([-=.)])(?=[-=\s]|$)")
_BREAK_AFTER = re.compile(r"(?<=_)|(?<=::)|(?<=<)|(?<=,)")


class Verbatim(str):
    """Text that a Markdown template has written itself and that is not escaped again."""

    __slots__ = ()


def escape_markdown(text: str) -> str:
    r"""Return ``text`` on one line, with nothing in it that Markdown or HTML would act on.

    >>> escape_markdown("a|b <img> `c`\n# d")
    'a\\|b \\<img\\> \\`c\\` \\# d'
    """
    escaped = _MARKDOWN.sub(r"\\\1", printable(" ".join(text.split())))
    return _LINE_START.sub(r"\1\\\2", escaped)


def escape_for_both(text: str) -> str:
    """Return ``text`` as HTML in which Markdown finds nothing to act on either.

    >>> escape_for_both("<b>`x`")
    '&#60;b&#62;&#96;x&#96;'
    """
    return _MARKDOWN.sub(lambda found: f"&#{ord(found[0])};", printable(" ".join(text.split())))


def breakable(text: str) -> list[str]:
    """Return the pieces between which a long name may be broken.

    >>> breakable("ns::step_1<int,2>")
    ['ns::', 'step_', '1<', 'int,', '2>']
    """
    return [piece for piece in _BREAK_AFTER.split(text) if piece]


def shorten(text: str, most: int) -> str:
    """Return ``text`` with its middle cut out where it is longer than ``most`` characters.

    >>> shorten("abcdefghij", 7)
    'abc…hij'
    """
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}…{text[-(most - 1 - head) :]}"
