"""``advisor show``: everything known about one kernel."""

from __future__ import annotations

import click

from advisor.cli.application import Settings
from advisor.cli.output import terminal_width, write_text
from advisor.cli.report import wants_color

_EPILOG = """\b
Examples:
  advisor show matmul
  advisor show 'reduce.*' --run 3f2a
"""


@click.command(epilog=_EPILOG)
@click.argument("kernel")
@click.option("--run", default="latest", show_default=True, help="Id, beginning of one, or label.")
@click.option("--all", "every", is_flag=True, help="Every fact, also those that are unknown.")
@click.pass_obj
def show(settings: Settings, kernel: str, run: str, every: bool) -> None:
    """Show the facts of KERNEL with units, what fires, what was ruled out, and what is unknown.

    KERNEL is a name, a part of one, a regular expression, or the id of a kernel or variant.
    """
    from advisor.api.reporting import render_kernel

    text = render_kernel(
        settings.database,
        kernel,
        run=run,
        every=every,
        width=terminal_width(),
        wait=settings.wait,
        color=wants_color(),
        configuration=settings.configuration,
    )
    write_text(text, None)
