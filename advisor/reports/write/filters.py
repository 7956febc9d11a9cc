"""The filters of templates: numbers, points and texts as pages write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from advisor import wording
from advisor.reports.escaping import Verbatim, breakable, escape_for_both, shorten
from advisor.reports.record import saved
from advisor.wording import NO_BREAK, UNKNOWN, printable


def _width(share: float | None) -> str:
    """Return a share as a CSS length."""
    return f"{round(100 * min(1.0, max(0.0, share or 0.0)), 2):g}%"


def _pixel(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _log(value: float) -> str:
    return f"{value:.4f}"


def _sixth(value: float | None) -> str:
    """Return a value for a script that sorts: six digits of it, nothing where it is unknown."""
    return "" if value is None else f"{value:.6g}"


def _when(seconds: float | None) -> str:
    """Return a moment in UTC."""
    return UNKNOWN if seconds is None else wording.minute(seconds)


def _day(seconds: float) -> str:
    """Return the day of a moment in UTC."""
    moment = datetime.fromtimestamp(seconds, tz=UTC)
    return f"{moment.day}{NO_BREAK}{moment:%b}{NO_BREAK}{moment.year}"


def _path(points: tuple[tuple[float, float], ...]) -> str:
    return "M" + "L".join(f"{_pixel(x)},{_pixel(y)}" for x, y in points)


def _thousandth(share: float) -> str:
    return f"{1000 * share:.0f}"


def _steps(points: tuple[tuple[float, float], ...]) -> str:
    """Return a line of 1000 by 100, by its steps; one for each kernel is much of a page."""
    rounded = [(round(1000 * x), round(100 * y)) for x, y in points]
    moves = ((x - a, y - b) for (a, b), (x, y) in pairwise(rounded))
    return f"M{rounded[0][0]} {rounded[0][1]}l" + " ".join(f"{x} {y}" for x, y in moves)


def _between(times: Any, digits: int = 3) -> str:
    """Return the least and the most of what has a ``low`` and a ``high``."""
    return wording.between(times.low, times.high, digits)


def _dots(points: tuple[tuple[float, float], ...]) -> str:
    """Return points as a path of dots, each by its step; there may be years of them."""
    rounded = [(0, 0), *[(round(1000 * x), round(1000 * y)) for x, y in points]]
    return "".join([f"m{x - a} {y - b}h0" for (a, b), (x, y) in pairwise(rounded)])


def _breakable(text: str) -> Markup:
    """Return escaped text that a browser may break after ``_``, ``::``, ``<`` and commas."""
    return Markup("<wbr>").join(escape(part) for part in breakable(printable(text)))


def _code_block(text: str) -> Verbatim:
    """Return an indented block: no run of backticks can end it."""
    return Verbatim("    " + printable(" ".join(text.split())))


def _link(text: str) -> Verbatim:
    """Return a file name as the target of a Markdown link."""
    return Verbatim(quote(text))


def _html_in_markdown(text: str) -> Verbatim:
    """Return text for the inside of an HTML element of a Markdown page: harmless in both."""
    return Verbatim(escape_for_both(text))


FILTERS: Mapping[str, Callable[..., Any]] = {
    "between": _between,
    "breakable": _breakable,
    "code_block": _code_block,
    "count": wording.fixed,
    "counted": wording.count,
    "day": _day,
    "digits": wording.significant,
    "dots": _dots,
    "html": _html_in_markdown,
    "in_unit": wording.in_unit,
    "link": _link,
    "log": _log,
    "number": wording.fact,
    "path": _path,
    "percent": partial(wording.percent, decimals=1),
    "pixel": _pixel,
    "saved": saved.likely,
    "saved_between": saved.between,
    "seconds": wording.seconds,
    "share": wording.share,
    "sixth": _sixth,
    "steps": _steps,
    "thousandth": _thousandth,
    "shorten": shorten,
    "si": wording.si,
    "when": _when,
    "width": _width,
}
