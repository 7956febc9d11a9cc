"""``advisor history``: what moved over nights."""

from __future__ import annotations

import json

import click

from advisor.cli.output import plain, terminal_width, write_text

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


@click.group()
def history() -> None:
    """Show what moved over nights."""


@history.command(epilog=_EPILOG)
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.option(
    "--fail-on",
    type=click.Choice(["none", "regression"]),
    default="none",
    show_default=True,
    help="Exit with 1 where the newest nights of a series regressed.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, allow_dash=True))
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
        text = json.dumps(plain(as_json(scanned)), ensure_ascii=False, indent=2)
    else:
        from advisor.cli.scanned import as_text

        text = as_text(scanned, width=terminal_width())
    write_text(text, output)
    return int(fail_on == "regression" and any_regressed(scanned))
