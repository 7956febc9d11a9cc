"""What a mistyped name probably meant: the one way in which hints are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

_LIKE = 0.6  # how alike two names must be, of 1; difflib's own default


@overload
def did_you_mean(
    name: str, known: Iterable[str], otherwise: None = None, *, most: int = 1, like: float = _LIKE
) -> str | None:
    """Return a hint, or None where no known name is like it."""


@overload
def did_you_mean(
    name: str, known: Iterable[str], otherwise: str, *, most: int = 1, like: float = _LIKE
) -> str:
    """Return a hint, or ``otherwise`` where no known name is like it."""


def did_you_mean(
    name: str,
    known: Iterable[str],
    otherwise: str | None = None,
    *,
    most: int = 1,
    like: float = _LIKE,
) -> str | None:
    """Return a hint with the known names most like ``name``, or ``otherwise`` where none is.

    Case does not count.

    >>> did_you_mean("kernl", ["kernel", "run"]), did_you_mean("x", ["kernel"], "known: kernel")
    ("did you mean 'kernel'?", 'known: kernel')
    """
    from difflib import get_close_matches  # only errors pay for it

    folded = {each.casefold(): each for each in known}
    near = get_close_matches(name.casefold(), folded, n=most, cutoff=like)
    meant = " or ".join(sorted(repr(folded[each]) for each in near))
    return f"did you mean {meant}?" if near else otherwise
