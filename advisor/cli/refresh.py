"""``advisor refresh``: stored runs as today's rules see them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from advisor.cli.application import CommandSettings
from advisor.cli.output import FORMATS, Progress, write_rows
from advisor.errors import UsageError

if TYPE_CHECKING:
    from advisor.api.refreshing import Refreshed

_COLUMNS = ("run", "launches", "changed", "quantities", "findings", "findings before")
_MOST_NAMES = 4

_EPILOG = """\b
Examples:
  advisor refresh            the last run
  advisor refresh 3f2a
  advisor refresh --all      every run, one transaction each
"""


@click.command(epilog=_EPILOG)
@click.argument("run", required=False)
@click.option("--all", "every", is_flag=True, help="Every run in the database.")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def refresh(settings: CommandSettings, run: str | None, every: bool, style: str) -> None:
    """Recompute metrics and findings for RUN, from the stored counters.

    Do this after rules, facts or the mapping of counters changed. RUN is an id, the beginning of
    one, a label, or "latest", which is also meant where none is given.
    """
    from advisor.api.refreshing import refresh_runs

    if run is not None and every:
        raise UsageError("a run and --all exclude each other", hint="leave one of them out")
    with Progress("refreshing", clock=time.monotonic) as progress:
        done = refresh_runs(
            settings.database,
            None if every else run or "latest",
            wait=settings.wait,
            progress=progress,
            configuration=settings.configuration,
        )
        rows = [_row(each) for each in done]
    write_rows(_COLUMNS, rows, style)


def _row(done: Refreshed) -> tuple[object, ...]:
    names = sorted(done.changed, key=lambda name: -done.changed[name])
    rest = len(names[_MOST_NAMES:])
    more = f" and {rest:,} more" if rest else ""
    listed = ", ".join(names[:_MOST_NAMES]) + more
    changed = max(done.changed.values(), default=0)
    return (
        done.run_id,
        done.launches,
        changed,
        listed or "as they were",
        done.findings_after,
        done.findings_before if done.findings_changed else "the same",
    )
