"""Settings from files, environment and flags, each with the place that sets it.

The nearest ``advisor.yaml`` or ``[tool.advisor]`` of a ``pyproject.toml``, looked for from the
working directory upwards, is the project's; ``$XDG_CONFIG_HOME/advisor/advisor.yaml`` is the
user's. A flag stands above the environment, that above the project's file, that above the user's,
and that above the defaults. Lists add up, those of operations with the highest first; of thresholds
and severities the highest says the value.

What stands in lists is imported when it is first used: most commands are run without a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.configuration.load import load_configuration, merge
from advisor.configuration.records import DEFAULTS, Configuration, Layer
from advisor.configuration.setting import Setting
from advisor.late import imported_late

if TYPE_CHECKING:
    from advisor.configuration.entries import (
        Budget,
        KernelOperation,
        Suppression,
        ThresholdSetting,
        in_force,
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
    "in_force",
    "load_configuration",
    "merge",
]

__getattr__ = imported_late(
    __name__,
    {
        "Budget": "entries",
        "KernelOperation": "entries",
        "Suppression": "entries",
        "ThresholdSetting": "entries",
        "in_force": "entries",
    },
)
