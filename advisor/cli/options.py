"""What options refuse although their type lets it through."""

from __future__ import annotations

import math

import click


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
