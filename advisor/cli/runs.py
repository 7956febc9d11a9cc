"""``advisor runs``: what is in the database."""

from __future__ import annotations

import click

from advisor.cli.application import Settings
from advisor.cli.output import FORMATS, write_rows


@click.group()
def runs() -> None:
    """List, show and remove runs."""


@runs.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def list_(settings: Settings, limit: int, style: str) -> None:
    """List runs, the last one first."""
    from advisor.api.runs import list_runs

    columns, rows = list_runs(settings.database, limit=limit, wait=settings.wait)
    write_rows(columns, rows, style)


@runs.command()
@click.argument("run", default="latest")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def show(settings: Settings, run: str, style: str) -> None:
    """Show where RUN comes from and under which conditions it was taken."""
    from advisor.api.runs import show_run

    write_rows(("field", "value"), show_run(settings.database, run, wait=settings.wait), style)


@runs.command()
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def remove(settings: Settings, run: str, yes: bool) -> None:
    """Remove RUN with everything that hangs on it."""
    from advisor.api.runs import describe_run, remove_run

    found = describe_run(settings.database, run, wait=settings.wait)
    if not yes:
        click.confirm(f"Remove run {found}?", abort=True, err=True)
    removed = remove_run(settings.database, run, wait=settings.wait)
    click.echo(f"removed {removed}")
