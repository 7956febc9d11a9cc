"""A roofline in characters: the roof as a line, a letter for each kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor import wording
from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.modelling.results import OperationResult

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ROWS = 14
_MARGIN = 0.3
_AXIS = 14


@dataclass(frozen=True, kw_only=True)
class CharacterSpot:
    """A kernel in the drawing: FLOP/B, and FLOP/s of what is attainable."""

    letter: str
    x: float
    y: float


def spots_of(operations: Sequence[OperationResult]) -> list[CharacterSpot]:
    """Return the kernels that have a place: those with work and with bytes."""
    return [
        CharacterSpot(letter=letter, x=each.arithmetic_intensity, y=each.attainable)
        for letter, each in zip(LETTERS, operations, strict=False)
        if each.arithmetic_intensity and each.attainable
    ]


def roofline(
    operations: Sequence[OperationResult], bandwidth: float, peak: float, *, width: int
) -> list[str]:
    """Return the lines of the drawing, ``width`` columns wide.

    The roof is ``bandwidth`` [B/s] times the intensity, at most ``peak`` [FLOP/s].
    """
    spots = spots_of(operations)
    if not spots:
        return []
    ridge = peak / bandwidth
    x0, x1 = _range([*(spot.x for spot in spots), ridge, ridge * 4])
    y0, y1 = _range([*(spot.y for spot in spots), peak])
    columns = max(20, width - _AXIS - 1)
    grid = [[" "] * columns for _ in range(_ROWS)]

    def row_of(y: float) -> int:
        return round((y1 - math.log10(y)) / (y1 - y0) * (_ROWS - 1))

    for column in range(columns):
        x = 10 ** (x0 + (x1 - x0) * column / (columns - 1))
        row = row_of(min(peak, bandwidth * x))
        if 0 <= row < _ROWS:
            grid[row][column] = "/" if x < ridge else "-"
    for spot in reversed(spots):
        column = round((math.log10(spot.x) - x0) / (x1 - x0) * (columns - 1))
        grid[row_of(spot.y)][column] = spot.letter
    return _framed(grid, (x0, x1), (y0, y1), ridge)


def _range(values: Sequence[float]) -> tuple[float, float]:
    logs = [math.log10(value) for value in values]
    return min(logs) - _MARGIN, max(logs) + _MARGIN


def _framed(
    grid: list[list[str]], x: tuple[float, float], y: tuple[float, float], ridge: float
) -> list[str]:
    labels = {0: wording.si(10 ** y[1], "FLOP/s"), _ROWS - 1: wording.si(10 ** y[0], "FLOP/s")}
    lines = [
        f"{labels.get(number, ''):>{_AXIS - 1}} |{''.join(cells)}".rstrip()
        for number, cells in enumerate(grid)
    ]
    columns = len(grid[0])
    lines.append(" " * _AXIS + "+" + "-" * columns)
    left, right = wording.si(10 ** x[0], "FLOP/B"), wording.si(10 ** x[1], "FLOP/B")
    middle = f"ridge {wording.si(ridge, 'FLOP/B')}"
    gap = max(1, columns - len(left) - len(right) - len(middle)) // 2
    lines.append(" " * (_AXIS + 1) + left + " " * gap + middle + " " * gap + right)
    return lines
