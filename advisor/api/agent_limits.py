"""Answers for agents: small, and without anything in names that acts.

Names are strangers' data. They are shown on one line, without characters that act, and shortened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from advisor.escaping import json_text
from advisor.reports.escaping import shorten
from advisor.wording import known, one_line

LARGEST = 8_000
"""Bytes that an answer takes as JSON."""

_LEVELS = ((100, 1000), (40, 600), (20, 400), (10, 300), (5, 240), (3, 160), (1, 80))
_WHOLE = ("command", "sql", "next")

Answer = dict[str, Any]


def bounded(answer: Mapping[str, Any], following: Mapping[str, Any] | None) -> Answer:
    """Return an answer of at most ``LARGEST`` bytes: its lists are cut, then its texts.

    Beside a list that was cut stands how much of it is left out. ``following`` is the call that
    comes next, None where the answer is the end.
    """
    cut: Answer = {}
    for items, characters in _LEVELS:
        cut = {**_mapping(answer, items, characters), "next": following}
        if size(cut) <= LARGEST:
            return cut
    return {
        "left_out": "the answer is too large; use the command line",
        "keys": [shorten(one_line(key), 80) for key in cut][:20],
        "next": following,
    }


def size(answer: Mapping[str, Any]) -> int:
    """Return how many bytes an answer takes."""
    return len(json_text(answer).encode())


def _mapping(values: Mapping[str, Any], items: int, characters: int) -> Answer:
    found: Answer = {}
    for name, value in values.items():
        key = _text(str(name), characters)
        if isinstance(value, str) and name in _WHOLE and len(value) < LARGEST // 2:
            found[key] = one_line(value)
            continue
        found[key] = _value(value, items, characters)
        if isinstance(value, Sequence) and not isinstance(value, str) and len(value) > items:
            found[f"{key}_left_out"] = len(value) - items
    return found


def _value(value: Any, items: int, characters: int) -> Any:
    if isinstance(value, Mapping):
        return _mapping(value, items, characters)
    if isinstance(value, str):
        return _text(value, characters)
    if isinstance(value, Sequence):
        return [_value(each, items, characters) for each in value[:items]]
    if isinstance(value, float):
        return value if known(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    return _text(str(value), characters)


def _text(text: str, characters: int) -> str:
    return shorten(one_line(" ".join(text.split())), characters)
