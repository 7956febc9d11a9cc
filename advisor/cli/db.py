"""``advisor db``: the database file itself."""

from __future__ import annotations

import time

import click

from advisor.cli.application import CommandSettings
from advisor.cli.outcomes import print_all, status_of
from advisor.cli.output import Progress

_MERGE = """\b
Examples:
  advisor ingest profile.ncu-rep --spool /shared/spool    (on many machines)
  advisor db merge /shared/spool                          (on one, as often as you like)
"""


@click.group()
def db() -> None:
    """Upgrade, back up, restore, inspect and fill the database file."""


@db.command()
@click.pass_obj
def current(settings: CommandSettings) -> None:
    """Show the schema's revision and the newest one."""
    from advisor.api.storage import current_revision

    click.echo(current_revision(settings.database, wait=settings.wait))


@db.command()
@click.pass_obj
def upgrade(settings: CommandSettings) -> None:
    """Bring the file to the newest schema; a copy is made first."""
    from advisor.api.storage import upgrade_database

    with Progress("copying", clock=time.monotonic) as progress:
        done = upgrade_database(settings.database, wait=settings.wait, progress=progress)
    click.echo(done)


@db.command()
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Where the copy goes.")
@click.pass_obj
def backup(settings: CommandSettings, output: str | None) -> None:
    """Copy the database, whole and consistent, and compare the copy with it.

    A damaged database is refused: every row is read. Anybody may read meanwhile.
    `advisor db restore COPY` puts it back.
    """
    from advisor.api.storage import backup_database

    with Progress("copying", clock=time.monotonic) as progress:
        place = backup_database(settings.database, output, wait=settings.wait, progress=progress)
    click.echo(place)


@db.command()
@click.argument("copy", type=click.Path(dir_okay=False))
@click.pass_obj
def restore(settings: CommandSettings, copy: str) -> None:
    """Put COPY, which `db backup` or `db upgrade` made, in the place of the database.

    The database of before is kept beside it under another name, and COPY stays.
    """
    from advisor.api.storage import restore_database

    with Progress("copying", clock=time.monotonic) as progress:
        done = restore_database(settings.database, copy, wait=settings.wait, progress=progress)
    click.echo(done)


@db.command(epilog=_MERGE)
@click.argument("directory", metavar="DIR")
@click.option("--done", metavar="DIR", help="Move loaded bundles here; without it they stay.")
@click.pass_obj
def merge(settings: CommandSettings, directory: str, done: str | None) -> int:
    """Load the bundles of the spool DIR that the database does not hold yet.

    Bundles are what `advisor ingest --spool DIR` writes, on any number of machines and at any
    time, also while this runs. Every bundle is loaded once, however often this is repeated.
    Exit status 3 says that at least one bundle was refused; the others are loaded.
    """
    from advisor.ingest.spool import merge_spool

    with Progress("merging", clock=time.monotonic) as progress:
        loaded = merge_spool(
            settings.database,
            directory,
            done=done,
            wait=settings.wait,
            progress=progress,
            configuration=settings.configuration,
        )
        totals = print_all(loaded, progress, settings.database)
    if not totals:
        click.echo("the spool is empty", err=True)
    return status_of(totals)
