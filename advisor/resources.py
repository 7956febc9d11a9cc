"""Where rules, templates, migrations and seed data are: in a checkout, or inside the package."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

DataDirectory = Literal["rules", "templates", "migrations", "seed"]

_PACKAGE = Path(__file__).parent


def data_dir(name: DataDirectory) -> Path:
    """Return the directory ``name`` of the checkout, else of the installed package."""
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir():
        return checkout / name
    return _PACKAGE / "_data" / name
