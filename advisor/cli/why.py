"""``advisor why``: how a number came about, and whether an idea is the cause."""

from __future__ import annotations

import click

from advisor.cli.application import CommandSettings
from advisor.cli.output import terminal_width
from advisor.stdout import has_unicode

_EPILOG = """\b
Examples:
  advisor why matmul
  advisor why matmul dram_bytes
  advisor why matmul 'tensor cores'
  advisor why matmul memory/uncoalesced-loads --format json
"""


@click.command(epilog=_EPILOG)
@click.argument("kernel")
@click.argument("word", required=False, metavar="[NUMBER|RULE|WORD]")
@click.option("--run", default="latest", show_default=True, help="As `report` takes it.")
@click.option(
    "--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.pass_obj
def why(settings: CommandSettings, kernel: str, word: str | None, run: str, style: str) -> None:
    """Show how the numbers of KERNEL came about, or what the rules answer about an idea.

    NUMBER is opened: its formula, what that reads, down to the counters. RULE, or a WORD of the
    titles of rules ("tensor cores", "spills"), is answered: found, not the cause, with the numbers
    that say so, or which counters it needs. Without either, the numbers of every report are opened.
    """
    from advisor.api.why import why as find_why
    from advisor.api.why import why_json, why_text

    found = find_why(
        settings.database,
        kernel,
        word,
        run=run,
        wait=settings.wait,
        configuration=settings.configuration,
    )
    if style == "json":
        click.echo(why_json(found))
        return
    click.echo(why_text(found, width=terminal_width(), ascii_only=not has_unicode()), nl=False)
