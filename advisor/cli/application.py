"""The ``advisor`` command and how a failure leaves it."""

from __future__ import annotations

import logging
import os
import signal
import sys

import click

from advisor import __version__
from advisor.cli.lazy import LazyGroup
from advisor.errors import AdvisorError

_COMMANDS = {
    "ingest": ("advisor.cli.ingest:ingest", "Read profiles into the database."),
    "report": ("advisor.cli.report:report", "Say what holds a run back and what to do first."),
    "show": ("advisor.cli.show:show", "Show everything known about one kernel."),
    "query": ("advisor.cli.query:query", "Ask the database in SQL, read-only."),
    "runs": ("advisor.cli.runs:runs", "List, show and remove runs."),
    "hardware": ("advisor.cli.hardware:hardware", "List devices and their ceilings."),
    "rules": ("advisor.cli.rules:rules", "List, show and test the rules."),
    "db": ("advisor.cli.db:db", "Upgrade, back up and inspect the database."),
    "doctor": ("advisor.cli.doctor:doctor", "Check the installation and the database."),
    "demo": ("advisor.cli.demo:demo", "Ingest the simulated example runs and write a report."),
}

_EPILOG = """\b
Examples:
  advisor ingest profile.ncu-rep
  advisor report
  advisor report --html -o report.html
  advisor query "select short_name, duration, limiter from kernels"
"""


@click.group(cls=LazyGroup, commands_at=_COMMANDS, epilog=_EPILOG)
@click.version_option(__version__, prog_name="advisor")
@click.option(
    "--db",
    "database",
    type=click.Path(dir_okay=False),
    default="advisor.duckdb",
    envvar="ADVISOR_DB",
    show_default=True,
    show_envvar=True,
    help="The database file; made on first use.",
)
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for a database that another process has locked.",
)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour on the terminal; NO_COLOR switches it off.",
)
@click.option("-v", "--verbose", count=True, help="Log more on stderr; twice for debugging.")
@click.pass_context
def application(
    context: click.Context, database: str, wait: float, color: str, verbose: int
) -> None:
    """From a GPU kernel profile to ranked, sourced advice.

    advisor reads what Nsight Compute wrote, keeps every run in one database file, and tells what
    holds each kernel back, what to do first and what it is worth. It needs no GPU and no network.
    """
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(level=level, stream=sys.stderr, format="advisor: %(message)s")
    context.color = {"auto": None, "always": True, "never": False}[color]
    if color == "auto" and os.environ.get("NO_COLOR"):
        context.color = False
    context.obj = Settings(database=database, wait=wait)


class Settings:
    """What the options of the whole command say: database file and seconds to wait for its lock."""

    def __init__(self, *, database: str, wait: float) -> None:
        self.database = database
        self.wait = wait


def main() -> None:
    """Run the command line and exit with the status that the failure's class names."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        status = application(standalone_mode=False)
    except AdvisorError as error:
        _say(f"advisor: {error}", error.hint)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _say("advisor: interrupted; the database is as it was", None)
        sys.exit(130)
    sys.exit(status if isinstance(status, int) else 0)


def _say(message: str, hint: str | None) -> None:
    from advisor.wording import printable

    click.echo(printable(message), err=True)
    if hint:
        click.echo(printable(f"  hint: {hint}"), err=True)
