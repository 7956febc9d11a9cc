"""``advisor history``: what moved over nights."""

from __future__ import annotations

from datetime import datetime

import click

from advisor.cli.application import CommandSettings
from advisor.cli.options import moment, output_file, output_format
from advisor.cli.output import (
    FORMATS,
    Narrow,
    plain,
    terminal_width,
    write_rows,
    write_text,
)
from advisor.stdout import has_unicode

_EPILOG = """\b
Examples:
  advisor history scan results.csv
  advisor history scan results.csv --format json -o changes.json
  my-benchmark --csv | advisor history scan - --fail-on regression

\b
A file to start from:
  series,time,value,better,environment
  gemm,2026-01-01,0.00102,lower,driver 570
  gemm,2026-01-02,0.00101,lower,driver 570
"""


_SHOW_EPILOG = """\b
Examples:
  advisor history
  advisor history layer_norm --since 30
  advisor history --branch main --since 2026-11-01 --format json
"""
_SHOW = "show"


class _Default(click.Group):
    """A group whose command ``show`` need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``show`` before what is no command."""
        own = args[:1] and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if own else [_SHOW, *args])


@click.group(cls=_Default)
def history() -> None:
    """Show what moved over nights; `advisor history KERNEL` is `advisor history show KERNEL`."""


def _since(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> int | datetime | None:
    """Return a number of nights, or a moment."""
    if text is not None and text.isascii() and text.isdecimal():
        if int(text) == 0:
            raise click.BadParameter("show one night at least", context, parameter)
        return int(text)
    return moment(context, parameter, text)


@history.command(epilog=_SHOW_EPILOG)
@click.argument("kernel", required=False)
@click.option("--device", metavar="TEXT", help="Only series of devices whose name holds TEXT.")
@click.option("--config", "configuration", help="Only series of this configuration.")
@click.option("--branch", show_default="that of the newest run", help="The branch to look at.")
@click.option(
    "--since",
    callback=_since,
    metavar="N|DATE",
    help="Show the last N nights, or those since DATE; changes are found over all.",
)
@click.option("--all", "every", is_flag=True, help="List series that did not move as well.")
@output_format("text", "json")
@output_file
@click.pass_obj
def show(
    settings: CommandSettings,
    kernel: str | None,
    device: str | None,
    configuration: str | None,
    branch: str | None,
    since: int | datetime | None,
    every: bool,
    style: str,
    output: str | None,
) -> None:
    """Show which kernels of a branch moved over its nights, the worst first.

    KERNEL is a name, a part of one (a regular expression), or the id of a series. A night is a run,
    or the runs of one --group; simulated ones are never shown beside measured ones.
    """
    from advisor.api.history import history as read
    from advisor.api.matching import SeriesWanted

    found = read(
        settings.database,
        SeriesWanted(kernel=kernel, device=device, configuration=configuration),
        branch=branch,
        since=since,
        wait=settings.wait,
        with_causes=True,
        configuration=settings.configuration,
    )
    if style == "json":
        from advisor.api.history_json import as_json
        from advisor.escaping import json_text

        write_text(json_text(as_json(found)), output)
        return
    from advisor.cli.history_text import as_text

    text = as_text(
        found,
        settings.database,
        width=terminal_width() if output is None else 0,
        with_bars=output is not None or has_unicode(),
        every=every or kernel is not None,
    )
    write_text(text, output)


@history.command()
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@click.option("--at", required=True, metavar="RUN", help="The run from which the level holds.")
@click.option("--because", required=True, metavar="TEXT", help="Why; shown wherever it counts.")
@click.pass_obj
def accept(settings: CommandSettings, series: tuple[str, ...], at: str, because: str) -> None:
    """Take the level that SERIES have in a run for the new baseline.

    SERIES are ids, or names of kernels. The change stays in the history, marked as accepted; the
    newest nights are compared with its level.
    """
    from advisor.api.marking import accept as accept_levels
    from advisor.wording import one_line

    run, accepted = accept_levels(
        settings.database, series, at=at, because=because, wait=settings.wait
    )
    named = ", ".join(f"{one_line(name)} ({identity})" for identity, name in accepted.items())
    click.echo(f"accepted the level in run {run} of {named}")


@history.command()
@click.option("--branch", show_default="that of the newest run", help="The branch to look at.")
@click.option("--dry-run", is_flag=True, help="Only print; store nothing.")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def calibrate(settings: CommandSettings, branch: str | None, dry_run: bool, style: str) -> None:
    """Measure the noise of every series from nights of one commit and environment, and store it.

    Noise is the spread (one standard deviation) of a night around the level of its commit; csv and
    json call it noise_percent.
    """
    from advisor.api.marking import calibrate as measure
    from advisor.wording import percent

    found = measure(settings.database, branch=branch, store=not dry_run, wait=settings.wait)
    is_table = style == "table"
    rows = [
        (
            each.kernel,
            percent(each.noise, 2) if is_table else 100 * each.noise,
            each.runs,
            each.series_id,
        )
        for each in found
    ]
    columns = ("kernel", "noise" if is_table else "noise_percent", "nights", "series")
    write_rows(columns, rows, style, Narrow(whole=("noise", "nights", "series")))


@history.command(epilog=_EPILOG)
@click.argument("file", type=click.Path(allow_dash=True))
@output_format("text", "json")
@click.option(
    "--fail-on",
    type=click.Choice(["none", "regression"]),
    default="none",
    show_default=True,
    help="Exit with 1 where the newest nights of a series regressed.",
)
@output_file
def scan(file: str, style: str, fail_on: str, output: str | None) -> int:
    """Find changes in the nightly numbers of any benchmark.

    FILE is a CSV with the columns series, time and value, and perhaps better (lower or higher) and
    environment; "-" is standard input. Rows may be in any order. Times are ISO 8601 or numbers.
    Rows of one series and time are samples of one night: their median counts. A night without a
    value has an empty one.
    """
    from advisor.api.scanning import any_regressed, as_json, scan_file

    scanned = scan_file(file)
    if style == "json":
        from advisor.escaping import json_text

        text = json_text(plain(as_json(scanned)), indent=2)
    else:
        from advisor.cli.scanned import as_text

        text = as_text(scanned, width=terminal_width())
    write_text(text, output)
    return int(fail_on == "regression" and any_regressed(scanned))
