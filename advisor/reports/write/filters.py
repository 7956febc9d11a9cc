"""The filters of templates: numbers, points and texts as pages write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from advisor import wording
from advisor.reports.escaping import Verbatim, breakable, escape_for_both, shorten
from advisor.wording import NO_BREAK, UNKNOWN, printable


def _width(share: float | None) -> str:
    """Return a share as a CSS length."""
    return f"{100 * min(1.0, max(0.0, share or 0.0)):.2f}%"


def _pixel(value: float) -> str:
    return f"{value:.1f}"


def _log(value: float) -> str:
    return f"{value:.4f}"


def _when(seconds: float | None) -> str:
    """Return a moment in UTC."""
    if seconds is None:
        return UNKNOWN
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M UTC")


def _day(seconds: float) -> str:
    """Return the day of a moment in UTC."""
    moment = datetime.fromtimestamp(seconds, tz=UTC)
    return f"{moment.day}{NO_BREAK}{moment:%b}{NO_BREAK}{moment.year}"


def _path(points: tuple[tuple[float, float], ...]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _thousandth(share: float) -> str:
    return f"{1000 * share:.0f}"


def _thousandths(points: tuple[tuple[float, float], ...]) -> str:
    return "M" + "L".join(f"{1000 * x:.0f},{1000 * y:.0f}" for x, y in points)


def _dots(points: tuple[tuple[float, float], ...]) -> str:
    """Return points as a path of dots; there may be years of them."""
    return "".join(f"M{1000 * x:.0f},{1000 * y:.0f}h0" for x, y in points)


def _points(points: tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{x:.4f},{y:.4f}" for x, y in points)


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
    "points": _points,
    "seconds": wording.seconds,
    "share": wording.share,
    "thousandth": _thousandth,
    "thousandths": _thousandths,
    "shorten": shorten,
    "si": wording.si,
    "when": _when,
    "width": _width,
}
