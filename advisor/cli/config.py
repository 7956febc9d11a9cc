"""``advisor config``: what is configured, and where."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from advisor.cli.application import CommandSettings
from advisor.cli.output import FORMATS, write_rows


@click.group()
def config() -> None:
    """Show what is configured, and where.

    The project's file is the nearest advisor.yaml, or [tool.advisor] of a pyproject.toml, from the
    working directory upwards. A flag stands above the environment, the project, the user's own
    file, and the defaults.
    """


@config.command()
@click.option("--origin", is_flag=True, help="Show where each value comes from.")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def show(settings: CommandSettings, origin: bool, style: str) -> None:
    """Show every value in effect, and the suppressions with their last day."""
    from advisor.api.configured import COLUMNS, configured

    rows = configured(settings.configuration, datetime.now(tz=UTC).date())
    width = len(COLUMNS) if origin else len(COLUMNS) - 1
    write_rows(COLUMNS[:width], [row[:width] for row in rows], style)
