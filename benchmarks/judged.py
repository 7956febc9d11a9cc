"""Judged by hand: how often limiter, first advice and range are right; it times nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.measure import Line
from studies.advised import ABSENT, DATA
from studies.judged import PARTS, TARGETS, judged, misses, shares

if TYPE_CHECKING:
    from pathlib import Path


def run(folder: Path) -> list[Line]:
    """Return the shares per part and print the misses; none where the data are absent."""
    del folder
    if not DATA.is_dir():
        print(ABSENT)
        return []
    verdicts = judged()
    lines = []
    for part in PARTS:
        for line in misses(verdicts, part):
            print(f"{part}: {line}")
        for name, (points, count) in shares(v for v in verdicts if v.case.part == part).items():
            lines.append(_line(part, name, points, count))
    return lines


def _line(part: str, name: str, points: float, count: int) -> Line:
    return Line(
        what=f"{name} right, {part}",
        value=100 * points / count if count else 0.0,
        unit="%",
        target=f"at least {100 * TARGETS[name]:.0f} %",
        remark=f"{points:g} of {count}",
    )
