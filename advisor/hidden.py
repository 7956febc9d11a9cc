"""Packages that no command imports, though they may be installed, and parts that come when used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, cast

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


class _Late(ModuleType):
    """A module in the place of another, which answers what this one does not."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._whole(), name)

    def _whole(self) -> ModuleType:
        """Return the module itself, which is what others import from now on."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return importlib.import_module(self.__name__)


class _Version(_Late):
    """The version of DuckDB's package, as its engine says it: both are released as one.

    The module itself reads what is written about installed packages, and imports 60 modules for it.
    """

    @property
    def __version__(self) -> str:
        return cast("str", importlib.import_module("_duckdb").__version__)

    __duckdb_version__ = __version__

    def version(self) -> str:
        return f"{self.__version__} (with duckdb {self.__duckdb_version__})"


class _TypeObjects(_Late):
    """The type objects of DuckDB's package: it opens a database to make them."""

    def __getattr__(self, name: str) -> Any:
        if name not in _COMPARED:
            return super().__getattr__(name)
        return _TypeObject(lambda: getattr(self._whole(), name))


class _TypeObject:
    """One of them, made by the module itself when it is compared with a column's type."""

    def __init__(self, made: Callable[[], object]) -> None:
        self._made = made

    def __eq__(self, other: object) -> bool:
        return bool(self._made() == other)

    def __hash__(self) -> int:
        return hash(self._made())


_COMPARED = ("BINARY", "DATETIME", "DBAPITypeObject", "NUMBER", "ROWID", "STRING")
_VERSION, _TYPE_OBJECTS = "duckdb._version", "duckdb._dbapi_type_object"


def quicken_duckdb() -> None:
    """Make of DuckDB's package only what is used: the rest takes half of its import."""
    sys.modules.setdefault(_VERSION, _Version(_VERSION))
    sys.modules.setdefault(_TYPE_OBJECTS, _TypeObjects(_TYPE_OBJECTS))
