"""A value of a configuration, which knows its origin."""

from __future__ import annotations

from typing import Generic, TypeVar

from advisor.records import dataclass

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Setting(Generic[T]):
    """A value and what set it: a flag, a variable, a place in a file, or "default"."""

    value: T
    origin: str
