"""``advisor doctor``: is everything in its place?"""

from __future__ import annotations

import click

from advisor.cli.application import CommandSettings
from advisor.wording import printable


@click.command()
@click.pass_obj
@click.pass_context
def doctor(context: click.Context, settings: CommandSettings) -> None:
    """Check the installation, the rules and the database; print what to paste into an issue."""
    from advisor.api.checks import examine

    healthy = True
    for check in examine(
        settings.database, wait=settings.wait, configuration=settings.configuration
    ):
        healthy = healthy and check.good
        found = f"{'ok  ' if check.good else 'BAD '}  {check.subject:<14}  {check.text}"
        click.echo(printable(found))
    context.exit(0 if healthy else 1)
