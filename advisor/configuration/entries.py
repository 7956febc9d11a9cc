"""What stands in lists of a configuration: thresholds, suppressions, operations and budgets."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from advisor.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from advisor.configuration.setting import Setting
    from advisor.errors import Location


@dataclass(frozen=True, kw_only=True)
class ThresholdSetting:
    """A rule's threshold: a number, in the unit of the rule where ``unit`` is None."""

    value: float
    unit: str | None
    at: Location


@dataclass(frozen=True, kw_only=True)
class Suppression:
    """Findings that the user has looked at and does not want to see, until the end of a day.

    ``rule`` and ``kernel`` are patterns in which ``*`` stands for anything; a kernel matches by
    its full or its short name.
    """

    rule: str
    kernel: str
    reason: str
    expires: date | None
    owner: str | None
    at: Location

    def expired(self, today: date) -> bool:
        """Return whether the last day is over."""
        return self.expires is not None and self.expires < today

    def covers(self, rule_id: str, kernel_names: tuple[str, ...]) -> bool:
        """Return whether it speaks of a rule and a kernel; without names, only of every kernel."""
        if not self.speaks_of(rule_id):
            return False
        return self.kernel == "*" or any(self._kernel.fullmatch(name) for name in kernel_names)

    def speaks_of(self, rule_id: str) -> bool:
        """Return whether it speaks of a rule, of whatever kernels."""
        return self._rule.fullmatch(rule_id) is not None

    @cached_property
    def _rule(self) -> re.Pattern[str]:
        return _pattern(self.rule)

    @cached_property
    def _kernel(self) -> re.Pattern[str]:
        return _pattern(self.kernel)


def in_force(suppressions: Iterable[Suppression], today: date) -> list[Suppression]:
    """Return the suppressions whose last day is not over."""
    return [each for each in suppressions if not each.expired(today)]


@dataclass(frozen=True, kw_only=True)
class KernelOperation:
    """Which operation the kernels of a pattern do, and with which sizes.

    A kernel matches by its full or its short name, a launch by its grid and block as they are
    stored, ``(8, 8, 1)x(256, 1, 1)``; in ``kernel`` and ``shape`` ``*`` stands for anything.
    """

    kernel: str
    shape: str
    operation: Setting[str]
    sizes: Mapping[str, Setting[float]]
    at: Location

    def binds(self, kernel_names: tuple[str | None, ...], shape: str | None) -> bool:
        """Return whether it speaks of the launches of a kernel with one shape."""
        if self.shape_pattern and (shape is None or not self.shape_pattern.fullmatch(shape)):
            return False
        return any(self.kernel_pattern.fullmatch(name) for name in kernel_names if name is not None)

    @property
    def kernel_pattern(self) -> re.Pattern[str]:
        """Return what one of the names of the kernel must match as a whole."""
        return _pattern(self.kernel)

    @property
    def shape_pattern(self) -> re.Pattern[str] | None:
        """Return what grid and block must match as a whole; None where any will do."""
        return None if self.shape == "*" else _pattern(self.shape)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a fact of kernels may come to, at most or at least.

    A kernel matches by its full or its short name; ``*`` stands for anything. ``limit`` is in
    ``unit`` as written; what adds up over launches is meant for one launch.
    """

    kernel: str
    fact: str
    limit: float
    unit: str
    is_most: bool
    at: Location

    def covers(self, kernel_names: tuple[str | None, ...]) -> bool:
        """Return whether it speaks of a kernel."""
        pattern = _pattern(self.kernel)
        return any(pattern.fullmatch(name) for name in kernel_names if name is not None)


def _pattern(text: str) -> re.Pattern[str]:
    """Return ``text`` as an expression; only ``*`` is special, as names may hold brackets."""
    return re.compile(".*".join(re.escape(part) for part in text.split("*")), re.DOTALL)
