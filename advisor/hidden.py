"""Packages that no command imports, though they may be installed."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import cast

DATA_FRAMES = ("pandas", "pyarrow")
"""DuckDB imports these at the first value that a statement is given, and at the first table.

The one takes half a second, the other a fifth. Where they are not installed, all folders of modules
are searched at every value: 25,000 times for the examples of all rules, which takes two seconds.
"""


def hide(modules: Iterable[str]) -> None:
    """Have imports of modules fail at once, unless they were imported before."""
    for module in modules:
        sys.modules.setdefault(module, cast("ModuleType", None))


def unhide(modules: Iterable[str]) -> None:
    """Have imports of modules find them again, for a package of others that may need them."""
    for module in modules:
        if sys.modules.get(module, sys) is None:
            del sys.modules[module]
