"""``advisor demo``: the example runs, from files to a report and a site."""

from __future__ import annotations

import time
from pathlib import Path

import click

from advisor.cli.application import CommandSettings
from advisor.cli.output import Progress, write_next, write_text
from advisor.commands import program

_FORMS = (
    ("html", "report.html"),
    ("markdown", "report.md"),
    ("text", "report.txt"),
    ("json", "report.json"),
)


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False),
    default="advisor-demo",
    show_default=True,
    help="Directory for the reports and the site.",
)
@click.pass_obj
def demo(settings: CommandSettings, output: str) -> None:
    """Ingest 30 nights of simulated runs; write the report of the last one, and a site of all.

    It tells by itself what moved, why, and which advice worked.

    The runs are made by a stated little machine model and are marked as simulated everywhere.
    """
    from advisor.api.demonstration import ingest_examples
    from advisor.api.reporting import ReportForm, render_report
    from advisor.api.site import build_site

    with Progress("reading", clock=time.monotonic) as progress:
        stored = ingest_examples(settings.database, wait=settings.wait, progress=progress)
    click.echo(f"{stored:,} simulated runs are in {settings.database}", err=True)
    directory = Path(output)
    directory.mkdir(parents=True, exist_ok=True)
    for style, name in _FORMS:
        pages = render_report(
            settings.database,
            "latest",
            form=ReportForm(style=style, output=str(directory / name)),
            wait=settings.wait,
        )
        for path, text in pages.items():
            write_text(text, path)
            click.echo(path)
    with Progress("writing", clock=time.monotonic) as progress:
        build_site(
            settings.database,
            str(directory / "site"),
            wait=settings.wait,
            configuration=settings.configuration,
            progress=progress,
        )
    click.echo(directory / "site" / "index.html")
    write_next(f"{program(settings.database)} report")
