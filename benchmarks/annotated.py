"""Scores of change points against the series that people annotated (TCPD).

Source: van den Burg and Williams, An evaluation of change point detection algorithms,
arXiv:2003.06222, section 4: F1 with a margin, and covering.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

FOLDER = Path(__file__).parent.parent.parent / "shared" / "data" / "series"
SERIES = FOLDER / "alan-turing-institute__TCPD"
PUBLISHED = FOLDER / "alan-turing-institute__TCPDBench" / "default_scores_subset.csv"
MARGIN = 5


@dataclass(frozen=True, kw_only=True)
class Annotated:
    """A series, NaN where it has no value, and what each annotator marked."""

    name: str
    values: NDArray[np.float64]
    marks: tuple[tuple[int, ...], ...]


def load() -> list[Annotated]:
    """Return the annotated series; of several dimensions the first. None where they are absent."""
    path = SERIES / "annotations.json"
    if not path.is_file():
        return []
    annotations = json.loads(path.read_text())
    return [_one(name, annotations[name]) for name in sorted(annotations)]


def _one(name: str, marks: Mapping[str, Sequence[int]]) -> Annotated:
    data = json.loads((SERIES / "datasets" / name / f"{name}.json").read_text())
    raw = data["series"][0]["raw"]
    values = np.array([np.nan if value is None else value for value in raw], dtype=float)
    return Annotated(name=name, values=values, marks=tuple(map(tuple, marks.values())))


def published() -> dict[str, tuple[float, float]]:
    """Return the published F1 and covering of "no change", by series."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return {
            row["dataset"]: (float(row["f1_zero"]), float(row["cover_zero"]))
            for row in csv.DictReader(file)
        }


def f1(marks: Sequence[Iterable[int]], found: Iterable[int]) -> float:
    """Return F1: precision against the marks of all annotators, recall the mean over each.

    The first night counts as a mark and as found, as published.
    """
    each = [{0, *of_one} for of_one in marks]
    predicted = {0, *found}
    precision = len(_hit(set().union(*each), predicted)) / len(predicted)
    recall = sum(len(_hit(of_one, predicted)) / len(of_one) for of_one in each) / len(each)
    return 2 * precision * recall / (precision + recall)


def _hit(marks: set[int], found: set[int]) -> set[int]:
    """Return the marks that something was found near; nothing found counts twice."""
    left = set(found)
    hit = set()
    for mark in sorted(marks):
        near = [(abs(mark - other), other) for other in left if abs(mark - other) <= MARGIN]
        if near:
            left.remove(min(near)[1])
            hit.add(mark)
    return hit


def covering(marks: Sequence[Iterable[int]], found: Iterable[int], nights: int) -> float:
    """Return how well the segments found cover those of each annotator, the mean over them."""
    predicted = _segments(found, nights)
    return sum(_covered(_segments(of_one, nights), predicted) for of_one in marks) / (
        len(marks) * nights
    )


def _covered(segments: list[range], predicted: list[range]) -> float:
    return sum(
        len(segment) * max(_overlap(segment, other) for other in predicted) for segment in segments
    )


def _overlap(one: range, other: range) -> float:
    """Return the nights in both over the nights in either."""
    both = max(0, min(one.stop, other.stop) - max(one.start, other.start))
    return both / (len(one) + len(other) - both)


def _segments(boundaries: Iterable[int], nights: int) -> list[range]:
    edges = sorted({0, *boundaries, nights})
    return [range(a, b) for a, b in pairwise(edges)]
