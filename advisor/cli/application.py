"""The ``advisor`` command and how a failure leaves it."""

from __future__ import annotations

import atexit
import contextlib
import gc
import logging
import os
import signal
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from advisor.cli.lazy import LazyGroup
from advisor.cli.options import a_number
from advisor.errors import AdvisorError, OutputError
from advisor.hidden import DATA_FRAMES, hide, quicken_duckdb
from advisor.stdout import ready_stdout
from advisor.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.configuration import Configuration

log = logging.getLogger(__name__)

_COMMANDS = {
    "ingest": ("advisor.cli.ingest:ingest", "Read profiles into the database."),
    "report": ("advisor.cli.report:report", "Show what limits a run and what to do first."),
    "site": ("advisor.cli.site:site", "Write a folder of pages over all runs."),
    "show": ("advisor.cli.show:show", "Show everything known about one kernel."),
    "why": ("advisor.cli.why:why", "Show how numbers came about, or test an idea."),
    "collect": ("advisor.cli.collect:collect", "Print what to profile next, as one command."),
    "query": ("advisor.cli.query:query", "Ask the database in SQL, read-only."),
    "refresh": ("advisor.cli.refresh:refresh", "Recompute metrics and findings."),
    "compare": ("advisor.cli.compare:compare", "Show what moved between two runs, and why."),
    "check": ("advisor.cli.check:check", "Fail where a run is worse than a baseline."),
    "history": ("advisor.cli.history:history", "Show what moved over nights."),
    "runs": ("advisor.cli.runs:runs", "List, show, label and remove runs."),
    "series": ("advisor.cli.series:series", "List series, and join those that were renamed."),
    "model": ("advisor.cli.model:model", "Show how fast operations could be on a device."),
    "whatif": ("advisor.cli.whatif:whatif", "Predict kernels elsewhere, or with advice followed."),
    "hardware": ("advisor.cli.hardware:hardware", "List devices and their ceilings."),
    "rules": ("advisor.cli.rules:rules", "List, read, explain, test and write rules."),
    "config": ("advisor.cli.config:config", "Show what is configured, and where."),
    "db": ("advisor.cli.db:db", "Upgrade, back up and inspect the database."),
    "lake": ("advisor.cli.lake:lake", "Keep runs as Parquet that many machines write."),
    "fleet": ("advisor.cli.fleet:fleet", "Judge all runs of a lake at once."),
    "doctor": ("advisor.cli.doctor:doctor", "Check the installation and the database."),
    "mcp": ("advisor.cli.mcp:mcp", "Answer agents over the Model Context Protocol."),
    "demo": ("advisor.cli.demo:demo", "Ingest the simulated example runs and write a report."),
}

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
_NEW_OBJECTS = 300_000  # before garbage is looked for: most of what a command makes stays in use

_EPILOG = """\b
Examples:
  advisor ingest profile.ncu-rep
  advisor report
  advisor report --html -o report.html
  advisor query "select short_name, duration, limiter from kernels"
"""


@click.group(
    cls=LazyGroup,
    commands_at=_COMMANDS,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="advisor")
@click.option(
    "--db",
    "database",
    type=click.Path(dir_okay=False),
    envvar="ADVISOR_DB",
    show_default="advisor.duckdb",
    show_envvar=True,
    help="The database file, made on first use; lake:DIR reads a lake of Parquet files.",
)
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    callback=a_number,
    envvar="ADVISOR_WAIT",
    show_default="30",
    show_envvar=True,
    metavar="SECONDS",
    help="How long to wait for a database that another process has locked.",
)
@click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="ADVISOR_CONFIG",
    show_envvar=True,
    metavar="FILE",
    help="Read this configuration in place of the project's.",
)
@click.option(
    "--rules",
    "packs",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    metavar="DIR",
    help="Add the rules DIR/FAMILY/*.yaml and facts DIR/facts/*.yaml; repeatable.",
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
    context: click.Context,
    database: str | None,
    wait: float | None,
    config_file: Path | None,
    packs: tuple[Path, ...],
    color: str,
    verbose: int,
) -> None:
    """From a GPU kernel profile to ranked, sourced advice.

    advisor reads what Nsight Compute wrote, keeps every run in one database file, and shows what
    limits each kernel, what to do first and what it saves. It needs no GPU and no network.
    """
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(level=level, stream=sys.stderr, format="advisor: %(message)s")
    context.color = {"auto": None, "always": True, "never": False}[color]
    if color == "auto" and os.environ.get("NO_COLOR"):
        context.color = False
    context.obj = CommandSettings(
        database=database,
        wait=wait,
        config_file=config_file,
        packs=packs,
        origins={name: _origin(context, name) for name in ("database", "wait")},
    )


