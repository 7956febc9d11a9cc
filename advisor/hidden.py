"""Packages that no command imports, though they may be installed."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import cast

DATA_FRAMES = "pandas"
"""DuckDB imports it at the first value that a statement is given, which takes half a second.

Where it is not installed, all folders of modules are searched at every value: 25,000 times for the
examples of all rules, which takes two seconds.
"""


def hide(module: str) -> None:
    """Have imports of a module fail at once, unless it was imported before."""
    sys.modules.setdefault(module, cast("ModuleType", None))


def unhide(module: str) -> None:
    """Have imports of a module find it again, for a package of others that may need it."""
    if sys.modules.get(module, sys) is None:
        del sys.modules[module]
