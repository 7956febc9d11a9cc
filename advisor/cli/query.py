"""``advisor query``: SQL over everything that was measured."""

from __future__ import annotations

import sys

import click

from advisor.cli.application import CommandSettings
from advisor.cli.output import FORMATS, write_rows

_EPILOG = """\b
Examples:
  advisor query "select short_name, duration, roof_fraction, limiter from kernels"
  advisor query "select * from findings where outcome = 'fires'" --format csv
  advisor query --format json < question.sql
"""


@click.command(epilog=_EPILOG)
@click.argument("sql", required=False)
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Give up after so long; 0: never.",
)
@click.option("--memory", metavar="SIZE", help="Memory the query may take, such as 500MB or 4GB.")
@click.pass_obj
def query(
    settings: CommandSettings,
    sql: str | None,
    style: str,
    timeout: float | None,
    memory: str | None,
) -> None:
    """Run one SELECT over the views runs, launches, kernels, findings, devices and ceilings.

    The file is opened read-only and the query can reach no other file. It ends after 60 seconds and
    may take 4 GB unless the options say otherwise. Units are SI; docs/schema.md names every column.
    """
    from advisor.api.querying import TIMEOUT, run_query
    from advisor.database.connect import DEFAULT_MEMORY

    if sql is None or sql == "-":
        sql = sys.stdin.buffer.read().decode(errors="surrogateescape")
    with run_query(
        settings.database,
        sql,
        wait=settings.wait,
        configuration=settings.configuration,
        timeout=TIMEOUT if timeout is None else timeout,
        memory=memory or DEFAULT_MEMORY,
    ) as answer:
        write_rows(answer.columns, answer.rows, style)
