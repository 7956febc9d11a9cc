"""A CSV of benchmark results, one row per sample, as series of nights.

Columns ``series``, ``time`` and ``value``, perhaps ``better`` and ``environment``, in any order;
others are left alone. Rows of one series and time are samples of one night.
"""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from dataclasses import field
from datetime import UTC, datetime
from statistics import median
from typing import TYPE_CHECKING, NoReturn, get_args

from advisor.errors import InputError, Location
from advisor.records import dataclass
from advisor.tracking.scan import Better

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REQUIRED = ("series", "time", "value")
OPTIONAL = ("better", "environment")
_LAYOUT = "the first line names the columns: series,time,value and perhaps better,environment"
_BETTER: tuple[Better, ...] = get_args(Better)

Time = int | float | str


@dataclass(frozen=True, kw_only=True)
class NightSeries:
    """One series, oldest night first.

    ``times`` are numbers, or dates as the file writes them. ``values`` are the medians of the
    samples of each night, NaN where there are none. ``environment`` is None where the file tells
    none at all.
    """

    name: str
    better: Better
    times: tuple[Time, ...]
    values: tuple[float, ...]
    environment: tuple[str | None, ...] | None


@dataclass(kw_only=True)
class _Night:
    shown: Time
    samples: list[float] = field(default_factory=list)
    environments: set[str] = field(default_factory=set)


@dataclass(kw_only=True)
class _Series:
    better: Better | None = None
    nights: dict[float, _Night] = field(default_factory=dict)


def read_table(data: bytes, name: str) -> tuple[NightSeries, ...]:
    """Return the series of a CSV, sorted by name; ``name`` is the file's, for messages.

    Raises:
        InputError: the table is wrong; with the line.
    """
    return _Table(_decoded(data, name), name).series()


def _decoded(data: bytes, name: str) -> str:
    """Return the text of UTF-8 data, with or without a byte order mark."""
    position = data.find(b"\0")
    if position < 0:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            position = error.start
    at = Location(name=name, line=data.count(b"\n", 0, position) + 1)
    raise InputError("this is no text in UTF-8", at=at, hint=_LAYOUT)


class _Table:
    """Rows on their way to series; knows the line for messages."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        self._series: dict[str, _Series] = defaultdict(_Series)
        self._times: dict[str, tuple[float, Time]] = {}
        self._kind: type | None = None

    def series(self) -> tuple[NightSeries, ...]:
        """Read every row and return the series."""
        lines = self._lines()
        header = next(lines, None)
        if header is None:
            self._refuse("the file is empty", _LAYOUT)
        at = self._columns(header)
        for row in lines:
            if len(row) != len(header):
                problem = f"this row has {len(row)} fields, the header has {len(header)}"
                self._refuse(problem, "quote fields that hold a comma")
            self._take(*(row[i] if i is not None else "" for i in at))
        if not self._series:
            self._refuse("there is no row below the header", _LAYOUT)
        return tuple(_finished(name, self._series[name]) for name in sorted(self._series))

    def _lines(self) -> Iterator[list[str]]:
        """Yield the rows that are not blank."""
        try:
            yield from filter(None, self._rows)
        except csv.Error as error:
            self._refuse(f"this is no CSV: {error}", _LAYOUT)

    def _columns(self, header: Sequence[str]) -> list[int | None]:
        """Return the places of the columns, None for optional ones that are absent."""
        names = [name.strip() for name in header]
        for name in (*REQUIRED, *OPTIONAL):
            if names.count(name) > 1:
                self._refuse(f"the column {name!r} is there twice", _LAYOUT)
        missing = [name for name in REQUIRED if name not in names]
        if missing:
            plural = "s" if len(missing) > 1 else ""
            self._refuse(f"missing column{plural} {', '.join(map(repr, missing))}", _LAYOUT)
        return [names.index(n) if n in names else None for n in (*REQUIRED, *OPTIONAL)]

    def _take(self, name: str, time: str, value: str, better: str, environment: str) -> None:
        if not name.strip():
            self._refuse("the series has no name")
        series = self._series[name.strip()]
        if better.strip():
            self._choose(series, name.strip(), better.strip())
        known = self._times.get(time)
        if known is None:
            known = self._times[time] = self._time(time.strip())
        key, shown = known
        night = series.nights.get(key)
        if night is None:
            night = series.nights[key] = _Night(shown=shown)
        elif isinstance(shown, str):
            night.shown = min(night.shown, shown, key=str)
        if value.strip():
            night.samples.append(self._number(value.strip(), "value"))
        if environment.strip():
            night.environments.add(environment.strip())

    def _choose(self, series: _Series, name: str, text: str) -> None:
        better = next((known for known in _BETTER if known == text), None)
        if better is None:
            self._refuse(f"better is 'lower' or 'higher', not {text!r}")
        if series.better not in (None, better):
            self._refuse(f"the series {name!r} had better {series.better!r} before, here {text!r}")
        series.better = better

    def _number(self, text: str, column: str) -> float:
        try:
            number = float(text) if text.isascii() and "_" not in text else math.nan
        except ValueError:
            number = math.nan
        if math.isnan(number):
            hint = "leave it empty where a night has no value" if column == "value" else None
            self._refuse(f"{column}: expected a number, found {text[:60]!r}", hint)
        if math.isinf(number):
            self._refuse(f"{column}: {text[:60]!r} is not finite")
        return number

    def _time(self, text: str) -> tuple[float, Time]:
        """Return what orders a time, and how to show it."""
        if not text:
            self._refuse("the time is empty")
        moment = self._moment(text)
        if self._kind not in (None, type(moment)):
            hint = "write all times as dates (2026-01-31), or all as numbers"
            self._refuse(f"time: numbers and dates are mixed, here {text[:60]!r}", hint)
        self._kind = type(moment)
        if isinstance(moment, datetime):
            return moment.timestamp(), text
        return moment, int(moment) if moment.is_integer() else moment

    def _moment(self, text: str) -> float | datetime:
        try:
            float(text)
        except ValueError:
            pass
        else:
            return self._number(text, "time")
        try:
            moment = datetime.fromisoformat(text)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        except ValueError:
            hint = "write dates as 2026-01-31 or 2026-01-31T04:30:00Z"
            self._refuse(f"time: expected a date (ISO 8601) or a number, found {text[:60]!r}", hint)

    def _refuse(self, problem: str, hint: str | None = None) -> NoReturn:
        at = Location(name=self._name, line=max(1, self._rows.line_num))
        raise InputError(problem, at=at, hint=hint)


def _finished(name: str, series: _Series) -> NightSeries:
    nights = [series.nights[key] for key in sorted(series.nights)]
    tells = any(night.environments for night in nights)
    return NightSeries(
        name=name,
        better=series.better or _BETTER[0],
        times=tuple(night.shown for night in nights),
        values=tuple(median(night.samples) if night.samples else math.nan for night in nights),
        environment=tuple(map(_environment, nights)) if tells else None,
    )


def _environment(night: _Night) -> str | None:
    """Return what a night ran on; samples of several environments are one of their own."""
    return ", ".join(sorted(night.environments)) or None
