"""``python -m benchmarks [NAME …]``: measure and print, all or the named ones."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import (
    compare,
    crowd,
    fleet,
    history,
    ingest,
    judged,
    rules,
    site,
    startup,
    store,
    tracked,
    variants,
    vendor,
    years,
)
from benchmarks.measure import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.measure import Line

BENCHMARKS: dict[str, tuple[str, Callable[[Path], list[Line]]]] = {
    "startup": ("Start-up and reports", startup.run),
    "ingest": ("Ingest", ingest.run),
    "vendor": ("Ingest against the vendor's reader", vendor.run),
    "store": ("Store", store.run),
    "variants": ("Facts of kernels", variants.run),
    "rules": ("Rules", rules.run),
    "years": ("Years of nights", years.run),
    "site": ("Site", site.run),
    "crowd": ("Crowd", crowd.run),
    "fleet": ("Fleet", fleet.run),
    "history": ("History", history.run),
    "compare": ("Compare", compare.run),
    "tracked": ("Tracked", tracked.run),
    "judged": ("Judged by hand", judged.run),
}


def main(names: list[str]) -> None:
    """Run the named benchmarks, all where none is named."""
    if unknown := set(names) - BENCHMARKS.keys():
        sys.exit(f"no benchmark called {min(unknown)}; there are {', '.join(BENCHMARKS)}")
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} processors")
    for name in names or BENCHMARKS:
        title, run = BENCHMARKS[name]
        with tempfile.TemporaryDirectory() as folder:
            try:
                show(title, run(Path(folder)))
            except subprocess.CalledProcessError as error:
                sys.exit(f"{error}\n{error.output}")


if __name__ == "__main__":
    main(sys.argv[1:])
