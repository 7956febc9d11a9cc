"""Options that several commands have, and what they refuse although their type lets it through."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import click

output_file = click.option("-o", "--output", type=click.Path(dir_okay=False, allow_dash=True))
"""``-o FILE``: where the answer goes in place of stdout; ``-`` is stdout."""


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
