"""``advisor mcp``: a server for agents."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from advisor.cli.application import CommandSettings
from advisor.errors import UsageError

_EPILOG = """\b
Examples:
  advisor --db runs.duckdb mcp
  advisor --db runs.duckdb mcp --allow-ingest profiles

\b
It needs the official SDK: pip install "advisor[mcp]".
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--allow-ingest",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Let agents ingest profiles below DIR, links resolved.",
)
@click.pass_obj
def mcp(settings: CommandSettings, folder: Path | None) -> None:
    """Answer agents over the Model Context Protocol, on standard input and output.

    The tools are report, show, explain, compare, collect and query, which read; ingest only with
    --allow-ingest. Each answer takes at most 8 kB and names the next call.
    """
    if find_spec("mcp") is None:
        hint = 'pip install "advisor[mcp]"'
        raise UsageError("the SDK of the Model Context Protocol is not installed", hint=hint)
    from advisor.api.agent_server import serve
    from advisor.api.agents import Answers

    answers = Answers(
        settings.database,
        wait=settings.wait,
        configuration=settings.configuration,
        ingest_below=folder,
    )
    serve(answers, may_ingest=folder is not None)
