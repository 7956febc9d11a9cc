"""What the user has settled beforehand, from files, environment and flags, with where it was said.

The nearest ``advisor.yaml`` or ``[tool.advisor]`` of a ``pyproject.toml``, looked for from the
working directory upwards, is the project's; ``$XDG_CONFIG_HOME/advisor/advisor.yaml`` is the
user's. A flag stands above the environment, that above the project's file, that above the user's,
and that above the defaults. Lists add up, those of operations with the highest first; of thresholds
and severities the highest says the value.
"""

from __future__ import annotations

from advisor.configuration.load import load_configuration, merge
from advisor.configuration.records import (
    DEFAULTS,
    Budget,
    Configuration,
    KernelOperation,
    Layer,
    Setting,
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
