"""``advisor ingest``: profiles into the database."""

from __future__ import annotations

import time

import click

from advisor.cli.application import Settings
from advisor.cli.output import Progress
from advisor.wording import printable, seconds

_EPILOG = """\b
Examples:
  advisor ingest profile.ncu-rep
  advisor ingest nightly/ --branch main --commit 1a2b3c4
  advisor ingest 'runs/**/*.ncu-rep' --label weekly
"""


@click.command(epilog=_EPILOG)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--as", "as_format", metavar="FORMAT", help="Read as this format, whatever is inside."
)
@click.option("--allow-truncated", is_flag=True, help="Take the whole launches of a cut-off file.")
@click.option("--label", help="Name the problem: part of what identifies a series.")
@click.option("--config", "configuration", help="Name the build or configuration, likewise.")
@click.option("--commit", help="Commit of the profiled program.")
@click.option("--branch", help="Branch of the profiled program.")
@click.option("--tag", "tags", multiple=True, help="Free word to find the run by; repeatable.")
@click.pass_obj
def ingest(
    settings: Settings,
    paths: tuple[str, ...],
    as_format: str | None,
    allow_truncated: bool,
    label: str | None,
    configuration: str | None,
    commit: str | None,
    branch: str | None,
    tags: tuple[str, ...],
) -> int:
    """Read profiles (files, directories, globs) into the database.

    A file that is already there is not read again. Each file is one run, stored whole or not at
    all. Exit status 3 says that at least one file was refused; the others are stored.
    """
    from advisor.api.profiles import Labels, ingest_paths

    labels = Labels(
        label=label, configuration=configuration, commit=commit, branch=branch, tags=tags
    )
    totals = {"new": 0, "known": 0, "refused": 0}
    with Progress("reading", clock=time.monotonic) as progress:
        for result in ingest_paths(
            settings.database,
            paths,
            labels=labels,
            as_format=as_format,
            allow_truncated=allow_truncated,
            wait=settings.wait,
            progress=progress,
        ):
            totals[result.status] += 1
            _tell(result)
    if sum(totals.values()) > 1:
        click.echo(", ".join(f"{number:,} {word}" for word, number in totals.items() if number))
    if totals["new"] or totals["known"]:
        click.echo("next: advisor report", err=True)
    return 3 if totals["refused"] else 0


def _tell(result: object) -> None:
    from advisor.api.profiles import Ingested

    assert isinstance(result, Ingested)
    if result.status == "refused":
        click.echo(printable(f"refused  {result.error}"), err=True)
        if result.error is not None and result.error.hint:
            click.echo(printable(f"  hint: {result.error.hint}"), err=True)
        return
    launches = f"{result.launches:,} launch" + ("es" if result.launches != 1 else "")
    spent = "" if result.status == "known" else f" in {seconds(result.seconds)}"
    click.echo(printable(f"{result.status:<7}  {result.run_id}  {launches}{spent}  {result.name}"))
    for skipped in result.skipped:
        click.echo(printable(f"  skipped {skipped.place}: {skipped.reason}"), err=True)
