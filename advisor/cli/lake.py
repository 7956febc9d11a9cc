"""``advisor lake``: runs as Parquet files that many machines write."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from advisor.cli.application import CommandSettings
from advisor.cli.ingest import ingest, labels_of
from advisor.cli.outcomes import print_all, status_of
from advisor.cli.output import FORMATS, Progress, write_next, write_rows
from advisor.commands import program
from advisor.database.lake.place import PREFIX, folder_of, is_lake
from advisor.errors import UsageError
from advisor.wording import count, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.database.lake.scan import LeftOut
    from advisor.ingest.batches import Ingested

_ADD = """\b
Examples:
  advisor lake add profile.ncu-rep --lake /shared/lake
  advisor lake add nightly/ --git --label weekly --lake /shared/lake
  advisor lake add --spool /shared/spool --lake /shared/lake
  advisor lake add --from advisor.duckdb --lake /shared/lake
  advisor --db lake:/shared/lake report
"""
_COMPACT = """\b
Examples:
  advisor lake compact --lake /shared/lake
  advisor lake compact --lake /shared/lake --grace 86400
"""
_REMOVE = """\b
Examples:
  advisor lake remove 0123456789ab --lake /shared/lake
  advisor lake compact --lake /shared/lake
"""
_HOW = ("as_format", "allow_truncated", "detail", "jobs")
_DAMAGED = 4
LAKE = click.option(
    "--lake", metavar="DIR", help="The lake's folder; without it, that of --db lake:DIR."
)
"""The option of every command about a lake."""


@click.group()
def lake() -> None:
    """Keep runs as Parquet files that any number of machines write at once.

    `--db lake:DIR` reads them with report, show, why, query, compare, history, check, site and
    runs.
    """


@lake.command(epilog=_ADD)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@LAKE
@click.option("--from", "database", metavar="FILE", help="Add the runs of a database file.")
@click.option("--spool", metavar="DIR", help="Add the bundles that `ingest --spool` wrote.")
@click.pass_obj
def add(
    settings: CommandSettings,
    /,
    paths: tuple[str, ...],
    lake: str | None,
    database: str | None,
    spool: str | None,
    **options: Any,
) -> int:
    """Add profiles (files, directories, globs, - for stdin) to a lake, which is made on first use.

    A run is named after its content: added twice, it is there once. Exit status 3 says that at
    least one profile was refused; the others are there.
    """
    from advisor.ingest.lake import add_database, add_profiles, add_spool
    from advisor.ingest.records import HowToRead

    if sum(map(bool, (paths, database, spool))) != 1:
        raise UsageError("name either profiles, or --from FILE, or --spool DIR")
    folder = lake_folder(settings, lake)
    with Progress("adding", clock=time.monotonic) as progress:
        results: Iterator[Ingested]
        if database:
            results = add_database(folder, database, wait=settings.wait, progress=progress)
        elif spool:
            results = add_spool(
                folder,
                spool,
                wait=settings.wait,
                progress=progress,
                configuration=settings.configuration,
            )
        else:
            results = add_profiles(
                folder,
                paths,
                labels=labels_of(options),
                how=HowToRead(**{name: options[name] for name in _HOW}),
                wait=settings.wait,
                progress=progress,
                configuration=settings.configuration,
            )
        totals = print_all(results, progress, f"{PREFIX}{folder}")
    if totals["new"] or totals["known"]:
        write_next(f"{program(f'{PREFIX}{folder}')} report")
    return status_of(totals)


add.params += [each for each in ingest.params if each.name not in ("paths", "dry_run", "spool")]


@lake.command()
@LAKE
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def status(settings: CommandSettings, lake: str | None, style: str) -> None:
    """Show what is in a lake by month and device model, and what is not read, and why."""
    from advisor.api.lakes import COLUMNS, lake_status

    found = lake_status(lake_folder(settings, lake))
    write_rows(COLUMNS, found.rows, style)
    if found.superseded:
        what = count(found.superseded, "folder")
        click.echo(f"{what} superseded: `advisor lake compact` deletes them in time", err=True)
    if found.removed:
        click.echo(f"{count(found.removed, 'run')} removed", err=True)
    tell_left_out(found.left_out)


@lake.command(epilog=_COMPACT)
@LAKE
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=3600,
    show_default=True,
    metavar="SECONDS",
    help="How long to keep what a pack replaces, for those who still read it.",
)
@click.pass_obj
def compact(settings: CommandSettings, lake: str | None, grace: float) -> None:
    """Write the runs of each month and device model into one pack of few, larger files.

    Readers and writers go on meanwhile. Files of an older schema get today's columns.
    """
    from advisor.api.lakes import compact_lake

    with Progress("compacting", clock=time.monotonic) as progress:
        text, left_out = compact_lake(lake_folder(settings, lake), grace=grace, progress=progress)
    click.echo(text)
    tell_left_out(left_out)


@lake.command()
@LAKE
@click.pass_obj
def verify(settings: CommandSettings, lake: str | None) -> int:
    """Recompute the hash of every file; exit status 4 says that something is damaged."""
    from advisor.api.lakes import verify_lake

    with Progress("verifying", clock=time.monotonic) as progress:
        found = tuple(verify_lake(lake_folder(settings, lake), progress))
    tell_left_out(found)
    if not found:
        click.echo("everything is as it was written")
    return _DAMAGED if found else 0


@lake.command(epilog=_REMOVE)
@click.argument("run")
@LAKE
@click.pass_obj
def remove(settings: CommandSettings, run: str, lake: str | None) -> None:
    """Remove RUN (its id, or the beginning); `advisor lake compact` deletes its files in time."""
    from advisor.api.lakes import remove_run

    click.echo(f"removed {remove_run(lake_folder(settings, lake), run)}")


def lake_folder(settings: CommandSettings, lake: str | None) -> str:
    """Return the folder of the lake that is asked for."""
    if lake:
        return str(folder_of(lake))
    if is_lake(settings.database):
        return str(folder_of(settings.database))
    raise UsageError("which lake is meant?", hint="name its folder: --lake DIR")


def tell_left_out(left_out: Iterable[LeftOut]) -> None:
    """Print what of a lake is not read, and why."""
    for each in left_out:
        click.echo(one_line(f"left out  {each.place}: {each.reason}"), err=True)
