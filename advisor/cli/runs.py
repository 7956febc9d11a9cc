"""``advisor runs``: what is in the database."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from advisor.cli.application import CommandSettings
from advisor.cli.options import moment
from advisor.cli.output import FORMATS, Narrow, write_rows
from advisor.wording import one_line

_LIST = Narrow(
    whole=("run", "started"),
    ends=("file",),
    spare=("profiler", "commit", "branch", "label", "launches"),
)
_LABEL_EPILOG = """\b
Examples:
  advisor runs label latest --label nightly --branch main
  advisor runs label 3f2a 77c1 --commit 1a2b3c4 --at 2026-11-20T03:00+01:00
"""
_PRUNE = """\b
Examples:
  advisor runs prune --keep 30 --dry-run
  advisor runs prune --keep 30
  advisor runs prune --keep 0 --older-than 2026-01-31
"""
_SHOW = Narrow(whole=("field", "value"))


@click.group()
def runs() -> None:
    """List, show, label, prune and remove runs."""


@runs.command("list")
@click.option("--limit", type=click.IntRange(1, 2**31 - 1), default=50, show_default=True)
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def list_(settings: CommandSettings, limit: int, style: str) -> None:
    """List runs, the newest night first."""
    from advisor.api.runs import list_runs

    columns, rows = list_runs(settings.database, limit=limit, wait=settings.wait)
    write_rows(columns, rows, style, _LIST)


@runs.command()
@click.argument("run", default="latest")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def show(settings: CommandSettings, run: str, style: str) -> None:
    """Show where RUN comes from and under which conditions it was taken."""
    from advisor.api.runs import show_run

    rows = show_run(settings.database, run, wait=settings.wait)
    write_rows(("field", "value"), rows, style, _SHOW)


@runs.command()
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def remove(settings: CommandSettings, run: str, yes: bool) -> None:
    """Remove RUN with all its data."""
    from advisor.api.runs import describe_run, remove_run

    found = describe_run(settings.database, run, wait=settings.wait)
    if not yes:
        click.confirm(f"Remove run {found}?", abort=True, err=True)
    removed = remove_run(
        settings.database, run, wait=settings.wait, configuration=settings.configuration
    )
    click.echo(f"removed {removed}")


@runs.command(epilog=_LABEL_EPILOG)
@click.argument("names", nargs=-1, required=True, metavar="RUN...")
@click.option("--label", help="Name the problem: part of what identifies a series.")
@click.option("--config", "configuration", help="Name the build or configuration, likewise.")
@click.option("--commit", help="Commit of the profiled program.")
@click.option("--branch", help="Branch of the profiled program.")
@click.option("--note", metavar="TEXT", help="What is new in it.")
@click.option("--compiler", metavar="TEXT", help="Compiler of the profiled program, and version.")
@click.option("--tag", "tags", multiple=True, help="Free word to find the run by; repeatable.")
@click.option("--at", callback=moment, metavar="TIME", help="When the program ran, as ISO 8601.")
@click.pass_obj
def label(settings: CommandSettings, /, names: tuple[str, ...], **options: Any) -> None:
    """Change what runs are called, and what series their launches belong to with it.

    Each RUN is what `report` takes. An empty text, as in --label "", takes a word away; tags are
    added to those that are there. All runs change, or none.
    """
    from advisor.api.runs import relabel

    options["started_at"] = options.pop("at")
    changes = {name: value or None for name, value in options.items() if value not in (None, ())}
    changed, moved = relabel(
        settings.database,
        names,
        changes,
        wait=settings.wait,
        configuration=settings.configuration,
    )
    click.echo(f"changed {', '.join(changed)}")
    if moved:
        click.echo(f"{moved:,} of their kernels belong to other series now")


@runs.command(epilog=_PRUNE)
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    required=True,
    help="Nights to keep whole of each device, configuration and branch.",
)
@click.option(
    "--older-than",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    help="Only runs before this day or moment (UTC), too.",
)
@click.option("--dry-run", is_flag=True, help="Name the runs and change nothing.")
@click.pass_obj
def prune(settings: CommandSettings, keep: int, older_than: datetime | None, dry_run: bool) -> None:
    """Drop launches, raw counters and values per instruction of all but the newest nights.

    --keep counts the nights of each device, configuration and branch; the runs of one --group are
    one night.

    Everything that history rests on stays: what kernels add up to, durations with their spread,
    facts, findings, outcomes and the environment. Single launches, counters in `advisor query`, the
    worst instructions and the vendor's findings of those runs are gone, and `advisor refresh` no
    longer reads their counters again. A run counts by when it started.
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
