"""Scan a CSV of nightly results for changes, without a database."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.api.nights_table import NightSeries, Time, read_table
from advisor.errors import InputError, Location
from advisor.records import dataclass
from advisor.tracking.records import SeriesResult, Verdict
from advisor.tracking.scan import Nights, scan_many
from advisor.tracking.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA_VERSION = 1
STANDARD_INPUT = "-"


@dataclass(frozen=True, kw_only=True)
class ScannedSeries:
    """One series of a file and what moved in it; ``times`` are those of nights with a value."""

    name: str
    better: str
    times: tuple[Time, ...]
    result: SeriesResult


def scan_file(name: str) -> tuple[ScannedSeries, ...]:
    """Return what moved in each series of a CSV file, ``-`` for standard input, sorted by name.

    Raises:
        InputError: the file cannot be read, or its table is wrong; with the line.
    """
    shown = "standard input" if name == STANDARD_INPUT else name
    try:
        is_stream = name == STANDARD_INPUT
        data = sys.stdin.buffer.read() if is_stream else Path(name).read_bytes()
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise InputError(problem, at=Location(name=shown)) from error
    return scan_table(read_table(data, shown))


def scan_table(table: Sequence[NightSeries]) -> tuple[ScannedSeries, ...]:
    """Return what moved in each series."""
    nights = [
        Nights(values=each.values, better=each.better, environment=each.environment)
        for each in table
    ]
    results = scan_many(nights, settings=load_settings())
    return tuple(
        ScannedSeries(
            name=each.name,
            better=each.better,
            times=tuple(
                time
                for time, value in zip(each.times, each.values, strict=True)
                if not math.isnan(value)
            ),
            result=result,
        )
        for each, result in zip(table, results, strict=True)
    )


def any_regressed(scanned: Sequence[ScannedSeries]) -> bool:
    """Return whether the newest nights of a series are worse than those before."""
    return any(each.result.newest.verdict is Verdict.REGRESSED for each in scanned)


def as_json(scanned: Sequence[ScannedSeries]) -> dict[str, object]:
    """Return plain values: values in the file's unit, shares as ratios, unknown as None."""
    return {"schema_version": SCHEMA_VERSION, "series": [_series(each) for each in scanned]}


def _series(each: ScannedSeries) -> dict[str, object]:
    result, times = each.result, each.times
    newest = result.newest
    return {
        "series": each.name,
        "better": each.better,
        "nights": result.nights,
        "first": times[0] if times else None,
        "last": times[-1] if times else None,
        "noise": result.noise,
        "changes": [
            {
                "kind": change.kind,
                "index": change.index,
                "end_index": change.end_index,
                "time": times[change.index],
                "end_time": times[change.end_index],
                "before": change.before,
                "after": change.after,
                "relative": change.relative,
                "p_value": change.p_value,
                "verdict": change.verdict,
            }
            for change in result.changes
        ],
        "newest": {
            "verdict": newest.verdict,
            "index": newest.index,
            "time": None if newest.index is None else times[newest.index],
            "relative": newest.relative,
            "p_value": newest.p_value,
        },
    }
