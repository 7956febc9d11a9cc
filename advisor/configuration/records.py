"""The records of a configuration: each value knows its origin."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from advisor.configuration.setting import Setting
from advisor.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from advisor.configuration.entries import (
        Budget,
        KernelOperation,
        Suppression,
        ThresholdSetting,
    )
    from advisor.errors import Location

    Thresholds = Mapping[str, Mapping[str, ThresholdSetting]]


@dataclass(frozen=True, kw_only=True)
class Layer:
    """What one place says: a file, or the flags and variables of a command.

    ``thresholds`` are by rule id and name, ``disable`` maps rule ids to where they stand,
    ``severity`` rule ids to ``error``, ``warning`` or ``note``.
    """

    database: Setting[str] | None = None
    wait: Setting[float] | None = None
    report_format: Setting[str] | None = None
    devices: Setting[Path] | None = None
    rules: tuple[Setting[Path], ...] = ()
    thresholds: Thresholds = field(default_factory=dict)
    disable: Mapping[str, Location] = field(default_factory=dict)
    severity: Mapping[str, Setting[str]] = field(default_factory=dict)
    suppress: tuple[Suppression, ...] = ()
    operations: tuple[KernelOperation, ...] = ()
    budgets: tuple[Budget, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """Everything in effect; ``files`` were read, the user's first. ``wait`` is in seconds.

    Of ``operations`` the first that matches a kernel holds. ``devices`` is the directory of the
    user's own devices, None where nothing says.
    """

    database: Setting[str]
    wait: Setting[float]
    report_format: Setting[str]
    devices: Setting[Path] | None = None
    rules: tuple[Setting[Path], ...] = ()
    thresholds: Thresholds = field(default_factory=dict)
    disable: Mapping[str, Location] = field(default_factory=dict)
    severity: Mapping[str, Setting[str]] = field(default_factory=dict)
    suppress: tuple[Suppression, ...] = ()
    operations: tuple[KernelOperation, ...] = ()
    budgets: tuple[Budget, ...] = ()
    files: tuple[Path, ...] = ()

    @property
    def rule_dirs(self) -> tuple[Path, ...]:
        """Return the directories of packs, in the order in which they are read."""
        return tuple(setting.value for setting in self.rules)


DEFAULTS = Configuration(
    database=Setting(value="advisor.duckdb", origin="default"),
    wait=Setting(value=30.0, origin="default"),
    report_format=Setting(value="text", origin="default"),
)
