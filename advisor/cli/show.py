"""``advisor show``: everything known about one kernel."""

from __future__ import annotations

import click

from advisor.cli.application import CommandSettings
from advisor.cli.output import terminal_width, write_text
from advisor.cli.report import wants_color
from advisor.stdout import has_unicode

_EPILOG = """\b
Examples:
  advisor show matmul
  advisor show 'reduce.*' --run 3f2a
  advisor show matmul --source
"""


@click.command(epilog=_EPILOG)
@click.argument("kernel")
@click.option("--run", default="latest", show_default=True, help="As `report` takes it.")
@click.option("--all", "every", is_flag=True, help="Every fact, also those that are unknown.")
@click.option("--source", is_flag=True, help="The worst instructions instead, and by how much.")
@click.pass_obj
def show(settings: CommandSettings, kernel: str, run: str, every: bool, source: bool) -> None:
    """Show the facts of KERNEL with units, what fires, what was ruled out, and what is unknown.

    KERNEL is a name, a part of one, a regular expression, or the id of a kernel or variant.
    """
    if source:
        _show_instructions(settings, kernel, run)
        return
    from advisor.api.reporting import ReportForm, render_kernel

    text = render_kernel(
        settings.database,
        kernel,
        run=run,
        every=every,
        form=ReportForm(width=terminal_width(), color=wants_color()),
        wait=settings.wait,
        configuration=settings.configuration,
    )
    write_text(text, None)


def _show_instructions(settings: CommandSettings, kernel: str, run: str) -> None:
    from advisor.api.instructions import render_instructions

    text = render_instructions(
        settings.database,
        kernel,
        run=run,
        width=terminal_width(),
        wait=settings.wait,
        ascii_only=not has_unicode(),
        configuration=settings.configuration,
    )
    write_text(text, None)
