"""Names from strangers made harmless: in Markdown and in running text.

HTML and SVG are escaped by Jinja, the terminal by ``wording.printable``, JSON and CSV by
``advisor.escaping``.
"""

from __future__ import annotations

import re

from advisor.wording import printable

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$])")
_LINE_START = re.compile(r"^(\d*)([-=.)])(?=[-=\s]|$)")
_BREAK_AFTER = re.compile(r"(?<=_)|(?<=::)|(?<=<)|(?<=,)")


# Texts that sites make live by themselves, after Markdown is rendered: a comment keeps them apart.
_LIVE = re.compile(r"@(?=\w)|(?:\\#|&#35;)(?=\d)|(?<=\bGH)-(?=\d)", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<=\w):(?=//)|(?<=\bwww)\.", re.IGNORECASE)
_APART = "<!-- -->"
_TICKS = re.compile("`+")


class Verbatim(str):
    """Text that a Markdown template has written itself and that is not escaped again."""

    __slots__ = ()


def escape_markdown(text: str) -> str:
    r"""Return ``text`` on one line, with nothing in it that Markdown or HTML would act on.

    >>> escape_markdown("a|b <img> `c`\n# d")
    'a\\|b \\<img\\> \\`c\\` \\# d'
    """
    escaped = _MARKDOWN.sub(r"\\\1", printable(" ".join(text.split())))
    return _inert(_LINE_START.sub(r"\1\\\2", escaped))


def escape_for_both(text: str) -> str:
    """Return ``text`` as HTML in which Markdown finds nothing to act on either.

    >>> escape_for_both("<b>`x`")
    '&#60;b&#62;&#96;x&#96;'
    """
    plain = printable(" ".join(text.split()))
    return _inert(_MARKDOWN.sub(lambda found: f"&#{ord(found[0])};", plain))


def code_span(text: str) -> str:
    """Return ``text`` as code in Markdown, in a line or a cell: nobody is pinged by what is in it.

    >>> code_span("@all"), code_span("a`b")
    ('`@all`', '`` a`b ``')
    """
    plain = printable(" ".join(text.split())).replace("|", "\N{BROKEN BAR}") or " "
    longest = max((len(run) for run in _TICKS.findall(plain)), default=0)
    if not longest:
        return f"`{plain}`"
    fence = "`" * (longest + 1)
    return f"{fence} {plain} {fence}"


def _inert(text: str) -> str:
    """Keep apart what a site would make an address, a mention or a reference."""
    return _ADDRESS.sub(lambda found: f"&#{ord(found[0])};{_APART}", _LIVE.sub(_comment, text))


def _comment(found: re.Match[str]) -> str:
    return found[0] + _APART


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
