"""``python -m studies.levels [FOLDER …]``: count where DRAM moved more bytes than L2.

What reaches device memory passed L2, so that the intensity at L2 is at most that at DRAM. Reads the
reports and pages below the folders (by default those of Nsight Compute in ``../shared/data``) and
prints the rows of ``docs/levels.md``. Counts only; nothing of the profiles is kept.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from advisor.database.connect import open_for_reading
from advisor.ingest.profiles import RunLabels, ingest_paths

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
FOLDERS = tuple(DATA / name for name in ("ncu-rep", "ncu-export", "ncu-text", "ncu-csv"))
BOUNDS = (1.0, 1.02, 1.1, 1.15)
_COUNTS = """
    SELECT count(*), count(DISTINCT run_id), {above}, max(dram_bytes / l2_bytes)
    FROM launch WHERE l2_bytes > 0 AND dram_bytes > 0
"""
_DEVICES = """
    SELECT device.name, count(*), max(dram_bytes / l2_bytes)
    FROM launch JOIN device USING (device_id)
    WHERE l2_bytes > 0 AND dram_bytes > l2_bytes GROUP BY 1 ORDER BY 1
"""


def main(folders: tuple[Path, ...]) -> None:
    """Print the counts."""
    above = ", ".join(f"count(*) FILTER (dram_bytes > {each} * l2_bytes)" for each in BOUNDS)
    with tempfile.TemporaryDirectory() as scratch:
        database = str(Path(scratch) / "levels.duckdb")
        list(ingest_paths(database, [str(each) for each in folders], labels=RunLabels(), wait=0))
        with open_for_reading(database) as connection:
            launches, runs, *counts, most = connection.execute(
                _COUNTS.format(above=above)
            ).fetchall()[0]
            print(f"{launches} launches of {runs} profiles, at most {most:.3f}×")
            for bound, count in zip(BOUNDS, counts, strict=True):
                print(f"| more than {bound:g} × | {count} |")
            for device, count, largest in connection.execute(_DEVICES).fetchall():
                print(f"| {device} | {count} | {largest:.3f} × |")


if __name__ == "__main__":
    main(tuple(map(Path, sys.argv[1:])) or FOLDERS)
