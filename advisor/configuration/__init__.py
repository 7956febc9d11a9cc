"""What the user has settled beforehand, from files, environment and flags, with where it was said.

The nearest ``advisor.yaml`` or ``[tool.advisor]`` of a ``pyproject.toml``, looked for from the
working directory upwards, is the project's; ``$XDG_CONFIG_HOME/advisor/advisor.yaml`` is the
user's. A flag stands above the environment, that above the project's file, that above the user's,
and that above the defaults. Lists add up, those of operations with the highest first; of thresholds
and severities the highest says the value.

What stands in lists is imported when it is first used: most commands are run without a file.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from advisor.configuration.load import load_configuration, merge
from advisor.configuration.records import DEFAULTS, Configuration, Layer
from advisor.configuration.setting import Setting

if TYPE_CHECKING:
    from advisor.configuration.entries import (
        Budget,
        KernelOperation,
        Suppression,
        ThresholdSetting,
    )

__all__ = [
    "DEFAULTS",
    "Budget",
    "Configuration",
    "KernelOperation",
    "Layer",
    "Setting",
    "Suppression",
    "ThresholdSetting",
    "load_configuration",
    "merge",
]

_ENTRIES = ("Budget", "KernelOperation", "Suppression", "ThresholdSetting")


def __getattr__(name: str) -> Any:
    """Import a name of this package when it is first asked for."""
    if name not in _ENTRIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.entries"), name)
