"""``advisor whatif``: what the kernels of a run would take elsewhere, or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from advisor.cli.application import CommandSettings
from advisor.cli.options import output_file, output_format
from advisor.cli.output import csv_text, terminal_width, write_text
from advisor.errors import UsageError
from advisor.stdout import has_unicode

if TYPE_CHECKING:
    from advisor.modelling.prospects import WhatIf

_EPILOG = """\b
Examples:
  advisor whatif --device "h200 sxm" --device mi300x
  advisor whatif latest~1 --all-devices
  advisor whatif --scale dram_bandwidth=1.4 --scale fp32=2
  advisor whatif --apply memory/uncoalesced-loads --kernel transpose
  advisor whatif --operation
"""


@click.command(epilog=_EPILOG)
@click.argument("run", default="latest")
@click.option("--device", "devices", multiple=True, help="A device, as `model` takes it.")
@click.option("--all-devices", "every", is_flag=True, help="Every known GPU, ranked.")
@click.option(
    "--scale", "scales", multiple=True, metavar="PEAK=FACTOR", help="A peak, faster or slower."
)
@click.option("--apply", "rules", multiple=True, metavar="RULE", help="Follow the advice of RULE.")
@click.option("--operation", "operations", is_flag=True, help="Compare with declared operations.")
@click.option("--kernel", help="Only kernels that this means, as `show` takes it.")
@output_format("text", "json", "csv", "html", "markdown")
@output_file
@click.pass_obj
def whatif(
    settings: CommandSettings,
    run: str,
    devices: tuple[str, ...],
    every: bool,
    scales: tuple[str, ...],
    rules: tuple[str, ...],
    operations: bool,
    kernel: str | None,
    style: str,
    output: str | None,
) -> None:
    """Predict the kernels of RUN on another device, with other peaks, or after advice.

    Each time is a range: the least by the roofline, the likely one, which keeps the share of the
    practical roof, and how high real pairs of devices went.
    """
    _check_one(devices, every, scales, rules, operations)
    from advisor.api import whatif as api

    about = api.About(
        database=settings.database,
        run=run,
        kernel=kernel,
        wait=settings.wait,
        configuration=settings.configuration,
    )
    if scales:
        found = api.whatif_scaled(about, scales)
    elif rules:
        found = api.whatif_applied(about, rules)
    elif operations:
        found = api.whatif_operations(about)
    else:
        found = api.whatif_devices(about, devices, every=every)
    write_text(_written(found, style), output)
    if output not in (None, "-"):
        click.echo(f"wrote {output}", err=True)


def _check_one(*asked: object) -> None:
    """Refuse questions that are none or several.

    Raises:
        UsageError: names them.
    """
    names = ("--device", "--all-devices", "--scale", "--apply", "--operation")
    questions = [name for name, given in zip(names, asked, strict=True) if given]
    if not questions:
        raise UsageError("nothing to change", hint=f"add one of {', '.join(names)}")
    if len(questions) > 1:
        raise UsageError(
            f"{questions[0]} and {questions[1]} are two questions", hint="ask one at a time"
        )


def _written(found: WhatIf, style: str) -> str:
    from advisor.reports.modelled import whatif as writer

    if style == "json":
        return writer.json_text(found)
    if style == "csv":
        return csv_text(*writer.table_rows(found))
    if style == "text":
        return writer.text(found, width=terminal_width(), ascii_only=not has_unicode())
    from advisor.reports.modelled import whatif_page

    return whatif_page.html(found) if style == "html" else whatif_page.markdown(found)
