"""``advisor runs``: what is in the database."""

from __future__ import annotations

import click

from advisor.cli.application import Settings
from advisor.cli.output import FORMATS, Narrow, write_rows

_LIST = Narrow(
    whole=("run", "started"),
    ends=("file",),
    spare=("profiler", "commit", "branch", "label", "launches"),
)
_SHOW = Narrow(whole=("field", "value"))


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
    write_rows(columns, rows, style, _LIST)


@runs.command()
@click.argument("run", default="latest")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def show(settings: Settings, run: str, style: str) -> None:
    """Show where RUN comes from and under which conditions it was taken."""
    from advisor.api.runs import show_run

    rows = show_run(settings.database, run, wait=settings.wait)
    write_rows(("field", "value"), rows, style, _SHOW)


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
