"""Databases that profiles are ingested into are made once in a process, then copied."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from advisor.database.connect import put
from advisor.database.lake.place import is_lake
from advisor.quantities import pack_quantities


def created_once(create: Callable[[Path], None], folder: Path) -> Callable[[Path], None]:
    """Return ``create`` that makes a database once for the same columns of packs."""

    def create_once(path: Path) -> None:
        place = path.resolve()
        if is_lake(path) or not place.parent.is_dir():
            create(path)  # which says what is wrong
            return
        columns = " ".join(quantity.name for quantity in pack_quantities())
        made = folder / f"made {columns}.duckdb"
        if not made.exists():
            create(made)
        with TemporaryDirectory(dir=folder) as own:
            put(Path(shutil.copy(made, own)), place)

    return create_once
