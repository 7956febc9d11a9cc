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
  advisor site public --lake /shared/lake           and public/fleet.html
"""


@click.command(epilog=_EPILOG)
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False))
@click.option("--url", metavar="URL", help="Where DIR will be served: the feed names it.")
@click.option("--force", is_flag=True, help="Write beside files that are not of a site.")
@click.option("--lake", metavar="LAKE", help="The folder of a lake, as --db lake:LAKE.")
@click.pass_obj
def site(
    settings: CommandSettings, directory: str, url: str | None, force: bool, lake: str | None
) -> None:
    """Write a page per run, kernel and rule, and one that says what moved.

    Of a lake there is a page about all of it, fleet.html.

    The pages need no server, no network and no script. A second call writes only what changed:
    the pages of older nights stay as they are, also when their runs are removed.
    """
    from advisor.api.site import build_site
    from advisor.wording import count, size

    with Progress("writing", clock=time.monotonic) as progress:
        done = build_site(
            settings.database if lake is None else f"lake:{lake}",
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
