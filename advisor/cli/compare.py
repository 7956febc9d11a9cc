"""``advisor compare``: what moved from one run to another, and why."""

from __future__ import annotations

import click

from advisor.cli.application import CommandSettings
from advisor.cli.options import output_file, output_format
from advisor.cli.output import plain, terminal_width, write_text

_EPILOG = """\b
Examples:
  advisor compare 3f2a latest
  advisor compare main-nightly latest --fail-on regression
  advisor compare 3f2a 9c1b --format json | jq '.rows[] | select(.verdict == "regressed")'
  advisor compare 3f2a 9c1b --format markdown -o summary.md
"""


@click.command(epilog=_EPILOG)
@click.argument("base")
@click.argument("head", default="latest")
@output_format("text", "json", "markdown")
@click.option(
    "--fail-on",
    type=click.Choice(["none", "regression"]),
    default="none",
    show_default=True,
    help="Exit with 1 where a series regressed.",
)
@output_file
@click.pass_obj
def compare(
    settings: CommandSettings, base: str, head: str, style: str, fail_on: str, output: str | None
) -> int:
    """Show what moved from the run BASE to the run HEAD, how sure that is, and why.

    Each is what `report` takes: an id or the beginning of one, a label, a branch, a commit,
    "latest", or "last~7"; without HEAD it is the latest run. A series has moved where chance does
    not explain it and the effect is worth acting on; the table shows both. What is compared is the
    time of a kernel in the run, all of its launches together.
    """
    from advisor.api.comparison import compare as compare_runs
    from advisor.escaping import json_text
    from advisor.tracking.records import Verdict

    comparison = compare_runs(
        settings.database,
        base,
        head,
        wait=settings.wait,
        configuration=settings.configuration,
    )
    if style == "text":
        from advisor.cli.compared import as_text

        text = as_text(comparison, settings.database, width=terminal_width())
    else:
        from advisor.reports.write.comparison import as_json, markdown

        text = (
            markdown(comparison)
            if style == "markdown"
            else json_text(plain(as_json(comparison)), indent=2)
        )
    write_text(text, output)
    regressed = any(row.verdict is Verdict.REGRESSED for row in comparison.rows)
    return int(fail_on == "regression" and regressed)
