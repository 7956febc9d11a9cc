"""Ingest against the vendor's own reader: every report of a folder, repeated to 250 MB each.

The folder is ``ADVISOR_BENCH_REPORTS``; of its reports those count that this ``ncu`` reads.
What a launch takes in a report decides most of the ratio: reports of few, large launches cost
``advisor`` little more than its start and the hash of the file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from statistics import geometric_mean
from typing import TYPE_CHECKING

from advisor.errors import AdvisorError
from benchmarks.ingest import SIZE, repeat
from benchmarks.measure import ADVISOR, Line, best_of, cost_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = "ADVISOR_BENCH_REPORTS"
_LEAST = 200_000  # bytes of a report; smaller ones hold few counters
_TIMES = 3


def run(folder: Path) -> list[Line]:
    """Return the ratios, processor time of theirs over ours; ``folder`` is scratch space."""
    given, program = os.environ.get(_FOLDER), shutil.which("ncu")
    if given is None or program is None:
        lacks = f"{_FOLDER} names no folder of reports" if given is None else "no ncu in PATH"
        return [Line(what="ncu / advisor", value=float("nan"), unit="×", remark=lacks)]
    costs = dict(_costs(Path(given), program, folder))
    if not costs:
        lacks = f"no report in {given} that this ncu reads"
        return [Line(what="ncu / advisor", value=float("nan"), unit="×", remark=lacks)]
    lines = [
        Line(
            what=name, value=theirs / ours, unit="×", target="≥ 6 ×",
            remark=f"{SIZE / launches / 1e3:.0f} kB a launch; {theirs:.2f} and {ours:.2f} s",
        )
        for name, (launches, theirs, ours) in costs.items()
    ]  # fmt: skip
    theirs, ours = (sum(each[place] for each in costs.values()) for place in (1, 2))
    mean = geometric_mean([line.value for line in lines])
    spread = f"{theirs:.0f} and {ours:.0f} s; geometric mean {mean:.1f} ×"
    return [*lines, Line(what="all together", value=theirs / ours, unit="×", remark=spread)]


def _costs(
    reports: Path, program: str, folder: Path
) -> Iterator[tuple[str, tuple[int, float, float]]]:
    """Yield the names of reports, launches in 250 MB, and processor times, theirs and ours [s]."""
    large, database = folder / "large.ncu-rep", folder / "advisor.duckdb"
    vendor = (program, "--import", large, "--csv", "--page", "raw")
    for report in sorted(reports.rglob("*.ncu-rep")):
        if report.stat().st_size < _LEAST:
            continue
        try:
            launches = repeat(report, large, SIZE)
            theirs = best_of(_TIMES, vendor, folder).processor
        except (AdvisorError, subprocess.CalledProcessError):
            continue  # no report, or one that this version does not read
        ours = min(_ours(report, large, database, folder) for _ in range(_TIMES))
        yield str(report.relative_to(reports)), (launches, theirs, ours)


def _ours(report: Path, large: Path, database: Path, folder: Path) -> float:
    """Return the processor time [s] of an ingest where the report itself was stored before."""
    database.unlink(missing_ok=True)
    cost_of((*ADVISOR, "--db", database, "ingest", report), folder)
    return cost_of((*ADVISOR, "--db", database, "ingest", large), folder).processor
