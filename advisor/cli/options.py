"""Options that several commands have, and what they refuse although their type lets it through."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

output_file = click.option("-o", "--output", type=click.Path(dir_okay=False, allow_dash=True))
"""``-o FILE``: where the answer goes in place of stdout; ``-`` is stdout."""


_SUFFIXES = {
    ".csv": "csv",
    ".html": "html",
    ".json": "json",
    ".md": "markdown",
    ".sarif": "sarif",
    ".txt": "text",
}


def format_of(output: str | None, known: Collection[str]) -> str | None:
    """Return which of the known formats the suffix of a file's name says, None where it says none.

    >>> format_of("page.html", ("text", "html")), format_of("page.html", ("text", "json"))
    ('html', None)
    """
    found = _SUFFIXES.get(Path(output or "").suffix.lower())
    return found if found in known else None


def output_format(
    *formats: str,
    choice: Callable[[Sequence[str]], click.Choice[str]] = click.Choice,
    folders: Collection[str] = (),
) -> Callable[[Command], Command]:
    """Return the option ``--format``: without it the suffix of ``-o`` counts, else the first.

    Formats that are ``folders`` of files have no suffix.
    """

    def chosen(context: click.Context, _: click.Parameter, given: str | None) -> str:
        output = context.params.get("output")  # options that are given are read first
        of_files = [each for each in formats if each not in folders]
        return given or format_of(output, of_files) or formats[0]

    default = by_suffix(formats[0])
    return click.option(
        "--format", "style", type=choice(formats), callback=chosen, show_default=default
    )


def by_suffix(otherwise: str) -> str:
    """Return how a command says what its format is by default."""
    return f"by the suffix of -o, or {otherwise}"


def a_number(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    """Return the value unless it is NaN, which no range leaves out.

    Raises:
        click.BadParameter: it is.
    """
    if value is not None and math.isnan(value):
        raise click.BadParameter(f"{value} is no number", context, parameter)
    return value


def moment(context: click.Context, parameter: click.Parameter, text: str | None) -> datetime | None:
    """Return a moment as UTC without a zone; one without a zone is UTC already."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except (ValueError, OverflowError) as error:
        problem = f"{text!r} is no time such as 2026-11-20T03:00+01:00"
        raise click.BadParameter(problem, context, parameter) from error
