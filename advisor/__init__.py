"""From a GPU kernel profile to ranked, sourced advice; every run kept in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.analysis import roofline_analysis
from advisor.version import __version__

if TYPE_CHECKING:
    import os

    from advisor.api.opened import Database
    from advisor.errors import AdvisorError

__all__ = ["AdvisorError", "__version__", "open", "roofline_analysis"]


def open(path: str | os.PathLike[str], *, wait: float | None = None) -> Database:
    """Return a database to use in ``with``; the file is made when something is first ingested.

    ``wait`` is how long to wait for a file that another process has locked [s].

    Raises:
        ConfigError: the configuration of the working directory is wrong.
    """
    from advisor.api.opened import Database  # what it needs takes longer than this package

    return Database(path, wait=wait)


def __getattr__(name: str) -> object:
    """Return the class of all errors, which is imported when it is first named."""
    if name == "AdvisorError":
        from advisor.errors import AdvisorError

        return AdvisorError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
