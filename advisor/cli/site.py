"""``advisor site``: a folder of pages over all runs."""

from __future__ import annotations

import time

import click

from advisor.cli.application import CommandSettings
from advisor.cli.output import Progress

_EPILOG = """\b
Examples:
  advisor site public                              then open public/index.html
  advisor site public --url https://ci.example/gpu  absolute addresses in the feed
"""


@click.command(epilog=_EPILOG)
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False))
@click.option("--url", metavar="URL", help="Where DIR will be served: the feed names it.")
@click.option("--force", is_flag=True, help="Write beside files that are not of a site.")
@click.pass_obj
def site(settings: CommandSettings, directory: str, url: str | None, force: bool) -> None:
    """Write a page per run, kernel and rule, and one that says what moved.

    The pages need no server, no network and no script. A second call writes only what changed:
    the pages of older nights stay as they are, also when their runs are removed.
    """
    from advisor.api.site import build_site
    from advisor.wording import count, size

    with Progress("writing", clock=time.monotonic) as progress:
        done = build_site(
            settings.database,
            directory,
            url=url,
            force=force,
            wait=settings.wait,
            configuration=settings.configuration,
            progress=progress,
        )
    written = count(done.written, "file")
    click.echo(f"wrote {written}, {done.unchanged:,} unchanged, {size(done.size)}", err=True)
    click.echo(f"{directory.rstrip('/')}/index.html")