def _origin(context: click.Context, name: str) -> str:
    """Return the flag, or the variable, that gave an option of the whole command."""
    option = next(param for param in context.command.params if param.name == name)
    if context.get_parameter_source(name) is click.core.ParameterSource.ENVIRONMENT:
        return str(option.envvar)
    return option.opts[0]


class CommandSettings:
    """What the options of the whole command say, over what is configured.

    The configuration is read when a command first asks for it; ``wait`` is in seconds.
    """

    def __init__(
        self,
        *,
        database: str | None = None,
        wait: float | None = None,
        config_file: Path | None = None,
        packs: Sequence[Path] = (),
        origins: dict[str, str],
    ) -> None:
        self._database = database
        self._wait = wait
        self._config_file = config_file
        self._packs = packs
        self._origins = origins

    @property
    def database(self) -> str:
        """Return the database file."""
        return self.configuration.database.value

    @property
    def wait(self) -> float:
        """Return how long to wait for the database's lock."""
        return self.configuration.wait.value

    @cached_property
    def configuration(self) -> Configuration:
        """Everything that files, variables and flags say together."""
        from advisor.configuration import Layer, Setting, load_configuration

        database, wait, origins = self._database, self._wait, self._origins
        return load_configuration(
            directory=Path.cwd(),
            environment=os.environ,
            chosen=self._config_file,
            command=Layer(
                database=(
                    None if not database else Setting(value=database, origin=origins["database"])
                ),
                wait=None if wait is None else Setting(value=wait, origin=origins["wait"]),
                rules=tuple(Setting(value=pack, origin="--rules") for pack in self._packs),
            ),
        )


def main() -> None:
    """Run the command line and exit with the status that the failure's class names."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's would spin, for no matrix here
    hide(DATA_FRAMES)
    quicken_duckdb()
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    stopped_by = _signals()
    ready_stdout()
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(gc.freeze)  # no search through all objects for garbage when all of them go
    try:
        if sys.stdout is None:
            raise OutputError("standard output is closed")
        status = application(standalone_mode=False)
    except AdvisorError as error:
        _say(f"advisor: {error}", error.hint)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _interrupted(stopped_by)
    except OSError as error:  # mostly standard output, which has no name
        _say(f"advisor: {error.filename or 'standard output'}: {error.strerror or error}", None)
        _drop_output()
        sys.exit(OutputError.exit_code)
    except Exception:
        if stopped_by:  # in the middle of a statement, which ends with an error of its own
            _interrupted(stopped_by)
        log.exception("this is a bug; what was not finished is not stored")
        sys.exit(AdvisorError.exit_code)
    sys.exit(status if isinstance(status, int) else 0)


def _signals() -> list[int]:
    """Return the signals so far that tell this process to end: a list that grows.

    Each interrupts as Control-C does, so that unfinished files go. What is ignored already, as
    under nohup, stays so.
    """
    received: list[int] = []

    def interrupt(number: int, _: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    return received


def _interrupted(stopped_by: Sequence[int]) -> NoReturn:
    _say("advisor: interrupted; what was not finished is not stored", None)
    sys.exit(128 + (stopped_by[0] if stopped_by else signal.SIGINT))


def _drop_output() -> None:
    """Drop what is left to print: Python would try once more at its end, and fail again."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def _say(message: str, hint: str | None) -> None:
    from advisor.wording import printable

    with contextlib.suppress(OSError):  # the exit status still tells
        click.echo(printable(message), err=True)
        if hint:
            click.echo(printable(f"  hint: {hint}"), err=True)
