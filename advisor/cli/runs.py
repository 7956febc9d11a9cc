"""``advisor runs``: what is in the database."""

from __future__ import annotations

from datetime import datetime

import click

from advisor.cli.application import Settings
from advisor.cli.output import FORMATS, Narrow, write_rows
from advisor.wording import one_line

_LIST = Narrow(
    whole=("run", "started"),
    ends=("file",),
    spare=("profiler", "commit", "branch", "label", "launches"),
)
_PRUNE = """\b
Examples:
  advisor runs prune --keep 30 --dry-run
  advisor runs prune --keep 30
  advisor runs prune --keep 0 --older-than 2026-01-31
"""
_SHOW = Narrow(whole=("field", "value"))


@click.group()
def runs() -> None:
    """List, show, prune and remove runs."""


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
    removed = remove_run(
        settings.database, run, wait=settings.wait, configuration=settings.configuration
    )
    click.echo(f"removed {removed}")


@runs.command(epilog=_PRUNE)
@click.option(
    "--keep", type=click.IntRange(min=0), required=True, help="Newest runs to keep whole."
)
@click.option(
    "--older-than",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    help="Only runs before this day or moment (UTC), too.",
)
@click.option("--dry-run", is_flag=True, help="Name the runs and change nothing.")
@click.pass_obj
def prune(settings: Settings, keep: int, older_than: datetime | None, dry_run: bool) -> None:
    """Drop launches, raw counters and values per instruction of all but the newest runs.

    Everything that history rests on stays: what kernels add up to, durations with their spread,
    facts, findings, outcomes and the environment. Single launches, counters in `advisor query`, the
    worst instructions and the vendor's findings of those runs are gone, and `advisor refresh` no
    longer reads their counters anew. A run counts by when it started.
    """
    from advisor.api.runs import prune_runs
    from advisor.wording import size

    done = prune_runs(
        settings.database, keep=keep, older_than=older_than, dry_run=dry_run, wait=settings.wait
    )
    verb = "would prune" if dry_run else "pruned"
    for run in done.runs:
        click.echo(one_line(f"{verb} {run.run_id}  {run.moment:%Y-%m-%d %H:%M}  {run.name or ''}"))
    count = f"{len(done.runs):,} run{'s' * (len(done.runs) != 1)}"
    if dry_run:
        click.echo(f"{count} to prune; {settings.database} has {size(done.before)}", err=True)
    else:
        sizes = f"{size(done.before)} before, {size(done.after)} after"
        click.echo(f"{count} pruned; {settings.database}: {sizes}", err=True)
