"""The shipped knowledge, as every command has it: what tests read and do not change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from advisor.errors import Location
from advisor.expression import Symbol
from advisor.knowledge.load import load_knowledge
from advisor.rules import EvaluationSettings, Rule
from advisor.rules.engine.compiled import Compiled, compile_rules
from advisor.rules.language.rule import Template
from tests.support.facts import vocabulary_once

_WORD = re.compile(r"\w+")
_JOINED = re.compile(r"\w+\.\w+|\w+\(\w+\)")
"""What a template may mean by a name beside a word: ``before.x``, ``ratio(x)``."""


@cache
def settings_once() -> EvaluationSettings:
    """Return what holds for all rules."""
    return load_knowledge().settings


@cache
def rules_once() -> tuple[Rule, ...]:
    """Return every shipped rule."""
    return tuple(load_knowledge().rules)


@cache
def compiled_once() -> Compiled:
    """Return the shipped rules, compiled."""
    return compile_rules(rules_once(), vocabulary=vocabulary_once(), settings=settings_once())


def files_once(read: Callable[[Path], dict[str, Any]]) -> Callable[[Path], dict[str, Any]]:
    """Return ``read``, of what nobody changes, that reads a text once, wherever it stands."""
    found: dict[bytes, dict[str, Any]] = {}

    def read_once(path: Path) -> dict[str, Any]:
        text = path.read_bytes()
        if text not in found:
            found[text] = read(path)
        return found[text]

    return read_once


def templates_once(read: Callable[..., Template]) -> Callable[..., Template]:
    """Return ``read_template`` that reads a text once for the same place, terms and names in it."""
    found: dict[object, Template] = {}

    def read_once(
        text: str, names: Mapping[str, Symbol], at: Location, *, terms: Iterable[str] = ()
    ) -> Template:
        words = {*_WORD.findall(text), *_JOINED.findall(text)} & names.keys()
        of_text = frozenset((word, names[word]) for word in words)
        asked = text, at, frozenset(terms), of_text
        if asked not in found:
            found[asked] = read(text, names, at, terms=terms)
        return found[asked]

    return read_once
