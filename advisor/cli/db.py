"""``advisor db``: the database file itself."""

from __future__ import annotations

import click

from advisor.cli.application import Settings


@click.group()
def db() -> None:
    """Upgrade, back up and inspect the database."""


@db.command()
@click.pass_obj
def current(settings: Settings) -> None:
    """Tell the schema's revision and the newest one."""
    from advisor.api.storage import current_revision

    click.echo(current_revision(settings.database, wait=settings.wait))


@db.command()
@click.pass_obj
def upgrade(settings: Settings) -> None:
    """Bring the file to the newest schema; a copy is made first."""
    from advisor.api.storage import upgrade_database

    click.echo(upgrade_database(settings.database, wait=settings.wait))


@db.command()
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Where the copy goes.")
@click.pass_obj
def backup(settings: Settings, output: str | None) -> None:
    """Copy the database, whole and consistent."""
    from advisor.api.storage import backup_database

    click.echo(backup_database(settings.database, output, wait=settings.wait))
