"""Run by the Python of Apache Otava's own environment: series in, change points and times out.

``python history_otava.py SERIES.json RESULT.json``. The input holds ``series``, lists of numbers,
and ``options``, the arguments of Otava by name; the output, by the same names, for each series the
nights of its change points with the shares by which they moved, and the processor time [s].
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time

from otava.analysis import compute_change_points


def main(source: str, target: str) -> None:
    """Read the series, scan them with each set of options, and write what was found."""
    given = json.loads(Path(source).read_text())
    results = {}
    for name, options in given["options"].items():
        started = process_time()
        found = [_found(values, options) for values in given["series"]]
        results[name] = {"found": found, "seconds": process_time() - started}
    Path(target).write_text(json.dumps(results))


def _found(values: list[float], options: dict[str, float]) -> list[tuple[int, float]]:
    points, _ = compute_change_points(values, **options)
    return [(int(point.index), float(point.stats.forward_rel_change())) for point in points]


if __name__ == "__main__":
    main(*sys.argv[1:])
