"""What kernels of a run are called: short names, launch shapes, and what tells others apart."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from advisor import wording
from advisor.database.names import distinguished
from advisor.model import UNNAMED
from advisor.reports.record.kernel_records import KernelName
from advisor.reports.record.rows import Row, number, text

_STORED_SHAPE = re.compile(r"\((\d+(?:, \d+)*)\)x\((\d+(?:, \d+)*)\)")


def kernel_names(rows: Sequence[Row]) -> dict[str, KernelName]:
    """Return what to call each variant of a run."""
    templates = _templates(rows)
    shown = {
        str(row["variant_id"]): (short_name_of(row), templates.get(text(row, "kernel_name"), ""))
        for row in rows
    }
    shapes = {str(row["variant_id"]): shape_of(row) for row in rows}
    alike = Counter(name for name, _ in shown.values())
    same = Counter(shown.values())
    same_shape = Counter((shown[variant], shape) for variant, shape in shapes.items())
    registers = {str(row["variant_id"]): _registers(row) for row in rows}
    same_build = Counter(
        (*key, shapes[variant], registers[variant]) for variant, key in shown.items()
    )
    found = {}
    for variant, (name, template) in shown.items():
        parts = [template]
        if not template or same[name, template] > 1:
            parts.append(shapes[variant])
        if same_shape[(name, template), shapes[variant]] > 1:
            is_told = same_build[name, template, shapes[variant], registers[variant]] == 1
            parts.append(registers[variant] if is_told and registers[variant] else variant)
        told_apart = ", ".join(filter(None, parts)) if alike[name] > 1 else ""
        found[variant] = KernelName(id=variant, short_name=name, told_apart=told_apart)
    return found


def _templates(rows: Sequence[Row]) -> dict[str | None, str]:
    """Return the template arguments that tell kernels of one short name apart, by full name."""
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        if name := text(row, "kernel_name"):
            names[short_name_of(row)][name] = None
    several = [list(each) for each in names.values() if len(each) > 1]
    return {
        name: template
        for each in several
        for name, template in zip(each, distinguished(each), strict=True)
    }


def _registers(row: Row) -> str:
    """Return how many registers a kernel was compiled to, "" where that is not known."""
    count = number(row, "registers_per_thread")
    return "" if count is None else f"{wording.fixed(count)} registers"


def short_name_of(row: Row) -> str:
    """Return the short name of a row's kernel."""
    return text(row, "short_name") or UNNAMED


def shape_of(row: Row) -> str:
    """Return grid × block, a size that is 1 left out."""
    sides = [[number(row, f"{part}_{axis}") for axis in "xyz"] for part in ("grid", "block")]
    if any(side[0] is None for side in sides):
        return text(row, "launch_shape") or "launch shape unknown"
    return " × ".join(_extent(side) for side in sides)


def written_shape(stored: str) -> str:
    """Return a launch shape as pages write it; another text stays.

    >>> written_shape("(8640, 1, 1)x(256, 1, 1)"), written_shape("(24, 4, 1)x(128, 1, 1)")
    ('8,640 × 256', '(24·4) × 128')
    """
    found = _STORED_SHAPE.fullmatch(stored)
    if found is None:
        return stored
    return " × ".join(_extent([float(n) for n in side.split(",")]) for side in found.groups())


def _extent(sides: Sequence[float | None]) -> str:
    kept = [side or 1.0 for side in sides]
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    extent = "·".join(wording.fixed(side) for side in kept)
    return extent if len(kept) == 1 else f"({extent})"
